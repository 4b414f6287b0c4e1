"""Kind `lower_bound`: no accounted method is below a lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.cells import NO_ERROR, STANDARD_ERRORS, cell_verdict, columns_of, ratios_to
from dpsco_bench.analysis.judge import Case
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import WORST, Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart


@dataclass(frozen=True, kw_only=True)
class LowerBoundPart(MeasuredPart):
    """What a lower bound says besides.

    Attributes
    ----------
    bound : str, name of a formula in ``claims/bounds``
    constant : str, ``none`` for one without its constants, which is shown and not judged
    exponent : float or None, the paper's bare exponent
    quantity : str, ``risk``, or the name of an extra that the runs noted
    """

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
            "every method is above the bound in every cell, by two standard errors",
            phrase="no method is below the lower bound",
        ),
        "violated": Word("contradicts", "one is not", phrase="a method is below the lower bound"),
        "inconclusive": Word("open", "a cell has no standard error", phrase="above the lower bound or not: undecided"),
        "shown": Word("shown", "the bound has no constants", phrase="risks beside a lower bound without constants"),
    }
    part = LowerBoundPart
    mixes_sweeps = True
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / lower bound", "reference": "bound", "worst": "at least"}
    against = "> 1"

    def judge(self, case: Case) -> Verdict:
        """Without constants the exponents are what can be compared, so that both slopes are shown."""
        stated = case.part.constant != "none"
        verdict = lower_bound_verdict(*case.columns, case.printed, has_constants=stated)
        return verdict if stated else case.with_slope(verdict, case.printed)


def lower_bound_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    parameter: str = "",
    has_constants: bool = True,
) -> Verdict:
    """Whether mean - 2 s.e. lies above a lower bound in every cell of every accounted method.

    Returns ``holds``, ``violated`` or ``shown``, with the smallest ratio (mean - 2 s.e.) / bound; ``inconclusive``
    where a cell has no standard error.

    Parameters
    ----------
    values, mean, stderr, bound : array_like, shape ``(cells,)``; the cells of all methods, one after the other
    """
    columns = columns_of(values, mean, stderr, bound)
    _, m, s, b = columns
    ratios = ratios_to(m - STANDARD_ERRORS * np.nan_to_num(s), b)
    worst = int(np.argmin(ratios))
    word = "holds" if ratios[worst] > 1 else "violated"
    reason = f"(mean - 2 s.e.) / bound is at least {ratios[worst]:.3g}"
    if np.isnan(s).any():
        word, reason = "inconclusive", NO_ERROR
    if not has_constants:
        word, reason = "shown", "a bound without constants is shown, not judged"
    return cell_verdict(word, reason, parameter, columns, ratios, worst)
