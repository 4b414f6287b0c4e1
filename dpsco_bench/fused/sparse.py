"""Logistic losses and their mean gradients where most entries of the records are zero, in one pass over the others.

Covertype's rows have 12 of 54. A matrix product takes the zeros along; what stands between two products are passes
over all margins, and an evaluation of the risk after each step costs more than the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpsco_bench.fused.compiled import available, called, compiled, vector_piece
from dpsco_bench.fused.gradients import tanh_of_half
from dpsco_bench.fused.powers import exponential, logarithm
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.forms import LOGISTIC, form_of
from dpsco_bench.problems.glm import GeneralisedLinear, Logistic

Array = Any
MOST_FILLED = 0.3
"""Share of entries other than zero: with more of them matrix products are as fast."""
LEAST_ROWS = 4
"""Loops run over the replicates; with fewer they are too short."""
BLOCK = 64
"""Records whose margins are worked on at once; a product of so many factors in [1, 2] is far from overflow."""


@dataclass(frozen=True)
class Entries:
    """The entries of records that are not zero, record by record.

    Attributes
    ----------
    starts : array (n + 1,), where a record's entries begin
    columns, values : array (entries,)
    labels : array (n,)
    form : tuple, a and b of the logistic loss of ``b + a y m``
    """

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    form: tuple[float, float]


_KNOWN: WeakKeyDictionary[Any, tuple[Any, Entries | None]] = WeakKeyDictionary()
"""By objective: the data that were looked at, and their entries."""


def entries_of(objective: Any) -> Entries | None:
    """The entries of an objective's records, where they are few, its losses logistic and its arrays NumPy's."""
    data = objective.data
    known = _KNOWN.get(objective)
    if known is None or known[0] is not data:
        known = _KNOWN[objective] = data, _entries(objective, data) if available() else None
    return known[1]


def _entries(objective: Any, data: Any) -> Entries | None:
    form = form_of(objective.problem)
    if form is None or form.slope != LOGISTIC or form.hessian.size or not isinstance(data, Data):
        return None
    a, labels = data.features, data.labels
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype != np.float64 or labels is None:
        return None
    if objective.replicates < LEAST_ROWS or np.count_nonzero(a) > MOST_FILLED * a.size:
        return None
    records, columns = np.nonzero(a)
    starts = np.concatenate([[0], np.cumsum(np.bincount(records, minlength=len(a)))])
    kept = np.ascontiguousarray(labels, dtype=np.float64)
    sign, offset = form.parameters
    return Entries(starts, columns, a[records, columns], kept, (float(sign), float(offset)))


def mean_gradient(objective: Any, x: Array) -> Array:
    """``mean_i grad f_i(x)`` as `Objective.mean_gradient`, n evaluations included; where `entries_of` has entries."""
    objective.count(objective.n)
    found = entries_of(objective)
    assert found is not None
    across = np.ascontiguousarray(x.T)
    total = summed_gradients(across, found.starts, found.columns, found.values, found.labels, *found.form)
    return np.ascontiguousarray(total.T) / objective.n


def excess_risk(objective: Any, x: Array) -> np.ndarray:
    """As `Objective.excess_risk`, by the entries of its records where there are any."""
    problem = type(objective.problem)
    listed = problem.risk is GeneralisedLinear.risk and problem.loss is Logistic.loss
    found = entries_of(objective) if listed else None
    if found is None:
        values: np.ndarray = objective.excess_risk(x)
        return values
    values = objective.excess_risk(x, lambda points: _risk(objective, found, points))
    return values


def _risk(objective: Any, found: Entries, x: Array) -> np.ndarray:
    across = np.ascontiguousarray(x.T)
    total = summed_losses(across, found.starts, found.columns, found.values, found.labels, *found.form)
    ridge = 0.5 * objective.problem.constants.regularisation * np.sum(x * x, axis=-1)
    return np.asarray(total / objective.n + ridge)


@called
def margins_of(margins, first, x, starts, columns, values):
    """``<a_i, x_r>`` of records ``first ...`` to ``margins (records, R)``, of ``x (d, R)``: four entries at a time."""
    for i in range(margins.shape[0]):
        e, end = starts[first + i], starts[first + i + 1]
        for r in range(x.shape[1]):
            margins[i, r] = 0.0
        while e + 4 <= end:
            c0, c1, c2, c3 = columns[e], columns[e + 1], columns[e + 2], columns[e + 3]
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            for r in range(x.shape[1]):
                margins[i, r] += v0 * x[c0, r] + v1 * x[c1, r] + v2 * x[c2, r] + v3 * x[c3, r]
            e += 4
        while e < end:
            for r in range(x.shape[1]):
                margins[i, r] += values[e] * x[columns[e], r]
            e += 1


@called
def add_weighted(total, first, weights, starts, columns, values):
    """Add ``sum_i w_ir a_i`` of records ``first ...`` to ``total (d, R)``; ``weights (records, R)``."""
    for i in range(weights.shape[0]):
        for e in range(starts[first + i], starts[first + i + 1]):
            value, column = values[e], columns[e]
            for r in range(total.shape[1]):
                total[column, r] += value * weights[i, r]


@compiled
def summed_gradients(x, starts, columns, values, labels, a, b):
    """``sum_i l'(<a_i, x_r>, y_i) a_i`` of ``x (d, R)``, as ``(d, R)``."""
    d, rows = x.shape
    total, work = np.zeros((d, rows)), np.empty((BLOCK, rows))
    for first in range(0, labels.size, BLOCK):
        weights = work[: min(BLOCK, labels.size - first)]
        margins_of(weights, first, x, starts, columns, values)
        for i in range(weights.shape[0]):
            sign = a * labels[first + i]
            for r in range(rows):
                weights[i, r] = 0.5 * (sign + tanh_of_half(weights[i, r] + b * sign))
        add_weighted(total, first, weights, starts, columns, values)
    return total


@vector_piece
def exponential_below(z):
    """``e^-|z|``."""
    return exponential(-abs(z))


@compiled
def summed_losses(x, starts, columns, values, labels, a, b):
    """``sum_i log(1 + exp(b + a y_i <a_i, x_r>))`` of ``x (d, R)``, as ``(R,)``: a logarithm for each block."""
    rows = x.shape[1]
    total, factors, work = np.zeros(rows), np.empty(rows), np.empty((BLOCK, rows))
    for first in range(0, labels.size, BLOCK):
        margins = work[: min(BLOCK, labels.size - first)]
        margins_of(margins, first, x, starts, columns, values)
        for r in range(rows):
            factors[r] = 1.0
        for i in range(margins.shape[0]):
            sign = a * labels[first + i]
            for r in range(rows):
                z = b + sign * margins[i, r]
                total[r] += max(z, 0.0)
                factors[r] *= 1.0 + exponential_below(z)
        for r in range(rows):
            total[r] += logarithm(factors[r])
    return total
