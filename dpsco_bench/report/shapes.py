"""The panels that kinds of parts are drawn by, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpsco_bench.report.drawing import Panel, words_panel
from dpsco_bench.report.messages import panel_message
from dpsco_bench.report.panels import panel_line, privacy_panel, rate_panel
from dpsco_bench.report.ratios import ratio_panel
from dpsco_bench.report.scores import Score


def words(scores: Sequence[Score]) -> Panel:
    """A panel that states verdicts in words, for what has nothing to draw."""
    return words_panel(panel_message(scores), panel_line(scores[0]))


SHAPES: Mapping[str, Callable[[Sequence[Score]], Panel]] = {
    "slopes": rate_panel,
    "ratios": ratio_panel,
    "privacy": privacy_panel,
    "curves": words,
    "audits": words,
    "words": words,
}
"""Curves along the run and the audits of a claim have a figure of their own (`report.curves`, `report.audits`), so that
a panel of them has words alone."""
