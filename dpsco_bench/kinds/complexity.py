"""Kind `complexity`: how the number of gradient evaluations, or a measured count, grows against a formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.cells import columns_of, measured, same_length
from dpsco_bench.analysis.judge import Case, means
from dpsco_bench.analysis.slopes import bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart

COUNT_ERRORS = 3.0
"""Standard errors by which a measured count may exceed its formula."""
TOLERANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class ComplexityPart(MeasuredPart):
    """Fields of an evaluation count's part.

    Attributes
    ----------
    exact : bool
        Whether the counts themselves are compared and not their slopes: planned ones for equality, measured ones for
        being at most the formula's within 3 standard errors.
    quantity : str, name of an extra that the runs noted: the part then runs, and judges what was counted, not the plan
    """

    bound: str
    exponent: float | None = None
    tolerance: float = TOLERANCE
    tolerances: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False
    quantity: str = RISK


@kind("complexity")
class Complexity(Kind):
    """Counts that the plan knows, or that runs noted; a slope of them has no interval."""

    title = "evaluation count"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the count grows like the formula, equals it or is at most it, as the part asks",
            phrase="{counted} are as stated",
        ),
        "fewer": Word(
            "better",
            "the count grows more slowly than the formula, which an O() does not exclude",
            phrase="fewer {counted} than stated",
        ),
        "fails": Word(
            "contradicts",
            "it grows faster, or it is not the stated number",
            phrase="more {counted} than stated",
        ),
    }
    part = ComplexityPart
    counts = measures_slope = True
    charged = False
    shape = "slopes"

    def needs_slope(self, part: ComplexityPart) -> bool:
        """Unless counts themselves are compared."""
        return not part.exact

    def runs(self, part: ComplexityPart) -> bool:
        """Only to measure another count than the plan's."""
        return part.quantity != RISK

    def tolerance_of(self, part: Any) -> Any:
        """None where counts must be equal."""
        return "equal" if part.exact else part.tolerance

    def asks(self, part: ComplexityPart) -> bool:
        """Never: it takes what is there."""
        return False

    def judge(self, case: Case) -> Verdict:
        """Planned counts by their slope or for equality, measured ones also for being at most the formula's."""
        part, cells = case.part, case.cells
        formula, planned = [case.bound.value(cell.context) for cell in cells], part.quantity == RISK
        if part.exact and not planned:
            return counted_verdict(*case.columns, formula)
        return complexity_verdict(
            case.values,
            [cell.calibrated.gradient_evaluations for cell in cells] if planned else means(cells)[0],
            formula,
            claimed_exponent=part.exponent,
            tolerance=part.tolerance,
            exact=part.exact,
        )


def complexity_verdict(
    values: ArrayLike,
    evaluations: ArrayLike,
    formula: ArrayLike,
    *,
    claimed_exponent: float | None = None,
    tolerance: float = TOLERANCE,
    exact: bool = False,
) -> Verdict:
    """``match`` if planned and stated counts differ in slope by at most the tolerance, or (``exact``) not at all.

    ``fewer`` if they grow more slowly, or (``exact``) none is larger than stated and some are smaller; else ``fails``.
    Swept values, planned counts and the formula's are > 0, shape ``(cells,)``; the paper's exponent is only shown.
    """
    x = np.atleast_1d(np.asarray(values, dtype=np.float64))
    counted, claimed = same_length("evaluations", evaluations, len(x)), same_length("formula", formula, len(x))
    several = len(np.unique(x)) > 1
    slope, b = (bound_slope(x, y) if several else np.nan for y in (counted, claimed))
    if exact:
        reason = f"{(counted == claimed).sum()} of {len(x)} counts are equal"
        word = "match" if (counted == claimed).all() else "fewer" if (counted <= claimed).all() else "fails"
    else:
        word = "match" if abs(slope - b) <= tolerance else "fewer" if slope < b else "fails"
        reason = f"the count grows with slope {slope:.3g}, the formula with {b:.3g}, allowed {tolerance:g}"
    return Verdict(
        word,
        reason=reason,
        **measured(x, counted, np.zeros(len(x)), claimed),
        slope=slope,
        ci=(slope, slope),
        bound_slope=b,
        claimed_exponent=claimed_exponent,
        tolerance=tolerance,
    )


def counted_verdict(values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, formula: ArrayLike) -> Verdict:
    """``match`` if mean measured counts ``(cells,)`` are at most the formula's, within 3 standard errors."""
    columns = columns_of(values, mean, stderr, formula)
    _, m, s, b = columns
    worst = int(np.argmax((m - COUNT_ERRORS * s) / b))
    good = bool(m[worst] - COUNT_ERRORS * s[worst] <= b[worst])
    if m[worst] <= b[worst]:
        against = "at most"
    else:
        against = f"{'less' if good else 'more'} than {COUNT_ERRORS:g} standard errors above"
    reason = f"mean count {m[worst]:.4g} +- {s[worst]:.2g}, {against} {b[worst]:.4g}"
    return Verdict("match" if good else "fails", reason=reason, **measured(*columns))
