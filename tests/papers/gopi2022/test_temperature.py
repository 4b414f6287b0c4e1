import math

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.queries import Temperature

T_PAPER = 1.0 / math.sqrt(2.0 * math.log(0.5e6))
DIAMETER = 2.0


def temperature(rule, p, difference=1.0):
    return Temperature(rule, 1000, 10, 1.0, difference, theta=NormRegulariser(p, 10).theta(DIAMETER))


@pytest.mark.parametrize(
    ("p", "theta", "erm", "sco"),
    [(1.5, 4.0, (308.637701906, 0.00810011215274), (676.915676902, 0.0177654669763)),
     (4.0, 6.32455532034, (245.450530119, 0.00644178209481), (538.331223683, 0.0141283558692))],
)  # fmt: skip
def test_check_vectors_of_the_paper_schedule(p, theta, erm, sco):
    assert NormRegulariser(p, 10).theta(DIAMETER) == pytest.approx(theta, rel=1e-12)
    assert temperature("erm", p).at(1.0 / T_PAPER) == pytest.approx(erm, rel=1e-11)
    assert temperature("sco", p).at(1.0 / T_PAPER) == pytest.approx(sco, rel=1e-11)


@pytest.mark.parametrize(
    ("p", "erm", "sco"),
    [(1.5, (187.131243759, 0.0133596076731), (364.85545356, 0.0260476317)),
     (4.0, (148.820000599, 0.0106245049303), (290.15886245, 0.0207149190))],
)  # fmt: skip
def test_check_vectors_of_the_accounted_schedule(p, erm, sco):
    scale = 2.0 / gdp_mu(1.0, 1e-6)
    assert temperature("erm", p, 2.0).at(scale) == pytest.approx(erm, rel=1e-11)
    assert temperature("sco", p, 2.0).at(scale) == pytest.approx(sco, rel=5e-9)


def test_check_vector_of_the_strongly_convex_schedule():
    found = Temperature("strongly_convex", 1000, 10, 2.0, 2.0, convexity=1.0).at(1.0 / T_PAPER)
    assert found == pytest.approx((9525.72310375, 1.0), rel=1e-11)


def test_erm_and_sco_minimise_their_bounds():
    erm, sco, t = temperature("erm", 1.5, 2.0), temperature("sco", 1.5, 2.0), 0.3
    k, mu = erm.at(2.0 / t)
    assert k * mu == pytest.approx(10 / erm.theta, rel=1e-12)
    factors = np.array([0.99, 1.0, 1.01])

    def bound(k):  # with mu tied to k by t
        return (2.0 / (1000 * t)) ** 2 * k * sco.theta + (10 + 1000 * t**2 / 2) / k

    assert np.argmin(bound(sco.at(2.0 / t)[0] * factors)) == 1


def test_regularisers_are_strongly_convex_in_their_norm():
    """E5 included: at p = 1 the constant e covers ``||x||_1 <= d^(1/(1 + ln d)) ||x||_q``."""
    rng = np.random.default_rng(0)
    for p, d in ((1.0, 3), (1.0, 40), (1.2, 6), (2.0, 6), (4.0, 6), (math.inf, 6)):
        r = NormRegulariser(p, d)
        x, y = rng.standard_normal((2, 4000, d)) * np.exp(2 * rng.standard_normal((4000, d)))
        gap = 0.5 * r.value(x) + 0.5 * r.value(y) - r.value(0.5 * (x + y))
        assert np.all(gap >= np.linalg.norm(x - y, ord=p, axis=1) ** 2 / 8 * (1 - 1e-9))
        assert np.all(r.value(x / np.linalg.norm(x, ord=p, axis=1, keepdims=True)) <= r.theta(1.0) * (1 + 1e-12))
