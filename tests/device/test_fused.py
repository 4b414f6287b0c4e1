"""Kernels and arrays on the stand-in for CuPy: the words and numbers of the reference, and what a step costs."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.fused import device
from dpsco_bench.fused.registry import FUSED, run_of
from dpsco_bench.papers.gopi2022.samplers import chains
from dpsco_bench.papers.gopi2022.samplers.chains import sample_gibbs
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.draws import KeyedDraws

from ..contract.cases import CASES, LAWS, PRIVACY
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
ROUNDS = [(OTB[0], {"learner": name}) for name in LEARNERS]
ROUNDS += [(OTB[0], options) for options in ({"sensitivity": "eq6"}, {"clip_differences": True}, {"radius": "D"})]
ROUNDS += [("zhang2022.parameter_free", {"regulariser": "adaptive"})]
"""The last one has no kernel: an observer sees the rounds of a reference implementation on a device."""
SHARED = [("zhang2022.dp_sgd", {"steps": 7}), (OTB[0], {})]


@pytest.mark.parametrize(("id", "options"), ROUNDS, ids=str)
def test_rounds_and_what_is_seen_of_them(id, options, cupy):
    given = dict(n=37, d=5, options=options, problem_options={"spread": 0.3})
    got, launches = trial((id, "quad"), **given), standin.COUNT["launch"]
    expected = trial((id, "quad"), backend="numpy", **given)
    assert id != OTB[0] or launches < 200
    assert got.extras.keys() == expected.extras.keys() > {"regret", "noise_half"}
    for name, values in (expected.extras | {"output": expected.output}).items():
        close(got.output if name == "output" else got.extras[name], values, unit=1e-3)


@pytest.mark.parametrize(("id", "options"), SHARED, ids=["batches", "rounds"])
def test_several_signals_at_once_share_their_draws(id, options, cupy, monkeypatch):
    monkeypatch.setattr(device, "NUMBERS", 400)
    given = dict(n=20, d=4, replicates=3, options=options, signals=(0.2, 1.0))
    got, expected = (trial((id, "linear_ball"), backend=b, **given).output for b in BACKENDS)
    assert len(got) == 6
    close(got, expected)


def test_neither_tiles_nor_the_order_of_threads_change_a_bit(cupy, monkeypatch):
    """Wide rows run the reference implementation."""
    whole = trial(SGD, 12, 150).output.tobytes()
    monkeypatch.setattr(device, "NUMBERS", 10)
    assert trial(SGD, 12, 150).output.tobytes() == whole
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", True)
    assert trial(SGD, 12, 150).output.tobytes() == whole
    case = next(case for case in CASES if case.algorithm.id == SGD[0] and case.problem.name == SGD[1])
    assert chosen(case, cupy) != case.algorithm.run_function
    monkeypatch.setattr(device, "WIDTHS", {2: (32, 1)})
    assert chosen(case, cupy) == case.algorithm.run_function


FEW = {"epochs": 1, "inner_steps": 2}
METHODS = {"steps": (SGD, 8, {}), "vertices": (FRANK_WOLFE, 18, {}), "rounds": (OTB, 8, {}), "epochs": (SVRG, 8, FEW)}
WIDTHS = (150, 300, 1030)  # a warp with two blocks of four coordinates a thread, 128 threads, and 256
ALL = [pytest.param(*METHODS[name], d, id=f"{name}-{d}") for name in METHODS for d in WIDTHS]


def test_there_is_a_width_for_each_size_of_a_block():
    sizes = {next(size for most, size in device.WIDTHS.items() if d <= most) for d in WIDTHS}
    assert {threads for threads, _ in sizes} == {threads for threads, _ in device.WIDTHS.values()}


@pytest.mark.parametrize("on", ["cupy", "backwards", pytest.param("card", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("method", "n", "options", "d"), ALL)
def test_blocks_of_every_size(method, n, options, d, on, request, monkeypatch):
    """On a card, and emulated with the threads in either order."""
    request.getfixturevalue("card" if on == "card" else "cupy")
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", on == "backwards")
    got, expected = (trial(method, n, d, backend=backend, options=options).output for backend in BACKENDS)
    close(got, expected, rtol=1e-9 if on == "card" else 1e-10)


LONGER = ("steps", "inner_steps")  # options that say how many steps are made; elsewhere n does
ON_THE_HOST = ("gopi2022.",)  # samplers of laws: but for Gibbs chains, their draws are made on the host
STEPPING = {
    case.algorithm.id: case
    for case in reversed(CASES)
    if case.noisy and not case.problem.draws_per_replicate and not case.algorithm.id.startswith(ON_THE_HOST)
}
STEPPING.pop("su2023.nrmd")  # takes more records for more steps


@pytest.mark.parametrize("case", [c for c in LAWS if not c.algorithm.id.startswith(ON_THE_HOST)], ids=lambda c: c.id)
def test_runs_give_the_numbers_of_numpy(case, cupy):
    expected, outcome = case.run(fused=False), case.run(xp=cupy, fused=False)
    assert isinstance(outcome.raw, cupy.ndarray)
    close(outcome.output, expected.output, rtol=1e-9)
    np.testing.assert_array_equal(outcome.objective.evaluations.get(), expected.objective.evaluations)


def longer(case):
    for key in LONGER:
        if key in case.options:
            return replace(case, options=case.options | {key: 2 * case.options[key]})
    n = 2 * case.n
    return replace(case, problem=case.problem.at(n, PRIVACY.epsilon, PRIVACY.delta), n=n)


def counted(case, cupy, fused):
    """Launches, uploads and synchronisations of a run, and its releases."""
    assert case.scales
    standin.COUNT.clear()
    case.run(xp=cupy, fused=fused)
    return *(standin.COUNT[kind] for kind in ("launch", "upload", "sync")), sum(q.releases for q in case.plan.queries)


@pytest.mark.parametrize("id", STEPPING)
def test_more_steps_of_a_listing_upload_and_wait_no_more(id, cupy):
    case = STEPPING[id]
    (_, *short, before), (_, *long, after) = (counted(c, cupy, fused=False) for c in (case, longer(case)))
    assert after - before <= 2 or np.all(np.array(long) <= short)  # tables of laws are uploaded once


@pytest.mark.parametrize("id", [id for id in IDS if "phased" not in id])
def test_steps_of_kernels_cost_nothing_more(id, cupy):
    case = cases_of(id, cupy)[-1]
    both = case, longer(case)
    for own in both:  # what a problem keeps is uploaded once
        own.run(xp=cupy)
    (*short, before), (*long, after) = (counted(own, cupy, fused=True) for own in both)
    assert after > before
    assert short == long


DRAWS = KeyedDraws(lambda name: Stream((7, len(name)), np), 5, 3, copies=2)


@pytest.mark.parametrize(("q", "p", "tilt"), [(1.4, 1.0, 8.0), (1.5, 1.5, 0.0), (1.9, 3.0, 40.0)])
def test_states_are_those_of_the_host(q, p, tilt, cupy, monkeypatch):
    monkeypatch.setattr(chains, "STATES", 100)
    v = tilt * np.random.default_rng(1).standard_normal((6, 5))
    (got, expected), law = ([], []), (v, 3.0, q, p, 0.8, 20)
    last = chains.gibbs_chains(cupy, DRAWS, *law, lambda x: got.append(x.copy()))
    sample_gibbs(DRAWS, np.zeros_like(v), *law, lambda x: expected.append(x.copy()))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(last, got[-1])


def test_the_algorithm_runs_them(cupy):
    gibbs = [case for case in CASES if case.algorithm.id == "gopi2022.gibbs" and case.noisy]
    case = next(case for case in gibbs if case.problem.name == "linear_l1_ball")
    standin.COUNT.clear()
    got, expected = case.run(xp=cupy), case.run()
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-9, atol=1e-11)
    assert standin.COUNT["gibbs_sweeps"] == 1
