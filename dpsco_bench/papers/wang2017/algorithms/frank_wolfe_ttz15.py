"""Private Frank-Wolfe over the l1 ball (Talwar, Thakurta, Zhang 2015), the "[29]" of Wang, Ye, Xu's Table 3."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import array_namespace, cast
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait


@algorithm(
    "wang2017.frank_wolfe_ttz15",
    source="Talwar, Thakurta, Zhang 2015, as row [29] of Wang, Ye, Xu 2017, Table 3 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.L1_BALL),
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """Frank-Wolfe steps 2/(t+2) to the vertex of least noisy score <s, grad F>: T = (n eps/L1)^(2/3), T - 1 releases.

    L1 = sup||grad f||_inf <= G. ``paper``: Laplace scale L1 R sqrt(8 T l)/(n eps). ``accounted``: a score changes by up
    to 2 L1 R/n, so a release is 4 L1 R/(n scale)-differentially private; optimal composition of pure privacy.

    Parameters
    ----------
    given : Setting
        On an l1 ball.
    steps : optional
        Replaces T, at least 2.
    """
    c, n = given.constants, given.n
    if c.ball is None or c.domain != "l1_ball":
        raise given.error("domain", c.domain, "l1_ball")
    slope, R, ne = c.lipschitz, c.ball.radius, n * given.epsilon
    T = given.count("steps", steps, least=2) or max(2, round((ne / slope) ** (2 / 3)))
    scale = slope * R * sqrt(8 * T * given.l) / ne
    vertex = NoisyMinimumQuery("vertex", 2 * slope * R / n, T - 1, paper_scale=scale)
    return make_plan(vertex, gradient_evaluations=n * (T - 1), n=n, steps=T, radius=R)


@plan.run
def frank_wolfe(objective, plan, mechanism):
    """Step from ``(R, d)`` towards vertices ``+R e_1, -R e_1, +R e_2, ...``; return the last iterate."""
    x = objective.start
    xp, d = array_namespace(x), x.shape[-1]
    vertices = xp.arange(2 * d)
    for t in range(1, plan.steps):
        scores = plan.radius * objective.full_gradient(x)
        scores = xp.reshape(xp.stack([scores, -scores], axis=-1), (-1, 2 * d))
        chosen = mechanism.release("vertex", scores, t - 1)
        picked = cast(vertices[None, :] == chosen[:, None], x.dtype)
        vertex = plan.radius * (picked[:, 0::2] - picked[:, 1::2])
        x = x + 2 / (t + 2) * (vertex - x)
        objective.observe(x)
    return x
