"""Methods that cheat, each in its own way: the check names every one, the audit those that it can tell from runs."""

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Disjoint, Full, Poisson, RandomAllocation, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Batch, Trait

STEPS = 8
RNG = np.random.default_rng(11)
RELEASES, RANDOMNESS, SENSITIVITY, RELEASED, POST = (
    "each query is released and sampled as often as declared",
    "the mechanism is the only source of randomness",
    "no neighbour found changes a released value by more than declared",
    "a released value is the exposed one with the noise that was charged",
    "given the released values the output does not depend on the data",
)


def full(n):
    return Full(), n


def blocks(n):
    return Disjoint(n // STEPS), n // STEPS


def order(n):
    return RandomAllocation(n, n // (STEPS + 1)), n // (STEPS + 1)


def poisson(n):
    return Poisson(1 / STEPS), n / STEPS


def replaced(n):
    return WithReplacement(n, 2), 2


def single(n):
    return SingleIndex(n), 1


def total(objective):
    return objective.n * objective.mean_gradient(objective.start)


def all_records(objective, plan, mechanism):
    """Sums over all records where a release may look at few: each changes every release as much as a member may."""
    answers = []
    for t in range(STEPS):
        if plan.queries[0].records.sampled:
            mechanism.sample("sum", t)
        answers.append(mechanism.release("sum", total(objective), t))
    return np.mean(answers, axis=0)


def overlapping(objective, plan, mechanism):
    """Every block begins in the middle of the one before."""
    size, answers = plan.queries[0].records.size, []
    for t in range(STEPS):
        first = t * size // 2
        gradient = size * objective.range_gradient(objective.start, first, size)
        answers.append(mechanism.release("sum", gradient, t))
    return np.mean(answers, axis=0)


def another_batch(objective, plan, mechanism):
    """A batch of the next release, which is drawn as well, but is not the one that is charged."""
    answers = []
    for t in range(STEPS):
        batch = mechanism.sample("sum", (t + 1) % STEPS)
        answers.append(mechanism.release("sum", objective.batch_gradient(objective.start, batch), t))
    return np.mean(answers, axis=0)


def twice_in_a_batch(objective, plan, mechanism):
    """A drawn record counts twice."""
    answers = []
    for t in range(STEPS):
        gradient = objective.batch_gradient(objective.start, mechanism.sample("sum", t))
        answers.append(mechanism.release("sum", 4 * gradient, t))
    return np.mean(answers, axis=0)


def noise_again(objective, plan, mechanism):
    """What the noise was is known from the value, and is taken out of the next release."""
    answers, noise = [], 0.0
    for t in range(STEPS):
        value = total(objective) - noise
        answers.append(mechanism.release("sum", value, t))
        noise = noise + answers[-1] - value
    return np.mean(answers, axis=0)


def noise_read(objective, plan, mechanism):
    """Most of the noise is subtracted again: it can be read where compiled steps do."""
    released = np.mean([mechanism.release("sum", total(objective), t) for t in range(STEPS)], axis=0)
    query, rows = plan.queries[0], (0, len(released))
    drawn = mechanism.variates(query, 0, STEPS, rows, released.shape[-1])
    return released - 0.95 * mechanism.scales["sum"] * np.mean(drawn, axis=0)


def own_noise(objective, plan, mechanism):
    """Released as declared, and then something else is returned, with less noise of one's own."""
    released = np.mean([mechanism.release("sum", total(objective), t) for t in range(STEPS)], axis=0)
    scale = 0.05 * mechanism.scales["sum"]
    return total(objective) + scale * RNG.standard_normal(released.shape)


def own_noise_seldom(objective, plan, mechanism):
    """The same in a twentieth of the runs."""
    released = np.mean([mechanism.release("sum", total(objective), t) for t in range(STEPS)], axis=0)
    some = RNG.integers(0, 20, (len(released), 1)) == 0
    return np.where(some, own_noise_of(objective, mechanism, released.shape), released)


def own_noise_of(objective, mechanism, shape):
    return total(objective) + 0.02 * mechanism.scales["sum"] * RNG.standard_normal(shape)


def noise_of_choices(objective, plan, mechanism):
    """Uniform noise, made of a choice that is public."""
    released = np.mean([mechanism.release("sum", total(objective), t) for t in range(STEPS)], axis=0)
    return total(objective) + 1e-6 * mechanism.choose("where", 1 << 20)[:, None] + 0.0 * released


def root_two(objective, plan, mechanism):
    """Less noise by a factor sqrt 2."""
    answers = [mechanism.release("sum", np.sqrt(2) * total(objective), t) / np.sqrt(2) for t in range(STEPS)]
    return np.mean(answers, axis=0)


def one_more(objective, plan, mechanism):
    """The last release twice, where the second takes the place of the first in the count."""
    answers = [mechanism.release("sum", total(objective), t) for t in range(STEPS - 1)]
    wide = np.concatenate([total(objective), total(objective)], axis=-1)
    answers += np.split(mechanism.release("sum", wide, STEPS - 1), 2, axis=-1)
    return np.mean(answers, axis=0)


def stops_by_the_data(objective, plan, mechanism):
    """Steps until the exact gradient is small, and nothing is told of the data afterwards."""
    x, going = objective.start, np.ones((objective.replicates, 1), dtype=bool)
    for t in range(STEPS):
        gradient = objective.n * objective.mean_gradient(x)
        released = mechanism.release("sum", np.where(going, gradient, 0.0), t)
        x = np.where(going, x - 0.1 * released / objective.n, x)
        going &= np.linalg.norm(objective.problem.mean_gradient(x, objective.data), axis=-1, keepdims=True) > 0.2
    return x


def stops_unreleased(objective, plan, mechanism):
    """The same without the releases that are left."""
    answers = [mechanism.release("sum", total(objective), t) for t in range(STEPS // 2)]
    return np.mean(answers, axis=0)


def tells_whom(objective, plan, mechanism):
    """The output tells whether the first record was looked at in the last step, which is charged as hidden."""
    records, answers = plan.queries[0].records, []
    order = None if records.sampled else mechanism.permutation("order", objective.n)
    for t in range(STEPS):
        if order is None:
            batch = mechanism.sample("sum", t)
        else:
            indices = order[:, t * records.size : (t + 1) * records.size]
            ones = np.ones(indices.shape)
            batch = Batch(indices, ones, ones.sum(axis=1), records.size)
        answers.append(mechanism.release("sum", objective.batch_gradient(objective.start, batch), t))
    first = ((batch.indices == 0) & (batch.mask > 0)).any(axis=1, keepdims=True)
    return np.mean(answers, axis=0) + 1e-3 * first


def batch_of(order, t, size):
    indices = order[:, t * size : (t + 1) * size]
    ones = np.ones(indices.shape)
    return Batch(indices, ones, ones.sum(axis=1), size)


CHEATS = {
    all_records: ((blocks, order, poisson, single), {SENSITIVITY}, True),
    overlapping: ((blocks,), {SENSITIVITY}, False),
    another_batch: ((poisson, single, replaced), {SENSITIVITY}, False),
    twice_in_a_batch: ((replaced,), {SENSITIVITY}, False),
    noise_again: ((full,), {SENSITIVITY}, True),
    noise_read: ((full,), {RANDOMNESS, POST}, True),
    own_noise: ((full,), {RANDOMNESS}, True),
    own_noise_seldom: ((full,), {RANDOMNESS}, True),
    noise_of_choices: ((full,), {POST}, True),
    root_two: ((full,), {SENSITIVITY}, False),
    one_more: ((full,), {SENSITIVITY, RELEASED}, False),
    stops_by_the_data: ((full,), {POST}, False),
    stops_unreleased: ((full,), {RELEASES}, False),
    tells_whom: ((poisson, single, replaced, order), {POST}, False),
}
"""Run -> how records are said to be chosen, the checks of which each must fail, and whether an audit can tell."""
PAIRS = [(run, records) for run, (choices, _, _) in CHEATS.items() for records in choices]
TOLD = [(run, records) for run, records in PAIRS if CHEATS[run][2]]


def named(value):
    return getattr(value, "__name__", None)


@pytest.fixture
def cheat():
    """``cheat(run, records)``: an algorithm with a query ``sum`` on such records, for one test."""

    def add(run, records):
        @algorithm(f"audit_test.{run.__name__}_{records.__name__}", source="a test", needs=(Trait.LIPSCHITZ,))
        def plan(given):
            """Some releases of a sum over records, or of a mean over a drawn batch."""
            chosen, size = records(given.n)
            divisor = size if chosen.sampled and run is not all_records else 1.0
            sensitivity = 2 * given.constants.lipschitz / divisor
            query = GaussianQuery("sum", sensitivity, STEPS, chosen, paper_scale=sensitivity)
            return make_plan(query, gradient_evaluations=STEPS * size, n=given.n)

        plan.run(run)
        return f"audit_test.{run.__name__}_{records.__name__}"

    return add


@pytest.mark.parametrize(("run", "records"), PAIRS, ids=named)
def test_the_check_names_it(cheat, run, records):
    findings = check_algorithm(cheat(run, records), d=3, n=27)
    failed = {finding.check for finding in findings if finding.passed is False}
    assert failed & CHEATS[run][1], findings


@pytest.mark.parametrize(("run", "records"), TOLD, ids=named)
def test_the_audit_refutes_it(cheat, run, records):
    found = audit_cell(make_audit_cell(cheat(run, records), keys={"n": 27}), runs=10_000)
    assert found.verdict == "refuted", found


def test_a_hidden_order_beside_a_public_one_is_no_cheat(cheat):
    """Records in an order that is charged as hidden, coordinates in one that anybody may know."""

    def two_orders(objective, plan, mechanism):
        order, size = mechanism.permutation("records", objective.n), plan.queries[0].records.size
        x = objective.start
        first = mechanism.permutation("coordinates", x.shape[1])[:, :1]
        for t in range(STEPS):
            released = mechanism.release("sum", objective.batch_gradient(x, batch_of(order, t, size)), t)
            x = x - 0.1 * np.where(np.arange(x.shape[1]) == first, 2.0, 1.0) * released / size
            objective.observe(x)
        return x

    findings = {one.check: one for one in check_algorithm(cheat(two_orders, order), d=3, n=27)}
    assert all(findings[name].passed for name in (RELEASES, RANDOMNESS, SENSITIVITY, RELEASED, POST)), findings


def test_an_order_may_be_read_from_its_end(cheat):
    """It is as uniform as it was."""

    def from_the_end(objective, plan, mechanism):
        order, size = mechanism.permutation("records", objective.n)[:, ::-1], plan.queries[0].records.size
        x = objective.start
        for t in range(STEPS):
            x = x - 0.1 * mechanism.release("sum", objective.batch_gradient(x, batch_of(order, t, size)), t) / size
        return x

    findings = {one.check: one for one in check_algorithm(cheat(from_the_end, order), d=3, n=27)}
    assert all(findings[name].passed for name in (RELEASES, RANDOMNESS, SENSITIVITY, RELEASED, POST)), findings


def test_a_public_choice_beside_hidden_batches_is_no_cheat(cheat):
    """Which iterate is returned may be known; what stands in the batches is hidden."""

    def one_of_the_iterates(objective, plan, mechanism):
        x, shown = objective.start, []
        for t in range(STEPS):
            gradient = objective.batch_gradient(x, mechanism.sample("sum", t))
            x = x - 0.1 * mechanism.release("sum", gradient, t)
            shown.append(x)
        return np.stack(shown)[mechanism.choose("which", STEPS), np.arange(len(x))]

    findings = {one.check: one for one in check_algorithm(cheat(one_of_the_iterates, poisson), d=3, n=27)}
    assert all(findings[name].passed for name in (RELEASES, RANDOMNESS, SENSITIVITY, RELEASED, POST)), findings


def test_a_release_of_no_row_for_each_replicate_is_named(cheat):
    def mean_of_replicates(objective, plan, mechanism):
        for t in range(STEPS):
            released = mechanism.release("sum", total(objective).mean(axis=0), t)
        return objective.start - released

    failed = [one for one in check_algorithm(cheat(mean_of_replicates, full), d=3, n=27) if not one.passed]
    assert any("release of sum = 'an array (3,)'" in str(one) for one in failed), failed
