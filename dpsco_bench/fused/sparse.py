"""Logistic losses and their mean gradients where most entries of the records are zero, in one pass over the others.

Covertype's rows have 12 of 54. A matrix product takes the zeros along, and what stands between two products are passes
over all margins. The risk after a step and the gradient of the next one have their margins in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpsco_bench.fused.compiled import WIDTH, added, available, compiled, lanes_at, piece, put_lanes
from dpsco_bench.fused.pieces import exponential, logarithm
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.data import logistic_form
from dpsco_bench.problems.glm import GeneralisedLinear, Logistic

Array = Any
MOST_FILLED = 0.3
"""Share of entries other than zero: with more of them matrix products are as fast."""
LEAST_ROWS = 4
"""Replicates are taken by the group; with fewer most of a group is idle."""
GROUP = 24
"""Replicates that are worked on at once: three values of `lanes_at`."""
BLOCK = 64
"""Records that are worked on at once; a product of so many factors in [1, 2] is far from overflow."""
_KNOWN: WeakKeyDictionary[Any, LookedAt] = WeakKeyDictionary()
"""Entries by objective."""


@dataclass(frozen=True)
class Entries:
    """The entries of records that are not zero: record by record, and column by column of each block of records.

    Attributes
    ----------
    rows : tuple of arrays
        ``starts (n + 1,)``, where a record's entries begin, and their ``columns`` and ``values``, both ``(entries,)``.
    columns : tuple of arrays
        ``begins (blocks, d + 1)``, where those of a block's column begin, and their ``records`` in the block and
        ``values``, both ``(entries,)``.
    labels : array (n,)
    form : tuple, a and b of the logistic loss of ``b + a y m``
    """

    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    columns: tuple[np.ndarray, np.ndarray, np.ndarray]
    labels: np.ndarray
    form: tuple[float, float]


@dataclass
class LookedAt:
    """Record entries of an objective that a run has looked at.

    Attributes
    ----------
    data : the data then
    entries : their entries, None if they are not few
    at, gradient : array (R, d)
        The points whose risk was evaluated last, and the mean gradients there; None once they were taken.
    followed : bool, whether the last risk was followed by a mean gradient at the same points
    """

    data: Any
    entries: Entries | None
    at: Array = None
    gradient: Array = None
    followed: bool = False


def entries_of(objective: Any) -> Entries | None:
    """Take the entries of an objective's records if they are few, its losses logistic and its arrays NumPy's."""
    return _known(objective).entries


def _known(objective: Any) -> LookedAt:
    known = _KNOWN.get(objective)
    if known is None or known.data is not objective.data:
        known = _KNOWN[objective] = LookedAt(objective.data, _entries(objective, objective.data))
    return known


def _entries(objective: Any, data: Any) -> Entries | None:
    form = logistic_form(objective.problem) if available() else None
    if form is None or not isinstance(data, Data) or objective.replicates < LEAST_ROWS:
        return None
    a, labels = data.features, data.labels
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.dtype != np.float64 or labels is None:
        return None
    if np.count_nonzero(a) > MOST_FILLED * a.size:
        return None
    records, columns = np.nonzero(a)
    starts = np.concatenate([[0], np.cumsum(np.bincount(records, minlength=len(a)))])
    kept = np.ascontiguousarray(labels, dtype=np.float64)
    rows = starts, columns.astype(np.int32), a[records, columns]
    return Entries(rows, _by_column(records, columns, rows[2], *a.shape), kept, form)


def _by_column(
    records: np.ndarray, columns: np.ndarray, values: np.ndarray, n: int, d: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort the entries by block of records and column: where they begin, their records in the block, and values."""
    place = records // BLOCK * d + columns
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place, minlength=-(-n // BLOCK) * d)).reshape(-1, d)
    begins = np.concatenate([np.concatenate([[[0]], ends[:-1, -1:]]), ends], axis=1)
    return begins, (records % BLOCK)[order].astype(np.int32), values[order]


def mean_gradient(objective: Any, x: Array) -> Array:
    """``mean_i grad f_i(x)`` as `Objective.mean_gradient`, n evaluations included; where `entries_of` has entries."""
    objective.count(objective.n)
    known = _known(objective)
    at, gradient, known.at, known.gradient = known.at, known.gradient, None, None
    if at is not None:
        known.followed = np.array_equal(at, x)
    if at is None or gradient is None or not known.followed:
        gradient = _evaluated(objective, known, x, gradient=True)[1]
    return gradient


def mean_of_records(objective: Any, x: Array) -> Array:
    """`Objective.mean_gradient`, by the entries of its records if there are any."""
    return objective.mean_gradient(x) if entries_of(objective) is None else mean_gradient(objective, x)


def excess_risk(objective: Any, x: Array) -> np.ndarray:
    """Compute `Objective.excess_risk` from the entries of its records if there are any."""
    problem = type(objective.problem)
    listed = problem.risk is GeneralisedLinear.risk and problem.loss is Logistic.loss
    if not listed or entries_of(objective) is None:
        values: np.ndarray = objective.excess_risk(x)
        return values
    values = objective.excess_risk(x, lambda points: _risk(objective, points))
    return values


def _risk(objective: Any, x: Array) -> np.ndarray:
    """Compute the risk, and beside it the mean gradient if steps ask for it at the same points next."""
    known = _known(objective)
    known.followed &= known.gradient is None  # else the last one was not taken
    risk, gradient = _evaluated(objective, known, x, known.followed)
    known.at, known.gradient = x.copy(), gradient if known.followed else None
    return np.asarray(risk + 0.5 * objective.problem.constants.regularisation * np.sum(x * x, axis=-1))


def _evaluated(objective: Any, known: LookedAt, x: Array, gradient: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean losses ``(R,)`` and mean gradients ``(R, d)`` at ``x (R, d)``; zeros where no gradient is asked for."""
    found, (rows, d) = known.entries, x.shape
    assert found is not None
    groups = -(-rows // GROUP)
    points = np.zeros((groups * GROUP, d))
    points[:rows] = x
    across = np.ascontiguousarray(points.reshape(groups, GROUP, d).swapaxes(1, 2))
    losses, total = np.zeros((groups, GROUP)), np.zeros((groups, d, GROUP))
    evaluate(losses, total, across, *found.rows, *found.columns, found.labels, *found.form, gradient)
    n = objective.n
    return losses.reshape(-1)[:rows] / n, total.swapaxes(1, 2).reshape(-1, d)[:rows] / n


@piece
def add_entries(out, begins, places, values, source):
    """Add ``sum_e v_e source[p_e]`` to each row of ``out (rows, 24)``: over its entries, from ``begins[row]`` on."""
    for row in range(out.shape[0]):
        t0, t1, t2 = lanes_at(out, (row, 0)), lanes_at(out, (row, WIDTH)), lanes_at(out, (row, 2 * WIDTH))
        for e in range(begins[row], begins[row + 1]):
            value, place = values[e], places[e]
            t0 = added(t0, value, lanes_at(source, (place, 0)))
            t1 = added(t1, value, lanes_at(source, (place, WIDTH)))
            t2 = added(t2, value, lanes_at(source, (place, 2 * WIDTH)))
        put_lanes(out, (row, 0), t0)
        put_lanes(out, (row, WIDTH), t1)
        put_lanes(out, (row, 2 * WIDTH), t2)


@piece
def losses_and_slopes(losses, margins, factors, first, labels, a, b):
    """Add ``log(1 + e^z)``, ``z = b + a y_i m_i``, to ``losses (24,)``; slopes ``l'(m, y)`` replace ``margins``."""
    for r in range(GROUP):
        factors[r] = 1.0
    for i in range(margins.shape[0]):
        sign = a * labels[first + i]
        for r in range(GROUP):
            z = b + sign * margins[i, r]
            small = exponential(-abs(z))
            losses[r] += max(z, 0.0)
            factors[r] *= 1.0 + small
            margins[i, r] = sign * (1.0 if z > 0.0 else small) / (1.0 + small)
    for r in range(GROUP):
        losses[r] += logarithm(factors[r])


@compiled
def evaluate(losses, total, x, starts, columns, values, begins, records, ordered, labels, a, b, gradient):
    """Add losses and, where a gradient is asked for, ``sum_i l'(<a_i, x_r>, y_i) a_i`` of all records, in place.

    ``losses (groups, 24)``, ``total (groups, d, 24)``, ``x (groups, d, 24)``; the others are those of `Entries`.
    """
    factors, work = np.empty(GROUP), np.empty((BLOCK, GROUP))
    for block in range(begins.shape[0]):
        first = block * BLOCK
        margins = work[: min(BLOCK, labels.size - first)]
        for g in range(x.shape[0]):
            margins[:] = 0.0
            add_entries(margins, starts[first:], columns, values, x[g])
            losses_and_slopes(losses[g], margins, factors, first, labels, a, b)
            if gradient:
                add_entries(total[g], begins[block], records, ordered, margins)
