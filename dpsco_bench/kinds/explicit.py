"""Kind `explicit`: bounds with their constants, held against means, replicates or shares of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import FloatArray, summarise
from dpsco_bench.analysis.cells import NO_ERROR, STANDARD_ERRORS, cell_verdict, columns_of, ratios_to, same_length
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.judge import Case
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.context import Bound
from dpsco_bench.claims.kinds import WORST, Kind, Word, kind
from dpsco_bench.claims.model import RISK, Part

ROUNDING = 1e-9
"""Relative excess that rounding may cause in a bound that holds with equality."""


@kind("explicit")
class Explicit(Kind):
    """Whether what other parts measured is within a bound with its constants, in every cell."""

    title = "explicit bound"
    words: ClassVar = {
        "holds": Word("confirms", "the inequality holds in every cell"),
        "violated": Word("contradicts", "it does not hold in at least one cell, by more than sampling error"),
        "inconclusive": Word("open", "a cell has no standard error, or its chains are not certified"),
    }
    bounded = judged_only = mixes_sweeps = of_the_law = True
    takes = ("statistic",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / bound", "reference": "bound"}
    against = "≤ 1"

    def judge(self, case: Case) -> Verdict:
        """The mean with two standard errors, unless replicates or signals have to be judged one by one."""
        if is_pathwise(case.part, case.bound):
            return pathwise_verdict(case.part, case.cells, case.bound)
        return explicit_verdict(
            *case.columns,
            case.printed,
            parameter=case.parameter,
            trivial=[cell.start_risk for cell in case.cells],
            slack=max(cell.slack for cell in case.cells),
        )


def explicit_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    parameter: str = "",
    trivial: ArrayLike | None = None,
    slack: float = 0.0,
) -> Verdict:
    """Whether (mean + 2 s.e.) / bound <= 1 in every cell, for a bound with its constants.

    Parameters
    ----------
    values, mean, stderr, bound : array_like, shape ``(cells,)``
    trivial : array_like, optional, risk of the trivial solution; cells whose bound exceeds it are noted as vacuous

    Returns
    -------
    Verdict
        ``holds`` or ``violated``, with the worst ratio and the value of its cell; ``inconclusive`` where a cell has
        no standard error.
    """
    columns = columns_of(values, mean, stderr, bound)
    x, m, s, b = columns
    ratios = ratios_to(m + STANDARD_ERRORS * np.nan_to_num(s), b)
    worst = int(np.argmax(ratios))
    word = "holds" if ratios[worst] <= 1 + slack else "violated"
    reason = f"(mean + 2 s.e.) / bound is at most {ratios[worst]:.3g}"
    largest = float(ratios_to(m, b).max())
    if word == "violated" and largest <= 1 + slack:
        reason += f"; no mean exceeds the bound: mean / bound is at most {largest:.3g}"
    if np.isnan(s).any():
        word, reason = "inconclusive", NO_ERROR
    notes = []
    if trivial is not None:
        vacuous = int((b > same_length("trivial", trivial, len(x))).sum())
        notes = [f"vacuous: the bound exceeds the trivial risk in {vacuous} of {len(x)} cells"] if vacuous else []
    return cell_verdict("explicit", word, reason, parameter, columns, ratios, worst, tuple(notes))


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
    bound : Bound
        Its formula; where it asks for extras, it is evaluated with those of each replicate (``mean``: with their
        means).
    """
    judged = [_worst_signal(part, cell, bound) for cell in cells]
    columns = np.array([row[:3] for row in judged]).T
    verdict = explicit_verdict(
        [cell.value for cell in cells],
        *columns,
        parameter=cells[0].entry.parameter,
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
