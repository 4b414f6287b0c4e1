"""Kind `law`: a measured curve equals a computed one within a stated error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.cells import cell_verdict, columns_of, ratios_to, three_way, undecided
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import EARLY
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart
from dpsco_bench.kinds import RatioKind


@dataclass(frozen=True, kw_only=True)
class LawPart(MeasuredPart):
    """Fields of a computed law's part; ``tolerance`` is the largest relative difference from it."""

    bound: str
    tolerance: float = 0.15
    tolerances: Mapping[str, float] = field(default_factory=dict)
    quantity: str = RISK


@kind("law")
class Law(RatioKind):
    """Means against a formula that is computed and not bounded; it can certify the chains of other parts."""

    title = "computed law"
    words: ClassVar = {
        "holds": Word(
            "confirms", "every cell is within the stated error of the computed value", "measured as computed"
        ),
        "violated": Word(
            "contradicts", "a cell is beyond it, by more than sampling error", "measured is not what is computed"
        ),
        "inconclusive": Word("open", "the intervals are too wide for a decision", "as computed or not: undecided"),
    }
    part = LawPart
    mixes_sweeps = of_the_law = knows_the_law = True
    early = ("holds",)
    against = "= 1"
    drawn = ("excess risk / computed value", "law")

    def judge(self, case: PartCells) -> Verdict:
        """Judge by intervals that hold for all cells together, and name the ratio farthest from 1."""
        columns = columns_of(*case.columns, case.printed)
        _, m, s, law = columns
        ratios, beyond = ratios_to(m, law), np.abs(m - law) - case.part.tolerance * np.abs(law)
        half = s * simultaneous_quantile(len(m), case.dof, case.look.confidence(EARLY))
        worst = int(np.argmax(np.abs(ratios - 1)))
        word = three_way(beyond, half, case.look)
        reason = f"measured / computed is {ratios[worst]:.4g} at the most distant cell{undecided(word, beyond, half)}"
        return replace(cell_verdict(word, reason, columns, ratios, worst), tolerance=case.part.tolerance)
