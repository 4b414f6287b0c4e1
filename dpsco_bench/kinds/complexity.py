"""Kind `complexity`: how the number of gradient evaluations, or a measured count, grows against a formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.analysis.cells import columns_of, measured
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.slopes import bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart
from dpsco_bench.kinds import SlopeKind

COUNT_ERRORS = 3.0
"""Standard errors by which a measured count may exceed its formula."""
TOLERANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class ComplexityPart(MeasuredPart):
    """Fields of an evaluation count's part.

    With ``exact`` the counts themselves are compared and not their slopes: planned ones for equality, measured ones for
    being at most the formula's within 3 standard errors. With a ``quantity``, the name of an extra that the runs noted,
    the part runs, and judges what was counted, not the plan.
    """

    bound: str
    exponent: float | None = None
    tolerance: float = TOLERANCE
    tolerances: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False
    quantity: str = RISK


@kind("complexity")
class Complexity(SlopeKind):
    """Counts that the plan knows, or that runs noted; a slope of them has no interval."""

    title = "evaluation count"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the count grows like the formula, equals it or is at most it, as the part asks",
            "{counted} are as stated",
        ),
        "fewer": Word(
            "better",
            "the count grows more slowly than the formula, which an O() does not exclude",
            "fewer {counted} than stated",
        ),
        "fails": Word("contradicts", "it grows faster, or it is not the stated number", "more {counted} than stated"),
    }
    part = ComplexityPart
    counts = True
    charged = waits = False

    def needs_slope(self, part: ComplexityPart) -> bool:
        return not part.exact

    def runs(self, part: ComplexityPart) -> bool:
        return part.quantity != RISK

    def tolerance_of(self, part: Any) -> Any:
        return "equal" if part.exact else part.tolerance

    def judge(self, case: PartCells) -> Verdict:
        """Judge planned counts by their slope or, ``exact``, for equality; measured ones may be at most the formula's.

        A slope is compared within the tolerance. Measured counts may exceed the formula by 3 standard errors.
        """
        part, planned = case.part, case.part.quantity == RISK
        formula = [case.bound.value(cell.context) for cell in case.cells]
        if part.exact and not planned:
            return _at_most(*case.columns, formula)
        counts = [cell.calibrated.gradient_evaluations for cell in case.cells] if planned else case.columns[1]
        columns = columns_of(case.values, counts, np.zeros(len(formula)), formula)
        x, counted, _, claimed = columns
        several = len(np.unique(x)) > 1
        slope, b = (bound_slope(x, y) if several else np.nan for y in (counted, claimed))
        if part.exact:
            word = "match" if (counted == claimed).all() else "fewer" if (counted <= claimed).all() else "fails"
            reason = f"{(counted == claimed).sum()} of {len(x)} counts are equal"
        else:
            word = "match" if abs(slope - b) <= part.tolerance else "fewer" if slope < b else "fails"
            reason = f"the count grows with slope {slope:.3g}, the formula with {b:.3g}, allowed {part.tolerance:g}"
        return Verdict(
            word,
            reason=reason,
            **measured(*columns),
            slope=slope,
            ci=(slope, slope),
            bound_slope=b,
            claimed_exponent=part.exponent,
            tolerance=part.tolerance,
        )


def _at_most(*columns: Any) -> Verdict:
    """Judge whether mean measured counts are at most the formula's, within `COUNT_ERRORS` standard errors."""
    vectors = columns_of(*columns)
    _, m, s, b = vectors
    worst = int(np.argmax((m - COUNT_ERRORS * s) / b))
    good = bool(m[worst] - COUNT_ERRORS * s[worst] <= b[worst])
    above = f"{'less' if good else 'more'} than {COUNT_ERRORS:g} standard errors above"
    against = "at most" if m[worst] <= b[worst] else above
    reason = f"mean count {m[worst]:.4g} +- {s[worst]:.2g}, {against} {b[worst]:.4g}"
    return Verdict("match" if good else "fails", reason=reason, **measured(*vectors))
