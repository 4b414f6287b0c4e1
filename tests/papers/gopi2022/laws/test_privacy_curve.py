"""Section 8 of the chapter: the exact privacy of the literal mechanism."""

import math

import numpy as np
import pytest
from scipy.special import gammainc

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw, pair_delta, pair_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.queries import Temperature

N, DELTA = 1001, 1e-5
T = 1.0 / math.sqrt(2 * math.log(0.5 / DELTA))


def pairs(rule, radius, d):
    """The pairs of laws with S = G = 1, around a = 0, 0.3 and 0.6."""
    k, mu = Temperature(rule, N, d, 1.0, 1.0, theta=0.5 * radius**2).at(1.0 / T)
    for a in (0.0, 0.3, 0.6):
        yield tuple(AxisLaw(2.0, d, k * (a * mu + sign / N), 0.5 * k * mu) for sign in (1.0, -1.0))


@pytest.mark.parametrize(
    ("rule", "radius", "expected"),
    [("erm", 1.0, (0.772, 1.121, 1.618, 1.685)), ("erm", 2.0, (0.328, 0.474, 0.903, 1.114)),
     ("sco", 1.0, (1.685, 1.685, 1.685, 1.685))],
)  # fmt: skip
def test_exact_epsilons_of_the_chapter(rule, radius, expected):
    for d, wanted in list(zip((1, 2, 10, 100), expected, strict=True))[:: 1 if rule == "erm" and radius == 1.0 else 3]:
        found = [pair_epsilon(*pair, DELTA) for pair in pairs(rule, radius, d)]
        assert max(found) == pytest.approx(wanted, abs=6e-4)
        assert max(found) <= gdp_epsilon(2 * T, DELTA) * (1 + 1e-8)  # Theorem 2 with S = 2G


def test_against_the_incomplete_gamma_marginal():
    d, k, c, epsilon = 4, 40.0, 9.0, 0.3
    x = np.linspace(-1, 1, 400_001)
    P, Q = (np.exp(kap * x - c * x * x) * gammainc(0.5 * (d - 1), c * (1 - x * x)) for kap in (k * 0.1, -k * 0.02))
    P, Q = P / P.sum(), Q / Q.sum()
    laws = [AxisLaw(2.0, d, kap, c) for kap in (k * 0.1, -k * 0.02)]
    assert pair_delta(*laws, epsilon) == pytest.approx(np.maximum(P - math.exp(epsilon) * Q, 0).sum(), rel=1e-6)
    assert pair_delta(*laws[::-1], epsilon) == pytest.approx(np.maximum(Q - math.exp(epsilon) * P, 0).sum(), rel=1e-6)
    found = pair_epsilon(*laws, 1e-3)
    assert pair_delta(*laws, found) <= 1e-3 * (1 + 1e-6)
