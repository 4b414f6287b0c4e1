"""Kind `control`: a negative control behaves as stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import within
from dpsco_bench.analysis.slopes import RateFit
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart
from dpsco_bench.kinds import SlopeKind


@dataclass(frozen=True, kw_only=True)
class ControlPart(MeasuredPart):
    """Fields of a negative control's part; ``exponent`` is the slope that it is stated to have."""

    exponent: float
    tolerance: float = 0.15
    tolerances: Mapping[str, float] = field(default_factory=dict)
    bound: str = ""
    axis: str = ""
    quantity: str = RISK


@kind("control")
class Control(SlopeKind):
    """The slope of what is stated not to have the claimed one."""

    title = "negative control"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "the whole interval is within the tolerance of the slope that it is stated to have",
            "the control has the slope that it must have",
        ),
        "fails": Word(
            "contradicts",
            "the whole interval lies beyond the tolerance, on either side",
            "the control has another slope than it must have",
        ),
        "inconclusive": Word("open", "the interval reaches across the tolerance", "the control's slope is undecided"),
    }
    part = ControlPart
    of_the_law = has_interval = True
    early = ("holds", "fails")
    whose_exponent = "stated"
    answers = False

    def judge(self, case: PartCells) -> Verdict:
        part, fit = case.part, case.fit()
        word, reason = _word(fit, part.exponent, part.tolerance)
        return Verdict(
            word,
            reason=reason,
            values=fit.values,
            mean=fit.mean,
            stderr=fit.stderr,
            slope=fit.slope,
            ci=(fit.ci_low, fit.ci_high),
            claimed_exponent=part.exponent,
            tolerance=part.tolerance,
            notes=fit.notes,
        )


def _word(fit: RateFit, exponent: float, tolerance: float) -> tuple[str, str]:
    if fit.nonpositive:
        return "inconclusive", "a mean excess risk is not positive: it has no logarithm"
    if fit.no_error:
        return "inconclusive", "a single random replicate gives no interval; it takes at least 2"
    shown = f"slope {fit.slope:.3g} [{fit.ci_low:.3g}, {fit.ci_high:.3g}], stated {exponent:g}, allowed {tolerance:g}"
    if exponent - tolerance <= fit.ci_low and fit.ci_high <= exponent + tolerance:
        return "holds", shown
    if fit.ci_low > exponent + tolerance or fit.ci_high < exponent - tolerance:
        return "fails", shown
    return "inconclusive", f"{shown}; {within(fit.slope, fit.ci_low, fit.ci_high, exponent, tolerance)}"
