"""Mirror descent in squared norms, compiled: on batches of records, or on the mean gradient of all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.algorithms.shared import optimal_step
from dpsco_bench.fused.compiled import compiled, piece
from dpsco_bench.fused.descent import NUMBERS, TOGETHER, descend, projected_steps, to_factors
from dpsco_bench.fused.gradients import WHOLE, full_tiles
from dpsco_bench.fused.pieces import L2_BALL, finish, lp_length, mirror_point, record_weight
from dpsco_bench.fused.tiles import Steps, Tile
from dpsco_bench.geometry.mirror import L1Geometry, ball_geometry
from dpsco_bench.geometry.norms import SmoothNorm, square_gradient
from dpsco_bench.problems.data import NO_SLOPE

Array = Any
NO_MEAN = np.zeros((0, 0)), np.empty(0), np.empty(0)
"""In place of a mean gradient where steps look at batches."""
BELOW = 1.0 - 1e-9
"""Factor by which a sum is below a level for certain, however its terms are added up."""
Geometry = tuple[tuple[float, float, float], tuple[float, float]]
"""Exponent s, ``r = s/(s - 1)`` and kappa of ``Phi = (kappa/2) ||.||_s^2``; p and radius of the ball."""


@piece
def is_short(g, q, level):
    """Check that ``||g||_q <= level``. The l_1 norm is above it, takes no powers, and settles most cases."""
    total = 0.0
    for j in range(g.size):
        total += abs(g[j])
    return total <= BELOW * level or lp_length(g, q) <= level


@piece
def batch_mean(mean, g, x, features, labels, index, s, chosen, count, share, form, limits):
    """Add ``share`` times the gradients of the records of a batch to mean, but for those that are too long."""
    kind, a, b, hessian, centre = form
    q, level = limits
    for w in range(count):
        i, weight = 0, 0.0  # records without a slope are not there to be looked at
        if kind != NO_SLOPE:
            i = index[s, chosen, w]
            weight = record_weight(x, features, labels, i, kind, a, b)
        for j in range(x.size):
            g[j] = weight * features[i, j]
            if hessian.size > 0:
                g[j] += hessian[j] * (x[j] - centre[j])
        if level == math.inf or is_short(g, q, level):
            for j in range(x.size):
                mean[j] += share * g[j]


@compiled
def mirror_steps(
    x, duals, total, guesses, rows, records, form, full, noise, scale, eta, weights, ridge, mirror, limits, ball
):
    """Make steps ``x <- argmin eta <g + ridge x + scale z, u> + Phi(u) - <grad Phi(x), u>`` over the ball, all rows.

    Parameters
    ----------
    x, duals, total : array (S R, d), iterates, ``grad Phi`` there and weighted sums of iterates, changed in place
    guesses : array (S R,), kept for the next call: see `pieces.mirror_point`
    full : tuple, ``(S R, d)`` and ``h, c (d,)`` of the mean gradient ``m + h (x - c)``; empty for batches of records
    scale, eta, weights : array (k,), of the noise, step sizes and weights in the sum
    mirror, ball : tuple, see `Geometry`
    limits : tuple, exponent q and the largest ``||gradient||_q`` of a record that counts
    rows, records, form, noise : as for `fused.descent.projected_steps`, noise of float64
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    given, curvature, middle = full
    d = x.shape[1]
    g, mean, work = np.empty(d), np.empty(d), np.empty((3, d))
    drawn = 1 if noise.shape[0] == scale.size and noise.shape[1] == last - first else 0
    for copy in range(copies):
        for r in range(first, last):
            row = copy * replicates + r
            point, y, sums, guess = x[row], duals[row], total[row], guesses[row]
            chosen = (r - first) * (index.shape[1] > 1) + copy * stride
            for s in range(scale.size):
                for j in range(d):
                    mean[j] = given[row, j] if given.size > 0 else 0.0
                    if curvature.size > 0:
                        mean[j] += curvature[j] * (point[j] - middle[j])
                count = counts[s, chosen] if counts.size > 1 else counts[0, 0]
                batch_mean(mean, g, point, features, labels, index, s, chosen, count, share, form, limits)
                for j in range(d):
                    moved = mean[j] + ridge * point[j] + scale[s] * np.float64(noise[s * drawn, (r - first) * drawn, j])
                    y[j] -= eta[s] * moved
                guess = mirror_point(point, y, work, mirror, ball, guess)
                for j in range(d):
                    sums[j] += weights[s] * point[j]
            guesses[row] = guess


