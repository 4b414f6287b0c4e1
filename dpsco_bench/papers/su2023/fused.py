"""Compiled runs of the methods of Su, Zhao, Wang 2023."""

from __future__ import annotations

import math
from copy import copy as shallow_copy
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.descent import descending, phased_run, projecting
from dpsco_bench.fused.gradients import by_products, slopes_of
from dpsco_bench.fused.mirror import averaged_run, on_its_own_ball, truncated_run
from dpsco_bench.fused.pieces import cosine_of_turns, exponential_minus_one, logarithm, scale_by, shrink_onto
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import domain_of
from dpsco_bench.papers.su2023.algorithms import table1
from dpsco_bench.problems.slopes import FREEDOM, StudentSample, student_scale

ROWS = 64
"""Rows whose numbers are worked on at once: a row of a few numbers is too short for vectors."""


def quick(data: Any) -> Any:
    """Give data Student noise from the compiled transform; other data stay as they are."""
    if not isinstance(data, StudentSample):
        return data
    found = shallow_copy(data)
    found.transform = student_noise
    return found


def student_noise(drawn: np.ndarray) -> np.ndarray:
    """Draw the noise of `heavy_linear_t.student_noise`."""
    d = drawn.shape[-1] // 2
    out = np.empty((*drawn.shape[:-1], d))
    given = np.ascontiguousarray(drawn, dtype=np.float64).reshape(-1, 2 * d)
    student(out.reshape(-1, d), given, FREEDOM, student_scale(d))
    return out


@compiled
def student(out, drawn, freedom, scale):
    """``scale sqrt(f (u^(-2/f) - 1)) cos(2 pi v)`` to ``out (rows, d)``, of ``drawn (rows, 2 d)``: u, then v."""
    rows, d = out.shape
    u, v = np.empty(ROWS * d), np.empty(ROWS * d)
    power = 2.0 / freedom
    for first in range(0, rows, ROWS):
        some = min(ROWS, rows - first)
        for i in range(some):
            for j in range(d):
                u[i * d + j], v[i * d + j] = drawn[first + i, j], drawn[first + i, d + j]
        for q in range(some * d):
            radius = math.sqrt(freedom * exponential_minus_one(-power * logarithm(u[q])))
            u[q] = scale * radius * cosine_of_turns(v[q])
        for i in range(some):
            for j in range(d):
                out[first + i, j] = u[i * d + j]


@fused("su2023.truncated_batched_md", supports=on_its_own_ball)
def truncated_batched_md(objective, plan, mechanism):
    objective.data = quick(objective.data)
    return truncated_run(objective, plan, mechanism)


@fused("su2023.shuffled_truncated_md", supports=on_its_own_ball)
def shuffled_truncated_md(objective, plan, mechanism):
    """Run compiled: records that are shared are put in random order first."""
    objective.data = quick(objective.data)
    if not objective.problem.draws_per_replicate:
        objective.reorder(mechanism.permutation("records", plan.n))
    return truncated_run(objective, plan, mechanism)


fused("su2023.phased_dp_sgd", supports=descending, device=projecting, module=__name__)(phased_run)


def by_squares(objective, plan, mechanism):
    """Check that the mirror map is a square of an l_q norm."""
    return plan.schedule.get("mirror") != "entropy"


@fused("su2023.ttz14", supports=by_squares, form=False)
def ttz14(objective, plan, mechanism):
    """Run compiled; return the average of z_1..z_T."""
    return averaged_run(objective, plan, mechanism, table1.step_size(objective, plan, mechanism))


@compiled
def accelerated_steps(x, matrix, target, momenta, domain):
    """Step all rows from ``y = x`` in place: ``x' = P(y - (matrix y - target))``, ``y = x' + momentum (x' - x)``.

    x and target are ``(R, d)``, momenta ``(k,)``; ``matrix (d, d)``, symmetric, is the Hessian over the largest
    curvature, as the target is; the domain is that of `fused.tiles.domain_of`.
    """
    ball, radius, _ = domain
    d = x.shape[1]
    y, moved = np.empty(d), np.empty(d)
    for r in range(x.shape[0]):
        point, towards = x[r], target[r]
        for j in range(d):
            y[j] = point[j]
        for s in range(momenta.size):
            for j in range(d):
                moved[j] = y[j] + towards[j]
            for i in range(d):
                for j in range(d):
                    moved[j] -= y[i] * matrix[i, j]
            square = 0.0
            for j in range(d):
                square += moved[j] * moved[j]
            scale_by(moved, shrink_onto(moved, square, ball, radius))
            for j in range(d):
                y[j] = moved[j] + momenta[s] * (moved[j] - point[j])
                point[j] = moved[j]


WIDEST = 64
"""Beyond it one product of all rows by BLAS is faster: of 64 rows at once, of 12 from about twice as many on."""


def few_coordinates(objective, plan, mechanism):
    """Check that a row's own products are faster than those of all rows, which are one call of BLAS."""
    return objective.start.shape[-1] <= WIDEST and projecting(objective, plan, mechanism)


@fused("su2023.pda_dpmd", supports=few_coordinates, form=False)
def pda_dpmd(objective, plan, mechanism):
    """Run compiled; return the average of w_1..w_T."""
    mean = by_products(objective.problem, objective.data)

    def counted(w):
        objective.count(objective.n)
        return mean(w)

    return table1.pda_dpmd(objective, plan, mechanism, _Metric(objective), counted)


class _Metric(table1.PublicMetric):
    def project(self, u, start):
        x, scaled = start.copy(), self.matrix / self.curvature
        accelerated_steps(x, scaled, np.ascontiguousarray(u @ scaled), np.array(self.momenta), domain_of(self))
        return x


@fused("su2023.kj16", supports=few_coordinates, form=False)
def kj16(objective, plan, mechanism):
    """Run compiled; return the shortest point over the average of the iterates."""
    return table1.kj16(objective, plan, mechanism, _Image)


class _Image(table1.Projected):
    def __init__(self, objective, m, steepest):
        super().__init__(objective, m, steepest)
        self._slope = slopes_of(objective.problem)

    def project(self, u):
        scaled = np.ascontiguousarray(self.phi.T @ self.phi) / self.curvature
        target = np.ascontiguousarray(u @ self.phi) / self.curvature
        accelerated_steps(self._point, scaled, target, np.array(self.momenta), domain_of(self.objective))
        return self._point @ self.phi.T
