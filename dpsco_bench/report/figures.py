"""Figures of claims: one file per claim for print, single panels for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from dpsco_bench.claims.grids import GRID
from dpsco_bench.errors import failing_as
from dpsco_bench.report.audits import NAME as AUDITS
from dpsco_bench.report.audits import audit_scores, audits_figure
from dpsco_bench.report.curves import curve_figure
from dpsco_bench.report.drawing import Panel, compose, save, style, words_panel
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.labels import worded_panel
from dpsco_bench.report.messages import claim_message
from dpsco_bench.report.overviews import checks_panel, grouped_parts, variant_panels
from dpsco_bench.report.own_figures import extra_panels
from dpsco_bench.report.ratios import grid_panel
from dpsco_bench.report.scores import Score, claim_scores, scores
from dpsco_bench.report.shapes import kind_panel
from dpsco_bench.report.wording import symbols

TIME_SUFFIX, SHOWN_SUFFIX = ".time", ".shown"
MOST_SHOWN = 4
"""More panels of what is measured for information, beside judged ones, have a figure of their own."""


def claim_panels(results: ClaimResults) -> list[Panel]:
    """Panels of a claim: those of its study, and of its parts other than measured orderings in the file's order."""
    return [panel for panel, _ in _panels(results)]


def _panels(results: ClaimResults) -> list[tuple[Panel, bool]]:
    """The same, each with whether nothing in it is judged."""
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
    panels = [(_panel(scores), scores) for scores in alone if scores[0].kind.shape != "curves"]
    first = [*extra_panels(results), *variant_panels(everything), *([overview] if overview else [])]
    told = [(panel, _only_shown(scores)) for panel, scores in panels]
    kept = [pair for pair in told if not (pair[0].blank and pair[1])]
    return [*((panel, False) for panel in first), *kept] or told


def _only_shown(scores: Sequence[Score]) -> bool:
    """Check whether nothing is judged: a panel without a drawing would say nothing."""
    return all(score.row.meaning.outcome == "shown" for score in scores)


def _panel(scores: Sequence[Score]) -> Panel:
    if scores[0].row.parameter == GRID:  # numbers of combinations are no axis
        judged = any(score.judged for score in scores)
        return grid_panel(scores) if judged else worded_panel(scores)
    return kind_panel(scores)


def undrawn_orderings(results: ClaimResults) -> list[Panel]:
    """Orderings without measurements (skipped, not yet run), in words; what is said of several is said once."""
    by_part: dict[str, list[Score]] = {}
    for score in claim_scores(results):
        if score.kind.shape == "curves":
            by_part.setdefault(score.row.part, []).append(score)
    by_title: dict[str, list[Panel]] = {}
    for panel in map(worded_panel, by_part.values()):
        by_title.setdefault(panel.title, []).append(panel)
    return [
        panels[0] if len(panels) == 1 else words_panel(title, f"{len(panels)} parts")
        for title, panels in by_title.items()
    ]


def claim_figures(results: ClaimResults) -> dict[str, Figure]:
    """Figures of a claim by file suffix: the claim's own, and with ``.time`` the one over running time.

    There always is one for the claim itself; what has nothing to draw states its verdict in words.
    """
    figures: dict[str, Figure] = {}
    audits = audit_scores(claim_scores(results))
    if audits and len(audits) == len(claim_scores(results)):
        return {"": audits_figure(audits)}
    curves = curve_figure(results)
    every = _panels(results)
    aside = [panel for panel, shown in every if shown]
    apart = len(aside) > MOST_SHOWN and len(aside) < len(every)
    panels = [panel for panel, shown in every if not (apart and shown)]
    if apart:
        told = f"{results.id}: {symbols(results.claim.title)}"
        figures[SHOWN_SUFFIX] = compose(aside, "Measured for information: no criterion was set", told)
    if curves is not None and not panels:
        figures[""] = curves
    else:
        panels += [] if curves is not None else undrawn_orderings(results)
        figures[""] = compose(panels, claim_message(results), f"{results.id}: {symbols(results.claim.title)}")
        if curves is not None:
            figures[".curves"] = curves
    timed = curve_figure(results, timed=True)
    if timed is not None:
        figures[TIME_SUFFIX] = timed
    return figures


def write_figures(inputs: Inputs, claim: str, folder: Path) -> list[Path]:
    """Write the figures of a claim or a leaderboard, or the one of all audits, as SVG and PDF; returns the files.

    Parameters
    ----------
    folder : Path, where ``<claim>.svg`` and ``<claim>.pdf`` go, and ``<claim>.time.*`` where timings exist
    """
    if claim == AUDITS:
        with style():
            return _written({"": audits_figure(audit_scores(scores(inputs)))}, claim, folder)
    board = next((board for board in inputs.boards if board.id == claim), None)
    if board is None:
        return write_claim_figures(inputs.claim(claim), folder)
    from dpsco_bench.leaderboard.phases import board_figures  # brings the accountants, which no claim's figure needs

    with style():
        return _written(board_figures(board), claim, folder)


def write_claim_figures(results: ClaimResults, folder: Path) -> list[Path]:
    """Write the figures of a claim that is at hand."""
    with style(), failing_as(f"figure of {results.id}"):
        return _written(claim_figures(results), results.id, folder)


def _written(figures: Mapping[str, Figure], id: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [path for suffix, figure in figures.items() for path in save(figure, folder / f"{id}{suffix}")]
