"""The search, on values made by hand: the largest changes, and records that a query must not look at."""

from dataclasses import replace
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.audit.search import SHAPES, Steered, _largest_change, _unit, differing, misplaced, other_records
from dpsco_bench.audit.subject import REPLICATES, points_of, record_gradients
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import GaussianQuery
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, Poisson, RandomAllocation, WithReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.privacy.tree import TreeQuery

from ..privacy.plans import plan_of
from .pairs import subject

STEPS, SENSITIVITY = 4, 0.5


def values_of(changes, offset=0.0):
    """Values of a query on two data sets ``(STEPS, 2, 3)`` that differ by so much in each step, in one replicate."""
    own = offset + np.random.default_rng(0).standard_normal((STEPS, 2, 3))
    other = own.copy()
    other[:, 0, 0] += changes
    return own, other


def batch(indices, mask=None):
    """A batch of two replicates that hold the same records."""
    rows = np.array([indices, indices])
    return SimpleNamespace(indices=rows, mask=np.ones(rows.shape) if mask is None else np.array([mask, mask]))


@pytest.mark.parametrize("norm_order", [1.0, 2.0, np.inf])
def test_the_largest_change_between_any_two_data_sets(norm_order):
    query, rng = SimpleNamespace(norm=norm_order), np.random.default_rng(1)
    values = rng.standard_normal((5, STEPS, REPLICATES, 3))
    size, directions = _largest_change(query, values)
    pairs = np.array([one - two for one, two in combinations(values, 2)])
    sizes = np.linalg.norm(pairs, ord=norm_order, axis=-1)  # pairs, steps, replicates
    assert size == pytest.approx(sizes.max())
    for k, direction in enumerate(directions):
        pair, step = np.unravel_index(sizes[..., k].argmax(), sizes.shape[:2])
        change = pairs[pair, step, k]
        assert np.linalg.norm(direction) == pytest.approx(1.0)
        assert abs(direction @ change) == pytest.approx(np.linalg.norm(change))
    assert _largest_change(query, np.stack([values[0]] * 3))[0] == 0.0


def summed(records):
    return GaussianQuery("sum", SENSITIVITY, STEPS, records)


ONE, SEVERAL = [0.0, SENSITIVITY, 0.0, 0.0], [1e-6, SENSITIVITY, 0.0, 0.0]
OFTEN, UNCHARGED = "one record changes several", "a record changes a release whose batch does not have it"
WITHOUT, HOLDING, MASKED, TWICE = batch([3, 5]), batch([7, 5]), batch([7, 5], [0.0, 1.0]), batch([7, 7])
HELD, DOUBLE = [WITHOUT, HOLDING, WITHOUT, WITHOUT], [TWICE, HOLDING, WITHOUT, WITHOUT]
TREE = TreeQuery("node", 1.0, STEPS, Nodes(STEPS), path_cost=2.0, paid_cost=2.0, attained=False)
LOOKS = [  # a query, what one record changes, in a value that is so large, the batches drawn, and what is said
    *((summed(own), changes, 0.0, (), said) for own in (Disjoint(6), RandomAllocation(24, 6)) for changes, said in (
        (ONE, ""), ([0.0] * STEPS, ""), ([0.0, SENSITIVITY, 1e-11, 0.0], ""), (SEVERAL, OFTEN)
    )),
    (summed(Full()), [SENSITIVITY] * STEPS, 0.0, (), ""),
    (summed(Disjoint(6)), [1e-2, 1.0, 0.0, 0.0], 1e9, (), OFTEN),  # a constant added hides no change
    # a drawn batch is changed by its own records alone; too few batches are counted elsewhere
    *((summed(Poisson(0.1)), changes, 0.0, drawn, said) for changes, drawn, said in (
        ([0.0, 1.0, 0.0, 0.0], HELD, ""),
        ([0.0, 1.0, 1e-3, 0.0], HELD, UNCHARGED),
        ([0.0, 1.0, 0.0, 0.0], [WITHOUT, MASKED, WITHOUT, WITHOUT], UNCHARGED),
        ([0.0, 1.0, 1e-3, 0.0], HELD[:2], ""),
    )),
    # a record that is drawn twice changes twice as much
    *((summed(WithReplacement(24, 2)), [SENSITIVITY * c for c in changes], 0.0, DOUBLE, said) for changes, said in (
        ([2.0, 1.0, 0.0, 0.0], ""),
        ([2.02, 0.0, 0.0, 0.0], "a record drawn once changes a release by 1.01 times"),
        ([0.0, 1.01, 0.0, 0.0], "a record drawn once changes a release by 1.01 times"),
    )),
    # squares of the changes in units of the sensitivity are added up along a record's nodes
    (TREE, [1.0, 0.0, 1.0, 0.0], 0.0, (), ""),
    (TREE, [1.0, 0.5, 1.0, 0.0], 0.0, (), "one record changes nodes that cost 2.25, and 2 is paid"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "changes", "offset", "drawn", "said"), LOOKS)
