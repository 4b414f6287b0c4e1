"""The regularised exponential mechanism of linear losses along an axis, 1 < p <= 2, drawn exactly."""

from __future__ import annotations

from dpsco_bench.algorithms.gopi2022.setting import (
    NEEDS,
    PAPER,
    VARIANTS,
    checked_setting,
    draw,
    draw_plan,
    regularised,
)
from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SOURCE = f"{PAPER}, Corollary 2"


@algorithm("gopi2022.axis_exact", source=SOURCE, needs=NEEDS, variants=VARIANTS, least_norm=1.0)
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    schedule: str = "erm",
    theta_convention: str = "centred",
) -> Plan:
    """exp(kap x_1 - c ||x||_p^2) by rejection under cells in (x_1, ||x_2..d||_p).

    Exact for every data set if all records lie on the first axis, or p = 2 (turned; quadratic losses on an l_2 ball
    too). Other linear losses with p < 2 have ``gopi2022.gibbs``.

    Parameters
    ----------
    c, n, d, privacy, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; an l_p ball with 1 < p <= 2.
    """
    setting = checked_setting(c, n, d, privacy, variant, SOURCE)
    return draw_plan(setting, regularised(setting, schedule, theta_convention), "axis_exact")


plan.run(draw)
