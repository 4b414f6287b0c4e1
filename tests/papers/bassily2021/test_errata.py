"""Numbers that the errata ledger of bassily2021 states and no other test covers."""

import math

import numpy as np
import pytest
from scipy.special import gamma

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.smooth_norm import SmoothNorm
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.pld import add_remove_epsilon
from dpsco_bench.privacy.calibrate import calibrate

L = math.log(1e6)


def test_e1_the_literal_noise_is_refuted():
    """836 by the surrogate of Poisson batches, 828 by a test on the transcript of the batches that are drawn."""
    options = {"p": 2.0}
    cell = Cell("bassily2021.noisy_smd", "cube_fixed", 1000, 1.0, 1e-6, 10, "literal", problem_options=options)
    _, made = cell.plan("paper", 0)
    (query,) = made.queries
    ratio = query.paper_scale / query.sensitivity
    assert (made.steps, made.batch) == (452, 24) and ratio == pytest.approx(0.126, rel=0.01)
    assert add_remove_epsilon(ratio, 24 / 1000, 452, 1e-6) == pytest.approx(836, rel=0.01)
    found = calibrate(made, cell.privacy, "paper")
    assert found.privacy_status == "unproven" and found.charge.kind == "lower"
    assert found.charge.epsilon == pytest.approx(828, rel=0.01)


@pytest.mark.parametrize(("epsilon", "printed"), [(1, 1.037), (2, 2.150), (4, 4.621), (8, 10.64)])
def test_e2_the_printed_route(epsilon, printed):
    """min over a of kappa a^2 s^2/(2 sigma^2 (a-1)) + l/(a-1) at the stated sigma is above eps."""
    a = 1 + np.geomspace(1e-3, 1e3, 200_001)
    route = np.min(epsilon**2 * a**2 / (4 * L * (a - 1)) + L / (a - 1))
    assert route == pytest.approx(printed, rel=1e-3)
    assert epsilon * (epsilon / (2 * L) + math.sqrt(1 + epsilon**2 / (4 * L**2))) == pytest.approx(route, rel=1e-6)


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


def test_the_ledger_names_existing_algorithms():
    assert get_algorithm("bassily2021.gg_lmo").variants["literal"] == ("paper", "none")
