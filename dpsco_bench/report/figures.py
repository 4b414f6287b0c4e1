"""Figures of claims, one file each: panels of their parts, variants of a sweep, maps of bounds; and all audits in one.

Parts ``sweep-variant`` with the same sweep belong together, such as one sweep for several learners; a part ``sweep``
joins them.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from dpsco_bench.errors import failing_as
from dpsco_bench.report.audits import audit_scores, audits_figure
from dpsco_bench.report.axes import EndLabel, label_ends, log_y, value_axis
from dpsco_bench.report.drawing import FAINT, INK, SHADES, TEXTS, Panel, bare, compose, save, style, words_panel
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import is_number, number, slope
from dpsco_bench.report.own_figures import extra_panels
from dpsco_bench.report.panels import BESIDE, LABEL_CHARACTERS, bound_constant, panel_line, series, worded_panel
from dpsco_bench.report.scores import NOISE, Score, claim_scores, claim_title, scores
from dpsco_bench.report.wording import SYMBOLS, parameter_label, parameter_symbol, symbols

MOST_SHOWN = 4  # more panels of what is measured for information, beside judged ones, have a figure of their own
LEAST_VARIANTS = 3
LEAST_CHECKS = 5  # a claim with fewer explicit bounds shows them one by one
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
LOWEST = 1e-4  # ratios below this have the palest colour
_RATIOS = LinearSegmentedColormap.from_list("ratios", ["#f3f7fb", "#9cc3e0", "#0072B2"])
NAME_CHARACTERS = 48  # characters of the names of all columns of the map of ratios together
_LABEL_WIDTH, _RIGHT_WIDTH = 0.42, 0.5  # inches that the map of ratios takes from and gives to its margins
AUDITS = "audits"


def claim_figures(results: ClaimResults) -> dict[str, Figure]:
    """Draw a claim, by file suffix: its panels or words, what kinds draw (``.curves``), ``.shown`` (not judged)."""
    every = claim_scores(results)
    kinds = {score.row.kind: score.kind for score in every}
    own = {name: kind.figures([s for s in every if s.row.kind == name]) for name, kind in kinds.items()}
    figures = {suffix: figure for found in own.values() if found for suffix, figure in found.items()}
    panels = _claim_panels(results, [score for score in every if own[score.row.kind] is None])
    told = f"{results.id}: {symbols(results.claim.title)}"
    undrawn = [] if figures else [score for score in every if own[score.row.kind] is not None]
    aside = [panel for panel in panels if panel.shown]
    if MOST_SHOWN < len(aside) < len(panels):
        figures[".shown"] = compose(aside, "Measured for information: no criterion was set", told)
        panels = [panel for panel in panels if not panel.shown]
    panels += _undrawn(undrawn)
    if panels or not figures:
        return {"": compose(panels, claim_title(results.claim, results.rows), told), **figures}
    return {"": figures.pop(next(iter(figures))), **figures}


def _claim_panels(results: ClaimResults, scores: Sequence[Score]) -> list[Panel]:
    """Make the panels of a claim's study, and of its parts."""
    overview, together = checks_panel(scores), grouped_parts(scores)
    first = [*extra_panels(results), *variant_panels(scores), *([overview] if overview else [])]
    told = []
    for part, own in _by_part(scores).items():
        if part not in together and not (overview and own[0].kind.checks_bounds):
            panel = own[0].kind.panel(own) or worded_panel(own)
            told.append(replace(panel, shown=all(score.row.meaning.outcome == "shown" for score in own)))
    return [*first, *(panel for panel in told if not (panel.blank and panel.shown))] or told


def _by_part(scores: Iterable[Score]) -> dict[str, list[Score]]:
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.row.part, []).append(score)
    return found


def _undrawn(scores: Iterable[Score]) -> list[Panel]:
    """Tell what has figures of its own and no measurements (skipped, not yet run); what several say is said once."""
    panels = [worded_panel(own) for own in _by_part(scores).values()]
    count = Counter(panel.title for panel in panels)
    several = {title: words_panel(title, f"{number} parts") for title, number in count.items() if number > 1}
    return [*{panel.title: several.get(panel.title, panel) for panel in panels}.values()]


def write_figures(inputs: Inputs, id: str, folder: Path) -> list[Path]:
    """Write the figures of a claim or a leaderboard, or the one of all audits, as SVG and PDF; returns the files."""
    if board := next((board for board in inputs.boards if board.id == id), None):
        from dpsco_bench.leaderboard.phases import board_figures  # brings accountants, which no claim's figure needs

        with style():
            return _written(board_figures(board), id, folder)
    if id != AUDITS:
        return write_claim_figures(inputs.claim(id), folder)
    with style():
        return _written({"": audits_figure(audit_scores(scores(inputs)))}, id, folder)


