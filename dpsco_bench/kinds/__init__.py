"""One file for each kind of verdict. Here is what kinds share that judge slopes, or a ratio in every cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsco_bench.claims.kinds import Kind


class SlopeKind(Kind):
    """Base of kinds that measure slopes: their sweeps stand in the tables of slopes, and are drawn as curves."""

    measures_slope = True

    def panel(self, claim: Any, rows: Sequence[Any]) -> Any:
        from dpsco_bench.report.panels import slope_panel

        return slope_panel(claim, rows)


class RatioKind(Kind):
    """Base of kinds with a ratio in every cell; ``drawn`` are the words of `report.panels.ratio_panel` for it."""

    fields = ("worst_ratio", "worst_cell", "worst_value")
    drawn: tuple[str, ...] = ()

    def panel(self, claim: Any, rows: Sequence[Any]) -> Any:
        from dpsco_bench.report.panels import ratio_panel

        return ratio_panel(claim, rows, *self.drawn)
