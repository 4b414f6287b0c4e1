"""Explicit bounds that hold by the replicate, and those with something measured in them: judged at every signal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpsco_bench.analysis.bootstrap import FloatArray, summarise
from dpsco_bench.analysis.cells import STANDARD_ERRORS, explicit_verdict, ratios_to
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.context import Bound
from dpsco_bench.claims.model import RISK, Part

ROUNDING = 1e-9
"""Relative excess that rounding may cause in a bound that holds with equality."""


def is_pathwise(part: Part, bound: Bound) -> bool:
    """Whether a part's replicates, or its signals, have to be judged one by one."""
    return part.statistic != "mean" or part.quantity != RISK or bool(bound.extras)


def pathwise_verdict(part: Part, cells: Sequence[CellEvidence], bound: Bound) -> Verdict:
    """Verdict of kind `explicit` on the worst signal of each cell.

    Parameters
    ----------
    part : Part
        Its ``statistic`` says what must be within the bound: the ``mean`` with two standard errors, every replicate
        (``max``), or a share ``probability`` of the replicates (``fraction``). The last two have no sampling error.
    cells : sequence of CellEvidence
        Of the judged quantity.
    bound : Bound
        Its formula; where it asks for extras, it is evaluated with those of each replicate (``mean``: with their
        means).

    Returns
    -------
    Verdict
        With the quantity and bound of the judged replicates, or of the means.
    """
    judged = [_worst_signal(part, cell, bound) for cell in cells]
    columns = np.array([row[:3] for row in judged]).T
    verdict = explicit_verdict(
        [cell.value for cell in cells],
        *columns,
        parameter=cells[0].entry["parameter"],
        trivial=[cell.start_risk for cell in cells] if part.quantity == RISK else None,
        slack=max(cell.slack for cell in cells) if part.statistic == "mean" else ROUNDING,
    )
    if part.statistic == "mean":
        return verdict
    if part.statistic == "max":
        return replace(verdict, reason=f"the largest ratio of a replicate to its bound is {verdict.worst_ratio:.3g}")
    assert part.probability is not None
    least = min(row[3] for row in judged)
    reason = f"in the worst cell {least:.4g} of the replicates are within the bound, stated {part.probability:g}"
    return replace(verdict, reason=reason)


def _worst_signal(part: Part, cell: CellEvidence, bound: Bound) -> tuple[float, float, float, float]:
    """Quantity, standard error, bound, and share of replicates within it, where the ratio is largest."""
    rows = [_judged(part, one, bound) for one in cell.grid or (cell,)]
    upper = [ratios_to(m + STANDARD_ERRORS * np.nan_to_num(s), b) for m, s, b, _ in rows]
    return rows[int(np.argmax(upper))]


def _judged(part: Part, cell: CellEvidence, bound: Bound) -> tuple[float, float, float, float]:
    if part.statistic == "mean":
        summary = summarise(cell.risks, cell.numerical_error)
        return summary.mean, summary.stderr, bound.value(cell.printed), math.nan
    values, bounds = cell.final.ravel(), replicate_bounds(cell, bound)
    ratios = ratios_to(values, bounds)
    share = 1.0 if part.probability is None else part.probability
    number = int(np.argsort(ratios, kind="stable")[math.ceil(share * values.size - ROUNDING) - 1])
    return float(values[number]), 0.0, float(bounds[number]), float((ratios <= 1 + ROUNDING).mean())


def replicate_bounds(cell: CellEvidence, bound: Bound) -> FloatArray:
    """The bound for every replicate of a cell, data set by data set, with the replicate's own extras."""
    size, context = cell.final.size, cell.printed
    if not bound.extras:
        return np.full(size, bound.value(context))
    columns = {name: values.ravel() for name, values in cell.extras.items()}
    rows = ({name: float(values[i]) for name, values in columns.items()} for i in range(size))
    return np.array([bound.value(replace(context, extras=row)) for row in rows])
