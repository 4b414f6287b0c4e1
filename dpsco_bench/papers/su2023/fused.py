"""Compiled runs of the methods of Su, Zhao, Wang 2023."""

from __future__ import annotations

import math
from copy import copy as shallow_copy
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled, piece
from dpsco_bench.fused.descent import descending, phased_run, projecting
from dpsco_bench.fused.gradients import by_products, full_tiles, slopes_of
from dpsco_bench.fused.mirror import averaged_run, on_its_own_ball, truncated_run
from dpsco_bench.fused.pieces import (
    cosine_of_turns,
    exponential,
    exponential_minus_one,
    largest_of,
    logarithm,
    scale_by,
    shrink_onto,
)
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import domain_of
from dpsco_bench.papers.su2023.algorithms import table1
from dpsco_bench.problems.slopes import FREEDOM, StudentSample, student_scale

ROWS = 64
"""Rows whose numbers are worked on at once: a row of a few numbers is too short for vectors."""
WIDEST = 64
"""Beyond it one product of all rows by BLAS is faster: of 64 rows at once, of 12 from about twice as many on."""


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


@fused("su2023.ttz14", form=False)
def ttz14(objective, plan, mechanism):
    """Run compiled; return the average of z_1..z_T."""
    step = table1.step_size(objective, plan, mechanism)
    if plan.schedule.get("mirror") != "entropy":
        return averaged_run(objective, plan, mechanism, step)
    radius, ridge = objective.domain.radius, float(objective.problem.constants.regularisation)
    u = np.ascontiguousarray(objective.start)
    z, total = table1.weighted_vertices(u, radius), np.zeros_like(u)
    for _, full, scale, tile in full_tiles(objective, mechanism, z):
        exponentiated_steps(u, z, total, tile.rows, full, tile.noise, scale, ridge, radius, float(step))
    return total / plan.steps


@piece
def weigh_vertices(z, u, radius):
    """``-R sinh(u_j)/sum_k cosh(u_k)`` of ``u (d,)``, to z."""
    top, below = largest_of(u), 0.0
    for j in range(u.size):
        up, down = exponential(u[j] - top), exponential(-u[j] - top)
        z[j] = down - up
        below += up + down
    for j in range(u.size):
        z[j] *= radius / below


@compiled
def exponentiated_steps(u, z, total, rows, full, noise, scale, ridge, radius, step):
    """Make steps of `table1.exponentiated_steps` of all rows: u, their points z and the sum of these, in place.

    The other parameters are those of `fused.mirror.mirror_steps`.
    """
    first, last, replicates, copies = rows
    given, curvature, middle = full
    drawn = 1 if noise.shape[0] == scale.size and noise.shape[1] == last - first else 0
    for copy in range(copies):
        for r in range(first, last):
            row = copy * replicates + r
            logs, point, sums = u[row], z[row], total[row]
            for s in range(scale.size):
                for j in range(logs.size):
                    gradient = given[row, j] + ridge * point[j]
                    if curvature.size > 0:
                        gradient += curvature[j] * (point[j] - middle[j])
                    gradient += scale[s] * np.float64(noise[s * drawn, (r - first) * drawn, j])
                    logs[j] += radius * step * gradient
                weigh_vertices(point, logs, radius)
                for j in range(logs.size):
                    sums[j] += point[j]


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
