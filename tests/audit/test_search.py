"""The search, on values made by hand: the largest changes, and records that a query must not look at."""

from dataclasses import replace
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.audit.search import SHAPES, Steered, _largest_change, _unit, differing, misplaced, other_records
from dpsco_bench.audit.subject import REPLICATES, points_of, record_gradients, subject_of
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, Poisson, RandomAllocation, WithReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.privacy.tree import TreeQuery

STEPS, SENSITIVITY = 4, 0.5


def plan_of(*queries):
    return make_plan(*queries, gradient_evaluations=1.0, n=24)


def values_of(changes, offset=0.0):
    """Values of a query on two data sets ``(STEPS, 2, 3)`` that differ by so much in each step, in one replicate."""
    own = offset + np.random.default_rng(0).standard_normal((STEPS, 2, 3))
    other = own.copy()
    other[:, 0, 0] += changes
    return own, other


def named(query, changes, batches=(), place=0, offset=0.0):
    """Messages about one query."""
    own, other = values_of(np.array(changes), offset)
    recorded = SimpleNamespace(batches={query.name: dict(enumerate(batches))})
    return misplaced(plan_of(query), recorded, place, {query.name: own}, {query.name: other}).get(query.name, "")


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


@pytest.mark.parametrize("records", [Disjoint(6), RandomAllocation(24, 6)])
def test_a_record_of_one_block_changes_one_release(records):
    query = GaussianQuery("sum", SENSITIVITY, STEPS, records)
    assert named(query, [0.0, SENSITIVITY, 0.0, 0.0]) == named(query, [0.0] * STEPS) == ""
    assert named(query, [0.0, SENSITIVITY, 1e-11, 0.0]) == ""  # rounding
    assert "one record changes several" in named(query, [1e-6, SENSITIVITY, 0.0, 0.0])
    assert named(GaussianQuery("sum", SENSITIVITY, STEPS, Full()), [SENSITIVITY] * STEPS) == ""


def test_blocks_of_two_queries_are_disjoint_too():
    one, two = (GaussianQuery(name, SENSITIVITY, STEPS, Disjoint(3)) for name in ("one", "two"))
    own, first = values_of(np.array([1.0, 0.0, 0.0, 0.0]))
    last = values_of(np.array([0.0, 0.0, 0.0, 1.0]))[1]
    for second, said in ((last, {"one, two"}), (own, set())):
        found = misplaced(plan_of(one, two), None, 0, {"one": own, "two": own}, {"one": first, "two": second})
        assert found.keys() == said


def test_a_constant_added_hides_no_change():
    query = GaussianQuery("sum", SENSITIVITY, STEPS, Disjoint(6))
    assert named(query, [1e-2, 1.0, 0.0, 0.0], offset=1e9) != ""


def test_a_drawn_batch_is_changed_by_its_own_records_alone():
    query = GaussianQuery("sum", SENSITIVITY, STEPS, Poisson(0.1))
    without, holding, masked = batch([3, 5]), batch([7, 5]), batch([7, 5], [0.0, 1.0])
    drawn = [without, holding, without, without]
    assert named(query, [0.0, 1.0, 0.0, 0.0], drawn, place=7) == ""
    for changes, batches in (
        ([0.0, 1.0, 1e-3, 0.0], drawn),
        ([0.0, 1.0, 0.0, 0.0], [without, masked, without, without]),
    ):
        assert named(query, changes, batches, place=7) == "a record changes a release whose batch does not have it"
    assert named(query, [0.0, 1.0, 1e-3, 0.0], drawn[:2], place=7) == ""  # too few batches: `check_counts` says so


def test_a_record_that_is_drawn_twice_changes_twice_as_much():
    query = GaussianQuery("sum", SENSITIVITY, STEPS, WithReplacement(24, 2))
    drawn = [batch([7, 7]), batch([7, 5]), batch([3, 5]), batch([3, 5])]
    assert named(query, [2 * SENSITIVITY, SENSITIVITY, 0.0, 0.0], drawn, place=7) == ""
    for changes in ([2.02 * SENSITIVITY, 0.0, 0.0, 0.0], [0.0, 1.01 * SENSITIVITY, 0.0, 0.0]):
        assert "drawn once changes a release by 1.01 times" in named(query, changes, drawn, place=7)


def test_nodes_of_a_tree_cost_what_is_paid():
    """Squares of the changes in units of the sensitivity are added up along a record's nodes."""
    costs = {"path_cost": 2.0, "paid_cost": 2.0, "attained": False}
    query = TreeQuery("node", 1.0, STEPS, Nodes(STEPS), **costs)
    assert named(query, [1.0, 0.0, 1.0, 0.0]) == ""
    assert named(query, [1.0, 0.5, 1.0, 0.0]) == "one record changes nodes that cost 2.25, and 2 is paid"


def test_every_law_of_noise_has_a_shape():
    assert SHAPES.keys() == NOISE_LAWS.keys()


def subject(algorithm="wang2017.dp_gd_pl", problem="ridge_logistic", **keys):
    cell = make_cell(algorithm, problem, {"n": 24, "d": 3, **keys})
    return subject_of(cell, calibrate_cell(cell, "accounted", 1), 1)


def test_points_and_gradients_of_a_subject():
    """Points lie in the domain, at several distances; gradients are those of single records."""
    own = subject("su2023.app_objp", "logistic_glm")
    points, domain = points_of(own), own.problem.feasible_set
    lengths = domain.norm(points)[:, 0] / domain.radius
    assert points.shape == (12, 3) and lengths.max() == pytest.approx(1.0) and lengths.min() < 0.5
    gradients = record_gradients(own, 24)
    assert gradients.shape == (12, 24, 3) and record_gradients(own, 5).shape == (12, 5, 3)
    np.testing.assert_allclose(gradients.mean(axis=1), own.problem.mean_gradient(points, own.data), rtol=1e-9)


def test_replicates_are_fewer_where_each_costs_more():
    assert [subject(steps=steps).many for steps in (4, 400, 400_000)] == [1024, (1 << 22) // (400 * 27), 8]
    solved = subject("wang2017.objective_perturbation_kst12")
    assert solved.many == 512


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
