"""Mean gradients by two matrix products, with compiled slopes of logistic losses between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.gradients import logistic_slopes
from dpsco_bench.problems.data import logistic_form
from dpsco_bench.problems.glm import record_blocks

Array = Any


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
