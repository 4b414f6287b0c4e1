"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014) as the first row of Table 1 of Su, Zhao, Wang 2023."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.mirror_descent import averaged_steps, mirror_descent_plan, optimal_step
from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as in Su, Zhao, Wang 2023, Table 1 (constants from memory, unverified)"


@algorithm("su2023.ttz14", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL))
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """Noisy mirror descent with T = n/4 steps of 1/(s sqrt T) on an l1 ball and 1/(s sqrt(d T)) on an l2 ball.

    Parameters
    ----------
    given : Setting
        On an l1 or l2 ball.
    steps : optional
        Replaces T.
    """
    return mirror_descent_plan(given, max(1, given.n // 4) if steps is None else steps, None, SOURCE)


@plan.run
def ttz14(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T. Without noise the shared step is taken."""
    s, start = mechanism.scales["gradient"], objective.start
    if s == 0:
        step = optimal_step(plan, mechanism)
    else:
        step = 1 / (s * sqrt(plan.steps * (start.shape[-1] if objective.domain.name == "l2_ball" else 1)))
    return averaged_steps(objective, plan, mechanism, step)
