"""Numbers that the errata ledger of bassily2021 states and no other test covers."""

import math

import numpy as np
import pytest
from scipy.special import gamma

from dpsco_bench.geometry.smooth_norm import SmoothNorm
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon

L = math.log(1e6)


def test_e5_closed_forms_for_kappa():
    best, paper = SmoothNorm(1.0, 64), SmoothNorm(1.0, 64, "two_ln_d")
    assert (best.r, best.kappa) == pytest.approx((7.15530467158, 19.6834022139))
    assert paper.kappa == pytest.approx(20.3, rel=0.01) and 2 * math.log(64) == pytest.approx(8.3, rel=0.01)
    assert paper.kappa < math.e * 2 * math.log(64)
    for rule, real in (("two_ln_d", 1.223), ("best", 1.203)):
        ratio = SmoothNorm(1.01, 64, rule).kappa / (2 * math.log(64))
        assert gdp_epsilon(math.sqrt(ratio / (2 * L)), 1e-6) == pytest.approx(real, abs=6e-4)


def test_e9_the_normaliser_is_not_the_surface():
    angle = np.linspace(0, 2 * np.pi, 400_001)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    circle /= np.linalg.norm(circle, ord=4, axis=0)
    perimeter = np.hypot(*np.diff(circle, axis=1)).sum()
    assert perimeter == pytest.approx(7.018, abs=1e-3)
    assert 2 * (2 * gamma(1.25)) ** 2 / gamma(1.5) == pytest.approx(7.416, abs=1e-3)


def test_e10_twice_the_square_root():
    """kappa M^2/(2 eta T) + (eta/2)(2 L0^2 + 2 d sigma^2) at the theorem's T and eta is 5 sqrt 2 times the rate."""
    d, n, kappa, epsilon = 32, 10**5, 2.0, 1.0
    T = (epsilon * n) ** 2 / (16 * d * kappa * L)
    eta, noise = 2 * math.sqrt(kappa / (2 * T)), d * 8 * kappa * T * L / (epsilon * n) ** 2
    bound = kappa * 4 / (2 * eta * T) + eta / 2 * (2 + 2 * noise)
    assert bound / (2 * kappa * math.sqrt(d * L) / (epsilon * n)) == pytest.approx(5 * math.sqrt(2), rel=1e-9)
