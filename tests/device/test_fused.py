"""Kernels in place of reference implementations: the same words, and the same numbers to 1e-10, over the emulation."""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.fused import device
from dpsco_bench.fused.registry import FUSED, run_of

from ..contract.cases import CASES
from . import standin

IDS = [id for id in FUSED.names() if FUSED.get(id).device is not None]


def chosen(case, cupy):
    objective = case.subject.objective(replicates=2, xp=cupy)
    return run_of(case.algorithm, objective, case.plan, case.mechanism(replicates=2, xp=cupy))


def cases_of(id, cupy):
    """Cases that run by kernels, one for each problem."""
    found = {case.problem: case for case in CASES if case.algorithm.id == id and case.noisy}
    return [case for case in found.values() if chosen(case, cupy) != case.algorithm.run_function]


def agrees(got, expected):
    scale = np.abs(expected.output).max()
    return (
        np.allclose(got.output, expected.output, rtol=1e-10, atol=1e-10 * scale)
        and got.mechanism.released == expected.mechanism.released
        and np.array_equal(got.objective.evaluations.get(), expected.objective.evaluations)
    )


@pytest.mark.parametrize("id", IDS)
def test_kernels_give_the_numbers_of_the_listing(id, cupy):
    cases = cases_of(id, cupy)
    assert cases
    assert [c.id for c in cases if not agrees(c.run(xp=cupy), c.run(fused=False))] == []


def trial(cupy, id, problem, n, d, replicates=2, backend="cupy", whole=False, signals=(), **keys):
    """A run without a case: output and what it counted."""
    cell = Cell(id, problem, n, 0.9, 1e-5, d, **keys)
    plan = cell.plan("none", 1)[1]
    scales, data = {query.name: 0.3 for query in plan.queries}, cell.draw_data(1, 0)
    standin.COUNT.clear()
    given = dict(root_seed=1, replicates=replicates, backend=backend, fused=backend == "cupy", signals=signals)
    trace = run_block(cell, plan, scales, data, **given)
    return trace if whole else trace.output, dict(standin.COUNT)


BACKENDS = ("cupy", "numpy")
LEARNERS = ("ogd_fixed", "ogd_adagrad", "osd", "ftrl_adagrad", "optimistic_ftrl", "optimistic_omd")
UNITS = [{"sensitivity": "eq6"}, {"clip_differences": True}, {"radius": "D"}]


@pytest.mark.parametrize("options", [{"learner": name} for name in LEARNERS] + UNITS, ids=str)
def test_rounds_and_what_is_seen_of_them(options, cupy):
    given = dict(n=37, d=5, options=options, problem_options={"spread": 0.3}, whole=True)
    (got, counted), (expected, _) = (
        trial(cupy, "zhang2022.dp_otb", "quad", backend=backend, **given) for backend in BACKENDS
    )
    assert counted["launch"] < 200
    assert got.extras.keys() == expected.extras.keys() > {"regret", "noise_half"}
    for name, values in (expected.extras | {"output": expected.output}).items():
        found = got.output if name == "output" else got.extras[name]
        np.testing.assert_allclose(found, values, rtol=1e-10, atol=1e-10 * max(np.abs(values).max(), 1e-3))


SGD = ("wang2017.noisy_sgd_bst14", "ridge_logistic")
FRANK_WOLFE = ("bassily2021.poly_sfw", "gaps_l1")


def test_an_observer_sees_rounds_of_listings_on_a_device(cupy):
    given = dict(n=20, d=4, options={"regulariser": "adaptive"}, problem_options={"spread": 0.3}, whole=True)
    (got, _), (expected, _) = (trial(cupy, "zhang2022.parameter_free", "quad", backend=b, **given) for b in BACKENDS)
    assert got.extras.keys() == expected.extras.keys() > {"theorem10"}
    for name, values in expected.extras.items():
        np.testing.assert_allclose(got.extras[name], values, rtol=1e-9, atol=1e-9 * max(np.abs(values).max(), 1e-3))


SHARED = [("zhang2022.dp_sgd", "linear_ball", {"steps": 7}), ("zhang2022.dp_otb", "linear_ball", {})]


@pytest.mark.parametrize(("id", "problem", "options"), SHARED, ids=["batches", "rounds"])
def test_several_signals_at_once_share_their_draws(id, problem, options, cupy, monkeypatch):
    monkeypatch.setattr(device, "NUMBERS", 400)
    given = dict(n=20, d=4, replicates=3, options=options, signals=(0.2, 1.0))
    got, expected = (trial(cupy, id, problem, backend=b, **given)[0] for b in BACKENDS)
    assert len(got) == 6
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


SVRG, OTB = ("wang2017.dp_svrg_pp", "ridge_logistic"), ("zhang2022.dp_otb", "quad")


def test_neither_tiles_nor_the_order_of_threads_change_a_bit(cupy, monkeypatch):
    whole = trial(cupy, *SGD, 12, 150)[0]
    monkeypatch.setattr(device, "NUMBERS", 10)
    assert trial(cupy, *SGD, 12, 150)[0].tobytes() == whole.tobytes()
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", True)
    assert trial(cupy, *SGD, 12, 150)[0].tobytes() == whole.tobytes()


def test_wide_rows_run_the_listing(cupy, monkeypatch):
    case = next(case for case in CASES if case.algorithm.id == SGD[0] and case.problem.name == SGD[1])
    assert chosen(case, cupy) != case.algorithm.run_function
    monkeypatch.setattr(device, "WIDTHS", {2: (32, 1)})
    assert chosen(case, cupy) == case.algorithm.run_function
