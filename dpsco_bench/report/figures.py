"""Figures of claims: one file per claim for print, single panels for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from dpsco_bench.claims.grids import GRID
from dpsco_bench.errors import failing_as
from dpsco_bench.report.audits import NAME as AUDITS
from dpsco_bench.report.audits import audit_scores, audits_figure
from dpsco_bench.report.curves import curve_figure
from dpsco_bench.report.drawing import Panel, compose, save, style, words_panel
from dpsco_bench.report.inputs import BoardResults, ClaimResults, Inputs
from dpsco_bench.report.messages import claim_title
from dpsco_bench.report.overviews import checks_panel, grouped_parts, variant_panels
from dpsco_bench.report.own_figures import extra_panels
from dpsco_bench.report.panels import grid_panel, kind_panel, worded_panel
from dpsco_bench.report.scores import Score, claim_scores, scores
from dpsco_bench.report.wording import symbols

MOST_SHOWN = 4
"""More panels of what is measured for information, beside judged ones, have a figure of their own."""


def claim_figures(results: ClaimResults) -> dict[str, Figure]:
    """Draw a claim, by file suffix: its own figure, ``.curves``, ``.time`` (running time), ``.shown`` (not judged).

    There always is one for the claim itself; what has nothing to draw states its verdict in words.
    """
    audits, every = audit_scores(claim_scores(results)), claim_scores(results)
    if audits and len(audits) == len(every):
        return {"": audits_figure(audits)}
    told = f"{results.id}: {symbols(results.claim.title)}"
    curves, timed = curve_figure(results), curve_figure(results, timed=True)
    panels = claim_panels(results)
    figures: dict[str, Figure] = {}
    aside = [panel for panel in panels if panel.shown]
    if MOST_SHOWN < len(aside) < len(panels):
        figures[".shown"] = compose(aside, "Measured for information: no criterion was set", told)
        panels = [panel for panel in panels if not panel.shown]
    if curves is not None and not panels:
        figures[""] = curves
    else:
        rest = [] if curves is not None else undrawn_orderings(every)
        figures[""] = compose([*panels, *rest], claim_title(results.claim, results.rows), told)
        figures |= {} if curves is None else {".curves": curves}
    return figures if timed is None else figures | {".time": timed}


def claim_panels(results: ClaimResults) -> list[Panel]:
    """Make the panels of a claim's study, and of its parts but orderings."""
    scores = claim_scores(results)
    overview, together, parts = checks_panel(scores), grouped_parts(scores), _by_part(scores)
    first = [*extra_panels(results), *variant_panels(scores), *([overview] if overview else [])]
    told = []
    for part, own in parts.items():
        kind = own[0].kind
        if part not in together and not (overview and kind.checks_bounds) and kind.shape != "curves":
            told.append(replace(_panel(own), shown=all(score.row.meaning.outcome == "shown" for score in own)))
    return [*first, *(panel for panel in told if not (panel.blank and panel.shown))] or told


def _by_part(scores: Iterable[Score]) -> dict[str, list[Score]]:
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.row.part, []).append(score)
    return found


def _panel(scores: Sequence[Score]) -> Panel:
    if scores[0].row.parameter == GRID:  # numbers of combinations are no axis
        return grid_panel(scores) if any(score.judged for score in scores) else worded_panel(scores)
    return kind_panel(scores)


def undrawn_orderings(scores: Iterable[Score]) -> list[Panel]:
    """Tell orderings without measurements (skipped, not yet run) in words; what is said of several is said once."""
    by_title: dict[str, list[Panel]] = {}
    for own in _by_part(score for score in scores if score.kind.shape == "curves").values():
        panel = worded_panel(own)
        by_title.setdefault(panel.title, []).append(panel)
    return [
        panels[0] if len(panels) == 1 else words_panel(title, f"{len(panels)} parts")
        for title, panels in by_title.items()
    ]


def write_figures(inputs: Inputs, id: str, folder: Path) -> list[Path]:
    """Write the figures of a claim or a leaderboard, or the one of all audits, as SVG and PDF; returns the files.

    Parameters
    ----------
    folder : Path, where ``<id>.svg`` and ``<id>.pdf`` go, and ``<id>.time.*`` where timings exist
    """
    board = next((board for board in inputs.boards if board.id == id), None)
    if board is None and id != AUDITS:
        return write_claim_figures(inputs.claim(id), folder)
    with style():
        figures = board_figures(board) if board else {"": audits_figure(audit_scores(scores(inputs)))}
        return _written(figures, id, folder)


def write_claim_figures(results: ClaimResults, folder: Path) -> list[Path]:
    """Write the figures of a claim that is at hand."""
    with style(), failing_as(f"figure of {results.id}"):
        return _written(claim_figures(results), results.id, folder)


def _written(figures: Mapping[str, Figure], id: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [path for suffix, figure in figures.items() for path in save(figure, folder / f"{id}{suffix}")]


def board_figures(board: BoardResults) -> dict[str, Figure]:
    """Draw the phase diagrams of a leaderboard, and whether its points fall on one curve."""
    from dpsco_bench.report.collapse import collapse_figure
    from dpsco_bench.report.phases import board_figure  # brings the accountants, which no claim's figure needs

    collapse = collapse_figure(board)
    return {"": board_figure(board)} | ({".collapse": collapse} if collapse is not None else {})
