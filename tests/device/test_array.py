"""The contract suite's runs on the stand-in for CuPy: the numbers of NumPy, and what a step costs."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.samplers import chains
from dpsco_bench.papers.gopi2022.samplers.chains import sample_gibbs
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.draws import KeyedDraws

from ..contract.case import PRIVACY
from ..contract.cases import CASES, LAWS
from . import standin
from .test_fused import IDS as KERNELS
from .test_fused import cases_of

LENGTHS = ("steps", "inner_steps")
"""Options that say how many steps are made; elsewhere n does."""
ON_THE_HOST = ("gopi2022.",)
"""Samplers of laws: but for Gibbs chains, their draws are made on the host."""
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
    scale = np.abs(expected.output).max()
    np.testing.assert_allclose(outcome.output, expected.output, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_array_equal(outcome.objective.evaluations.get(), expected.objective.evaluations)


def longer(case):
    for key in LENGTHS:
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


@pytest.mark.parametrize("id", [id for id in KERNELS if "phased" not in id])
def test_steps_of_kernels_cost_nothing_more(id, cupy):
    case = cases_of(id, cupy)[-1]
    (*short, before), (*long, after) = (counted(c, cupy, fused=True) for c in (case, longer(case)))
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
