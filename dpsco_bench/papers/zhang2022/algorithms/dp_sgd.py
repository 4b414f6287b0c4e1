"""Noisy SGD on subsets of the records with an accountant (in the style of Abadi et al. 2016), a baseline."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import checked_count
from dpsco_bench.papers.zhang2022.algorithms.minibatch import NEEDS, checked_steps, projected_sgd
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import WithoutReplacement

SOURCE = "Abadi et al. 2016, with subsets without replacement; schedule of this project, tuned once"


@algorithm(
    "zhang2022.dp_sgd",
    source=SOURCE,
    needs=NEEDS,
    variants={"standard": ("accounted", "none")},
    order_invariant=False,
)
def plan(given: Setting, *, steps: int | None = None, batch: int | None = None) -> Plan:
    """J = n/8 steps ``D/sqrt(J(L^2 + d s^2))`` on subsets of n/32 records, s the accounted noise.

    Parameters
    ----------
    given : Setting
        On a Euclidean ball.
    steps, batch : optional
        Replace J and the size of the subsets.
    """
    c, n = given.constants, given.n
    J = checked_steps(steps, n // 8, "n/8", SOURCE)
    m = max(1, n // 32) if batch is None else checked_count("batch", batch)
    query = GaussianQuery("gradient", 2 * c.lipschitz / m, J, WithoutReplacement(n, m))
    return make_plan(
        query, gradient_evaluations=J * m, n=n, steps=J, batch=m, lipschitz=c.lipschitz, diameter=c.diameter
    )


@plan.run
def dp_sgd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of the iterates before each step."""
    variance = plan.lipschitz**2 + objective.start.shape[-1] * mechanism.scales["gradient"] ** 2
    return projected_sgd(objective, plan, mechanism, plan.diameter / sqrt(plan.steps * variance))
