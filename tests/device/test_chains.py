"""Gibbs chains on a device: the states of the host's, sweep by sweep, over the emulation."""

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.samplers import chains
from dpsco_bench.papers.gopi2022.samplers.chains import sample_gibbs
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.draws import KeyedDraws

from ..contract.cases import CASES
from . import standin

DRAWS = KeyedDraws(lambda name: Stream((7, len(name)), np), 5, 3, copies=2)


@pytest.mark.parametrize(("q", "p", "tilt"), [(1.4, 1.0, 8.0), (1.5, 1.5, 0.0), (1.9, 3.0, 40.0)])
def test_states_are_those_of_the_host(q, p, tilt, cupy, monkeypatch):
    monkeypatch.setattr(chains, "STATES", 100)
    v = tilt * np.random.default_rng(1).standard_normal((6, 5))
    (got, expected), law = ([], []), (DRAWS, v, 3.0, q, p, 0.8, 20)
    last = chains.sample_gibbs_there(cupy, *law, lambda x: got.append(x.copy()))
    sample_gibbs(*law, lambda x: expected.append(x.copy()))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(last, got[-1])


def test_the_algorithm_runs_them(cupy):
    case = next(
        c for c in CASES if c.algorithm.id == "gopi2022.gibbs" and c.noisy and c.problem.name == "linear_l1_ball"
    )
    standin.COUNT.clear()
    standin.PLACES.clear()
    got, expected = case.run(xp=cupy), case.run()
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-9, atol=1e-11)
    assert sum(n for (kind, name, _), n in standin.PLACES.items() if name == "gibbs_sweeps") == 1
