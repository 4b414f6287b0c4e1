"""Kind `shown`: measured values without a verdict, where a part sets no criterion."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dpsco_bench.analysis.cells import columns_of, measured
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart
from dpsco_bench.kinds import SlopeKind


@dataclass(frozen=True, kw_only=True)
class ShownPart(MeasuredPart):
    """Fields of a part without a criterion, whose means may stand beside a formula."""

    bound: str = ""
    exponent: float | None = None
    axis: str = ""
    quantity: str = RISK


@kind("shown")
class Shown(SlopeKind):
    """Means, beside a formula if there is one, with the slopes of both over a sweep of one method."""

    title = "shown"
    words: ClassVar = {
        "shown": Word("shown", "measured for information: no criterion was set", "{what}, measured for information")
    }
    part = ShownPart
    mixes_sweeps = True
    answers = waits = False

    def judge(self, case: PartCells) -> Verdict:
        values, mean, stderr = case.columns
        columns = measured(*columns_of(values, mean, stderr, case.printed or mean))
        found = Verdict("shown", reason="no criterion was set: measured values without a verdict", **columns)
        if not case.printed:
            return case.with_slope(replace(found, bound=()))
        logarithms = all(0.0 < value < math.inf for value in case.printed)
        return case.with_slope(found, case.printed if logarithms else None)
