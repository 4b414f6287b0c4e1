"""zCDP: its conversions, pure losses and batches; generalised Gaussians by simulation and by quadrature."""

import math
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import logsumexp

from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.accountants import zcdp
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon
from dpsco_bench.privacy.accountants.generalised import counting_epsilon
from dpsco_bench.privacy.accountants.zcdp import ORDERS, composed_epsilon, subsampled_epsilon, zcdp_epsilon, zcdp_rho

DELTA = 1e-6


def test_limits():
    assert zcdp_rho(1.0, DELTA) == pytest.approx(0.024356, abs=5e-7)
    assert zcdp_epsilon(0.0, DELTA) == zcdp_epsilon(1e-30, DELTA) == 0.0 and zcdp_epsilon(math.inf, DELTA) == math.inf
    assert 1e280 <= zcdp_epsilon(1e280, DELTA) < 1.0001e280
    # Randomised response with a small loss is close to mu-GDP with mu = epsilon_0 per step.
    assert composed_epsilon(1e-3, 10**6, 1e-5) == pytest.approx(gdp_epsilon(1.0, 1e-5), rel=2e-3)
    assert composed_epsilon(0.0, 5, 1e-5) == 0.0
    assert composed_epsilon(math.inf, 5, 1e-5) == math.inf
    assert composed_epsilon(800.0, 3, 1e-300) == pytest.approx(2400.0)
    assert composed_epsilon(0.5, 1, 1e-12) == pytest.approx(0.5, rel=1e-11)
    found = subsampled_epsilon(0.01, 1.0, 10, DELTA)
    exact = zcdp_epsilon(0.1, DELTA)
    assert exact <= found <= exact * 1.01


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.02, 1.0, 30.0, 1e5])
def test_epsilon_is_the_minimum_over_the_orders(rho, delta):
    a = 1 + np.exp(np.linspace(-12, -math.log(delta) + 3, 200_001))
    bounds = rho * a + np.log1p(-1 / a) - (math.log(delta) + np.log(a)) / (a - 1)
    assert zcdp_epsilon(rho, delta) == pytest.approx(max(0.0, bounds.min()), rel=1e-6, abs=1e-9)
    assert zcdp_epsilon(rho, delta) <= max(0.0, bounds.min()) + 1e-12


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.3])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 20.0, 1e6])
def test_both_directions_agree(epsilon, delta):
    assert zcdp_epsilon(zcdp_rho(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


NORMS = [SmoothNorm(1.5, 2, "q"), SmoothNorm(1.25, 2, "q"), SmoothNorm(1.0, 2, "two_ln_d"), SmoothNorm(2.0, 2)]
ANGLES = np.linspace(0.0, math.pi / 4, 4)


STEP = 0.03


@lru_cache
def probabilities(norm, draws):
    """The law of the sum of so many draws on a grid."""
    powers = np.abs(STEP * np.arange(-400, 401)) ** norm.r
    density = np.exp(-0.5 * np.add.outer(powers, powers) ** (2 / norm.r))
    if draws == 2:
        density = np.maximum(fftconvolve(density, density, mode="same"), 0.0)
    return density / density.sum()


def hockey_stick(norm, epsilon, steps, draws=1):
    """Divergence of GG from the same moved by so many grid steps; for two draws, of the sums of both."""
    still = probabilities(norm, draws)
    return float(np.maximum(np.roll(still, steps, axis=(0, 1)) - math.exp(epsilon) * still, 0.0).sum())


@pytest.mark.parametrize("draws", [1, 2])
@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: f"r={norm.r:.3g},q={norm.q:.3g}")
def test_the_exact_delta_is_below_that_of_the_normal_noise_it_is_charged_as(norm, draws):
    """Within the error of the grid; equal at r = 2, and nearly so elsewhere."""
    ratios, delta = [], 1e-3
    for angle, size in product(ANGLES, (0.2, 0.4, 1.2, 2.5)):
        direction = np.array([math.cos(angle), math.sin(angle)])
        steps = np.round(draws * size * direction / np.linalg.norm(direction, ord=norm.q) / STEP).astype(int)
        shift = np.linalg.norm(steps * STEP / draws, ord=norm.q)
        mu = math.sqrt(draws * norm.kappa) * shift
        for epsilon in (0.2 * mu, mu, gdp_epsilon(mu, delta)):
            ratios.append(hockey_stick(norm, epsilon, steps, draws) / gdp_delta(mu, epsilon))
        if angle == 0.0 and draws == 1 and size > 0.2:
            lower = counting_epsilon(shift, 1, norm.r, 2, delta)
            assert 0 < lower < gdp_epsilon(mu, delta) * (1 + 1e-6)
            assert hockey_stick(norm, lower * (1 - 1e-3), steps) >= delta
    assert (0.999 if norm.r == 2 else 0.7) < max(ratios) <= 1.001


def enumerated_delta(epsilon_each, steps, epsilon):
    """Hockey-stick divergence of ``steps`` randomised responses, outcome by outcome."""
    p = 1 / (1 + math.exp(-epsilon_each))
    total = 0.0
    for bits in product((0, 1), repeat=steps):
        flipped = sum(bits)
        upper = p ** (steps - flipped) * (1 - p) ** flipped
        lower = p**flipped * (1 - p) ** (steps - flipped)
        total += max(0.0, upper - math.exp(epsilon) * lower)
    return total


@pytest.mark.parametrize("epsilon_each", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 10])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_the_value_is_the_exact_inverse_of_the_enumerated_divergence(epsilon_each, steps, delta):
    epsilon = composed_epsilon(epsilon_each, steps, delta)
    assert enumerated_delta(epsilon_each, steps, epsilon) <= delta * (1 + 1e-9) + 1e-13  # cancellation
    if epsilon > 0:
        assert enumerated_delta(epsilon_each, steps, epsilon * (1 - 1e-6)) > delta


