"""Multipass noisy SGD on an l_p ball, p >= 2 (Bassily, Guzman, Nandi 2021, Proposition 13)."""

from __future__ import annotations

from math import inf, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option, count_option, positive_option
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import ball_order
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import SingleIndex, WithReplacement
from dpsco_bench.problems.base import Trait

SOURCE = (
    "Bassily, Guzman, Nandi 2021, Proposition 13; Bassily, Feldman, Guzman, Talwar 2020, Algorithm 2 "
    "(constants from memory, unverified)"
)
EXTENTS = ("diameter", "radius")


@algorithm(
    "bassily2021.noisy_sgd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED),
    order_invariant=False,
)
def plan(given: Setting, *, steps: int | None = None, step: float | None = None, extent: str = "diameter") -> Plan:
    """T = n^2 projected steps on one record each, sigma^2 = 8 L2^2 l/eps^2, eta = R2/(L2 n max{sqrt n, sqrt(d l)/eps}).

    A loss that is Lipschitz in l_p with p >= 2 is so in l2; R2 = d^(1/2-1/p) M is the Euclidean diameter.

    Parameters
    ----------
    given : Setting
        L0 and M in l_p, on an l_p ball with 2 <= p <= inf.
    steps : optional
        T, at least n for the theorem's rate: then batches of m = n sqrt(eps/(4T)) records with replacement,
        sigma^2 = 8 T L2^2 l/(n eps)^2 and eta = (R2/(L2 sqrt T))/sqrt(max{1, T/n + d sigma^2/L2^2}).
    step : optional
        Replaces eta.
    extent : str
        ``diameter``: R2 as above. ``radius``: half of it.
    """
    c, n, d = given.constants, given.n, given.d
    p, l, eps, L2 = ball_order(c, 2.0, inf, SOURCE), given.l, given.epsilon, c.lipschitz
    R2 = (
        d ** (0.5 - 1 / p)
        * c.diameter
        * (1.0 if choice_option("extent", extent, EXTENTS, SOURCE) == "diameter" else 0.5)
    )
    T = count_option("steps", steps, SOURCE) or n * n
    if steps is None:
        m, scale = 1, sqrt(8 * l) * L2 / eps
        eta = R2 / (L2 * n * max(sqrt(n), sqrt(d * l) / eps))
    else:
        m = min(n, max(1, round(n * sqrt(eps / (4 * T)))))
        scale = sqrt(8 * T * l) * L2 / (n * eps)
        eta = R2 / (L2 * sqrt(T)) / sqrt(max(1.0, T / n + d * scale**2 / L2**2))
    eta = positive_option("step", step, SOURCE) or eta
    records = SingleIndex(n) if m == 1 else WithReplacement(n, m)
    query = GaussianQuery("gradient", 2 * L2 / m, T, records, paper_scale=scale)
    few = (f"T = {T} is below n: the optimisation error hides the statistical one",) * (n > T)
    return make_plan(query, gradient_evaluations=m * T, warnings=few, n=n, steps=T, batch=m, step=eta)


@plan.run
def noisy_sgd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of x^1..x^T."""
    x = objective.start
    total = float64_zeros(x) + cast(x, objective.xp.float64)
    for t in range(plan.steps):
        gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
        x = objective.project(x - plan.step * mechanism.release("gradient", gradient, t))
        objective.observe(x)
        if t + 1 < plan.steps:
            total = total + x
    return cast_like(total / plan.steps, x)
