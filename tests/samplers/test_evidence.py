import numpy as np
import pytest
from scipy.signal import lfilter

from dpsco_bench.samplers.evidence import MOST_KEPT, ChainTrace, split_rhat_and_ess


def autoregression(steps, chains, memory):
    noise = np.random.default_rng(0).standard_normal((steps, chains))
    noise[1:] *= np.sqrt(1 - memory**2)
    return lfilter([1.0], [1.0, -memory], noise, axis=0)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression(memory):
    rhat, ess = split_rhat_and_ess(autoregression(2000, 32, memory))
    assert ess == pytest.approx(2000 * 32 * (1 - memory) / (1 + memory), rel=0.15)
    assert rhat < 1.02


def test_correlations_that_rise_again_count_as_the_least_before():
    """Geyer's initial monotone sequence, by sums over the chains one lag at a time."""
    rng, steps = np.random.default_rng(1), np.arange(400)[:, None]
    waves = np.cos(2 * np.pi * (steps / 11.0 + rng.uniform(size=24)))
    values = autoregression(400, 24, 0.9) + 0.5 * waves
    half, chains = 200, np.concatenate([values[:200], values[200:]], axis=1)
    centred, within = chains - chains.mean(axis=0), chains.var(axis=0, ddof=1).mean()
    pooled = (half - 1) / half * within + chains.mean(axis=0).var(ddof=1)
    sums, total, least = [], 0.0, np.inf
    for lag in range(half):
        covariance = (centred[: half - lag] * centred[lag:]).sum(axis=0).mean() / (half - 1)
        sums.append(1.0 if lag == 0 else 1.0 - (within - covariance) / pooled)
    rises = False
    for pair in (sums[k] + sums[k + 1] for k in range(0, half, 2)):
        if pair <= 0:
            break
        rises, least = rises or pair > least, min(least, pair)
        total += least
    assert rises
    assert split_rhat_and_ess(values)[1] == pytest.approx(chains.size / (2 * total - 1), rel=1e-9)


def test_chains_that_disagree_are_seen():
    for apart in (3.0 * np.eye(1, 16), np.linspace(0, 2, 1000)[:, None]):  # one of them, and a drift of all
        assert split_rhat_and_ess(autoregression(1000, 16, 0.3) + apart)[0] > 1.05


def test_a_trace_is_that_of_the_second_half_thinned():
    trace = ChainTrace(40, np.asarray)
    for t in range(40):
        trace(np.array([100.0, 200.0]) if t < 20 else np.array([1.0, 2.0]) + 0.1 * (t % 3))
    evidence = trace.evidence()
    assert np.all(evidence["chain_risk"] < 3) and np.isfinite(evidence["ess"])
    steps = 3 * MOST_KEPT
    trace = ChainTrace(steps, np.asarray)
    for t in range(steps):
        trace(np.array([float(t)]))
    assert len(trace.values) == MOST_KEPT and trace.values[1, 0] == 3
    trace = ChainTrace(800, np.asarray)
    for t in range(800):
        trace(5.0 + 3.0 * np.exp(-t / 40.0) * np.ones(3))
    assert trace.relaxation(None) == pytest.approx(40.0, rel=1e-2)
    assert trace.relaxation(5.0) == pytest.approx(40.0, rel=1e-3)
    assert np.isnan(trace.relaxation(0.0))
