"""Kind `shown`: measured values without a verdict, where a part sets no criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from dpsco_bench.analysis.cells import columns_of, measured
from dpsco_bench.analysis.judge import Case
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart


@dataclass(frozen=True, kw_only=True)
class ShownPart(MeasuredPart):
    """Fields of a part without a criterion, whose means may stand beside a formula."""

    bound: str = ""
    exponent: float | None = None
    axis: str = ""
    quantity: str = RISK


@kind("shown")
class Shown(Kind):
    """Means, beside a formula if there is one, with the slopes of both over a sweep of one method."""

    title = "shown"
    words: ClassVar = {
        "shown": Word(
            "shown", "measured for information: no criterion was set", phrase="{what}, measured for information"
        )
    }
    part = ShownPart
    mixes_sweeps = measures_slope = True
    shape = "slopes"
    answers = False

    def asks(self, part: ShownPart) -> bool:
        """Never: it takes what is there."""
        return False

    def judge(self, case: Case) -> Verdict:
        printed = case.printed
        logarithms = bool(printed) and all(0.0 < value < math.inf for value in printed)
        return case.with_slope(shown_verdict(*case.columns, printed or None), printed if logarithms else None)


def shown_verdict(values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, bound: ArrayLike | None = None) -> Verdict:
    """Measured values without a verdict, beside a formula if there is one, shape ``(cells,)``."""
    found = measured(*columns_of(values, mean, stderr, mean if bound is None else bound))
    given = found if bound is not None else {**found, "bound": ()}
    return Verdict("shown", reason="no criterion was set: measured values without a verdict", **given)
