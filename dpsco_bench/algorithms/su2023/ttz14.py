"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014) as the first row of Table 1 of Su, Zhao, Wang 2023."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.baselines import noisy_md_ttz14 as shared
from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as in Su, Zhao, Wang 2023, Table 1 (constants from memory, unverified)"


@algorithm("su2023.ttz14", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL))
def plan(c: Constants, n: int, d: int, privacy: PrivacySpec, *, variant: str, steps: int | None = None) -> Plan:
    """`wang2017.noisy_md_ttz14` with T = n/4 steps of 1/(s sqrt T) on an l1 ball and 1/(s sqrt(d T)) on an l2 ball.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants with an l1 or l2 ball as domain, number of records, dimension, target privacy.
    variant : str
        ``standard``.
    steps : optional
        Replaces T.
    """
    if steps is not None and steps < 1:
        raise InputError("steps", steps, "an integer >= 1", SOURCE)
    return shared.plan.plan_function(c, n, d, privacy, variant=variant, steps=steps or max(1, n // 4))


@plan.run
def ttz14(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T. Without noise the shared step is taken."""
    s, start = mechanism.scales["gradient"], objective.start
    if s == 0:
        step = shared.optimal_step(plan, mechanism)
    else:
        step = 1 / (s * sqrt(plan.steps * (start.shape[-1] if objective.domain.name == "l2_ball" else 1)))
    return shared.averaged_steps(objective, plan, mechanism, step)
