import math
from dataclasses import replace

import pytest
from scipy.integrate import dblquad

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound, glossary_of
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants

N, D, DELTA = 1000, 10, 1e-6
T_PAPER = 1.0 / math.sqrt(2.0 * math.log(0.5e6))
LAM = math.log(0.5e6)


def context(p, rule="sco", difference=1.0, lipschitz=1.0, t=T_PAPER, calibration="paper", rad=2.0, **constants):
    name = "linf_ball" if math.isinf(p) else f"lp_ball:{p}"
    c = Constants(lipschitz, 0.0, diameter=2.0, domain=name, norm=p, **constants)
    theta = NormRegulariser(p, D).theta(rad)
    schedule = Temperature(rule, N, D, lipschitz, difference, theta, c.strong_convexity)
    scales = {"draw": difference / (lipschitz * t)}
    return BoundContext(N, D, 1.0, DELTA, c, calibration, schedule.entries, scales)


def value(name, c):
    return get_bound(f"gopi2022.{name}").value(c)


@pytest.mark.parametrize(
    ("p", "erm", "printed", "unsplit", "valid"),
    [(1.5, .0648008972219, .243686335422, .142123735811, .198412714948),
     (4.0, .0814828144403, .306419344516, .178711136560, .249490780650)],
)  # fmt: skip
def test_check_vectors_of_the_chapter(p, erm, printed, unsplit, valid):
    c = context(p)
    assert value("thm3", c) == pytest.approx(erm, rel=1e-11)
    assert value("thm4", c) == pytest.approx(printed, rel=1e-11)
    assert value("thm4_unsplit", c) == pytest.approx(unsplit, rel=1e-11)
    assert value("thm4_valid", c) == pytest.approx(valid, rel=1e-11)
    corollary = "cor2" if p < 2 else "cor4"  # with rad = D they are the theorems
    assert value(f"{corollary}_erm", c) == pytest.approx(erm, rel=1e-11)
    assert value(f"{corollary}_sco", c) == pytest.approx(printed, rel=1e-11)


@pytest.mark.parametrize(("p", "erm", "unsplit"), [(1.5, 0.106876861385, 0.2083810536), (4.0, 0.134390538365, None)])
def test_check_vectors_of_the_accounted_schedule(p, erm, unsplit):
    c = context(p, difference=2.0, t=gdp_mu(1.0, DELTA), calibration="accounted")
    assert value("thm3", c) == pytest.approx(erm, rel=1e-11)
    if unsplit:
        assert value("thm4_unsplit", c) == pytest.approx(unsplit, rel=1e-9)
    assert value("thm4_unsplit", c) <= value("thm4", c)
    assert value("thm4", c) - value("thm3", c) == pytest.approx(math.sqrt(8 * c.schedule["theta"] / N), rel=1e-12)


def test_check_vectors_of_the_strongly_convex_theorems():
    c = context(2.0, "strongly_convex", 2.0, 2.0, strong_convexity=1.0)
    assert value("thm5", c) == pytest.approx(0.00104978907019, rel=1e-11)
    assert value("thm6", c) == pytest.approx(0.00504978907019, rel=1e-11)
    assert value("thm6_valid", c) == pytest.approx(0.00904978907019, rel=1e-11)
    filled = replace(c, constants=replace(c.constants, loss_range=2.0))  # S = G: the records fill the ball
    assert value("thm6_valid", filled) == pytest.approx(value("thm6", filled), rel=1e-12)


def test_printed_formulas():
    c, cube = context(1.0), context(math.inf)
    root = math.sqrt(D * LAM) / N
    assert value("cor3_erm", c) == pytest.approx(12 * math.sqrt(math.log(D)) * root, rel=1e-12)
    assert value("cor3_sco", c) == pytest.approx(12 * math.sqrt(math.log(D)) * (root + N**-0.5), rel=1e-12)
    assert value("cor4_erm", cube) == pytest.approx(4 * D * math.sqrt(LAM) / N, rel=1e-12)
    assert value("thm3", c) < value("cor3_erm", c)  # 2e = 5.44 <= 6 (E5)
    assert value("thm2", cube) == pytest.approx(gdp_epsilon(2 * T_PAPER, DELTA), rel=1e-12)
    assert value("prop9", cube) == pytest.approx((N * T_PAPER) ** 2 * D, rel=1e-11)
    assert value("prop9", context(1.5)) == pytest.approx((N * T_PAPER) ** 2 * D ** (1 / 3), rel=1e-11)
    squared = math.log(2 * D * N / DELTA) ** 2 / math.log(1 / DELTA)  # G D = 2, eps = 1
    assert value("value_queries", cube) == pytest.approx(N**2 * D * squared, rel=1e-11)  # (14)
    assert value("value_queries", c) == pytest.approx(N**2 * D * squared, rel=1e-11)  # (11)
    assert value("value_queries", context(1.5)) == pytest.approx(N**2 * D ** (1 / 3) * squared, rel=1e-11)  # (8)
    assert value("prop9_free", cube) == pytest.approx((N * T_PAPER) ** 2, rel=1e-11)


def small(p, d):
    """A cell whose law is wide, and the symbols of its density."""
    schedule = Temperature("sco", 40, d, 1.0, 1.0, 0.8, 0.0).entries
    constants = Constants(1.0, 0.0, diameter=2.0, domain=f"lp_ball:{p}", norm=p)
    context = BoundContext(40, d, 1.0, 1e-6, constants, "paper", schedule, {"draw": 6.0})
    known = glossary_of("gopi2022.thm3")
    return context, known["k"].source(context), known["mu"].source(context)


@pytest.mark.parametrize("p", [1.3, 1.6, 2.0])
def test_the_gap_is_that_of_the_density_by_a_plain_double_integral(p):
    """Of exp(-k (F + mu r)), F = -x_1 and r = ||x||_p^2/(2 (p - 1)), on the disc of l_p."""
    context, k, mu = small(p, 2)

    def density(y, x):
        return math.exp(k * x - k * mu * (abs(x) ** p + y**p) ** (2 / p) / (2 * (p - 1)))

    def top(x):
        return (1 - abs(x) ** p) ** (1 / p)

    moments = [
        dblquad(lambda y, x, i=i: (1 - x) ** i * density(y, x), -1, 1, 0, top, epsabs=0, epsrel=1e-9)[0] for i in (0, 1)
    ]
    assert get_bound("gopi2022_law.axis").value(context) == pytest.approx(moments[1] / moments[0], rel=1e-6)
