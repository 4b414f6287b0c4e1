"""Mirror descent in the geometry of public data (Amid et al. 2022), the third row of Table 1 of Su, Zhao, Wang 2023."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "Amid et al. 2022, as in Su, Zhao, Wang 2023, Table 1 (from memory, unverified)"
INNER_STEPS = 50
RIDGE = 1e-3
"""Added to the public Hessian where it is singular, or nearly so."""


@algorithm(
    "su2023.pda_dpmd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.PUBLIC_QUADRATIC, Trait.SYMMETRIC_SET, Trait.UNREGULARISED),
    variants={"standard": ("accounted", "none")},
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """T = n/4 steps argmin_C eta <g, w> + (w - w_t)' Q (w - w_t)/2, Q the public Hessian, eta = 1/(s sqrt(d T)).

    s = 2 L sqrt(T)/(n gdp_mu); the public points cost nothing. The table gives no noise for this row, so that there is
    no calibration ``paper``.

    Parameters
    ----------
    given : Setting
        On a bounded symmetric set.
    steps : optional
        Replaces T.
    """
    c, n = given.constants, given.n
    T = count_option("steps", steps, SOURCE) or max(1, n // 4)
    query = GaussianQuery("gradient", 2 * c.lipschitz / n, T)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, slope=c.lipschitz)


@plan.run
def pda_dpmd(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of w_1..w_T. Without noise the step is 1/(L sqrt T)."""
    w, s = objective.start, mechanism.scales["gradient"]
    metric = PublicMetric(objective)
    step = 1 / (sqrt(plan.steps) * (s * sqrt(w.shape[-1]) or plan.slope))
    total = float64_zeros(w)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(w), t)
        w = metric.project(w - step * gradient @ metric.inverse, w)
        total = total + w
        objective.observe(w)
    return cast_like(total / plan.steps, w)


class PublicMetric:
    """``||w||_Q^2 = w' Q w`` with Q the public Hessian, and projections on the domain in it."""

    def __init__(self, objective: Any) -> None:
        Q = objective.problem.public_hessian
        values = np.linalg.eigvalsh(Q)
        if values[0] < RIDGE * values[-1]:
            Q, values = Q + RIDGE * np.eye(len(Q)), values + RIDGE
        self.domain, self.curvature = objective.domain, float(values[-1])
        self.matrix = objective.xp.asarray(Q, dtype=objective.dtype)
        self.inverse = objective.xp.asarray(np.linalg.inv(Q), dtype=objective.dtype)
        ratio = sqrt(float(values[0] / values[-1]))
        self.momentum = (1 - ratio) / (1 + ratio)

    def project(self, u, start):
        """Nearest point of the domain to ``u (R, d)`` in the metric: accelerated steps from ``start``."""
        x = y = start
        for _ in range(INNER_STEPS):
            moved = self.domain.project(y - (y - u) @ self.matrix / self.curvature)
            x, y = moved, moved + self.momentum * (moved - x)
        return x
