"""The regularised exponential mechanism of any convex losses, by hit-and-run chains."""

from __future__ import annotations

from dpsco_bench.algorithms.gopi2022.setting import (
    EVALUATED,
    NEEDS,
    PAPER,
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

SOURCE = f"{PAPER}, Corollaries 2 to 5"


@algorithm("gopi2022.hit_and_run", source=SOURCE, needs=NEEDS, variants=EVALUATED, least_norm=1.0)
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
    """One chain per replicate, on any l_p or Schatten ball.

    Nothing is proven about the distance from the target law; rhat, ess and chain_risk are kept beside the result. Each
    density costs n value queries, none for linear losses.

    Parameters
    ----------
    c, n, d, privacy, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; losses that can be evaluated.
    sweeps : int
        Length of each chain, of which the second half counts as evidence.
    """
    setting = checked_setting(c, n, d, privacy, variant, SOURCE)
    return draw_plan(
        setting, regularised(setting, schedule, theta_convention), "hit_and_run", checked_count("sweeps", sweeps)
    )


plan.run(draw)