def write_claim_figures(results: ClaimResults, folder: Path) -> list[Path]:
    with style(), failing_as(f"figure of {results.id}"):
        return _written(claim_figures(results), results.id, folder)


def _written(figures: Mapping[str, Figure], id: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [path for suffix, figure in figures.items() for path in save(figure, folder / f"{id}{suffix}")]


def variant_groups(scores: Sequence[Score]) -> dict[tuple[str, str, str], list[Score]]:
    """Group verdicts of the variants of each sweep, by sweep, noise and what was measured; few are left out."""
    curves = (s for s in scores if s.kind.judges_noise or (s.kind.measures_slope and not s.kind.counts))
    drawn = [s for s in curves if _points(s) is not None]
    stems = {s.row.part.rpartition("-")[0] for s in drawn} - {""}
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in drawn:
        stem = score.row.part if score.row.part in stems else score.row.part.rpartition("-")[0]
        if stem and len({m.label for m in score.part.methods}) <= 1:
            groups.setdefault((stem, score.row.calibration, score.quantity), []).append(score)
    about = {
        key: {(s.row.parameter, s.part.problem, s.kind.judges_noise) for s in found} for key, found in groups.items()
    }
    return {key: found for key, found in groups.items() if len(found) >= LEAST_VARIANTS and len(about[key]) == 1}


def _points(score: Score) -> np.ndarray | None:
    """Read values, means (or real epsilons) and interval ends, ``(4, points)``; None where one cannot be drawn."""
    if score.kind.judges_noise:
        rows = [(float(cell.cell.value), cell.real, cell.real, cell.real) for cell in score.charged]
    else:
        cells = [] if score.part.uses else score.results.evidence(score.row.part, score.row.calibration)
        found = series([cell for cell in cells if cell.risks.size])
        rows = list(zip(found.x, found.mean, found.low, found.high, strict=True))
    good = sorted(row for row in rows if is_number(row[1]) and row[0] > 0 and 0 < row[1] < math.inf)
    every = len({row[0] for row in good}) == len(good) == len(rows)
    return np.array(good).T if every and len(good) >= 2 else None


def variant_panels(scores: Sequence[Score]) -> Iterator[Panel]:
    """Draw a panel per sweep and calibration with the curves of all its variants."""
    groups = variant_groups(scores)
    for (stem, calibration, _), found in groups.items():
        names = [s.row.part for (other, *_), same in groups.items() if other == stem for s in same]
        yield _variant_panel(stem, calibration, {list(dict.fromkeys(names)).index(s.row.part): s for s in found})


def grouped_parts(scores: Sequence[Score]) -> set[str]:
    inside = {(s.row.part, s.row.calibration) for found in variant_groups(scores).values() for s in found}
    outside = {s.row.part for s in scores if (s.row.part, s.row.calibration) not in inside}
    return {part for part, _ in inside} - outside


def _variant_panel(stem: str, calibration: str, scores: Mapping[int, Score]) -> Panel:
    """Draw verdicts by the place of their variant, which has the same look under all calibrations."""
    first = next(iter(scores.values()))
    noise = NOISE.get(calibration, calibration)
    words = Counter(
        score.row.word.replace("_", " ") for score in scores.values()
    ).most_common()  # 3 of 4 match, 1 faster
    (word, most), *others = words
    said = f"all {most} {word}" if not others else f"{most} of {len(scores)} {word}"
    told = ", ".join([said, *(f"{count} {other}" for other, count in others)])
    text = f"In {parameter_symbol(first.row.parameter)}, {noise}: {told}"
    line = f"{stem}: {panel_line(first).partition('; ')[2]}".rstrip(": ")
    every = all(score.row.beside for score in scores.values())
    return Panel(text, lambda axes: _draw_variants(axes, stem, scores), f"{BESIDE}; {line}" if every else line)


def _variant_label(stem: str, score: Score, y: float, colour: str) -> EndLabel:
    name = f"{SYMBOLS.get(score.tone, '·')} {score.row.part[len(stem) + 1 :].replace('_', ' ') or 'as stated'}"
    beside = ((f"    {BESIDE}", FAINT),) if score.row.beside else ()
    if not is_number(score.row.slope):
        return EndLabel(y, name, colour, beside)
    told = slope(score.row.slope)
    if len(name) + len(told) < LABEL_CHARACTERS:
        return EndLabel(y, f"{name} {told}", colour, beside)
    return EndLabel(y, name, colour, ((f"    {told}", colour), *beside))


def _draw_variants(axes: Axes, stem: str, scores: Mapping[int, Score]) -> None:
    curves = {place: points for place, score in scores.items() if (points := _points(score)) is not None}
    first = next(iter(scores.values()))
    private = first.kind.judges_noise
    x, y = (np.concatenate([points[i] for points in curves.values()]) for i in (0, 1))
    log_y(axes, y, "real ε at the claimed δ" if private else first.quantity)
    value_axis(axes, x, parameter_label(first.row.parameter, first.results.paper))
    ends = []
    for position, (x, y, low, high) in curves.items():
        look: dict[str, Any] = {"color": SHADES[position % len(SHADES)], "marker": SHAPES[position % len(SHAPES)]}
        errors = np.nan_to_num(np.array([y - low, high - y]))
        size = 5.0 - 0.5 * min(position, 5)  # curves that coincide stay visible
        axes.errorbar(x, y, errors, linewidth=0.9, elinewidth=0.6, markersize=size, zorder=3, **look)
        ends.append(_variant_label(stem, scores[position], float(y[-1]), TEXTS[position % len(TEXTS)]))
    judged = next((s for s in scores.values() if s.row.bound and s.kind.bounded), None)
    if judged is not None and not private:
        line = bound_constant(judged) * np.array(judged.row.bound, dtype=float)
        axes.plot(judged.row.values, line, color=FAINT, linestyle=(0, (3.5, 2)), linewidth=0.9, zorder=2)
        told = f"bound {slope(judged.row.bound_slope)}" if is_number(judged.row.bound_slope) else "bound"
        ends.append(EndLabel(float(line[int(np.argmax(judged.row.values))]), told, FAINT))
    label_ends(axes, ends)


def checks_panel(scores: Sequence[Score]) -> Panel | None:
    """Map measured over bound: explicit bounds against the sweeps on which they were held; None for few bounds."""
    checks = [score for score in scores if score.kind.checks_bounds and score.row.values]
    names = list(dict.fromkeys(score.row.part for score in checks))
    if len(names) < LEAST_CHECKS:
        return None
    worst: dict[tuple[str, str], float] = {}
    for score in checks:
        parts = [p for p in score.part.uses for _ in score.results.evidence(p, score.row.calibration)]
        for part, mean, bound in zip(parts, score.row.mean, score.row.bound, strict=False):
            if not is_number(mean) or not is_number(bound):
                continue
            ratio = mean / bound if bound > 0 else (0.0 if mean <= 0 else math.inf)
            stem = part.rpartition("-")[0] or part
            key = (score.row.part, "grid" if stem.startswith("grid") else stem)
            worst[key] = max(ratio, worst.get(key, -math.inf))
    columns = list(dict.fromkeys(stem for _, stem in worst))
    broken = [s for s in checks if s.row.meaning.outcome == "contradicts"]
    open_ = [s for s in checks if s.row.meaning.outcome not in ("confirms", "contradicts")]
    title = f"{len(broken)} of {len(checks)} checks of explicit bounds are violated" if broken else ""
    title = title or ("All explicit bounds hold" if not open_ else f"No explicit bound is violated, {len(open_)} open")
    line = "largest measured / bound over cells and noise; below 1 the bound holds"
    beside = {score.row.part for score in checks} - {score.row.part for score in checks if not score.row.beside}
    line = f"largest measured / bound; below 1 it holds; grey: {BESIDE}" if beside else line
    grey = [name in beside for name in names]
    return Panel(title, lambda axes: _draw_map(axes, names, columns, worst, grey), line)


def _draw_map(
    axes: Axes,
    names: Sequence[str],
    columns: Sequence[str],
    worst: Mapping[tuple[str, str], float],
    grey: Sequence[bool],
) -> None:
    figure: Any = axes.figure  # words at the left take room from the margin at the right
    box, width = axes.get_position(), figure.get_figwidth()
    left, wider = _LABEL_WIDTH / width, (_RIGHT_WIDTH - _LABEL_WIDTH) / width
    axes.set_position((box.x0 + left, box.y0, box.width + wider, box.height))
    values = np.array([[worst.get((name, column), math.nan) for column in columns] for name in names])
    shades = np.log10(np.clip(values, LOWEST, 1.0))
    axes.imshow(shades, cmap=_RATIOS, norm=Normalize(math.log10(LOWEST), 0.0), aspect="auto")
    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        colour = "#ffffff" if shades[row, column] > -0.9 else INK
        short = number(value, 2) if value >= 0.01 else f"{value:.0e}".replace("e-0", "e−") if value > 0 else "≤ 0"
        axes.text(column, row, short, ha="center", va="center", size=4.6, color=colour)
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], size=5.2)
    for label, beside in zip(axes.get_yticklabels(), grey, strict=True):
        label.set_color(FAINT if beside else INK)
    room = max(5, NAME_CHARACTERS // len(columns))
    below = ["\n".join(textwrap.wrap(name.replace("_", " "), room, break_long_words=False)) for name in columns]
    axes.set_xticks(range(len(columns)), below, size=5)
    bare(axes)
