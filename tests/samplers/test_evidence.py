import numpy as np
import pytest

from dpsco_bench.samplers.evidence import MOST_KEPT, ChainTrace, split_rhat_and_ess


def autoregression(steps, chains, memory, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((steps, chains)) * np.sqrt(1 - memory**2)
    values = [rng.standard_normal(chains)]
    for row in noise[1:]:
        values.append(memory * values[-1] + row)
    return np.array(values)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression(memory):
    rhat, ess = split_rhat_and_ess(autoregression(2000, 32, memory))
    assert ess == pytest.approx(2000 * 32 * (1 - memory) / (1 + memory), rel=0.15)
    assert rhat < 1.02


def test_chains_that_disagree_are_seen():
    values = autoregression(1000, 16, 0.3)
    values[:, 0] += 3.0
    assert split_rhat_and_ess(values)[0] > 1.05
    drifting = autoregression(1000, 16, 0.3) + np.linspace(0, 2, 1000)[:, None]
    assert split_rhat_and_ess(drifting)[0] > 1.05


def test_constant_chains_are_no_evidence():
    assert np.isnan(split_rhat_and_ess(np.ones((100, 4)))).all()


def test_the_second_half_counts():
    trace = ChainTrace(40)
    for t in range(40):
        trace.add(np.array([100.0, 200.0]) if t < 20 else np.array([1.0, 2.0]) + 0.1 * (t % 3))
    evidence = trace.evidence()
    assert np.all(evidence["chain_risk"] < 3)
    assert np.isfinite(evidence["ess"])


def test_long_chains_are_thinned():
    steps = 3 * MOST_KEPT
    trace = ChainTrace(steps)
    for t in range(steps):
        if trace.due:
            trace.add(np.array([float(t)]))
        else:
            trace.skip()
    assert len(trace.values) == MOST_KEPT and trace.values[1, 0] == 3


def test_short_chains_have_no_evidence():
    trace = ChainTrace(4)
    for t in range(4):
        trace.add(np.array([1.0 * t, 2.0]))
    evidence = trace.evidence()
    assert np.isnan(evidence["rhat"]) and np.isnan(evidence["ess"])
    np.testing.assert_array_equal(evidence["chain_risk"], [2.5, 2.0])


def test_relaxation_of_a_decay():
    trace = ChainTrace(800)
    for t in range(800):
        trace.add(5.0 + 3.0 * np.exp(-t / 40.0) * np.ones(3))
    assert trace.relaxation() == pytest.approx(40.0, rel=1e-2)
    assert trace.relaxation(5.0) == pytest.approx(40.0, rel=1e-3)
    assert np.isnan(trace.relaxation(0.0))
