"""Kind `law`: a measured curve equals a computed one within a stated error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.cells import cell_verdict, columns_of, ratios_to, three_way, undecided
from dpsco_bench.analysis.judge import Case
from dpsco_bench.analysis.looks import EARLY, FIXED, Look
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import WORST, Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart


@dataclass(frozen=True, kw_only=True)
class LawPart(MeasuredPart):
    """Fields of a computed law's part; ``tolerance`` is the largest relative difference from it."""

    bound: str
    tolerance: float = 0.15
    tolerances: Mapping[str, float] = field(default_factory=dict)
    quantity: str = RISK


@kind("law")
class Law(Kind):
    """Means against a formula that is computed and not bounded; it can certify the chains of other parts."""

    title = "computed law"
    words: ClassVar = {
        "holds": Word(
            "confirms", "every cell is within the stated error of the computed value", phrase="measured as computed"
        ),
        "violated": Word(
            "contradicts", "a cell is beyond it, by more than sampling error", phrase="measured is not what is computed"
        ),
        "inconclusive": Word(
            "open", "the intervals are too wide for a decision", phrase="as computed or not: undecided"
        ),
    }
    part = LawPart
    mixes_sweeps = of_the_law = knows_the_law = True
    early = ("holds",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / computed value", "reference": "law"}
    against = "= 1"

    def judge(self, case: Case) -> Verdict:
        return law_verdict(*case.columns, case.printed, case.part.tolerance, dof=case.dof, look=case.look)


def law_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    law: ArrayLike,
    tolerance: float,
    *,
    dof: ArrayLike = np.inf,
    look: Look = FIXED,
) -> Verdict:
    """Judge whether a measured curve equals a computed one within a stated error.

    Returns ``holds`` if every cell is within the stated error, ``violated`` if the interval of one lies beyond it (for
    all cells together, with Student's quantile at ``dof``), else ``inconclusive``; with the ratio farthest from 1.
    Before the last look every interval has to lie within the error.
    """
    columns = columns_of(values, mean, stderr, law)
    _, m, s, target = columns
    ratios = ratios_to(m, target)
    beyond = np.abs(m - target) - tolerance * np.abs(target)
    half = s * simultaneous_quantile(len(m), dof, look.confidence(EARLY))
    worst = int(np.argmax(np.abs(ratios - 1)))
    reason = f"measured / computed is {ratios[worst]:.4g} at the most distant cell"
    word = three_way(beyond, half, look)
    verdict = cell_verdict(word, reason + undecided(word, beyond, half), columns, ratios, worst)
    return replace(verdict, tolerance=tolerance)
