"""The regularised exponential mechanism of the loss G||x||, drawn exactly."""

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

SOURCE = f"{PAPER}, Corollaries 2 to 4"


@algorithm("gopi2022.radial_exact", source=SOURCE, needs=NEEDS, variants=VARIANTS, least_norm=1.0)
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
    """Radius of density rho^(d-1) exp(-A rho - B rho^2), direction of the cone measure.

    It covers the one data set whose records are all the centre of the domain, not its neighbours: it measures risk, and
    proves nothing.

    Parameters
    ----------
    c, n, d, privacy, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; losses G||x - s|| in the norm of the domain.
    """
    setting = checked_setting(c, n, d, privacy, variant, SOURCE)
    return draw_plan(setting, regularised(setting, schedule, theta_convention), "radial_exact")


plan.run(draw)
