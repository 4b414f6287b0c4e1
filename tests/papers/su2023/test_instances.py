"""The instances of the su2023 chapter: laws of their samples, gradients, optima, signals side by side."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, kstest, t

from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.fused import compiled
from dpsco_bench.papers.su2023.fused import student_noise
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems import slopes
from dpsco_bench.problems.registry import get_problem

from ...runs import drawn

DELTA = 1e-6


def test_coins_are_binomial_and_common_to_the_signals():
    problem = get_problem("coin_linear", signal=1.0).at(400, 1.0, DELTA).with_signals(np.array([0.5, 3.0]))
    sample = drawn(problem, 400, 4000)
    heads = sample.heads.reshape(2, 4000)
    for found, rho in zip(heads, np.array([0.5, 3.0]) / 20, strict=True):
        law = binom(400, 0.5 + 0.5 * rho)
        assert abs(found.mean() - law.mean()) < 5 * law.std() / math.sqrt(4000)
        assert found.var() == pytest.approx(law.var(), rel=0.15)
    assert np.all(heads[1] >= heads[0])


def test_heavy_linear_t_and_its_noise():
    """Quantiles of Student's law, and the scale at which the variance of a vector is 1."""
    sample = drawn(get_problem("heavy_linear_t", 4), 5000, 2)
    noise = sample.noise(0, 5000)
    assert noise.shape == (2, 5000, 4)
    scale = math.sqrt(0.1 / (2.1 * 4))
    assert t.var(2.1) == pytest.approx(21) and 4 * scale**2 * t.var(2.1) == pytest.approx(1)
    assert kstest(noise.ravel() / scale, t(2.1).cdf).pvalue > 1e-3
    problem = get_problem("heavy_linear_t", 5, p=1.5, signal=2.0)
    c, mu = problem.constants, 2.0 * problem.direction
    assert np.linalg.norm(mu, ord=3) == pytest.approx(2.0) and (c.smoothness, c.gradient_deviation) == (1.0, 1.0)
    best = -np.sign(mu) * 5 ** (-1 / 1.5)
    assert problem.excess_risk(best[None], None)[0] == pytest.approx(0, abs=1e-12)
    assert get_problem("heavy_linear_t", 4, p=2.0).constants.ball.name == "l2_ball"


@pytest.mark.parametrize("id", ["su2023.thm10", "su2023.thm11"])
def test_signals_of_heavy_tails_end_at_the_least_truncation_level(id):
    """Theorems 10 and 11 ask for lambda >= max{beta, 1} M, and beta M is the largest signal, the same in all cells."""
    spare = {}
    for plan in (claim_plan(id, profile) for profile in ("ci", "full")):
        for job in (job for job in plan.jobs if plan.claim.part(job.part).signals):
            for cell in job.cells:
                strong = replace(cell, problem_options={**cell.problem_options, "signal": 1e9}).problem_entry
                largest = cell.problem_options["largest"]
                assert strong.signal_capped and strong.strengths == largest
                spare.setdefault(job.part, []).append(cell.plan("none", 0)[1].truncation - largest)
    assert min(map(min, spare.values())) >= 0.0 and min(spare["n"]) < 1e-3
    assert not get_problem("heavy_linear_t", 4, signal=1e9).signal_capped


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_heavy_mean(p):
    problem = get_problem("heavy_mean", 6, p=p)
    data, q = drawn(problem, 4000), p / (p - 1)
    noise = data.records - problem.mean
    assert np.mean(np.linalg.norm(noise, ord=q, axis=-1) ** 2) < 1.3  # 2.1 degrees of freedom: a heavy mean
    assert np.linalg.norm(problem.mean, ord=p) == pytest.approx(0.6)
    best = np.tile(problem.mean, (4, 1))
    np.testing.assert_array_equal(problem.excess_risk(best, data), np.zeros(4))
    np.testing.assert_allclose(problem.range_gradient(best, data, 0, 4000), -noise.mean(axis=1), atol=1e-13)


def test_two_point_tail():
    problem = get_problem("two_point_tail", 8, signal=10.0).at(4096, 1.0, DELTA)
    V, rho = problem.height, float(problem.strengths[0])
    tau = math.sqrt(4096) / 8**0.25
    assert pytest.approx(1.01 * tau) == V and rho == pytest.approx(10 * math.sqrt(8) / (3 * tau))
    low, high = (float(v[0, 0]) for v in problem._levels(np.zeros((1, 8))))
    p = V**-2
    assert low + p * V == pytest.approx(-rho / math.sqrt(8)) and high - low == pytest.approx(V)
    assert V * math.sqrt(p * (1 - p)) <= 1
    counts = drawn(problem, 4096, 3000).counts
    assert counts.shape == (3000, 8) and counts.mean() == pytest.approx(4096 * p, rel=0.02)


def test_smooth_hinge():
    problem = get_problem("smooth_hinge", 8, signal=1.0).at(2**30, 1.0, DELTA)
    rho = float(problem.strengths[0])
    assert rho == pytest.approx(0.5 / (1 / (2 * 0.0417377988161) + 0.5), rel=1e-10)
    x = np.array([[-1.0], [1 - rho / 2], [1.5]]) * np.eye(1, 8)
    np.testing.assert_allclose(problem.risk(x, None), [2 * rho - rho**2 / 2, rho**2 / 8, 0.0], atol=1e-15)


@pytest.mark.parametrize(("regime", "d"), [("sampling", 4), ("privacy", 8)])
def test_coord_pseudo_huber(regime, d):
    problem = get_problem("coord_pseudo_huber", d, regime=regime, signal=100.0).at(4096, 0.1, DELTA)
    rho, c = float(problem.strengths[0]), problem.rounding
    privacy = PrivacySpec(0.1, DELTA)
    assert c == min(4 / 64, 0.1 / (2 * math.sqrt(d * privacy.log_inverse_delta)))
    assert problem.constants.smoothness == 1 / c and rho == min(1.0, 100 / (64 if regime == "sampling" else 4096))
    data = drawn(problem, 4096, 2)
    grid = np.linspace(-problem.target, problem.target, 4001)[:, None] * np.ones(d)
    assert problem.optimal_risk(data)[0] <= problem.risk(grid, data).min() + 1e-12
    x = np.random.default_rng(2).normal(size=(2, d))
    mean, h = problem.mean_gradient(x, data), 1e-6
    expected = [(problem.risk(x + h * e, data) - problem.risk(x - h * e, data)) / (2 * h) for e in np.eye(d)]
    np.testing.assert_allclose(mean, np.stack(expected, axis=1), atol=0.05)


@pytest.mark.skipif(not compiled.available(), reason="Numba is missing or switched off")
def test_compiled_student_noise_is_that_of_numpy():
    """The ends of the interval, where the radius is 0 or largest, and quarters of a turn."""
    rng = np.random.default_rng(6)
    for d in (1, 4, 7):
        drawn = rng.random((40, 5, 2 * d))
        drawn[0, 0], drawn[0, 1], drawn[1, 0], drawn[1, 1] = 2.0**-33, 1.0 - 2.0**-33, 0.25, 0.75
        largest = np.abs(slopes.student_noise(np.concatenate([drawn[..., :d], 0.0 * drawn[..., :d]], axis=-1)))
        difference = student_noise(drawn) - slopes.student_noise(drawn)
        assert np.all(np.abs(difference) <= 4e-15 * largest)
