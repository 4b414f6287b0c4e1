"""The regularised exponential mechanism of linear losses on a cube, drawn exactly."""

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

SOURCE = f"{PAPER}, Corollary 4 with p = inf"


@algorithm("gopi2022.cube_exact", source=SOURCE, needs=NEEDS, variants=VARIANTS, least_norm=1.0)
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
    """Independent truncated normals N(sbar_j/mu, 1/(k mu)) on [-R, R]: exact for every data set.

    Drawn by inversion in the left tail of the distribution function.

    Parameters
    ----------
    c, n, d, privacy, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; linear losses on an l_inf ball.
    """
    setting = checked_setting(c, n, d, privacy, variant, SOURCE)
    return draw_plan(setting, regularised(setting, schedule, theta_convention), "cube_exact")


plan.run(draw)
