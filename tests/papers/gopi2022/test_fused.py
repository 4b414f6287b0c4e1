"""Words and laws of compiled loops against those of the noise layer and of SciPy; whole chains."""

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri, ndtri_exp

from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.gopi2022 import fused as laws
from dpsco_bench.papers.gopi2022.samplers import truncated
from dpsco_bench.rng.streams import Stream

from ...runs import both, needs_numba, run

needs_numba()
RNG = np.random.default_rng(3)


def each(law, *arguments):
    return np.array([law(*point) for point in zip(*np.broadcast_arrays(*arguments), strict=True)])


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_words_are_those_of_the_noise_layer(count):
    key, high = (7, 2**32 - 5), 1_000_003
    out, whole = np.empty(count + 1), np.empty(count + 1, dtype=np.int64)
    laws.fill_uniform(out, count, key, 2**31 + 3, 12)
    laws.fill_integers(whole, count, high, key, 2**31 + 3, 12)
    box = (2**31 + 3, 1, 12, 1)
    np.testing.assert_array_equal(out[:count], Stream(key).uniform(*box, count)[0, 0])
    np.testing.assert_array_equal(whole[:count], Stream(key).integers(*box, count, high=high)[0, 0])


def test_the_normal_law():
    u = np.concatenate([RNG.random(4000), 10.0 ** RNG.uniform(-17, -1, 400), 1.0 - 10.0 ** RNG.uniform(-15, -1, 400)])
    np.testing.assert_allclose(each(laws.standard_normal, u), ndtri(u), rtol=1e-13, atol=1e-14)
    x = np.concatenate([RNG.uniform(-45, 9, 3000), [-19.99, -20.01, -1e3, -1e6, 0.0]])
    np.testing.assert_allclose(each(laws.log_below, x), log_ndtr(x), rtol=3e-13, atol=1e-300)
    level = -(10.0 ** RNG.uniform(-15, 6, 3000))
    np.testing.assert_allclose(each(laws.quantile_of_log, level), ndtri_exp(level), rtol=3e-12, atol=1e-13)
    level = -(10.0 ** RNG.uniform(1, 6, 3000))
    np.testing.assert_allclose(each(laws.quantile_of_log, level), truncated.quantile_of_log(level), rtol=1e-14)


@pytest.mark.parametrize("sd", [3.0, 0.3, 0.02, 1e-3, 1e-5])
def test_laws_on_an_interval(sd):
    """Means inside, on the edge and as far outside as a step goes."""
    u, high = RNG.random(2000), 0.7
    mean = np.concatenate([high * RNG.uniform(-1, 1, 1000), high + sd * RNG.uniform(-30, 9, 1000)])
    mean *= RNG.choice([-1.0, 1.0], mean.size)
    normal = each(laws.truncated_normal, u, mean, sd, high)
    expected = truncated.truncated_normal(u, mean, sd, high)
    assert np.all(np.abs(normal - expected) <= 1e-12 + 3e-12 * np.abs(mean))
    np.testing.assert_allclose(normal[:1000], expected[:1000], rtol=1e-10, atol=1e-11)


def chain(problem, d, **own):
    options = {"delta_in": 0.05, "start": "corner", "sweeps": 500}
    return Cell("gopi2022.proximal_sampler", problem, 8, 1.0, 1e-3, d, options=options, problem_options=own)


RUNS = {"cube": chain("cube_onehot", 2), "l_1.5": chain("lp_onehot", 3, p=1.5), "l_1": chain("lp_onehot", 4, p=1.0)}


@pytest.mark.parametrize("name", RUNS)
def test_a_compiled_chain_is_its_listing(name):
    """The same words, states to 1e-10, the same queries."""
    got, expected = both(RUNS[name], RUNS[name].plan("paper", 1)[1].queries[0].paper_scale, "paper", replicates=3)
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)
    assert got.extras.keys() == expected.extras.keys()
    for key, values in expected.extras.items():
        np.testing.assert_allclose(got.extras[key], values, rtol=1e-8, err_msg=key)
    np.testing.assert_array_equal(got.extras["value_queries"], expected.extras["value_queries"])


def test_streams_that_are_asked_for_late_are_looked_up(monkeypatch):
    expected = run(RUNS["l_1.5"], 1.0, "paper", replicates=3).output
    monkeypatch.setattr(laws, "FEW", 1)
    np.testing.assert_array_equal(run(RUNS["l_1.5"], 1.0, "paper", replicates=3).output, expected)
