"""The inner solvers of kj16 and pda_dpmd compiled; their outer steps look at all records."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpsco_bench.fused.descent import projecting
from dpsco_bench.fused.full import by_products, slopes_of
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import domain_of
from dpsco_bench.papers.su2023.algorithms.kj16 import LONGEST
from dpsco_bench.papers.su2023.algorithms.pda_dpmd import INNER_STEPS, PublicMetric
from dpsco_bench.papers.su2023.algorithms.projected_features import INNER_STEPS as IMAGE_STEPS
from dpsco_bench.papers.su2023.algorithms.projected_features import Projected
from dpsco_bench.papers.su2023.fused.accelerated import accelerated_steps

WIDEST = 64
"""Beyond it one product of all rows by BLAS is faster: of 64 rows at once, of 12 from about twice as many on."""


def few_coordinates(objective, plan, mechanism):
    """Check that a row's own products are faster than those of all rows, which are one call of BLAS."""
    return objective.start.shape[-1] <= WIDEST and projecting(objective, plan, mechanism)


@fused("su2023.pda_dpmd", supports=few_coordinates, form=False)
def pda_dpmd(objective, plan, mechanism):
    """Run the listing compiled; return the average of w_1..w_T."""
    w, s = objective.start, mechanism.scales["gradient"]
    metric, mean = _Metric(objective), by_products(objective.problem, objective.data)
    step = 1 / (sqrt(plan.steps) * (s * sqrt(w.shape[-1]) or plan.slope))
    total = np.zeros_like(w)
    for t in range(plan.steps):
        objective.count(objective.n)
        gradient = mechanism.release("gradient", mean(w), t)
        w = metric.project(w - step * gradient @ metric.inverse, w)
        total += w
        objective.observe(w)
    return total / plan.steps


class _Metric(PublicMetric):
    def project(self, u, start):
        """Project as the listing does."""
        x, momenta = start.copy(), np.full(INNER_STEPS, self.momentum)
        scaled = self.matrix / self.curvature
        accelerated_steps(x, scaled, np.ascontiguousarray(u @ scaled), momenta, domain_of(self))
        return x


@fused("su2023.kj16", supports=few_coordinates, form=False)
def kj16(objective, plan, mechanism):
    """Run the listing compiled; return the shortest point over the average of the iterates."""
    m = plan.projection
    small = _Image(objective, m, plan.slope / LONGEST)
    v = np.zeros((objective.replicates, m))
    variance = plan.slope**2 + m * mechanism.scales["gradient"] ** 2
    step, total = plan.diameter / sqrt(plan.steps * variance), np.zeros_like(v)
    for t in range(plan.steps):
        v = small.project(v - step * mechanism.release("gradient", small.mean_gradient(v), t))
        total += v
    x = small.lift(total / plan.steps)
    objective.observe(x)
    return x


class _Image(Projected):
    def __init__(self, objective, m, steepest):
        super().__init__(objective, m, steepest)
        self._slope = slopes_of(objective.problem)

    def project(self, u):
        """Project as the listing does."""
        t, momenta = 1.0, []
        for _ in range(IMAGE_STEPS):
            t, before = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5), t
            momenta.append((before - 1.0) / t)
        scaled = np.ascontiguousarray(self.phi.T @ self.phi) / self.curvature
        target = np.ascontiguousarray(u @ self.phi) / self.curvature
        accelerated_steps(self._point, scaled, target, np.array(momenta), domain_of(self.objective))
        return self._point @ self.phi.T