@pytest.mark.parametrize("epsilon, delta, steps", [(1.0, 1e-5, 644), (0.1, 1e-9, 3), (5.0, 1e-3, 20), (2.0, 1e-5, 1)])
def test_the_inverse_of_pure_losses(epsilon, delta, steps):
    each = zcdp.epsilon_each_for(epsilon, delta, steps)
    assert each >= epsilon / steps
    assert epsilon * (1 - 1e-6) < composed_epsilon(each, steps, delta) <= epsilon


@pytest.mark.parametrize("rate", [0.01, 0.2])
def test_not_below_what_a_gaussian_attains(rate):
    """The divergences of ``(1-q) N(0,1) + q N(s,1)`` from ``N(0,1)``, by summation, at the same orders."""
    shift, steps = 0.8, 5
    x = np.linspace(-12, 240, 200_001)
    losses = np.logaddexp(math.log1p(-rate), math.log(rate) + shift * x - shift**2 / 2)
    logs = -0.5 * x**2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    attained = min(
        steps * logsumexp(logs + a * losses) / (a - 1) + math.log1p(-1 / a) - (math.log(DELTA) + math.log(a)) / (a - 1)
        for a in ORDERS
    )
    assert attained <= subsampled_epsilon(shift**2 / 2, rate, steps, DELTA) < 4 * attained


@pytest.mark.parametrize(("p", "d"), [(1.5, 2), (1.5, 4), (1.2, 6)])
def test_generalised_gaussians_in_space_are_dominated(p, d):
    """Divergences by simulation, 4 standard errors, for shifts of one l_q length along an axis and others."""
    smooth = SmoothNorm(p, d, "two_ln_d")
    rng, runs, length = np.random.default_rng(3), 400_000, 0.8
    rays = rng.gamma(1.0 / smooth.r, 1.0, (runs, d)) ** (1.0 / smooth.r) * rng.choice([-1.0, 1.0], (runs, d))
    radius = np.sqrt(rng.chisquare(d, runs)) / np.linalg.norm(rays, smooth.r, axis=1)
    z = rays * radius[:, None]
    mu = math.sqrt(smooth.kappa) * length
    for direction in (np.eye(d)[0], np.ones(d), np.array([1.0, -0.5] + [0.0] * (d - 2))):
        v = length * direction / np.linalg.norm(direction, smooth.q)
        loss = 0.5 * (np.linalg.norm(z + v, smooth.r, axis=1) ** 2 - np.linalg.norm(z, smooth.r, axis=1) ** 2)
        for epsilon in (0.0, 0.5, 1.0):
            gain = np.maximum(0.0, -np.expm1(epsilon - loss))  # E_P (1 - e^epsilon q/p)_+
            assert gain.mean() <= gdp_delta(mu, epsilon) + 4.0 * gain.std() / math.sqrt(runs)


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_the_least_factor_meets_its_target_and_is_infinite_below_what_the_orders_show(rate):
    lowest = min(math.log1p(-1 / a) - (math.log(DELTA) + math.log(a)) / (a - 1) for a in ORDERS)
    for epsilon in (1.1 * lowest, 1.0, 10.0):
        factor = zcdp.least_factor(epsilon, 0.5, rate, 20, DELTA)
        assert subsampled_epsilon(0.5 / factor**2, rate, 20, DELTA) == pytest.approx(epsilon, rel=1e-4)
    assert zcdp.least_factor(0.99 * lowest, 0.5, rate, 20, DELTA) == math.inf
    small, large = (zcdp.least_factor(1.0, rho, rate, 20, DELTA) for rho in (0.5, 2.0))
    assert large == pytest.approx(2 * small, rel=1e-5)
