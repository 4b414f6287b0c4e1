"""Noisy descent in a random projection (Kasiviswanathan, Jin 2016): row 2 of Table 1 of Su, Zhao, Wang 2023."""

from __future__ import annotations

from math import ceil, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.papers.su2023.algorithms.projected_features import LONGEST, Projected
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "Kasiviswanathan, Jin 2016, as in Su, Zhao, Wang 2023, Table 1 (all but m from memory, unverified)"
DEGENERATE = "degenerate: m = ceil(G n eps) is at least d, so that nothing is projected away"


@algorithm(
    "su2023.kj16",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.BALL, Trait.UNREGULARISED),
    variants={"standard": ("accounted", "none")},
)
def plan(given: Setting, *, projection: int | None = None, steps: int | None = None) -> Plan:
    """T = n/4 noisy projected steps on v in Phi C, then a lift to C; m = min(d, ceil(G n eps)).

    The step is diam2/sqrt(T ((1.1 L)^2 + m s^2)). Phi is m x d with entries N(0, 1/m); projected features are clipped
    to norm 1.1 and slopes to L, so that a mean gradient moves by at most 2.2 L/n: s = 2.2 L sqrt(T)/(n gdp_mu). The
    table gives no noise for this row, so that there is no calibration ``paper``.

    Parameters
    ----------
    given : Setting
        On an l1 or l2 ball.
    projection : int
        m in place of the theorem's, at most d.
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    count_option("projection", projection, SOURCE, d)
    count_option("steps", steps, SOURCE)
    if c.ball is None:
        raise InputError("domain", c.domain, "an l1 or l2 ball", SOURCE)
    m = projection or min(d, ceil(c.ball.width(d) * n * given.epsilon))
    T, slope = steps or max(1, n // 4), LONGEST * c.lipschitz
    query = GaussianQuery("gradient", 2 * slope / n, T)
    warnings = (DEGENERATE,) * (m == d)
    schedule: Schedule = dict(n=n, steps=T, projection=m, slope=slope, diameter=c.ball.euclidean_diameter(d))
    return make_plan(query, gradient_evaluations=n * T, warnings=warnings, **schedule)


@plan.run
def kj16(objective, plan, mechanism):
    """Projected steps on ``v (R, m)``; returns the shortest point over the average of the iterates, ``(R, d)``."""
    m = plan.projection
    small = Projected(objective, m, plan.slope / LONGEST)
    v = objective.xp.zeros((objective.replicates, m), dtype=objective.dtype)
    variance = plan.slope**2 + m * mechanism.scales["gradient"] ** 2
    step, total = plan.diameter / sqrt(plan.steps * variance), float64_zeros(v)
    for t in range(plan.steps):
        v = small.project(v - step * mechanism.release("gradient", small.mean_gradient(v), t))
        total = total + v
    x = small.lift(cast_like(total / plan.steps, v))
    objective.observe(x)
    return x
