"""The mean gradient of all records: in one pass for few replicates, and steps on it.

Two matrix products fetch all records twice, which one pass does not. Steps are made many at once where the gradient is
affine, else one at a time by products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled, piece, vector_piece
from dpsco_bench.fused.pieces import LN2, LN2_HIGH, LN2_LOW, exponential_tail, slope
from dpsco_bench.fused.tiles import Steps, Tile, form_tuple
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.data import CONSTANT, LOGISTIC, NO_SLOPE, SQUARED, RecordForm, form_of, logistic_form
from dpsco_bench.problems.glm import record_blocks

Array = Any
Affine = tuple[Array, Array, Array]
"""``m (S R, d)``, ``h (d,)`` and ``c (d,)`` of a mean gradient ``m + h (x - c)``; h and c are empty for h = 0."""
WHOLE = form_tuple(RecordForm())
"""The form of records that no loop looks at."""
MOST_ROWS, LEAST_BYTES = 8, 1 << 24
"""With more rows products are as fast, and so they are where caches hold the records: they are slow to fetch them."""
FEW_MARGINS = 1 << 10
"""Number of margins up to which both take the same."""
NUMBERS = 1 << 12
"""Numbers in a block of records, and in its margins, about."""


def one_pass(objective: Any) -> bool:
    """Check that `mean_gradient` makes one pass: host records with a slope, shared by all replicates."""
    form, data, rows = form_of(objective.problem), objective.data, objective.replicates
    if form is None or form.slope == NO_SLOPE or form.hessian.size or not isinstance(data, Data):
        return False
    a = data.features
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype != np.float64 or not a.flags.c_contiguous:
        return False
    return rows <= MOST_ROWS and data.labels is not None and (a.nbytes >= LEAST_BYTES or rows * data.n <= FEW_MARGINS)


def mean_gradient(objective: Any, x: Array) -> Array:
    """``mean_i grad f_i(x)`` as `Objective.mean_gradient`, n evaluations included; for what `one_pass` accepts."""
    objective.count(objective.n)
    data, form = objective.data, form_of(objective.problem)
    assert form is not None
    kind, a, b, *_ = form_tuple(form)
    labels = np.ascontiguousarray(data.labels, dtype=np.float64)
    return summed_gradients(np.ascontiguousarray(x), data.features, labels, kind, a, b) / data.n


@vector_piece
def tanh_of_half(margin):
    """``tanh(m/2) = (1 - e^-|m|)/(1 + e^-|m|)`` with the sign of m, to 1e-15 relative, without a branch.

    ``e^-|m| = 2^-k (1 + q)`` by a Taylor polynomial on ``[-ln 2/2, ln 2/2]``; beyond 40 it is below all roundings.
    """
    u = min(abs(margin), 40.0)
    k = math.floor(u * (1.0 / LN2) + 0.5)
    r = (k * LN2_HIGH - u) + k * LN2_LOW
    q = exponential_tail(r) * r * r + r
    power = np.int64(np.int64(1023 - np.int64(k)) << 52).view(np.float64)
    return math.copysign((1.0 - power - power * q) / (1.0 + power + power * q), margin)


@piece
def logistic_slopes(margins, labels, a, b):
    """``l'(m, y)`` in place of ``margins (R, n)``."""
    for r in range(margins.shape[0]):
        for i in range(margins.shape[1]):
            sign = a * labels[i]
            margins[r, i] = 0.5 * (sign + tanh_of_half(margins[r, i] + b * sign))


@piece
def margins_of(margins, x, features):
    """``<a_i, x_r>`` to ``margins (R, n)``: four rows at a time."""
    rows, d = x.shape
    for i in range(features.shape[0]):
        r = 0
        while r + 4 <= rows:
            m0 = m1 = m2 = m3 = 0.0
            for j in range(d):
                m0 += features[i, j] * x[r, j]
                m1 += features[i, j] * x[r + 1, j]
                m2 += features[i, j] * x[r + 2, j]
                m3 += features[i, j] * x[r + 3, j]
            margins[r, i], margins[r + 1, i], margins[r + 2, i], margins[r + 3, i] = m0, m1, m2, m3
            r += 4
        while r < rows:
            m0 = 0.0
            for j in range(d):
                m0 += features[i, j] * x[r, j]
            margins[r, i] = m0
            r += 1


@piece
def add_weighted(total, w, a):
    """Add ``sum_i w_ri a_i`` to ``total (R, d)``: eight records at a time, so that sums are read and written less."""
    n = a.shape[0]
    whole = n - n % 8
    for r in range(total.shape[0]):
        for i in range(0, whole, 8):
            w0, w1, w2, w3 = w[r, i], w[r, i + 1], w[r, i + 2], w[r, i + 3]
            w4, w5, w6, w7 = w[r, i + 4], w[r, i + 5], w[r, i + 6], w[r, i + 7]
            for j in range(total.shape[1]):
                low = w0 * a[i, j] + w1 * a[i + 1, j] + w2 * a[i + 2, j] + w3 * a[i + 3, j]
                high = w4 * a[i + 4, j] + w5 * a[i + 5, j] + w6 * a[i + 6, j] + w7 * a[i + 7, j]
                total[r, j] += low + high
        for i in range(whole, n):
            for j in range(total.shape[1]):
                total[r, j] += w[r, i] * a[i, j]


