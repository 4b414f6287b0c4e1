"""Accelerated projected steps on a quadratic, the inner solver of kj16 and pda_dpmd, compiled: row by row."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.pieces import scale_by, shrink_onto


@compiled
def accelerated_steps(x, matrix, target, momenta, domain):
    """Step all rows from ``y = x`` in place: ``x' = P(y - (matrix y - target))``, ``y = x' + momentum (x' - x)``.

    Parameters
    ----------
    x, target : array (R, d)
    matrix : array (d, d), symmetric, the Hessian over the largest curvature; so is the target
    momenta : array (k,)
    domain : tuple, see `fused.tiles.domain_of`
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
