"""Kind `lower_bound`: no accounted method is below a lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.cells import NO_ERROR, cell_verdict, columns_of, ratios_to
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import EARLY
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart
from dpsco_bench.kinds import RatioKind


@dataclass(frozen=True, kw_only=True)
class LowerBoundPart(MeasuredPart):
    """Fields of a lower bound's part; one without constants (``none``) is shown and not judged."""

    bound: str
    constant: Literal["stated", "none"] = "stated"
    exponent: float | None = None
    quantity: str = RISK


@kind("lower_bound")
class LowerBoundKind(RatioKind):
    """Means of all methods against a bound from below; one without constants is shown and not judged."""

    title = "lower bound"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "every method is above the bound in every cell, with its interval",
            "no method is below the lower bound",
        ),
        "violated": Word("contradicts", "the interval of one lies below it", "a method is below the lower bound"),
        "inconclusive": Word("open", "an interval reaches across the bound", "above the lower bound or not: undecided"),
        "shown": Word("shown", "the bound has no constants", "risks beside a lower bound without constants"),
    }
    part = LowerBoundPart
    mixes_sweeps = True
    early = ("holds",)
    against = "> 1"
    drawn = ("excess risk / lower bound", "bound", "at least")

    def asks(self, part: LowerBoundPart) -> bool:
        return part.constant != "none"

    def judge(self, case: PartCells) -> Verdict:
        """Judge by intervals that hold for the cells of all methods together, and name the smallest ratio of an end.

        A violation is said at the last look alone. Without constants the exponents are what can be compared, so that
        both slopes are shown.
        """
        columns = columns_of(*case.columns, case.printed)
        _, m, s, b = columns
        half = np.nan_to_num(s) * simultaneous_quantile(len(m), case.dof, case.look.confidence(EARLY))
        ratios, uppers = ratios_to(m - half, b), ratios_to(m + half, b)
        worst = int(np.argmin(ratios))
        if case.part.constant == "none":
            shown = cell_verdict("shown", "a bound without constants is shown, not judged", columns, ratios, worst)
            return case.with_slope(shown, case.printed)
        word = "holds" if ratios[worst] > 1 else "violated" if case.look.last and uppers.min() < 1 else "inconclusive"
        reason = f"mean / bound is at least {ratios[worst]:.3g} with its interval"
        if np.isnan(s).any():
            word, reason = "inconclusive", NO_ERROR
        return cell_verdict(word, reason, columns, ratios, worst)
