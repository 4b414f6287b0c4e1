"""What Section 6 says of p > 2, by calculation: the regularity of the dual, and mirror descent without noise."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar


@pytest.mark.parametrize(("p", "d"), [(3.0, 4), (4.0, 8), (np.inf, 6)])
def test_the_dual_of_l_p_is_regular_with_d_to_the_1_minus_2_over_p_and_no_less(p, d):
    """From above: d^(1/q - 1/2) l_2 is 1-smooth. From below: signs, whose E||sum||_q^2 (1) and (2) bound by kappa."""
    q, kappa = 1 / (1 - 1 / p), d ** (1 - 2 / p)
    x = np.random.default_rng(1).standard_normal((1000, d))
    squares, above = np.linalg.norm(x, q, axis=1) ** 2, kappa * np.linalg.norm(x, axis=1) ** 2
    assert (squares <= above * (1 + 1e-12)).all() and (above <= kappa * squares * (1 + 1e-12)).all()
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=d)))
    mean = (np.linalg.norm(signs, q, axis=1) ** 2).mean()
    assert mean / d == pytest.approx(kappa)  # sum_j ||e_j||_q^2 = d


@pytest.mark.parametrize("p", [3.0, 4.0])
def test_the_regret_of_mirror_descent_balances_at_n_to_the_minus_1_over_p(p):
    """Phi = ||x||_p^p/p is p-uniformly convex, hence ``1/(p eta n) + eta^(q-1)/q`` up to constants, at its best eta."""
    q = p / (p - 1)
    best = [
        minimize_scalar(
            lambda t, n=n: np.exp(-t) / (p * n) + np.exp((q - 1) * t) / q, bounds=(-40, 10), method="bounded"
        ).fun
        for n in (10**3, 10**5)
    ]
    assert np.log(best[1] / best[0]) / np.log(100) == pytest.approx(-1 / p, abs=1e-3)
