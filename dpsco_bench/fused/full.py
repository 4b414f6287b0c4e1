"""Steps on the mean gradient of all records: many at once where it is affine, else one at a time by products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.gradients import logistic_slopes
from dpsco_bench.fused.tiles import Steps, Tile, form_tuple
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.data import CONSTANT, NO_SLOPE, SQUARED, RecordForm, form_of, logistic_form
from dpsco_bench.problems.glm import record_blocks

Array = Any
Affine = tuple[Array, Array, Array]
"""``m (S R, d)``, ``h (d,)`` and ``c (d,)`` of a mean gradient ``m + h (x - c)``; h and c are empty for h = 0."""
WHOLE = form_tuple(RecordForm())
"""The form of records that no loop looks at."""


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

    The caller moves ``x (S R, d)`` in place; it is shown where the measurement looks. What a mean gradient of records
    costs is their matrix product, so that a call for each step is no loss.
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