def test_a_record_changes_what_looks_at_it(query, changes, offset, drawn, said):
    own, other = ({query.name: value} for value in values_of(np.array(changes), offset))
    recorded = SimpleNamespace(batches={query.name: dict(enumerate(drawn))})
    found = misplaced(plan_of(query, n=24), recorded, 7, own, other).get(query.name, "")
    assert found.startswith(said) and bool(found) == bool(said)


def test_blocks_of_two_queries_are_disjoint_too():
    one, two = (GaussianQuery(name, SENSITIVITY, STEPS, Disjoint(3)) for name in ("one", "two"))
    own, first = values_of(np.array([1.0, 0.0, 0.0, 0.0]))
    last = values_of(np.array([0.0, 0.0, 0.0, 1.0]))[1]
    for second, said in ((last, {"one, two"}), (own, set())):
        found = misplaced(plan_of(one, two, n=24), None, 0, {"one": own, "two": own}, {"one": first, "two": second})
        assert found.keys() == said


def test_every_law_of_noise_has_a_shape():
    assert SHAPES.keys() == NOISE_LAWS.keys()


def test_points_and_gradients_of_a_subject():
    own = subject("su2023.app_objp", "logistic_glm")
    points, domain = points_of(own), own.problem.feasible_set
    lengths = domain.norm(points)[:, 0] / domain.radius
    assert points.shape == (12, 3) and lengths.max() == pytest.approx(1.0) and lengths.min() < 0.5
    gradients = record_gradients(own, 24)
    assert gradients.shape == (12, 24, 3) and record_gradients(own, 5).shape == (12, 5, 3)
    np.testing.assert_allclose(gradients.mean(axis=1), own.problem.mean_gradient(points, own.data), rtol=1e-9)


def test_replicates_are_fewer_where_each_costs_more():
    assert [subject(steps=steps).many for steps in (4, 400, 400_000)] == [1024, (1 << 22) // (400 * 27), 8]
    assert subject("wang2017.objective_perturbation_kst12").many == 512  # it is solved


def test_steering_is_large_and_keeps_its_direction():
    """Every release moves by the reach times its scale, along a direction that is given or that of its first noise."""
    own = subject(steps=3)
    given = np.tile([[0.0, 1.0, 0.0]], (REPLICATES, 1))
    honest = own.run(Recorder).mechanism.transcript.noise("gradient")
    for directions, expected in (({"gradient": given}, given), ({}, _unit(honest[0]))):
        steered = own.run(partial(Steered, directions)).mechanism
        moved = steered.transcript.noise("gradient") - honest
        np.testing.assert_allclose(moved, 0.0, atol=1e-12)  # noise is recorded as drawn
        released = steered.transcript.released["gradient"][2] - steered.transcript.values["gradient"][2]
        shift = released - honest[2] * own.scales["gradient"]
        assert directions == {} or directions["gradient"] is given
        np.testing.assert_allclose(shift / np.linalg.norm(shift, axis=-1, keepdims=True), expected, atol=1e-3)


def test_outputs_that_differ_are_counted():
    """Under the same releases an honest output is the same on other data; one that peeks differs in every run."""
    own = subject(steps=3)
    recorded = own.run(Recorder, replicates=6)
    assert differing(own, recorded, Replay, other_records(own)) == 0
    honest = own.algorithm.run_function

    def peek(objective, plan, mechanism):
        return honest(objective, plan, mechanism) + objective.data.labels[0] * np.arange(6)[:, None]

    cheat = replace(own, algorithm=replace(own.algorithm, run_function=peek))
    other = replace(own.data, labels=-own.data.labels)
    assert differing(cheat, cheat.run(Recorder, replicates=6), Replay, other) == 5  # the first adds nothing
