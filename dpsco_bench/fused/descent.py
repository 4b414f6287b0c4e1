"""Projected gradient steps on few records, compiled, of several rows in turn, and the runs that several methods make.

A step waits for the one before it: for its slope, its length and its margin. Values that rows need at the same time
are evaluated at once.

Code for a device alone is in `fused.device`, which nothing loads before a run is on one: keys of other runs leave it
out (`execution.digest.DEVICE_ONLY`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.algorithms.shared import phase_name
from dpsco_bench.fused.compiled import WIDTH, added, compiled, lanes_at, no_lanes, piece, put_lanes, summed
from dpsco_bench.fused.pieces import (
    CONSTANT,
    L2_BALL,
    LP_BALL,
    SPACE,
    finish,
    margin_in_lanes,
    project_lp,
    shrink_onto,
    slope,
)
from dpsco_bench.fused.tiles import DOMAINS, Steps, domain_of, on_device
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.data import LOGISTIC, NO_SLOPE

Array = Any

TOGETHER = 24
"""Most rows that make their steps in turn."""
NUMBERS = 3072
"""Most numbers of their iterates, and of the sums: more of them leave the nearest cache."""
KERNELS = Path(__file__).with_name("descent.cu")


@piece
def descend(x, g, weight, features, i, noise, step, row, eta, scale, ridge):
    """``x - eta (g + weight a_i + ridge x + scale z)`` in place, z the noise of a step and row; its squared length."""
    whole = x.size - x.size % WIDTH
    squares, square = no_lanes(), 0.0
    for j in range(0, whole, WIDTH):
        here = lanes_at(x, j)
        gradient = added(added(lanes_at(g, j), weight, lanes_at(features, (i, j))), ridge, here)
        moved = added(here, -eta, added(gradient, scale, lanes_at(noise, (step, row, j))))
        put_lanes(x, j, moved)
        squares = added(squares, moved, moved)
    for j in range(whole, x.size):
        gradient = g[j] + weight * features[i, j] + ridge * x[j]
        moved = x[j] - eta * (gradient + scale * np.float64(noise[step, row, j]))
        x[j] = moved
        square += moved * moved
    return square + summed(squares)


@piece
def to_batch_slopes(margins, known, x, features, labels, index, part, kind, a, b):
    """Overwrite the first of ``margins (24,)`` by ``l'(<a_i, x>, y_i)`` of some records of a batch, evaluated at once.

    ``known (24,)`` is room for their labels; ``part`` has the four numbers of records
    ``index[step, row, low : low + some]``, some at most 24.
    """
    step, row, low, some = part
    for w in range(some):
        i = index[step, row, low + w]
        margins[w] = margin_in_lanes(x, features, i) if kind != CONSTANT else 0.0
        known[w] = labels[i]
    to_slopes(margins, kind, a, b, known)


@piece
def add_records(g, weights, share, features, index, part):
    """Add records to ``g (d,)``, each ``share`` times its weight; part as for `to_batch_slopes`."""
    step, row, low, some = part
    whole = g.size - g.size % WIDTH
    for j in range(0, whole, WIDTH):
        total = lanes_at(g, j)
        for w in range(some):
            total = added(total, share * weights[w], lanes_at(features, (index[step, row, low + w], j)))
        put_lanes(g, j, total)
    for j in range(whole, g.size):
        for w in range(some):
            g[j] += share * weights[w] * features[index[step, row, low + w], j]


@piece
def batch_gradient(g, x, features, labels, index, batch, share, form, margins, known):
    """Overwrite ``g (d,)`` by the gradient of records ``index[step, row, :count]``, each of weight ``share``.

    ``batch`` has step, row and count, ``form`` is a `RecordForm`, ``margins (24,)`` and ``known (24,)`` are room.
    """
    step, row, count = batch
    kind, a, b, hessian, centre = form
    for j in range(x.size):
        g[j] = count * share * hessian[j] * (x[j] - centre[j]) if hessian.size > 0 else 0.0
    for low in range(0, count if kind != NO_SLOPE else 0, TOGETHER):
        part = step, row, low, min(TOGETHER, count - low)
        to_batch_slopes(margins, known, x, features, labels, index, part, kind, a, b)
        add_records(g, margins, share, features, index, part)


@piece
def steps_in_turn(x, total, rows, records, form, noise, drawn, scale, eta, weights, ridge, domain):
    """Make steps as `projected_steps` does, of at most 24 rows of one copy.

    For a step on a single record the step before has computed the margin, as it had the row at hand.

    Parameters
    ----------
    rows : tuple, the first of the rows of x and total, that of the noise's rows, and their number
    records : tuple, ``features, labels, index, counts, share``, the column of the first row in ``index``, and 1, or 0
        where that column is every row's
    form : tuple, see `problems.data.RecordForm`
    drawn : bool, whether there is noise
    """
    start, row, count = rows
    features, labels, index, counts, share, chosen, apart = records
    kind, a, b, hessian, _ = form
    ball, radius, p = domain
    one = index.shape[2] == 1 and counts.size == 1 and counts[0, 0] == 1
    single = one and kind != NO_SLOPE and hessian.size == 0
    margins, known, shrink = np.zeros(TOGETHER), np.zeros(TOGETHER), np.ones(TOGETHER)
    g, work = np.zeros(x.shape[1]), np.empty((4, x.shape[1] if ball == LP_BALL else 0))
    for q in range(count if single else 0):
        margins[q] = margin_in_lanes(x[start + q], features, index[0, chosen + q * apart, 0])
    for s in range(eta.size):
        if single:
            for q in range(count):
                known[q] = labels[index[s, chosen + q * apart, 0]]
            to_slopes(margins, kind, a, b, known)
        for q in range(count):
            i, weight, here, place = 0, 0.0, chosen + q * apart, (s * drawn, (row + q) * drawn)
            if single:
                i, weight = index[s, here, 0], share * margins[q]
            else:
                size = counts[s, here] if counts.size > 1 else counts[0, 0]
                batch_gradient(g, x[start + q], features, labels, index, (s, here, size), share, form, margins, known)
            shrink[q] = descend(x[start + q], g, weight, features, i, noise, *place, eta[s], scale[s], ridge)
        if ball in (L2_BALL, SPACE):
            to_factors(shrink, radius if ball == L2_BALL else math.inf)
        else:
            for q in range(count):
                shrink[q] = shrink_onto(x[start + q], 0.0, ball, radius)
                if ball == LP_BALL:
                    project_lp(x[start + q], work, p, radius)
        following = min(s + 1, eta.size - 1)
        for q in range(count):
            i = index[following, chosen + q * apart, 0] if single else 0
            margins[q] = finish(x[start + q], total[start + q], shrink[q], weights[s], features, i)


@piece
def to_slopes(margins, kind, a, b, labels):
    """``l'(m, y)`` in place of ``margins (24,)``; a vector of them where no branch is in the way."""
    if kind == LOGISTIC:
        for q in range(TOGETHER):
            margins[q] = slope(LOGISTIC, a, b, margins[q], labels[q])
    else:
        for q in range(TOGETHER):
            margins[q] = slope(kind, a, b, margins[q], labels[q])


