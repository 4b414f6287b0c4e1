"""Kind `band`: a ratio of risks, or of a risk to a formula, stays in a stated band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpsco_bench.analysis.cells import band_verdict
from dpsco_bench.analysis.evidence import replicates_of
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, Part
from dpsco_bench.errors import InputError
from dpsco_bench.kinds import RatioKind


@dataclass(frozen=True, kw_only=True)
class BandPart(Part):
    """Fields of a band's part: the allowed range of the ratio, and who states it; one of ours answers nothing.

    With a ``bound`` the first used part is compared with this formula, in place of the second used part.
    """

    band: list[float]
    bound: str = ""
    quantity: str = RISK
    band_of: Literal["paper", "ours"] = "paper"


@kind("band")
class Band(RatioKind):
    """Means of the first used part over the bound, or else over those of the second."""

    title = "stated band"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "the ratio of means is in the band in every cell; its interval may cross an end, which the reason says",
            "the ratios stay in the band",
        ),
        "violated": Word(
            "contradicts",
            "it is outside in at least one cell, by more than sampling error",
            "the ratios leave the band",
        ),
        "inconclusive": Word(
            "open", "it is outside in some cell, but by no more than sampling error", "in the band or not: undecided"
        ),
    }
    part = BandPart
    needs_all_uses = of_the_law = True
    early = ("holds",)

    def check(self, part: BandPart, where: str) -> None:
        if not (len(part.band) == 2 and 0 <= part.band[0] < part.band[1]):
            raise InputError(f"{where}: band", part.band, "two numbers 0 <= low < high")

    def sources(self, case: PartCells, used: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the sources; a measured reference has its own calibration."""
        if case.part.bound:
            return used
        reference = case.part.uses[1]
        return [used[0], (reference, case.whole.claim.part(reference).calibrations[0])]

    def judge(self, case: PartCells) -> Verdict:
        """In the cells that both parts have."""
        cells = case.cells_of(case.sources[0])
        if case.part.bound:
            reference = np.array([case.bound.value(cell.printed) for cell in cells])
            errors, free = np.zeros(len(cells)), np.full(len(cells), np.inf)
        else:
            references = {cell.value: cell for cell in case.cells_of(case.sources[1])}
            cells = [cell for cell in cells if cell.value in references]
            beside = replicates_of([references[cell.value] for cell in cells])
            reference, errors, free = beside.mean, beside.stderr, beside.dof
        own = replicates_of(cells)
        columns, free = ([cell.value for cell in cells], own.mean, own.stderr, reference), np.minimum(own.dof, free)
        return band_verdict(*columns, *case.part.band, reference_stderr=errors, dof=free, look=case.look)

    def panel(self, claim: Any, rows: Sequence[Any]) -> Any:
        from dpsco_bench.report.panels import ratio_panel

        ratio = "excess risk / bound" if claim.part(rows[0]).bound else "ratio of excess risks"
        return ratio_panel(claim, rows, ratio, worst="extreme")
