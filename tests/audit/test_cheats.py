"""Methods that cheat, each in its own way: the check names every one, the audit those that it can tell from runs."""

import numpy as np
import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.privacy.records import Disjoint, Full, Poisson, RandomAllocation, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Batch

STEPS = 8
RNG = np.random.default_rng(11)
RANDOMNESS = "the mechanism is the only source of randomness"
SENSITIVITY = "no neighbour found changes a released value by more than declared"
POST = "given the released values the output does not depend on the data"


RECORDS = {
    "full": lambda n: (Full(), n),
    "blocks": lambda n: (Disjoint(n // STEPS), n // STEPS),
    "order": lambda n: (RandomAllocation(n, n // (STEPS + 1)), n // (STEPS + 1)),
    "poisson": lambda n: (Poisson(1 / STEPS), n / STEPS),
    "replaced": lambda n: (WithReplacement(n, 2), 2),
    "single": lambda n: (SingleIndex(n), 1),
}
"""How records are said to be chosen, and how many a release looks at."""


def total(objective):
    return objective.n * objective.mean_gradient(objective.start)


def mean_of(mechanism, value_at):
    return np.mean([mechanism.release("sum", value_at(t), t) for t in range(STEPS)], axis=0)


def all_records(objective, plan, mechanism):
    """Sums over all records where a release may look at few: each changes every release as much as a member may."""
    for t in range(STEPS * plan.queries[0].records.sampled):
        mechanism.sample("sum", t)
    return mean_of(mechanism, lambda t: total(objective))


def overlapping(objective, plan, mechanism):
    """Every block begins in the middle of the one before."""
    size = plan.queries[0].records.size
    return mean_of(mechanism, lambda t: size * objective.range_gradient(objective.start, t * size // 2, size))


def another_batch(objective, plan, mechanism):
    """A batch of the next release, which is drawn as well, but is not the one that is charged."""
    return mean_of(
        mechanism, lambda t: objective.batch_gradient(objective.start, mechanism.sample("sum", (t + 1) % STEPS))
    )


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
    released = mean_of(mechanism, lambda t: total(objective))
    drawn = mechanism.variates(plan.queries[0], 0, STEPS, (0, len(released)), released.shape[-1])
    return released - 0.95 * mechanism.scales["sum"] * np.mean(drawn, axis=0)


def own_noise(objective, plan, mechanism):
    """Released as declared, and then something else is returned, with less noise of one's own."""
    shape = mean_of(mechanism, lambda t: total(objective)).shape
    return total(objective) + 0.05 * mechanism.scales["sum"] * RNG.standard_normal(shape)


def root_two(objective, plan, mechanism):
    """Less noise by a factor sqrt 2."""
    return mean_of(mechanism, lambda t: np.sqrt(2) * total(objective)) / np.sqrt(2)


def stops_by_the_data(objective, plan, mechanism):
    """Steps until the exact gradient is small, and nothing is told of the data afterwards."""
    x, going = objective.start, np.ones((objective.replicates, 1), dtype=bool)
    for t in range(STEPS):
        gradient = objective.n * objective.mean_gradient(x)
        released = mechanism.release("sum", np.where(going, gradient, 0.0), t)
        x = np.where(going, x - 0.1 * released / objective.n, x)
        going &= np.linalg.norm(objective.problem.mean_gradient(x, objective.data), axis=-1, keepdims=True) > 0.2
    return x


def tells_whom(objective, plan, mechanism):
    """The output tells whether the first record was looked at in the last step, which is charged as hidden."""
    records, answers = plan.queries[0].records, []
    order = None if records.sampled else mechanism.permutation("order", objective.n)
    for t in range(STEPS):
        batch = mechanism.sample("sum", t) if order is None else batch_of(order, t, records.size)
        answers.append(mechanism.release("sum", objective.batch_gradient(objective.start, batch), t))
    first = ((batch.indices == 0) & (batch.mask > 0)).any(axis=1, keepdims=True)
    return np.mean(answers, axis=0) + 1e-3 * first


def batch_of(order, t, size):
    indices = order[:, t * size : (t + 1) * size]
    ones = np.ones(indices.shape)
    return Batch(indices, ones, ones.sum(axis=1), size)


CHEATS = {
    all_records: ("blocks order poisson single", {SENSITIVITY}, True),
    overlapping: ("blocks", {SENSITIVITY}, False),
    another_batch: ("poisson single replaced", {SENSITIVITY}, False),
    noise_again: ("full", {SENSITIVITY}, True),
    noise_read: ("full", {RANDOMNESS, POST}, True),
    own_noise: ("full", {RANDOMNESS}, True),
    root_two: ("full", {SENSITIVITY}, False),
    stops_by_the_data: ("full", {POST}, False),
    tells_whom: ("poisson single replaced order", {POST}, False),
}
"""Run -> how records are said to be chosen, the checks of which each must fail, and whether an audit can tell."""
PAIRS = [(run, records) for run, (choices, _, _) in CHEATS.items() for records in choices.split()]
TOLD = [(run, records) for run, records in PAIRS if CHEATS[run][2]]


def named(value):
    return getattr(value, "__name__", value)


@pytest.fixture
def cheat(register):
    """Register a run by how records are said to be chosen: it releases sums over records, or means of drawn batches."""

    def add(run, records):
        def chosen(n):
            found, size = RECORDS[records](n)
            return found, size, size if found.sampled and run is not all_records else 1.0

        return register(f"audit_test.{run.__name__}_{records}", run, "sum", STEPS, chosen)

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


def two_orders(objective, plan, mechanism):
    """Records in an order that is charged as hidden, read from its end; coordinates in one that anybody may know."""
    order, size = mechanism.permutation("records", objective.n)[:, ::-1], plan.queries[0].records.size
    x = objective.start
    first = mechanism.permutation("coordinates", x.shape[1])[:, :1]
    for t in range(STEPS):
        released = mechanism.release("sum", objective.batch_gradient(x, batch_of(order, t, size)), t)
        x = x - 0.1 * np.where(np.arange(x.shape[1]) == first, 2.0, 1.0) * released / size
        objective.observe(x)
    return x


def one_of_the_iterates(objective, plan, mechanism):
    """Which iterate is returned may be known; what stands in the batches is hidden."""
    x, shown = objective.start, []
    for t in range(STEPS):
        x = x - 0.1 * mechanism.release("sum", objective.batch_gradient(x, mechanism.sample("sum", t)), t)
        shown.append(x)
    return np.stack(shown)[mechanism.choose("which", STEPS), np.arange(len(x))]


@pytest.mark.parametrize(("run", "records"), [(two_orders, "order"), (one_of_the_iterates, "poisson")], ids=named)
def test_a_public_choice_beside_hidden_records_is_no_cheat(cheat, run, records):
    findings = {one.check: one.passed for one in check_algorithm(cheat(run, records), d=3, n=27)}
    assert findings[RANDOMNESS] and findings[SENSITIVITY] and findings[POST], findings