@piece
def to_factors(squares, radius):
    """Turn squared lengths ``(24,)`` into the factors that bring rows onto the l2 ball, in place."""
    for q in range(TOGETHER):
        squares[q] = radius / math.sqrt(squares[q]) if squares[q] > radius * radius else 1.0


def steps_of(objective: Any, *arguments: Any, **keys: Any) -> Steps:
    """Make the steps of a run on the machine that holds its arrays; takes the arguments of `tiles.Steps`."""
    if objective.xp is np:
        return Steps(objective, *arguments, **keys)
    from dpsco_bench.fused.device import DeviceSteps

    return DeviceSteps(objective, *arguments, **keys)


def launch_steps(file: Path, name: str, x: Array, before: tuple[Any, ...], tile: tuple[Any, ...], *after: Any) -> None:
    """Launch the kernel of a loop: ``before``, what every kernel is told of a tile, and ``after``.

    The kernel is compiled for the width of ``x (rows, ..., d)``; ``tile`` has steps, rows, records, form, noise, as
    `fused.device.step_arguments` takes them.
    """
    from dpsco_bench.fused.device import launch_rows, step_arguments

    steps, *told = tile
    launch_rows(file, name, x, *before, *step_arguments(steps, x, *told), *after)


@compiled
def projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    """Make steps ``x <- P(x - eta_s (g + ridge x + scale z))`` of all rows, and a weighted sum of the iterates.

    Parameters
    ----------
    x, total : array (S R, d), iterates and the sums, changed in place
    rows : tuple, replicates ``first .. last - 1`` of R, and S copies of them that share records and noise
    records : tuple, ``features, labels, index, counts, share, stride``: see `tiles.Tile`
    form : tuple, see `problems.data.RecordForm`
    noise : array (k, last - first, d) of float32, or (1, 1, d) of zeros without any; scale : array (k,)
    eta, weights : array (k,), step sizes, and weights in the sum
    domain : tuple, see `fused.tiles.domain_of`
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    apart, drawn = index.shape[1] > 1, noise.shape[0] == eta.size and noise.shape[1] == last - first
    together = max(1, min(TOGETHER, NUMBERS // x.shape[1]))
    for copy in range(copies):
        for low in range(first, last, together):
            told = copy * replicates + low, low - first, min(together, last - low)
            looked = features, labels, index, counts, share, (low - first) * apart + copy * stride, apart
            steps_in_turn(x, total, told, looked, form, noise, drawn, scale, eta, weights, ridge, domain)


@on_device(projected_steps)
def launch_projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    tile = (scale.size, rows, records, form, noise)
    launch_steps(KERNELS, "projected_steps", x, (total,), tile, scale, eta, weights, float(ridge), *domain[:2])


def projecting(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check that compiled steps of all kinds can project on the domain."""
    return objective.domain is None or getattr(objective.domain, "name", "") in DOMAINS


