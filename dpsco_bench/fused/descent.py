"""Projected gradient steps on few records, compiled: one text for all methods that make such steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.machine import launch_steps, on_device
from dpsco_bench.fused.pieces import LP_BALL, NO_SLOPE, add_gradients, finish, record_weight, shrink_onto
from dpsco_bench.fused.roots import project_lp
from dpsco_bench.fused.single import TOGETHER, descend, single_steps

KERNELS = Path(__file__).with_name("descent.cu")


@compiled
def projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    """Steps ``x <- P(x - eta_s (g + ridge x + scale z))`` of all rows, with a weighted sum of the new iterates.

    Parameters
    ----------
    x, total : array (S R, d), iterates and the sums, changed in place
    rows : tuple, replicates ``first .. last - 1`` of R, and S copies of them that share records and noise
    records : tuple, ``features, labels, index, counts, share, stride``: see `tiles.Tile`
    form : tuple, see `forms.RecordForm`
    noise : array (k, last - first, d) of float32, or (1, 1, d) of zeros without any; scale : array (k,)
    eta, weights : array (k,), step sizes, and weights in the sum
    domain : tuple, see `fused.tiles.domain_of`
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    kind, a, b, hessian, centre = form
    ball, radius, p = domain
    apart, drawn = index.shape[1] > 1, noise.shape[0] == eta.size and noise.shape[1] == last - first
    one = index.shape[2] == 1 and counts.size == 1 and counts[0, 0] == 1
    if one and kind != NO_SLOPE and hessian.size == 0:
        for copy in range(copies):
            for low in range(first, last, TOGETHER):
                told = copy * replicates + low, low - first, min(TOGETHER, last - low)
                record = features, labels, index, share, (low - first) * apart + copy * stride, apart
                single_steps(x, total, told, record, (kind, a, b), noise, drawn, scale, eta, weights, ridge, domain)
        return
    g, work = np.zeros(x.shape[1]), np.empty((4, x.shape[1] if ball == LP_BALL else 0))
    for copy in range(copies):
        for r in range(first, last):
            point, sums = x[copy * replicates + r], total[copy * replicates + r]
            chosen = (r - first) * apart + copy * stride
            for s in range(eta.size):
                count = counts[s, chosen] if counts.size > 1 else counts[0, 0]
                i, weight = 0, 0.0
                if kind != NO_SLOPE and count > 0:
                    i = index[s, chosen, count - 1]
                    weight = share * record_weight(point, features, labels, i, kind, a, b)
                if hessian.size > 0 or count > 1:
                    add_gradients(
                        g, point, features, labels, index, s, chosen, count, share, kind, a, b, hessian, centre
                    )
                else:
                    g[:] = 0.0
                square = descend(
                    point, g, weight, features, i, noise, s * drawn, (r - first) * drawn, eta[s], scale[s], ridge
                )
                shrink = shrink_onto(point, square, ball, radius)
                if ball == LP_BALL:
                    project_lp(point, work, p, radius)
                finish(point, sums, shrink, weights[s], features, 0)


@on_device(projected_steps)
def launch_projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    tile = (scale.size, rows, records, form, noise)
    launch_steps(KERNELS, "projected_steps", x, (total,), tile, scale, eta, weights, float(ridge), *domain[:2])
