"""Data that leak into the output from one place of the data set: the audit puts its canary there."""

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.by_hand import audit
from dpsco_bench.audit.forced import look
from dpsco_bench.audit.placed import Placed
from dpsco_bench.cli.main import main
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Disjoint, Poisson
from dpsco_bench.problems.base import Trait
from tests.marks import rest_at_night

N, BLOCKS = 64, 4


def adding(place, hit=lambda y: np.ones(len(y), dtype=bool)):
    """One release, and the record of a place on top of it."""

    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        return y + hit(y)[:, None] * np.asarray(objective.data.features)[place, : y.shape[1]]

    return run


def blocks(id, noisy, order_invariant):
    """One pass over disjoint blocks, of which all but those in ``noisy`` are used without noise."""

    @algorithm(id, source="a test", needs=(Trait.LIPSCHITZ,), order_invariant=order_invariant)
    def plan(given):
        """One pass."""
        size = given.n // BLOCKS
        sensitivity = 2 * given.constants.lipschitz / size
        query = GaussianQuery("gradient", sensitivity, BLOCKS, Disjoint(size), paper_scale=sensitivity)
        return make_plan(query, gradient_evaluations=BLOCKS * size, n=given.n)

    @plan.run
    def run(objective, plan, mechanism):
        x, size = objective.start, objective.n // BLOCKS
        for block in range(BLOCKS):
            gradient = objective.range_gradient(x, block * size, size)
            y = mechanism.release("gradient", gradient, block)
            x = x - 0.25 * (y if block in noisy else gradient)
        return x

    return id


def place_of(id, **keys):
    cell = make_audit_cell(id, None, {"n": N, **keys})
    return look(cell, calibrate_cell(cell, "accounted", 1), 1, Mechanism).place


@pytest.mark.parametrize("place", [0, 7, N - 1])
def test_a_record_that_is_added_to_the_output_is_refuted(register, place):
    id = register(f"audit_test.adding_{place}", adding(place))
    result = audit(make_audit_cell(id, None, {"n": N}), runs=1000)
    assert place_of(id) == place and result.verdict == "refuted"
    assert result.neighbours.endswith(f", in place {place}") == bool(place)


def test_so_is_one_that_is_added_in_a_hundredth_of_the_runs(register):
    id = register("audit_test.adding_seldom", adding(5, lambda y: np.floor(np.abs(y[:, 0]) * 1e6) % 100 == 0))
    cell = make_audit_cell(id, None, {"n": N})
    assert audit_cell(cell, runs=10_000).verdict == "not refuted"
    assert audit(cell, runs=10_000).verdict == "refuted"


@pytest.mark.parametrize("order_invariant", [False, True])
def test_a_last_block_without_noise_is_refuted_and_honest_blocks_are_not(order_invariant, capsys):
    leaky = blocks(f"audit_test.last_block_{order_invariant}", range(BLOCKS - 1), order_invariant)
    assert place_of(leaky) >= N - N // BLOCKS
    assert main(["audit", leaky, f"n={N}", "--runs", "1000"]) == 0
    shown = capsys.readouterr().out
    assert ": refuted (" in shown and f"in place {place_of(leaky)}" in shown
    honest = blocks(f"audit_test.all_blocks_{order_invariant}", range(BLOCKS), order_invariant)
    assert place_of(honest) == 0


@pytest.mark.parametrize(
    "id",
    rest_at_night(["wang2017.dp_gd_pl", "zhang2022.parameter_free", "wang2017.objective_perturbation_kst12"], 0, 2),
)
def test_where_nothing_leaks_the_audit_is_the_usual_one(id):
    cell = make_audit_cell(id, None, {"n": N})
    assert place_of(id) == 0
    assert audit(cell, runs=100).to_json() == {**audit_cell(cell, runs=100).to_json(), "remarks": []}


def test_with_hidden_batches_an_honest_method_leaks_nothing(register):
    def run(objective, plan, mechanism):
        batch = mechanism.sample("gradient")
        return mechanism.release("gradient", objective.batch_gradient(objective.start, batch))

    assert place_of(register("audit_test.hidden", run, Poisson(0.5))) == 0


def test_the_algorithm_sees_the_two_records_exchanged(register):
    seen = []

    def run(objective, plan, mechanism):
        seen.append(np.array(objective.data.features))
        return mechanism.release("gradient", objective.mean_gradient(objective.start))

    cell = make_audit_cell(register("audit_test.seeing", run), None, {"n": N})
    audit_cell(Placed.of(cell, 3), runs=100)
    first = cell.draw_data(2017, 0).features[0]
    assert any(np.array_equal(np.abs(rows[3]), np.abs(first)) and not np.array_equal(rows[3], rows[0]) for rows in seen)
