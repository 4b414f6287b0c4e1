import math

import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.laws.temperature import Temperature, regulariser, temperatures
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

T_PAPER = 1.0 / math.sqrt(2.0 * math.log(0.5e6))
DIAMETER = 2.0


def temperature(form, p, difference=1.0):
    theta = regulariser(p, 10).theta * DIAMETER**2
    return Temperature(form, 1000, 10, 1.0, difference, theta=theta)


@pytest.mark.parametrize(
    ("p", "theta", "erm", "sco"),
    [(1.5, 4.0, (308.637701906, 0.00810011215274), (676.915676902, 0.0177654669763)),
     (4.0, 6.32455532034, (245.450530119, 0.00644178209481), (538.331223683, 0.0141283558692))],
)  # fmt: skip
def test_check_vectors_of_the_paper_schedule(p, theta, erm, sco):
    assert regulariser(p, 10).theta * DIAMETER**2 == pytest.approx(theta, rel=1e-12)
    assert temperature("erm", p).at(T_PAPER) == pytest.approx(erm, rel=1e-11)
    assert temperature("sco", p).at(T_PAPER) == pytest.approx(sco, rel=1e-11)


@pytest.mark.parametrize(
    ("p", "erm", "sco"),
    [(1.5, (187.131243759, 0.0133596076731), (364.85545356, 0.0260476317)),
     (4.0, (148.820000599, 0.0106245049303), (290.15886245, 0.020714919))],
)  # fmt: skip
def test_check_vectors_of_the_accounted_schedule(p, erm, sco):
    t = gdp_mu(1.0, 1e-6)
    assert temperature("erm", p, 2.0).at(t) == pytest.approx(erm, rel=1e-11)
    assert temperature("sco", p, 2.0).at(t) == pytest.approx(sco, rel=5e-9)


def test_check_vector_of_the_strongly_convex_schedule():
    found = Temperature("strongly_convex", 1000, 10, 2.0, 2.0, strong_convexity=1.0).at(T_PAPER)
    assert found == pytest.approx((9525.72310375, 1.0), rel=1e-11)


@pytest.mark.parametrize("form", ["erm", "sco"])
@pytest.mark.parametrize("difference", [1.0, 1.3, 2.0])
def test_the_schedule_spends_exactly_t(form, difference):
    k, mu = temperature(form, 1.5, difference).at(0.3)
    assert difference * math.sqrt(k / mu) / 1000 == pytest.approx(0.3, rel=1e-12)


def test_erm_and_sco_minimise_their_bounds():
    erm, sco = temperature("erm", 1.5, 2.0), temperature("sco", 1.5, 2.0)
    k, mu = erm.at(0.3)
    assert k * mu == pytest.approx(10 / erm.theta, rel=1e-12)
    factors = np.array([0.99, 1.0, 1.01])

    def bound(k):  # with mu tied to k by t
        return (2.0 / 300) ** 2 * k * sco.theta + (10 + 1000 * 0.09 / 2) / k

    assert np.argmin(bound(sco.at(0.3)[0] * factors)) == 1


def test_scales_and_limits():
    form = temperature("sco", 1.5, 2.0)
    assert form.at_scale(2.0 / 0.3) == pytest.approx(form.at(0.3), rel=1e-14)
    k, mu = form.at_scale(0.0)
    assert k == math.inf and mu == pytest.approx(form.at(1e9)[1], rel=1e-6)
    assert temperature("erm", 1.5).at_scale(0.0) == (math.inf, 0.0)
    schedule = {"form": "erm", "n": 1000, "dimension": 10, "lipschitz": 1.0, "difference": 2.0, "theta": 4.0, "x": 1}
    assert temperatures(schedule, 5.0) == temperature("erm", 1.5, 2.0).at_scale(5.0)


def test_regularisers_are_strongly_convex_in_their_norm():
    # E5 included: at p = 1 the constant e covers ||x||_1 <= d^(1/(1+ln d)) ||x||_q
    rng = np.random.default_rng(0)
    for p, d in ((1.0, 3), (1.0, 40), (1.2, 6), (2.0, 6), (4.0, 6), (math.inf, 6)):
        r = regulariser(p, d)
        x, y = rng.standard_normal((2, 4000, d)) * np.exp(2 * rng.standard_normal((4000, d)))

        def value(z, r=r):
            return r.coefficient * np.linalg.norm(z, ord=r.q, axis=1) ** 2

        gap = 0.5 * value(x) + 0.5 * value(y) - value(0.5 * (x + y))
        least = np.linalg.norm(x - y, ord=p, axis=1) ** 2 / 8
        assert np.all(gap >= least * (1 - 1e-9))
        u = x / np.linalg.norm(x, ord=p, axis=1, keepdims=True)
        assert np.all(value(u) <= r.theta * (1 + 1e-12))


def test_refusals():
    for arguments, key in (((0.5, 4), "p"), ((1.0, 2), "d"), ((1.5, 0), "d")):
        with pytest.raises(InputError, match=f"^{key} = "):
            regulariser(*arguments)
    for change, key in (({"difference": 2.1}, "S"), ({"form": "x"}, "schedule"), ({"theta": 0.0}, "theta")):
        values = {"form": "erm", "n": 10, "dimension": 2, "lipschitz": 1.0, "difference": 1.0, "theta": 1.0} | change
        with pytest.raises(InputError, match=f"^{key} = "):
            Temperature(**values)
