"""Kind `lower_bound`: no accounted method is below a lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.cells import NO_ERROR, cell_verdict, columns_of, ratios_to
from dpsco_bench.analysis.judge import Case
from dpsco_bench.analysis.looks import EARLY, FIXED, Look
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import WORST, Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart


@dataclass(frozen=True, kw_only=True)
class LowerBoundPart(MeasuredPart):
    """Fields of a lower bound's part; one without constants (``none``) is shown and not judged."""

    bound: str
    constant: Literal["stated", "none"] = "stated"
    exponent: float | None = None
    quantity: str = RISK


@kind("lower_bound")
class LowerBoundKind(Kind):
    """Means of all methods against a bound from below; one without constants is shown and not judged."""

    title = "lower bound"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "every method is above the bound in every cell, with its interval",
            phrase="no method is below the lower bound",
        ),
        "violated": Word(
            "contradicts", "the interval of one lies below it", phrase="a method is below the lower bound"
        ),
        "inconclusive": Word(
            "open", "an interval reaches across the bound", phrase="above the lower bound or not: undecided"
        ),
        "shown": Word("shown", "the bound has no constants", phrase="risks beside a lower bound without constants"),
    }
    part = LowerBoundPart
    mixes_sweeps = True
    early = ("holds",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / lower bound", "reference": "bound", "worst": "at least"}
    against = "> 1"

    def asks(self, part: LowerBoundPart) -> bool:
        """Not without constants."""
        return part.constant != "none"

    def judge(self, case: Case) -> Verdict:
        """Without constants the exponents are what can be compared, so that both slopes are shown."""
        stated = case.part.constant != "none"
        verdict = lower_bound_verdict(*case.columns, case.printed, has_constants=stated, dof=case.dof, look=case.look)
        return verdict if stated else case.with_slope(verdict, case.printed)


def lower_bound_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    has_constants: bool = True,
    dof: ArrayLike = np.inf,
    look: Look = FIXED,
) -> Verdict:
    """Judge whether the intervals of all accounted methods lie above a lower bound in every cell, for all of them.

    Returns ``holds``, ``violated`` where one lies below it (at the last look), else ``inconclusive``; ``shown`` without
    constants. With the smallest ratio of a lower end to the bound. All have shape ``(cells,)``, method after method.
    """
    columns = columns_of(values, mean, stderr, bound)
    _, m, s, b = columns
    half = np.nan_to_num(s) * simultaneous_quantile(len(m), dof, look.confidence(EARLY))
    ratios, uppers = ratios_to(m - half, b), ratios_to(m + half, b)
    worst = int(np.argmin(ratios))
    word = "holds" if ratios[worst] > 1 else "violated" if look.last and uppers.min() < 1 else "inconclusive"
    reason = f"mean / bound is at least {ratios[worst]:.3g} with its interval"
    if np.isnan(s).any():
        word, reason = "inconclusive", NO_ERROR
    if not has_constants:
        word, reason = "shown", "a bound without constants is shown, not judged"
    return cell_verdict(word, reason, columns, ratios, worst)
