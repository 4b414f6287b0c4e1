"""Mirror descent on an l_p ball in the squared norm of the ball itself, compiled: batches of consecutive records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled, piece
from dpsco_bench.fused.pieces import NO_SLOPE, largest_of, lp_length, record_weight
from dpsco_bench.fused.tiles import Steps
from dpsco_bench.geometry.smooth_norm import SmoothNorm

Array = Any


@piece
def square_slope(out, x, exponent, scale):
    """Gradient of ``(scale/2) ||x||_exponent^2``, to out; 0 at 0."""
    top, total = largest_of(x), 0.0
    for j in range(x.size):
        ratio = abs(x[j]) / top if top > 0.0 else 0.0
        power = ratio ** (exponent - 1.0)
        total += power * ratio
        out[j] = math.copysign(power, x[j])
    factor = scale * top * total ** (2.0 / exponent - 1.0) if total > 0.0 else 0.0
    for j in range(x.size):
        out[j] *= factor


@compiled
def mirror_steps(x, total, rows, records, form, noise, scale, mirror, limits, ball):
    """Steps ``x <- argmin eta <y, u> + D(u, x)`` over the ball, y the noisy mean of gradients that are not too long.

    Parameters
    ----------
    scale : array (k,), of the noise
    mirror : tuple, s, ``r = s/(s - 1)`` and kappa of ``Phi = (kappa/2) ||.||_s^2``, and the step eta
    limits : tuple, exponent q and the largest ``||gradient||_q`` of a record that counts
    ball : tuple, p = s and radius
    x, total, rows, records, form, noise : as for `fused.descent.projected_steps`, noise of float64; all are summed
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    kind, a, b, hessian, centre = form
    s_exponent, r_exponent, kappa, eta = mirror
    q, level = limits
    p, radius = ball
    d = x.shape[1]
    g, mean, y = np.empty(d), np.empty(d), np.empty(d)
    count = counts[0, 0]
    drawn = 1 if noise.shape[0] == scale.size and noise.shape[1] == last - first else 0
    for copy in range(copies):
        for r in range(first, last):
            point, sums = x[copy * replicates + r], total[copy * replicates + r]
            chosen = (r - first) * (index.shape[1] > 1) + copy * stride
            for s in range(scale.size):
                for j in range(d):
                    mean[j] = 0.0
                for w in range(count):
                    i = index[s, chosen, w]
                    weight = record_weight(point, features, labels, i, kind, a, b) if kind != NO_SLOPE else 0.0
                    for j in range(d):
                        g[j] = weight * features[i, j]
                        if hessian.size > 0:
                            g[j] += hessian[j] * (point[j] - centre[j])
                    if lp_length(g, q) <= level:
                        for j in range(d):
                            mean[j] += share * g[j]
                square_slope(y, point, s_exponent, kappa)
                for j in range(d):
                    y[j] -= eta * (mean[j] + scale[s] * np.float64(noise[s * drawn, (r - first) * drawn, j]))
                square_slope(point, y, r_exponent, 1.0 / kappa)
                length = lp_length(point, p)
                shrink = radius / length if length > radius else 1.0
                for j in range(d):
                    point[j] *= shrink
                    sums[j] += point[j]


def on_its_own_ball(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Whether the ball is a level set of the mirror map, so that a step ends in a scaling."""
    smooth = SmoothNorm(plan.p, objective.start.shape[-1], plan.norm_rule)
    return smooth.p > 1.0 and smooth.dual == smooth.p


def truncated_run(objective: Any, plan: Any, mechanism: Any) -> Array:
    """One pass of mirror steps on batches of `plan.batch` consecutive records, as the paper's listing makes them."""
    w = objective.start
    total, smooth = np.zeros_like(w), SmoothNorm(plan.p, w.shape[-1], plan.norm_rule)
    steps = Steps(objective, mechanism, "gradient", batch=plan.batch)
    mirror = smooth.dual, smooth.r, smooth.kappa, 1.0 / plan.gamma
    limits = plan.p / (plan.p - 1.0), float(plan.threshold)
    ball = plan.p, float(objective.domain.radius)
    for t, k in steps.stretches(0, plan.steps):
        scales = steps.scales(t, k)
        for tile in steps.tiles(t, k, t * plan.batch):
            noise = tile.noise.astype(np.float64, copy=False)  # as means of draws are: the loop is compiled once
            mirror_steps(w, total, tile.rows, tile.records, steps.form, noise, scales[tile.steps], mirror, limits, ball)
        objective.observe(w)
    return total / plan.steps
