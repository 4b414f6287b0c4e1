"""Projected gradient descent with noise on all records, for l_p balls with p >= 2: a method to search in public.

Noisy SGD of Bassily, Guzman, Nandi 2021 (Proposition 13) draws batches with replacement; with all records in every step
the noise is that of a composed Gaussian mechanism.
"""

from __future__ import annotations

from math import inf, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, positive_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import checked_count
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import ball_order
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "full-batch form of Bassily, Guzman, Nandi 2021, Proposition 13; a baseline of this project"


@algorithm(
    "bassily2021.projected_gd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED),
    variants={"standard": ("accounted", "none")},
    order_invariant=True,
)
def plan(given: Setting, *, steps: int = 64, step: float | None = None) -> Plan:
    """T steps ``R2/sqrt(T (L2^2 + d s^2))`` on the mean gradient plus normals of the accounted deviation s.

    A loss that is Lipschitz in l_p with p >= 2 is so in l2; R2 = d^(1/2-1/p) M is the Euclidean diameter.

    Parameters
    ----------
    given : Setting
        L0 and M in l_p, on an l_p ball with 2 <= p <= inf.
    steps : int
        T.
    step : optional
        Replaces the size of the steps.
    """
    c, n, d = given.constants, given.n, given.d
    p, T = ball_order(c, 2.0, inf, SOURCE), checked_count("steps", steps)
    eta = positive_option("step", step, SOURCE) or 0.0
    query = GaussianQuery("gradient", 2 * c.lipschitz / n, T)
    diameter = d ** (0.5 - 1 / p) * c.diameter
    return make_plan(query, gradient_evaluations=n * T, steps=T, step=eta, lipschitz=c.lipschitz, extent=diameter)


@plan.run
def projected_gd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of the iterates after each step."""
    x = objective.start
    variance = plan.lipschitz**2 + x.shape[-1] * mechanism.scales["gradient"] ** 2
    step = plan.step or plan.extent / sqrt(plan.steps * variance)
    total = float64_zeros(x)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(x), t)
        x = objective.project(x - step * gradient)
        total = total + x
        objective.observe(x)
    return cast_like(total / plan.steps, x)
