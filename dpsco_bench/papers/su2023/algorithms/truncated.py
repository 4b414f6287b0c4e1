"""Truncated mirror descent of Algorithms 4 and 7, and the refusals of their schedules."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.su2023.algorithms.lp_setting import NORM_RULE, lp_ball_radius, smooth_norm, truncated
from dpsco_bench.plain import Schedule
from dpsco_bench.problems.base import Constants, Trait

NEEDS = (Trait.CONVEX, Trait.SMOOTH, Trait.LP_BALL, Trait.UNREGULARISED)


def heavy_tailed(c: Constants, d: int, source: str) -> tuple[SmoothNorm, float]:
    """Return the smooth norm, and M, the diameter of the l_p ball; p = 2, where all is Euclidean, is a limit.

    Raises InputError for another set, another p, or gradients without a bound on their second moment.
    """
    smooth = smooth_norm(c, d, source, limit=True)
    lp_ball_radius(c, source)
    if c.gradient_deviation <= 0:
        raise InputError("gradient_deviation", c.gradient_deviation, "> 0: the sigma of Assumption 4", source)
    return smooth, c.diameter


def truncated_schedule(
    given: Setting, M: float, level: float, steps: int, source: str, left_over: bool = False
) -> Schedule:
    """T, m = n // T, gamma = sqrt T and the threshold beta M + lambda, for a truncation level lambda.

    With ``left_over`` one batch fewer where T m = n, unless it is the only one. Raises InputError for T > n, gamma < 2
    beta or lambda < max(beta, 1) M.
    """
    c, n = given.constants, given.n
    if not 1 <= steps <= n:
        raise InputError("T", steps, f"from 1 to n = {n}, so that batches are not empty", source)
    batch = n // steps
    steps = max(1, min(steps, (n - 1) // batch)) if left_over else steps
    gamma = sqrt(steps)
    if gamma < 2 * c.smoothness:
        raise InputError("gamma", gamma, f"at least 2 beta = {2 * c.smoothness:.4g}: n is too small", source)
    least = max(c.smoothness, 1.0) * M
    if level < least:
        raise InputError("truncation", level, f"at least max(beta, 1) M = {least:.4g}: n is too small", source)
    return dict(
        n=n,
        steps=steps,
        batch=batch,
        gamma=gamma,
        truncation=level,
        threshold=c.smoothness * M + level,
        p=c.norm,
        norm_rule=NORM_RULE,
    )


def truncated_mirror_descent(objective, plan, mechanism):
    """Make one pass of mirror steps over the l_p ball on ``(R, d)``; returns the mean of w_1..w_T."""
    w = objective.start
    mirror = SmoothMirror(SmoothNorm(plan.p, w.shape[-1], plan.norm_rule))
    q, total = plan.p / (plan.p - 1), float64_zeros(w)
    for t in range(plan.steps):
        gradients = truncated(objective.record_gradients(w, t * plan.batch, plan.batch), q, plan.threshold)
        y = mechanism.release("gradient", objective.xp.mean(gradients, axis=1), t)
        w = mirror.step(mirror.gradient(w) - y / plan.gamma, plan.p, objective.domain.radius)
        total = total + w
        objective.observe(w)
    return cast_like(total / plan.steps, w)
