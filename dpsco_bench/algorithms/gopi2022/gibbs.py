"""The regularised exponential mechanism of linear losses on l_p balls, by Gibbs chains."""

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
from dpsco_bench.errors import checked_count
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SOURCE = f"{PAPER}, Corollaries 2 to 4"


@algorithm("gopi2022.gibbs", source=SOURCE, needs=NEEDS, variants=VARIANTS, least_norm=1.0)
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    schedule: str = "erm",
    theta_convention: str = "centred",
    sweeps: int = 1000,
) -> Plan:
    """One chain per replicate, coordinate by coordinate with a move along the ray, for any p in [1, inf].

    Nothing is proven about the distance from the target law; rhat, ess and chain_risk are kept beside the result.

    Parameters
    ----------
    c, n, d, privacy, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; linear losses on an l_p ball.
    sweeps : int
        Length of each chain, of which the second half counts as evidence.
    """
    setting = checked_setting(c, n, d, privacy, variant, SOURCE)
    return draw_plan(
        setting, regularised(setting, schedule, theta_convention), "gibbs", checked_count("sweeps", sweeps)
    )


plan.run(draw)