@compiled
def euclidean_steps(x, total, rows, full, noise, scale, eta, weights, ridge, radius):
    """As `mirror_steps`, ``x <- P(x - eta <g + ridge x + scale z>)`` on an l2 ball."""
    first, last, replicates, copies = rows
    given, curvature, middle = full
    drawn = noise.shape[0] == scale.size and noise.shape[1] == last - first
    none, bent, squares = np.zeros((1, x.shape[1])), np.empty(x.shape[1]), np.ones(TOGETHER)
    together = max(1, min(TOGETHER, NUMBERS // x.shape[1]))
    for copy in range(copies):
        for low in range(first, last, together):
            count = min(together, last - low)
            for s in range(scale.size):
                for q in range(count):
                    row, place = copy * replicates + low + q, (s * drawn, (low - first + q) * drawn)
                    point, g = x[row], given[row]
                    if curvature.size > 0:
                        for j in range(point.size):
                            bent[j] = g[j] + curvature[j] * (point[j] - middle[j])
                        g = bent
                    squares[q] = descend(point, g, 0.0, none, 0, noise, *place, eta[s], scale[s], ridge)
                to_factors(squares, radius)
                for q in range(count):
                    row = copy * replicates + low + q
                    finish(x[row], total[row], squares[q], weights[s], none, 0)


class MirrorSteps:
    """Iterates and weighted sum ``(R, d)`` from an objective's start, by a `Geometry` and `mirror_steps`' limits."""

    def __init__(self, objective: Any, geometry: Geometry, limits: tuple[float, float] = (2.0, math.inf)) -> None:
        self.x = np.ascontiguousarray(objective.start)
        self.total, self._guesses = np.zeros_like(self.x), np.zeros(len(self.x))
        self._mirror, self._ball = geometry
        self._limits = limits
        self._ridge = float(objective.problem.constants.regularisation)
        exponent, _, kappa = self._mirror
        self._duals = square_gradient(self.x, exponent, kappa)
        p, self._radius = self._ball
        self._euclidean = exponent == p == 2.0 and math.isinf(limits[1])

    def __call__(self, tile: Tile, form: Any, full: Any, scale: Array, eta: Array, weights: Array) -> None:
        """Make the steps of a tile."""
        noise = tile.noise.astype(np.float64, copy=False)  # as means of draws are: the loop is compiled once
        if not self._euclidean:
            mirror_steps(
                self.x, self._duals, self.total, self._guesses, tile.rows, tile.records, form, full, noise, scale, eta,
                weights, self._ridge, self._mirror, self._limits, self._ball,
            )  # fmt: skip
            return
        steps = noise, scale, eta / self._mirror[2], weights, self._ridge  # grad Phi is a multiple of the point
        if full[0].size:
            euclidean_steps(self.x, self.total, tile.rows, full, *steps, self._radius)
        else:
            projected_steps(self.x, self.total, tile.rows, tile.records, form, *steps, (L2_BALL, self._radius, 2.0))


def ball_mirror(ball: Any, d: int) -> Geometry:
    """Build the mirror map of `geometry.mirror.ball_geometry` whose Bregman steps are those of `mirror_steps`."""
    geometry = ball_geometry(ball)
    if isinstance(geometry, L1Geometry):
        p = geometry.dual_exponent(d)
        return (p / (p - 1.0), p, geometry.curvature(d)), (1.0, ball.radius)
    return (2.0, 2.0, ball.radius**-2.0), (2.0, ball.radius)


def smooth_mirror(norm: SmoothNorm, p: float, radius: float) -> Geometry:
    """Build the mirror map of a smooth norm on an l_p ball."""
    return (norm.dual, norm.r, norm.kappa), (float(p), float(radius))


def full_mirror_run(objective: Any, mechanism: Any, geometry: Geometry, step: float) -> Array:
    """Make mirror steps on the noisy mean gradients of the query ``gradient``; return the sum of the iterates."""
    steps = MirrorSteps(objective, geometry)
    for at, full, scale, tile in full_tiles(objective, mechanism, steps.x):
        k = at.stop - at.start
        steps(tile, WHOLE, full, scale, np.full(k, float(step)), np.ones(k))
    return steps.total


def averaged_run(objective: Any, plan: Any, mechanism: Any, step: float | None = None) -> Array:
    """Run `algorithms.shared.averaged_steps`, compiled."""
    geometry = ball_mirror(objective.domain, objective.start.shape[-1])
    return full_mirror_run(objective, mechanism, geometry, step or optimal_step(plan, mechanism)) / plan.steps


def on_its_own_ball(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check that the ball is a level set of the mirror map, so that a step ends in a scaling."""
    smooth = SmoothNorm(plan.p, objective.start.shape[-1], plan.norm_rule)
    return smooth.p > 1.0 and smooth.dual == smooth.p


def truncated_run(objective: Any, plan: Any, mechanism: Any) -> Array:
    """Make one pass of mirror steps on batches of `plan.batch` consecutive records."""
    norm = SmoothNorm(plan.p, objective.start.shape[-1], plan.norm_rule)
    limits = plan.p / (plan.p - 1.0), float(plan.threshold)
    moved = MirrorSteps(objective, smooth_mirror(norm, plan.p, objective.domain.radius), limits)
    steps = Steps(objective, mechanism, "gradient", batch=plan.batch)
    for _, scales, tile in steps.walk(moved.x, 0, plan.steps):
        k = len(scales)
        moved(tile, steps.form, NO_MEAN, scales, np.full(k, 1.0 / plan.gamma), np.ones(k))
    return moved.total / plan.steps
