"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014), a "[28]" of Wang, Ye, Xu's Table 3."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import averaged_steps, mirror_descent_plan, optimal_step
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as row [28] of Wang, Ye, Xu 2017, Table 3 (constants from memory, unverified)"


@algorithm("wang2017.noisy_md_ttz14", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL))
def plan(given: Setting, *, steps: int | None = None, most_steps: int | None = None) -> Plan:
    """Mirror descent with noisy full gradients: T = diam^2 n^2 eps^2/(W ln^2(n/delta)), average of the iterates.

    Step sqrt(2B/(T (G^2 diam^2 + sigma^2 W))) with sigma the noise in force; B bounds the Bregman divergence from the
    centre and W = E sup_{w in C} <b, w>^2. ``paper``: sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2.

    Parameters
    ----------
    given : Setting
        On a ball.
    steps, most_steps : optional
        Replace T; cap it.
    """
    return mirror_descent_plan(given, steps, most_steps, SOURCE)


@plan.run
def noisy_md(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T."""
    return averaged_steps(objective, plan, mechanism, optimal_step(plan, mechanism))
