"""Bounds of the zhang2022 chapter: its check vector, and the inequalities that the proofs rest on."""

import math

import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.papers.zhang2022.bounds.theory import Terms


def test_the_check_vector_of_theorem_4():
    terms = Terms(n=1024, k=1, G=1, H=0, D=2, V=16, lam=2, rho=1, sigma_g=0.5)
    assert terms.thm4(1000) == pytest.approx(0.8661840439, abs=1e-10)


def test_noise_off_leaves_the_statistical_terms():
    terms = Terms(n=256, k=3, sigma_g=0.5, mu=1.0)
    assert terms.thm4_private == terms.thm8_private == terms.noise(7) == 0
    assert terms.thm4_statistical == pytest.approx(2 * 16 * 2 * 0.5 / math.sqrt(2 * 256))
    assert terms.thm8_statistical == pytest.approx(16 * 64 / 2 * 0.25 / 256)


@pytest.mark.parametrize("k", [1.0, 2.0, 3.0, 2.5])
@pytest.mark.parametrize("n", [2, 7, 4096])
def test_the_sums_of_the_proofs_are_at_most_what_the_theorems_make_of_them(k, n):
    t = np.arange(1.0, n + 1)
    weights = np.cumsum(t**k)
    assert weights[-1] >= n ** (k + 1) / (k + 1)
    assert (t**k - (t - 1) ** k <= k * t ** (k - 1) * (1 + 1e-12)).all()
    assert (t ** (2 * k) / weights <= (k + 1) * t ** (k - 1) * (1 + 1e-12)).all()
    assert np.sum(t ** (k - 2)) <= Terms(n=n, k=k).log_factor * n ** (k - 1) * (1 + 1e-12)
    # Theorem 4: the sums of square roots of (4) and (7), divided by the sum of the weights
    terms = Terms(n=n, k=k, sigma_g=0.5, V=8.0, rho=2.0)
    statistical = 2.0 * np.sqrt([terms.statistical_error(s) for s in t]).sum() / weights[-1]
    private = 2.0 * np.sqrt([terms.noise(s) for s in t]).sum() / weights[-1]
    assert statistical <= terms.thm4_statistical * (1 + 1e-12)
    assert private <= terms.thm4_private * (1 + 1e-12)
    # Theorem 6: the square root of the sum of the squared differences' moments
    moments = 3 * (k + 1) ** 2 * t ** (2 * k - 2) + 6 * np.array([terms.noise(s) for s in t])
    assert 1.5 * 2.0 * math.sqrt(moments.sum()) <= terms.thm6_regret(1.5) * (1 + 1e-12)


def test_what_erratum_e6_is_about():
    """For k = 1 the sum is the harmonic number, not 1; between 1 and 2 there is no verdict."""
    harmonic = float(np.sum(1 / np.arange(1.0, 4097)))
    assert harmonic == pytest.approx(8.895, abs=1e-3)
    assert harmonic <= Terms(n=4096, k=1).log_factor == pytest.approx(1 + math.log(4096))
    with pytest.raises(InputError, match="^k = 1.5: must be 1, or at least 2"):
        _ = Terms(n=16, k=1.5).log_factor


def test_the_regularised_regret_covers_subgradient_descent_on_its_moments():
    terms = Terms(n=64, k=1, G=1.8, H=1, V=4, rho=8, sigma_g=0.5, mu=1)
    t = np.arange(1.0, 65)
    s = np.cumsum(0.5 * t)
    assert terms.strongly_convex_regret == pytest.approx(np.sum(terms.regularised_moment(t) / (2 * s)))
    assert terms.thm8(terms.strongly_convex_regret) > terms.thm8_statistical + terms.thm8_private
