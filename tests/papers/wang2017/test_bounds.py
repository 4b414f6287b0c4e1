import math
from dataclasses import replace

import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

L10 = math.log(1e5)
STEPS = {"steps": 7, "norm_smoothness": 1.5, "bregman_radius": 0.6}
CONTEXT = BoundContext(
    n=1000,
    d=10,
    epsilon=1.0,
    delta=1e-5,
    constants=Constants(
        2.0,
        0.25,
        strong_convexity=0.1,
        regularisation=0.05,
        initial_distance=0.7,
        initial_gap=0.4,
        diameter=2.0,
        domain="l2_ball",
    ),
    calibration="paper",
    schedule={"epochs": 5, "contraction": 0.49, "inner_steps": 481},
    scales={"inner": 0.3},
    start_risk=0.5,
)
STEPPED = replace(CONTEXT, schedule=STEPS, scales={"gradient": 0.2})  # methods without epochs
SQUARES = 4 + 9 + 16 + 25 + 36 + 49 + 64


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thm4_2", 10 * 4 * 5 * L10 / (0.1 * 1e6)),
        ("thm4_2_explicit", 0.49**5 * 0.5 + 10 * 0.09 / (10 * 0.25)),
        ("thm4_2_gradients", (1000 + 2.5) * 5),
        ("thm4_4", 2 * math.sqrt(10 * L10) / 1000),
        ("thm4_4_explicit", (0.5 * (1 + 1 / 962) + 39 * 0.25 * 0.49 / 1924) / 32 + 10 * 0.09),
        ("thm4_4_gradients", 1000 * 0.25 / math.sqrt(10) + 5000),
        ("thm5_4", 2 * math.sqrt(0.6 * 10 * L10) / 1000),  # W = d in the unit ball of l2
        ("thm5_4_explicit", 8 * 1.5 * 0.6 / 64 + 0.04 * 10 * SQUARES / (2 * 1.5 * 64)),
        ("thm5_4_gradients", 1000 * math.sqrt(1.5 * math.sqrt(0.6) * 1000 / (2 * math.sqrt(10 * L10)))),
        ("thm6_2", 10 * 4 * 7 * L10 / (2 * 0.1 * 1e6)),
        ("thm6_2_explicit", (1 - 1 / 3) ** 7 * 0.5 + 10 * 0.04 / 0.2),
        ("thm6_3", 4 * math.sqrt(2 * 0.3 * 0.4 * 10 * L10) / 1000),
        ("thm6_3_explicit", 2 * 0.3 * 0.4 / 7 + 10 * 0.04),
        ("strongly_convex", 10 * L10 / 1e6),
        ("zhang17_convex", (math.sqrt(10 * L10) / 1000) ** (2 / 3)),
        ("zhang17_gradients", 1000 * 3 * math.log(1000)),
    ],
)
def test_formulas(name, value):
    context = STEPPED if name.startswith(("thm5", "thm6")) else CONTEXT
    assert get_bound(f"wang2017.{name}").value(context) == pytest.approx(value, rel=1e-12)


def test_accounted_bounds_take_the_gaussian_parameter():
    accounted = replace(STEPPED, calibration="accounted")
    ratio = get_bound("wang2017.thm6_2").value(accounted) / get_bound("wang2017.thm6_2").value(STEPPED)
    assert ratio == pytest.approx(1 / (L10 * gdp_mu(1.0, 1e-5) ** 2))
