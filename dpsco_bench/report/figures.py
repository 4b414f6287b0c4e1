"""Figures of claims: one file per claim for print, single panels for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from dpsco_bench.claims.grids import GRID
from dpsco_bench.report.curves import curve_figure
from dpsco_bench.report.drawing import Panel, compose, inline_svg, save, single, style
from dpsco_bench.report.inputs import BoardResults, ClaimResults, Inputs
from dpsco_bench.report.overviews import checks_panel, grouped_parts, variant_panels
from dpsco_bench.report.own_figures import extra_panels
from dpsco_bench.report.scores import Score, claim_scores
from dpsco_bench.report.shapes import words
from dpsco_bench.report.wording import symbols

PageFigures = tuple[list[str], list[str], list[str]]
TIME_SUFFIX = ".time"
KEY_WORDS = {
    "mean": ("Points", "means with 95 % intervals"),
    "ratio": ("Points with whiskers", "ratios ± 2 standard errors"),
    "fit": ("solid", "fitted line"),
    "bound": ("dashed", "the bound, multiplied by the factor stated"),
    "off": ("grey", "noise off (arrows: below the axis)"),
    "exact": ("circle", "exact ε"),
    "lower": ("triangle up", "lower bound on ε"),
    "upper": ("triangle down", "upper bound on ε"),
}
"""Key of the page's panels: name of a symbol -> what it looks like and what it means."""


def claim_panels(results: ClaimResults) -> list[Panel]:
    """Panels of a claim: those of its study, and of its parts other than measured orderings in the file's order."""
    by_part: dict[str, list[Score]] = {}
    for score in claim_scores(results):
        by_part.setdefault(score.row.part, []).append(score)
    everything = [score for scores in by_part.values() for score in scores]
    overview = checks_panel(everything)
    together = grouped_parts(everything)
    alone = [
        scores
        for part, scores in by_part.items()
        if part not in together and not (overview and scores[0].kind.checks_bounds)
    ]
    panels = [_panel(scores) for scores in alone if scores[0].kind.shape != "curves"]
    first = [*extra_panels(results), *variant_panels(everything), *([overview] if overview else [])]
    return [*first, *panels]


def _panel(scores: Sequence[Score]) -> Panel:
    if scores[0].row.parameter == GRID:  # numbers of combinations are no axis
        return words(scores)
    panel: Panel = scores[0].kind.panel(scores)
    return panel


def undrawn_orderings(results: ClaimResults) -> list[Panel]:
    """Orderings without measurements (skipped, not yet run), in words."""
    by_part: dict[str, list[Score]] = {}
    for score in claim_scores(results):
        if score.kind.shape == "curves":
            by_part.setdefault(score.row.part, []).append(score)
    return [words(scores) for scores in by_part.values()]


def claim_figures(results: ClaimResults) -> dict[str, Figure]:
    """Figures of a claim by file suffix: the claim's own, and with ``.time`` the one over running time.

    There always is one for the claim itself; what has nothing to draw states its verdict in words.
    """
    figures: dict[str, Figure] = {}
    curves = curve_figure(results)
    panels = claim_panels(results)
    if curves is not None and not panels:
        figures[""] = curves
    else:
        panels += [] if curves is not None else undrawn_orderings(results)
        figures[""] = compose(panels, symbols(results.claim.title), f"{results.claim.source}  ({results.id})")
        if curves is not None:
            figures[".curves"] = curves
    timed = curve_figure(results, timed=True)
    if timed is not None:
        figures[TIME_SUFFIX] = timed
    return figures


def write_figures(inputs: Inputs, claim: str, folder: Path) -> list[Path]:
    """Write the figures of a claim, or the one of a leaderboard, as SVG and PDF; returns the files.

    Parameters
    ----------
    folder : Path, where ``<claim>.svg`` and ``<claim>.pdf`` go, and ``<claim>.time.*`` where timings exist
    """
    board = next((board for board in inputs.boards if board.id == claim), None)
    if board is None:
        return write_claim_figures(inputs.claim(claim), folder)
    with style():
        return _written({"": _board_figure(board)}, claim, folder)


def write_claim_figures(results: ClaimResults, folder: Path) -> list[Path]:
    """The same for a claim that is at hand."""
    with style():
        return _written(claim_figures(results), results.id, folder)


def _written(figures: Mapping[str, Figure], id: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [path for suffix, figure in figures.items() for path in save(figure, folder / f"{id}{suffix}")]


def _board_figure(board: BoardResults) -> Figure:
    from dpsco_bench.report.phases import board_figure  # brings the accountants, which no claim's figure needs

    return board_figure(board)


def page_figures(results: ClaimResults) -> PageFigures:
    """SVG elements of a claim for the page: panels that flow, wide figures that scroll, and their key in words."""
    name = results.id.replace(".", "-")
    with style(**{"svg.fonttype": "none"}):
        panels = claim_panels(results)
        wide = [curve_figure(results), curve_figure(results, timed=True)]
        small = [inline_svg(single(p), f"{name}-{i}", _label(results, p)) for i, p in enumerate(panels) if not p.blank]
        large = [inline_svg(f, f"{name}-w{i}", escape(results.claim.title), 1.45) for i, f in enumerate(wide) if f]
    used = {name for panel in panels for name in panel.symbols}
    return small, large, [f"{shape}: {text}" for name, (shape, text) in KEY_WORDS.items() if name in used]


def _label(results: ClaimResults, panel: Panel) -> str:
    return escape(". ".join([f"{results.id}, {panel.title}", *(line.text for line in panel.lines)]), quote=True)
