"""Generalised Gaussian noise is Gaussian-DP (docs/accounting.md): log-concave noise on a line, and in space."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.accountants.gaussian import gdp_delta

POTENTIALS = {  # convex, with second derivatives of at most one
    "logistic": lambda x: 4.0 * math.log(math.cosh(0.5 * x)),
    "huber": lambda x: 0.5 * x * x if abs(x) < 1 else abs(x) - 0.5,
    "one-sided": lambda x: 0.5 * max(x, 0.0) ** 2 + 0.05 * max(-x, 0.0) ** 2,
    "steep then flat": lambda x: 0.5 * x * x if x > -0.5 else -0.5 * x - 0.125,
}


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize("shift", [0.2, 1.0, 3.0])
def test_smooth_log_concave_noise_on_a_line_hides_a_shift_as_well_as_normal_noise(name, shift):
    potential = POTENTIALS[name]
    total = quad(lambda x: math.exp(-potential(x)), -60, 60, limit=400, points=[-1, 0, 1])[0]

    def density(x):
        return math.exp(-potential(x)) / total

    for epsilon in (0.0, 0.1, 0.5, 1.5):
        for s in (shift, -shift):
            x = np.linspace(-60.0, 60.0, 40_001)
            moved, still = (np.array([density(y) for y in x - t]) for t in (s, 0.0))
            delta = np.maximum(moved - math.exp(epsilon) * still, 0.0).sum() * (x[1] - x[0])
            assert delta <= gdp_delta(shift, epsilon) * (1 + 1e-5) + 1e-7


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


def test_second_derivatives_along_a_line_are_at_most_kappa():
    rng, h = np.random.default_rng(5), 1e-3
    for p, d in ((1.5, 4), (1.1, 8), (1.9, 3)):
        smooth = SmoothNorm(p, d, "two_ln_d")
        z, v = rng.standard_normal((2, 2000, d))
        v /= np.linalg.norm(v, smooth.q, axis=1, keepdims=True)
        f = [0.5 * np.linalg.norm(z + t * v, smooth.r, axis=1) ** 2 for t in (-h, 0.0, h)]
        assert ((f[0] - 2 * f[1] + f[2]) / h**2).max() <= smooth.kappa * (1 + 1e-3)
