"""Kernels in place of reference implementations: the same words, the same numbers to 1e-10, one warp or several."""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.fused import device
from dpsco_bench.fused.registry import FUSED, run_of

from ..contract.cases import CASES
from ..runs import close, run
from . import standin

IDS = [id for id in FUSED.names() if FUSED.get(id).device is not None]


def chosen(case, cupy):
    objective = case.subject.objective(replicates=2, xp=cupy)
    return run_of(case.algorithm, objective, case.plan, case.mechanism(replicates=2, xp=cupy))


def cases_of(id, cupy):
    """Cases that run by kernels, one for each problem."""
    found = {case.problem: case for case in CASES if case.algorithm.id == id and case.noisy}
    return [case for case in found.values() if chosen(case, cupy) != case.algorithm.run_function]


@pytest.mark.parametrize("id", IDS)
def test_kernels_give_the_numbers_of_the_listing(id, cupy):
    cases = cases_of(id, cupy)
    assert cases
    for case in cases:
        got, expected = case.run(xp=cupy), case.run(fused=False)
        close(got.output, expected.output)
        assert got.mechanism.released == expected.mechanism.released
        np.testing.assert_array_equal(got.objective.evaluations.get(), expected.objective.evaluations)


BACKENDS = ("cupy", "numpy")
SGD, FRANK_WOLFE = ("wang2017.noisy_sgd_bst14", "ridge_logistic"), ("bassily2021.poly_sfw", "gaps_l1")
SVRG, OTB = ("wang2017.dp_svrg_pp", "ridge_logistic"), ("zhang2022.dp_otb", "quad")


def trial(method, n, d, backend="cupy", replicates=2, signals=(), **keys):
    """A run without a case, by kernels or by the reference implementation."""
    standin.COUNT.clear()
    given = {"replicates": replicates, "backend": backend, "fused": backend == "cupy", "signals": signals}
    return run(Cell(*method, n, 0.9, 1e-5, d, **keys), 0.3, **given)


LEARNERS = ("ogd_fixed", "ogd_adagrad", "osd", "ftrl_adagrad", "optimistic_ftrl", "optimistic_omd")
UNITS = [{"sensitivity": "eq6"}, {"clip_differences": True}, {"radius": "D"}]
ROUNDS = [("zhang2022.dp_otb", options) for options in (*({"learner": name} for name in LEARNERS), *UNITS)]
ROUNDS += [("zhang2022.parameter_free", {"regulariser": "adaptive"})]
"""The last one has no kernel: an observer sees the rounds of a reference implementation on a device."""


@pytest.mark.parametrize(("id", "options"), ROUNDS, ids=str)
def test_rounds_and_what_is_seen_of_them(id, options, cupy):
    given = dict(n=37, d=5, options=options, problem_options={"spread": 0.3})
    got, launches = trial((id, "quad"), **given), standin.COUNT["launch"]
    expected = trial((id, "quad"), backend="numpy", **given)
    assert id != "zhang2022.dp_otb" or launches < 200
    assert got.extras.keys() == expected.extras.keys() > {"regret", "noise_half"}
    for name, values in (expected.extras | {"output": expected.output}).items():
        close(got.output if name == "output" else got.extras[name], values, unit=1e-3)


SHARED = [("zhang2022.dp_sgd", {"steps": 7}), ("zhang2022.dp_otb", {})]


@pytest.mark.parametrize(("id", "options"), SHARED, ids=["batches", "rounds"])
def test_several_signals_at_once_share_their_draws(id, options, cupy, monkeypatch):
    monkeypatch.setattr(device, "NUMBERS", 400)
    given = dict(n=20, d=4, replicates=3, options=options, signals=(0.2, 1.0))
    got, expected = (trial((id, "linear_ball"), backend=b, **given).output for b in BACKENDS)
    assert len(got) == 6
    close(got, expected)


def test_neither_tiles_nor_the_order_of_threads_change_a_bit(cupy, monkeypatch):
    whole = trial(SGD, 12, 150).output.tobytes()
    monkeypatch.setattr(device, "NUMBERS", 10)
    assert trial(SGD, 12, 150).output.tobytes() == whole
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", True)
    assert trial(SGD, 12, 150).output.tobytes() == whole


def test_wide_rows_run_the_listing(cupy, monkeypatch):
    case = next(case for case in CASES if case.algorithm.id == SGD[0] and case.problem.name == SGD[1])
    assert chosen(case, cupy) != case.algorithm.run_function
    monkeypatch.setattr(device, "WIDTHS", {2: (32, 1)})
    assert chosen(case, cupy) == case.algorithm.run_function


METHODS = {"steps": (SGD, 8, {}), "vertices": (FRANK_WOLFE, 18, {}), "rounds": (OTB, 8, {})}
METHODS["epochs"] = (SVRG, 8, {"epochs": 1, "inner_steps": 2})
WIDTHS = (150, 300, 1030)
"""A warp with two blocks of four coordinates a thread, 128 threads, and 256."""
ALL = [pytest.param(*METHODS[name], d, id=f"{name}-{d}") for name in METHODS for d in WIDTHS]


def blocks_agree(method, n, options, d, rtol):
    close(*(trial(method, n, d, backend=backend, options=options).output for backend in BACKENDS), rtol=rtol)


def test_there_is_a_width_for_each_size_of_a_block():
    sizes = {next(size for most, size in device.WIDTHS.items() if d <= most) for d in WIDTHS}
    assert {threads for threads, _ in sizes} == {threads for threads, _ in device.WIDTHS.values()}


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("method", "n", "options", "d"), ALL)
def test_blocks_of_every_size_emulated_in_either_order(method, n, options, d, backwards, cupy, monkeypatch):
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", backwards)
    blocks_agree(method, n, options, d, 1e-10)


@pytest.mark.gpu
@pytest.mark.parametrize(("method", "n", "options", "d"), ALL)
def test_gpu_blocks_of_every_size(method, n, options, d):
    if not pytest.importorskip("cupy", reason="CuPy is not installed").is_available():
        pytest.skip("CuPy finds no usable GPU")
    blocks_agree(method, n, options, d, 1e-9)
