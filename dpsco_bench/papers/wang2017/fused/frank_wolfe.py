"""Private Frank-Wolfe over the l1 ball (Talwar, Thakurta, Zhang 2015) with compiled steps."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.full import full_tiles
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.vertices import noisy_vertex, vertex_work

EAGER = (-1.0, 0, 0, 0, 0)
"""All noise is drawn beforehand."""


@compiled
def full_vertex_steps(x, rows, full, noise, scale, eta, ridge, radius, lazy):
    """Steps ``x <- x + eta_s (v - x)`` of all rows, v the vertex of least noisy score: each operation rounds as listed.

    Parameters
    ----------
    x : array (S R, d), changed in place
    full : tuple, the mean gradient: see `fused.mirror.mirror_steps`
    noise, scale : array (k, rows, 2d) and (k,); eta : array (k,)
    lazy : tuple, `EAGER`: see `fused.vertices.noisy_vertex`
    """
    first, last, replicates, copies = rows
    given, curvature, centre = full
    d = x.shape[1]
    gradient, scores, work = np.empty(d), np.empty(2 * d), vertex_work(2 * d, lazy)
    for copy in range(copies):
        for r in range(first, last):
            row = copy * replicates + r
            point = x[row]
            for s in range(scale.size):
                for j in range(d):
                    gradient[j] = given[row, j]
                    if curvature.size > 0:
                        gradient[j] = gradient[j] + curvature[j] * (point[j] - centre[j])
                    gradient[j] = gradient[j] + ridge * point[j]
                chosen = noisy_vertex(scores, gradient, radius, noise, s, r, first, scale[s], lazy, work)
                for j in range(d):
                    vertex = 0.0
                    if j == chosen // 2:
                        vertex = radius if chosen % 2 == 0 else -radius
                    point[j] = point[j] + eta[s] * (vertex - point[j])


@fused("wang2017.frank_wolfe_ttz15", form=False)
def frank_wolfe(objective, plan, mechanism):
    """As the listing; returns the last iterate."""
    x = np.ascontiguousarray(objective.start)
    ridge = float(objective.problem.constants.regularisation)
    for at, full, scale, tile in full_tiles(objective, mechanism, "vertex", x, dim=2 * x.shape[-1]):
        eta = 2 / (np.arange(at.start, at.stop) + 3)
        full_vertex_steps(x, tile.rows, full, tile.noise, scale, eta, ridge, float(plan.radius), EAGER)
    return x