def descending(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check as `projecting` does, for `projected_steps`, which also know the l_p balls with 2 < p < inf."""
    return projecting(objective, plan, mechanism) or (
        type(objective.domain) is Ball and 2.0 < objective.domain.p < math.inf
    )


def projected_run(objective: Any, mechanism: Any, x: Array, total: Array, eta: Any, weights: Any) -> None:
    """Projected steps on the noisy batch gradients of the query ``gradient``, all releases, regulariser included.

    Parameters
    ----------
    x, total : array (R, d), iterate and a sum, both changed in place
    eta, weights : callable (t, k) -> array (k,) for steps ``t .. t + k - 1``, or a number: step sizes, and weights of
        the new iterates in the sum
    """
    steps = steps_of(objective, mechanism, "gradient", sampled=True)
    ridge, domain = objective.problem.constants.regularisation, domain_of(objective)
    for t, scales, tile in steps.walk(x, 0, mechanism.plan.query("gradient").releases):
        sizes, counted = (_values(given, t, len(scales)) for given in (eta, weights))
        steps.run(projected_steps, x, total, *steps.told(tile), scales, sizes, counted, ridge, domain)


def _values(given: Any, t: int, k: int) -> np.ndarray:
    return np.asarray(given(t, k), dtype=np.float64) if callable(given) else np.full(k, float(given))


def projected_sgd_run(objective: Any, plan: Any, mechanism: Any, step: float | None = None) -> Array:
    """Run `algorithms.shared.projected_sgd`, compiled."""
    x, step = objective.start, step or plan.step
    total = x.copy()
    projected_run(objective, mechanism, x, total, step, lambda t, k: np.arange(t + 1, t + k + 1) < plan.steps)
    return total / plan.steps


def phased_run(objective: Any, plan: Any, mechanism: Any) -> Array:
    """Run `algorithms.shared.run_phases`: each phase's average, its start included, is released once."""
    w, position = objective.start, 0
    steps = steps_of(objective, mechanism)
    ridge, domain = objective.problem.constants.regularisation, domain_of(objective)
    for i, size in enumerate(plan.sizes, start=1):
        u, total, eta = w.copy(), w.copy(), np.full(size, plan.step / 4**i)
        zero, one = np.zeros(size), np.ones(size)
        for tile in steps.tiles(position, size):
            s = tile.steps
            steps.run(projected_steps, u, total, *steps.told(tile), zero[s], eta[s], one[s], ridge, domain)
        position += size
        w = objective.project(mechanism.release(phase_name(i), total / (size + 1), 0))
        objective.observe(w)
    return w
