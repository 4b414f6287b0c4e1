"""Temperatures, bounds and facts of the chapter: its check vectors, printed formulas, and risks beside bounds."""

import math
from itertools import product

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
LAM = math.log(0.5e6)
T_PAPER = 1.0 / math.sqrt(2.0 * LAM)


def context(p, rule="sco", difference=1.0, lipschitz=1.0, t=T_PAPER, calibration="paper", **constants):
    name = "linf_ball" if math.isinf(p) else f"lp_ball:{p}"
    c = Constants(lipschitz, 0.0, diameter=2.0, domain=name, norm=p, **constants)
    schedule = temperature(rule, p, difference, lipschitz, c.strong_convexity).entries
    return BoundContext(N, D, 1.0, DELTA, c, calibration, schedule, {"draw": difference / (lipschitz * t)})


def temperature(rule, p, difference=1.0, lipschitz=1.0, convexity=0.0):
    return Temperature(rule, N, D, lipschitz, difference, NormRegulariser(p, D).theta(2.0), convexity)


def value(name, c):
    return get_bound(f"gopi2022.{name}").value(c)


ACCOUNTED = {"difference": 2.0, "t": gdp_mu(1.0, DELTA), "calibration": "accounted"}
CURVED = 2.0, "strongly_convex", 2.0, 2.0
ROOT, STEP = math.sqrt(D * LAM) / N, (N * T_PAPER) ** 2
QUERIES = N**2 * math.log(2 * D * N / DELTA) ** 2 / math.log(1 / DELTA)  # G D = 2, eps = 1
VALUES = [
    # with rad = D the corollaries are the theorems
    (context(1.5), {"thm3 cor2_erm": 0.0648008972219, "thm4 cor2_sco": 0.243686335422}),
    (context(1.5), {"thm4_unsplit": 0.142123735811, "thm4_valid": 0.198412714948}),
    (context(1.5), {"prop9": STEP * D ** (1 / 3), "value_queries": QUERIES * D ** (1 / 3)}),  # (8)
    (context(4.0), {"thm3 cor4_erm": 0.0814828144403, "thm4 cor4_sco": 0.306419344516}),
    (context(4.0), {"thm4_unsplit": 0.178711136560, "thm4_valid": 0.249490780650}),
    (context(1.5, **ACCOUNTED), {"thm3": 0.106876861385, "thm4_unsplit": 0.2083810536}),
    (context(4.0, **ACCOUNTED), {"thm3": 0.134390538365}),
    (context(*CURVED, strong_convexity=1.0), {"thm5": 0.00104978907019, "thm6": 0.00504978907019}),
    (context(*CURVED, strong_convexity=1.0), {"thm6_valid": 0.00904978907019}),
    (context(*CURVED, strong_convexity=1.0, loss_range=2.0), {"thm6 thm6_valid": 0.00504978907019}),  # S = G
    (context(1.0), {"cor3_erm": 12 * math.sqrt(math.log(D)) * ROOT, "value_queries": QUERIES * D}),  # (11)
    (context(1.0), {"cor3_sco": 12 * math.sqrt(math.log(D)) * (ROOT + N**-0.5)}),
    (context(math.inf), {"cor4_erm": 4 * D * math.sqrt(LAM) / N, "value_queries": QUERIES * D}),  # (14)
    (context(math.inf), {"thm2": gdp_epsilon(2 * T_PAPER, DELTA), "prop9": STEP * D, "prop8": STEP}),
]


@pytest.mark.parametrize(("c", "values"), VALUES)
def test_check_vectors_and_printed_formulas(c, values):
    for names, expected in values.items():
        assert [value(name, c) for name in names.split()] == pytest.approx([expected] * len(names.split()), rel=2e-10)


