"""Stochastic mirror descent without privacy: what the mechanism of Gopi et al. 2022 is held against."""

from __future__ import annotations

import math

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.sets import SchattenBall
from dpsco_bench.papers.gopi2022.algorithms.setting import NEEDS, PAPER, checked_setting
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.privacy.plan import Plan, make_plan

SOURCE = f"{PAPER}, Table 1 (non-private rate); textbook step"


@algorithm(
    "gopi2022.mirror_descent_nonprivate",
    source=SOURCE,
    needs=NEEDS,
    variants={"standard": ("none",)},
    order_invariant=False,
    least_norm=1.0,
)
def plan(given: Setting) -> Plan:
    """Single pass of stochastic mirror descent with mirror map r, step sqrt(2 Theta/(G^2 n)), average iterate.

    Parameters
    ----------
    given : Setting
        G in the norm of the domain, an l_p ball; nothing is private.
    """
    s, c, n = checked_setting(given, SOURCE), given.constants, given.n
    if isinstance(c.ball, SchattenBall):
        raise InputError("domain", c.domain, "an l_p ball", SOURCE)
    theta = s.regulariser.theta(s.radius)
    step = math.sqrt(2.0 * theta / n) / c.lipschitz
    reason = "it is not private: every iterate is an exact function of the data"
    return make_plan(gradient_evaluations=n, unprotected=reason, n=n, p=c.norm, theta=theta, step=step)


@plan.run
def mirror_descent(objective, plan, mechanism):
    """Mean of the n iterates ``(R, d)`` before each step."""
    x = objective.start
    mirror = SmoothMirror(NormRegulariser(plan.p, x.shape[-1]))
    total = float64_zeros(x)
    for i in range(plan.n):
        total = total + cast(x, objective.xp.float64)
        dual = mirror.gradient(x) - plan.step * objective.range_gradient(x, i, 1)
        x = objective.project(dual) if plan.p > 2 else mirror.step(dual, plan.p, objective.domain.radius)
        objective.observe(x)
    return cast_like(total / plan.n, x)
