"""Rules of quadrature, the law of counts, and the gap of a truncated normal."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom, multinomial, truncnorm

from dpsco_bench.papers.gopi2022.laws.quadrature import (
    DEPTH,
    bracket,
    double_exponential,
    gauss_legendre,
    signed_count_law,
    tilted_gap,
)


def test_rules_integrate_what_they_are_for():
    nodes, weights = gauss_legendre(20)
    assert np.sum(weights * nodes**39) == pytest.approx(1 / 40, rel=1e-13)
    lower, upper, weights = double_exponential(101)
    assert np.sum(weights * lower**-0.4) == pytest.approx(1 / 0.6, rel=1e-9)
    assert np.sum(weights * lower**-0.25 * upper**0.5) == pytest.approx(0.9585121877884736, rel=1e-12)  # Beta(3/4, 3/2)
    assert np.allclose(lower + upper, 1.0, rtol=0, atol=1e-15) and upper[-1] < 1e-17


@pytest.mark.parametrize(("mode", "scale"), [(0.3, 1e-7), (0.0, 1e-12), (1.0, 1e-3), (0.5, 10.0)])
def test_bracket_holds_the_mass_and_little_else(mode, scale):
    low, high = bracket(lambda x: -(((x - mode) / scale) ** 2), 0.0, 1.0)
    reach = scale * np.sqrt(DEPTH)
    assert low <= max(0.0, mode - 0.99 * reach) and high >= min(1.0, mode + 0.99 * reach)
    assert high - low <= min(1.0, 4.0 * reach)


@pytest.mark.parametrize(("n", "chance"), [(1, 0.3), (7, 0.9), (1000, 0.5), (256_000, 0.51)])
def test_without_zeros_a_binomial_law(n, chance):
    values, law = signed_count_law(n, chance, 1.0 - chance)
    heads = (values + n) / 2
    wanted = np.where(heads == np.floor(heads), binom.pmf(np.floor(heads), n, chance), 0.0)
    assert np.abs(law - wanted).max() <= 1e-9 * wanted.max()


def test_against_the_multinomial_law():
    values, law = signed_count_law(12, 0.2, 0.5)
    wanted = {s: 0.0 for s in range(-12, 13)}
    for plus in range(13):
        for minus in range(13 - plus):
            wanted[plus - minus] += multinomial.pmf([plus, minus, 12 - plus - minus], 12, [0.2, 0.5, 0.3])
    assert [law[values == s].sum() for s in wanted] == pytest.approx(list(wanted.values()), abs=1e-14)


def test_check_vectors_of_the_truncated_normal():
    assert 1.0 - tilted_gap(12.0, 2.0) == pytest.approx(0.887196427794, rel=1e-12)
    worst = minimize_scalar(lambda a: -0.5 * a * float(tilted_gap(a, 1.0)), bounds=(1.0, 10.0), method="bounded")
    assert (worst.x, -worst.fun) == pytest.approx((4.24, 0.63887), abs=6e-3)
    assert -worst.fun == pytest.approx(0.63887, abs=5e-6)


def test_no_cancellation_at_strong_tilts():
    a = np.array([1e4, 1e8, 1e12])
    assert 0.5 * a * tilted_gap(a, 1.0) == pytest.approx(0.5 + 1.0 / a, rel=1e-7)


@pytest.mark.parametrize("sd", [0.025, 0.25, 1.5])
def test_against_scipy_where_it_is_exact(sd):
    mean = np.array([-0.7, -0.2, 0.0, 0.15, 0.45, 0.8])
    ends = (-1.0 - mean) / sd, (1.0 - mean) / sd
    assert 1.0 - tilted_gap(mean / sd**2, 0.5 / sd**2) == pytest.approx(truncnorm.mean(*ends, mean, sd), rel=1e-9)
