import math
from dataclasses import replace

import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import mean_largest_square
from dpsco_bench.geometry.width import mean_largest
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

L10, LN = math.log(1e5), math.log(1000)
CONTEXT = BoundContext(
    n=1000,
    d=10,
    epsilon=0.5,
    delta=1e-5,
    constants=Constants(1.0, 0.25, regularisation=0.1, diameter=6.0, domain="l1_ball"),
    calibration="paper",
    schedule={},
    scales={},
)
NE = 500.0
RATIO = NE / math.sqrt(L10)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pure_strongly_convex", 10 / NE**2),
        ("convex", math.sqrt(10) / RATIO),
        ("bst14_strongly_convex", 10 * LN**2 / RATIO**2),
        ("bst14_convex", math.sqrt(10) * LN**1.5 / RATIO),
        ("bst14_gradients", 1e6),
        ("zhang17_convex_gradients", 1000 * (RATIO / math.sqrt(10)) ** (2 / 3)),
        ("zhang17_convex_gradients_printed", 1000 * (RATIO / 10) ** (2 / 3)),
        ("zhang17_nonconvex", math.sqrt(10) * LN / RATIO),
        ("n_log_n", 1000 * LN),
        ("lower_strongly_convex", 10 / NE**2),
        ("lower_convex", math.sqrt(10) / NE),
        ("md_ttz14", 3 * math.sqrt(mean_largest_square(10)) * LN / RATIO),
        ("md_ttz14_gradients", 1000 * (6 * NE / math.log(1e8)) ** 2 / (9 * mean_largest_square(10))),
        ("objective_ttz14", (3 * mean_largest(10) + 0.1 * 36) / RATIO),
        ("frank_wolfe_ttz15", (3 * mean_largest(10) / RATIO) ** (2 / 3) * LN**2),
        ("frank_wolfe_ttz15_bare", (3 * mean_largest(10) / RATIO) ** (2 / 3)),
        ("frank_wolfe_ttz15_gradients_printed", (NE / (3 * mean_largest(10))) ** (2 / 3)),
        ("frank_wolfe_ttz15_gradients", 1000 * NE ** (2 / 3)),
    ],
)
def test_formulas(name, value):
    assert get_bound(f"wang2017_tables.{name}").value(CONTEXT) == pytest.approx(value, rel=1e-12)


def test_accounted_bounds_use_the_gaussian_parameter_and_pure_ones_do_not():
    accounted = replace(CONTEXT, calibration="accounted")
    assert get_bound("wang2017_tables.convex").value(accounted) == pytest.approx(
        math.sqrt(10) / (1000 * gdp_mu(0.5, 1e-5)), rel=1e-12
    )
    pure = get_bound("wang2017_tables.pure_strongly_convex")
    assert pure.value(accounted) == pure.value(CONTEXT)


def test_the_width_of_the_balls_own_norm():
    on_l2 = replace(CONTEXT, constants=Constants(1.0, 0.25, diameter=2.0, domain="l2_ball"))
    assert get_bound("wang2017_tables.objective_ttz14").value(on_l2) == pytest.approx(
        Ball("l2_ball", 1.0).width(10) / RATIO
    )
