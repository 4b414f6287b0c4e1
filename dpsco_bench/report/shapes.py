"""The panels that kinds of parts are drawn by, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpsco_bench.report.drawing import Panel
from dpsco_bench.report.labels import worded_panel
from dpsco_bench.report.panels import privacy_panel, rate_panel
from dpsco_bench.report.ratios import ratio_panel
from dpsco_bench.report.scores import Score

SHAPES: Mapping[str, Callable[[Sequence[Score]], Panel]] = {
    "slopes": rate_panel,
    "ratios": ratio_panel,
    "privacy": privacy_panel,
    "curves": worded_panel,
    "audits": worded_panel,
    "words": worded_panel,
}
"""Curves along the run and the audits of a claim have a figure of their own (`report.curves`, `report.audits`), so that
a panel of them has words alone."""


def kind_panel(scores: Sequence[Score]) -> Panel:
    """Draw the scores of a part by the panel of its kind, or else by the shape that the kind names."""
    kind = scores[0].kind
    return kind.panel(scores) or SHAPES[kind.shape](scores)
