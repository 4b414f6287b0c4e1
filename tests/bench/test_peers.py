"""What the benchmark compares computes the same numbers, given the same noise."""

import inspect
from functools import partial

import numpy as np
import pytest
from scipy import stats

from dpsco_bench.bench import draws
from dpsco_bench.bench.draws import gamma_and_power
from dpsco_bench.bench.loops import SgdTask, batched_run, single_run
from dpsco_bench.bench.measure import NotMeasurable
from dpsco_bench.papers.bassily2021 import bench as noisy_sgd
from dpsco_bench.rng.streams import Stream, stream_key

TASK = SgdTask(replicates=3, d=10, steps=12, scale=3.0)


def test_the_script_runs_what_the_batched_loop_runs():
    drawn = Stream(stream_key(0, "bench", "noise/gradient")).normal(0, 12, 0, 3, 10).astype(np.float64)
    problem = TASK.problem()
    single = [single_run(TASK, problem.spectrum, problem.start, lambda t, r=r: drawn[t, r]) for r in range(3)]
    np.testing.assert_allclose(batched_run(TASK), single, rtol=0, atol=1e-14)


def test_the_products_are_those_of_the_gradient():
    pair = draws._pair(4, 300, 7)
    pair.peer()
    gradient = inspect.getclosurevars(pair.peer).nonlocals["gradient"]
    np.testing.assert_allclose(gradient / 300, pair.ours(), rtol=0, atol=1e-15)
    assert pair.ours_units == pair.peer_units == 1200


def test_gamma_and_power_have_the_law_of_the_generalised_gaussian():
    """The radius is chi-distributed, and a coordinate has the second moment of the project's own draws."""
    z = gamma_and_power(np.random.default_rng(0), 20_000, 5, 3.0)
    assert stats.kstest(np.sum(np.abs(z) ** 3, axis=1) ** (1 / 3), stats.chi(5).cdf).pvalue > 1e-3
    own = Stream(stream_key(0, "bench", "law")).generalised_gaussian(0, 1, 0, 20_000, 5, 3.0)
    np.testing.assert_allclose(np.mean(z**2), np.mean(own.astype(np.float64) ** 2), rtol=0.03)


SGD = noisy_sgd.SampledSgdTask(replicates=3, d=7, steps=40, n=9, step=0.4)
PEERS = [noisy_sgd.c_run, partial(noisy_sgd.c_run, wide=True), noisy_sgd.jax_run, noisy_sgd.torch_run]


@pytest.fixture(scope="module")
def given():
    """Indices ``(T,)`` and noise ``(R, T, d)`` for all, and where the plain loop ends."""
    generator = np.random.default_rng(3)
    indices, drawn = generator.integers(9, size=40), generator.standard_normal((3, 40, 7))
    return indices, drawn, [noisy_sgd.script_run(SGD, indices, rows) for rows in drawn]


@pytest.mark.parametrize("peer", PEERS)
def test_single_record_peers_run_the_same_steps(peer, given):
    indices, drawn, ends = given
    try:
        run = peer(SGD, indices, drawn)
    except NotMeasurable as reason:
        pytest.skip(str(reason))
    np.testing.assert_allclose(np.asarray(run()), ends, rtol=0, atol=1e-14)
