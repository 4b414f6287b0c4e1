"""Noisy mirror descent on all records (row [31] of Table 1) with compiled steps."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.compiled import compiled, piece
from dpsco_bench.fused.full import full_tiles
from dpsco_bench.fused.mirror import averaged_run
from dpsco_bench.fused.pieces import exponential, largest_of
from dpsco_bench.fused.registry import fused
from dpsco_bench.papers.su2023.algorithms.ttz14 import step_size, weighted_vertices


@fused("su2023.ttz14", form=False)
def ttz14(objective, plan, mechanism):
    """Run the listing compiled; return the average of z_1..z_T."""
    step = step_size(objective, plan, mechanism)
    if plan.schedule.get("mirror") != "entropy":
        return averaged_run(objective, plan, mechanism, step)
    radius, ridge = objective.domain.radius, float(objective.problem.constants.regularisation)
    u = np.ascontiguousarray(objective.start)
    z, total = weighted_vertices(u, radius), np.zeros_like(u)
    for _, full, scale, tile in full_tiles(objective, mechanism, "gradient", z):
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
    """Make steps of `ttz14.exponentiated_steps` of all rows: u, their points z and the sum of these, in place.

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
