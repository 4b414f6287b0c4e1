"""Noisy mini-batch SGD (Bassily, Feldman, Talwar, Thakurta 2019), a baseline of Zhang, Tran, Cutkosky 2022."""

from __future__ import annotations

from math import ceil, floor, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.papers.zhang2022.algorithms.minibatch import NEEDS, checked_steps, projected_sgd
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import WithReplacement

SOURCE = "Bassily, Feldman, Talwar, Thakurta 2019, Algorithm 1 (constants from memory, unverified)"


@algorithm(
    "zhang2022.bftt19_noisy_sgd",
    source=SOURCE,
    needs=NEEDS,
    variants={"standard": ("paper", "accounted", "none")},
    order_invariant=False,
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """J = min(n/8, (eps n)^2/(32 d l)) steps M/(L sqrt J) on batches with replacement, variance 8 J L^2 l/(n eps)^2.

    Batches have ``ceil(n sqrt(eps/(4 J)))`` records. ``accounted``: the least noise by a bound for drawing with
    replacement.

    Parameters
    ----------
    given : Setting
        On a Euclidean ball; M is its radius. eps at most 4 J, so that a batch is no larger than the data.
    steps : optional
        Replaces J.
    """
    c, n, d = given.constants, given.n, given.d
    L, l, eps = c.lipschitz, given.l, given.epsilon
    J = checked_steps(steps, floor(min(n / 8, (eps * n) ** 2 / (32 * d * l))), "n/8 and (eps n)^2/(32 d l)", SOURCE)
    batch = ceil(n * sqrt(eps / (4 * J)))
    if batch > n:
        raise InputError("batch", batch, f"at most n = {n}: eps is above 4 J = {4 * J}", SOURCE)
    scale = sqrt(8 * J * l) * L / (n * eps)
    query = GaussianQuery("gradient", 2 * L / batch, J, WithReplacement(n, batch), paper_scale=scale)
    step = 0.5 * c.diameter / (L * sqrt(J))
    return make_plan(query, gradient_evaluations=J * batch, n=n, steps=J, batch=batch, step=step)


@plan.run
def bftt19_noisy_sgd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of the iterates before each step."""
    return projected_sgd(objective, plan, mechanism, plan.step)