def test_orders_of_the_bounds_and_what_minimises_them():
    for p in (1.5, 4.0):
        c = context(p, **ACCOUNTED)
        assert value("thm4_unsplit", c) <= value("thm4", c)
        split = value("thm4", c) - value("thm3", c)
        assert split == pytest.approx(math.sqrt(8 * c.schedule["theta"] / N), rel=1e-12)
    assert value("thm3", context(1.0)) < value("cor3_erm", context(1.0))  # 2e = 5.44 <= 6 (E5)
    erm, sco, t = temperature("erm", 1.5, 2.0), temperature("sco", 1.5, 2.0), 0.3
    k, mu = erm.at(2.0 / t)
    assert k * mu == pytest.approx(10 / erm.theta, rel=1e-12)
    tried = sco.at(2.0 / t)[0] * np.array([0.99, 1.0, 1.01])  # with mu tied to k by t
    assert np.argmin((2.0 / (1000 * t)) ** 2 * tried * sco.theta + (10 + 1000 * t**2 / 2) / tried) == 1


@pytest.mark.parametrize("p", [1.3, 1.6, 2.0])
def test_the_gap_is_that_of_the_law_along_the_axis(p):
    """The law is exp(-k (F + mu r)), F = -x_1 and r = ||x||_p^2/(2 (p - 1))."""
    c = Constants(1.0, 0.0, diameter=2.0, domain=f"lp_ball:{p}", norm=p)
    schedule = Temperature("sco", 40, 2, 1.0, 1.0, 0.8, 0.0).entries
    context = BoundContext(40, 2, 1.0, 1e-6, c, "paper", schedule, {"draw": 6.0})
    k, mu = (glossary_of("gopi2022.thm3")[name].source(context) for name in ("k", "mu"))
    expected = AxisLaw(p, 2, k, k * mu / (2 * (p - 1))).mean_gap()
    assert get_bound("gopi2022_law.axis").value(context) == pytest.approx(expected, rel=1e-6)


PAPER, EXACT = (1.0, 1.0 / T_PAPER, 1e-11), (2.0, 2.0 / gdp_mu(1.0, 1e-6), 5e-9)
TEMPERATURES = {
    ("erm", 1.5): ((308.637701906, 0.00810011215274), (187.131243759, 0.0133596076731)),
    ("sco", 1.5): ((676.915676902, 0.0177654669763), (364.85545356, 0.0260476317)),
    ("erm", 4.0): ((245.450530119, 0.00644178209481), (148.820000599, 0.0106245049303)),
    ("sco", 4.0): ((538.331223683, 0.0141283558692), (290.15886245, 0.0207149190)),
}
"""k and mu with the paper's noise, and with the accounted one."""


@pytest.mark.parametrize(("rule", "p"), TEMPERATURES)
def test_check_vectors_of_temperatures(rule, p):
    assert NormRegulariser(p, 10).theta(2.0) == pytest.approx({1.5: 4.0, 4.0: 6.32455532034}[p], rel=1e-12)
    for (difference, scale, rel), expected in zip((PAPER, EXACT), TEMPERATURES[rule, p], strict=True):
        assert temperature(rule, p, difference).at(scale) == pytest.approx(expected, rel=rel)
    curved = temperature("strongly_convex", 2.0, 2.0, 2.0, 1.0)
    assert curved.at(1.0 / T_PAPER) == pytest.approx((9525.72310375, 1.0), rel=1e-11)


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
    samplers = {"axis_linear": "auto", "radial_norm": "radial_exact"}
    settings = product(samplers, (10, 300, 10_000), (1, 2, 32), (1.05, 2.0), (0.1, 8.0))
    found = [ratio(*setting, calibration, sampler=samplers[setting[0]]) for setting in settings]
    assert 0.5 < max(found) < 0.64


def test_the_radial_instance_is_tight_up_to_two():
    assert ratio("radial_norm", 10**6, 16, 1.5, 1.0, "paper", sampler="radial_exact") == pytest.approx(0.5, rel=1e-4)
    assert ratio("axis_linear", 10**6, 16, 1.5, 1.0, "paper") == pytest.approx((1 + 15 / 1.5) / 32, rel=1e-3)