@compiled
def summed_gradients(x, features, labels, kind, a, b):
    """``sum_i l'(<a_i, x_r>, y_i) a_i`` of rows ``x (R, d)``, in blocks of records that stay in the caches."""
    rows, d = x.shape
    n = features.shape[0]
    block = max(16, min(256, NUMBERS // max(rows, d)))
    total, work = np.zeros((rows, d)), np.empty((rows, block))
    for first in range(0, n, block):
        last = min(first + block, n)
        weights, own = work[:, : last - first], labels[first:last]
        margins_of(weights, x, features[first:last])
        if kind == LOGISTIC:
            logistic_slopes(weights, own, a, b)
        else:
            for r in range(rows):
                for i in range(last - first):
                    weights[r, i] = slope(kind, a, b, weights[r, i], own[i])
        add_weighted(total, weights, features[first:last])
    return total


@compiled
def to_logistic_slopes(margins, labels, a, b):
    """Compute `logistic_slopes` for callers in Python."""
    logistic_slopes(margins, labels, a, b)


def slopes_of(problem: Any) -> Callable[[Array, Array], Array]:
    """``problem.slope`` of margins in float64, which may be overwritten; of logistic losses compiled."""
    form = logistic_form(problem)
    if form is None:
        slope: Callable[[Array, Array], Array] = problem.slope
        return slope

    def logistic(margins: Array, labels: Array) -> Array:
        to_logistic_slopes(margins, np.ascontiguousarray(labels, dtype=np.float64), *form)
        return margins

    return logistic


def by_products(problem: Any, data: Any) -> Callable[[Array], Array]:
    """``problem.mean_gradient`` as a function of points: of logistic losses the same products, with compiled slopes."""
    features = getattr(data, "features", None)
    plain = isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype == np.float64
    if logistic_form(problem) is None or not plain or data.labels is None:
        return lambda x: problem.mean_gradient(x, data)
    slopes = slopes_of(problem)

    def mean(x: Array) -> Array:
        total = 0.0
        for block in record_blocks(data, len(x)):
            total = total + slopes(x @ block.features.T, block.labels) @ block.features
        return total / data.n

    return mean


def affine_gradient(objective: Any) -> Affine | None:
    """Return the mean gradient without the regulariser if one formula gives it at every point, else None."""
    form = form_of(objective.problem)
    if form is None and Trait.LINEAR_LOSS in objective.problem.traits:
        form = RecordForm(CONSTANT)
    if form is None or form.slope not in (CONSTANT, NO_SLOPE):
        return None
    at = objective.start
    if form.hessian.size:
        at = np.tile(form.centre, (len(at), 1))
    return (np.ascontiguousarray(objective.problem.mean_gradient(at, objective.data)), *form_tuple(form)[3:])


def moments_gradient(objective: Any, steps: int) -> Callable[[Array], Array] | None:
    """Return the mean gradient of squared losses by the records' moments; None for other losses or too few steps.

    One product with the ``(d, d)`` moments in place of two with the records, from which the moments take about one of
    ``(d, n)`` by ``(n, d)``: it pays where the replicates' steps are more than the dimension.
    """
    form, data = form_of(objective.problem), objective.data
    squared = form is not None and form.slope == SQUARED and not form.hessian.size
    if not squared or not isinstance(data, Data) or data.features is None or data.features.ndim != 2:
        return None
    if steps * objective.replicates <= objective.problem.dimension or data.n <= objective.problem.dimension:
        return None
    square, linear = data.features.T @ data.features / data.n, data.labels @ data.features / data.n
    return lambda x: x @ square - linear


def full_tiles(objective: Any, mechanism: Any, x: Array) -> Iterator[tuple[slice, Affine, Array, Tile]]:
    """Yield the releases of ``gradient`` on all records in tiles: (steps, mean gradient, scales of the noise, tile).

    The caller moves ``x (S R, d)`` in place; it is shown where the measurement looks. A mean gradient of records costs
    a matrix product, so that a call for each step is no loss.
    """
    steps = Steps(objective, mechanism, "gradient", full=True)
    known, releases = affine_gradient(objective), mechanism.plan.query("gradient").releases
    mean = by_products(objective.problem, objective.data)
    if known is None:
        mean = moments_gradient(objective, releases) or mean
    for first, scales, tile in steps.walk(x, 0, releases, whole=known is None):
        if known is not None:
            yield slice(first, first + len(scales)), known, scales, tile
            continue
        for s in range(len(scales)):
            gradient = np.ascontiguousarray(mean(x))
            noise = tile.noise[s : s + 1] if len(tile.noise) > 1 else tile.noise
            at = slice(first + s, first + s + 1)
            yield at, (gradient, *WHOLE[3:]), scales[s : s + 1], replace(tile, noise=noise)
