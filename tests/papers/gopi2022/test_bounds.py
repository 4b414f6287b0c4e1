"""Temperatures, bounds and facts of the chapter: its check vectors, printed formulas, and risks beside bounds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound, glossary_of
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
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
    schedule = Temperature("strongly_convex", 1000, 10, 2.0, 2.0, convexity=1.0)
    assert schedule.at(1.0 / T_PAPER) == pytest.approx((9525.72310375, 1.0), rel=1e-11)
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
    assert value("prop8", cube) == pytest.approx((N * T_PAPER) ** 2, rel=1e-11)


@pytest.mark.parametrize("p", [1.3, 1.6, 2.0])
def test_the_gap_is_that_of_the_law_along_the_axis(p):
    """The law is exp(-k (F + mu r)), F = -x_1 and r = ||x||_p^2/(2 (p - 1))."""
    context = BoundContext(
        40, 2, 1.0, 1e-6, Constants(1.0, 0.0, diameter=2.0, domain=f"lp_ball:{p}", norm=p), "paper",
        Temperature("sco", 40, 2, 1.0, 1.0, 0.8, 0.0).entries, {"draw": 6.0},
    )  # fmt: skip
    k, mu = (glossary_of("gopi2022.thm3")[name].source(context) for name in ("k", "mu"))
    expected = AxisLaw(p, 2, k, k * mu / (2 * (p - 1))).mean_gap()
    assert get_bound("gopi2022_law.axis").value(context) == pytest.approx(expected, rel=1e-6)


def temperature(rule, p, difference=1.0):
    return Temperature(rule, 1000, 10, 1.0, difference, theta=NormRegulariser(p, 10).theta(2.0))


PAPER, ACCOUNTED = (1.0, 1.0 / T_PAPER, 1e-11), (2.0, 2.0 / gdp_mu(1.0, 1e-6), 5e-9)


@pytest.mark.parametrize(
    ("schedule", "p", "erm", "sco"),
    [(PAPER, 1.5, (308.637701906, 0.00810011215274), (676.915676902, 0.0177654669763)),
     (PAPER, 4.0, (245.450530119, 0.00644178209481), (538.331223683, 0.0141283558692)),
     (ACCOUNTED, 1.5, (187.131243759, 0.0133596076731), (364.85545356, 0.0260476317)),
     (ACCOUNTED, 4.0, (148.820000599, 0.0106245049303), (290.15886245, 0.0207149190))],
)  # fmt: skip
def test_check_vectors_of_the_paper_schedule(schedule, p, erm, sco):
    difference, scale, rel = schedule
    assert NormRegulariser(p, 10).theta(2.0) == pytest.approx({1.5: 4.0, 4.0: 6.32455532034}[p], rel=1e-12)
    for rule, expected in (("erm", erm), ("sco", sco)):
        assert temperature(rule, p, difference).at(scale) == pytest.approx(expected, rel=rel)


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


def ratio(problem, n, d, p, epsilon, calibration, schedule="erm", sampler="auto", bound="thm3", **options):
    cell = Cell("gopi2022.reg_exp_mech", problem, n, epsilon, 1e-6, d,
                options={"schedule": schedule, "sampler": sampler}, problem_options={"p": p, **options})  # fmt: skip
    found = calibrate_cell(cell, calibration, 0)
    risk = cell.problem_entry.expected_gap(cell.algorithm, found.schedule, found.scales)
    context = BoundContext(n, d, epsilon, 1e-6, found.constants, calibration, found.schedule, found.scales)
    return risk / get_bound(f"gopi2022.{bound}").value(context)


@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_empirical_risks_use_less_than_064_of_the_bound(calibration):
    found = [
        ratio(name, n, d, p, epsilon, calibration, sampler=sampler)
        for name, sampler in (("axis_linear", "auto"), ("radial_norm", "radial_exact"))
        for n in (10, 300, 10_000)
        for d in (1, 2, 32)
        for p in (1.05, 2.0)
        for epsilon in (0.1, 8.0)
    ]
    assert 0.5 < max(found) < 0.64


def test_the_radial_instance_is_tight_up_to_two():
    assert ratio("radial_norm", 10**6, 16, 1.5, 1.0, "paper", sampler="radial_exact") == pytest.approx(0.5, rel=1e-4)
    assert ratio("axis_linear", 10**6, 16, 1.5, 1.0, "paper") == pytest.approx((1 + 15 / 1.5) / 32, rel=1e-3)
