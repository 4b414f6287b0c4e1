"""Figures of claims, one file each: panels of their parts, variants of a sweep, maps of bounds; and all audits in one.

Parts ``sweep-variant`` with the same sweep belong together, such as one sweep for several learners; a part ``sweep``
joins them.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError, failing_as
from dpsco_bench.report.axes import EndLabel, Plot
from dpsco_bench.report.drawing import BOUND, FAINT, INK, SHADES, TEXTS, Panel, bare, compose, move_edges, save, style
from dpsco_bench.report.inputs import ClaimResults, Inputs, grouped
from dpsco_bench.report.kind_figures import audits_figure, known_audits
from dpsco_bench.report.numbers import is_number, number, slope
from dpsco_bench.report.own_figures import PANELS
from dpsco_bench.report.panels import BESIDE, LABEL_CHARACTERS, bound_line, panel_line, series, worded_panel
from dpsco_bench.report.verdicts import NOISE, claim_title, quantity
from dpsco_bench.report.wording import SYMBOLS, parameter_label, symbols, tone

LEAST_VARIANTS = 3
LEAST_CHECKS = 5  # a claim with fewer explicit bounds shows them one by one
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
LOWEST = 1e-4  # ratios below this have the palest colour
_RATIOS = LinearSegmentedColormap.from_list("ratios", ["#f3f7fb", "#9cc3e0", "#0072B2"])
NAME_CHARACTERS = 48  # characters of the names of all columns of the map of ratios together
AUDITS = "audits"


def claim_figures(claim: ClaimResults) -> dict[str, Figure]:
    """Draw a claim, by file suffix: its panels or words, and what kinds draw (``.curves``)."""
    kinds = {row.kind: row.rules for row in claim.rows}
    own = {name: kind.figures(claim, [row for row in claim.rows if row.kind == name]) for name, kind in kinds.items()}
    figures = {suffix: figure for found in own.values() if found for suffix, figure in found.items()}
    panels = _claim_panels(claim, [row for row in claim.rows if own[row.kind] is None])
    told = f"{claim.id}: {symbols(claim.claim.title)}"
    undrawn = [] if figures else [row for row in claim.rows if own[row.kind] is not None]  # skipped, or not yet run
    worded = [worded_panel(claim, part) for part in grouped(undrawn, lambda row: row.part).values()]
    several = {title: number for title, number in Counter(panel.title for panel in worded).items() if number > 1}
    said = {panel.title: panel for panel in worded}  # what several say is said once
    panels += [Panel(title, line=f"{several[title]} parts") if title in several else said[title] for title in said]
    if panels or not figures:
        return {"": compose(panels, claim_title(claim.claim, claim.rows), told), **figures}
    return {"": figures.pop(next(iter(figures))), **figures}


def _claim_panels(claim: ClaimResults, rows: Sequence[Verdict]) -> list[Panel]:
    """Make the panels of a claim's study, and of its parts."""
    overview, groups, extra = checks_panel(claim, rows), variant_groups(claim, rows), PANELS.find(claim.id)
    first = [*(extra(claim) if extra else ()), *variant_panels(claim, groups), *([overview] if overview else [])]
    drawn = {(row.part, row.calibration) for found in groups.values() for row in found}
    alone = {row.part for row in rows if (row.part, row.calibration) not in drawn}
    told, kept = [], []
    for part, own in grouped(rows, lambda row: row.part).items():
        if part in alone and not (overview and own[0].rules.checks_bounds):
            panel = own[0].rules.panel(claim, own) or worded_panel(claim, own)
            told.append(panel)
            kept += [panel] * bool(panel.draw or any(row.meaning.outcome != "shown" for row in own))
    return [*first, *kept] or told


def write_figures(inputs: Inputs, id: str, folder: Path) -> list[Path]:
    """Write the figures of a claim or a leaderboard, or the one of all audits, as SVG and PDF; returns the files.

    Raises InputError where there are no audits.
    """
    if board := next((board for board in inputs.boards if board.id == id), None):
        from dpsco_bench.leaderboard.phases import board_figures  # brings accountants, which no claim's figure needs

        return _written(partial(board_figures, board), id, folder)
    if id == AUDITS:
        if not any(known_audits(claim.rows) for claim in inputs.claims):
            raise InputError("id", id, "a claim or leaderboard: no claim of this profile has an audit")
        return _written(lambda: {"": audits_figure(inputs.claims)}, id, folder)
    return write_claim_figures(inputs.claim(id), folder)


def write_claim_figures(claim: ClaimResults, folder: Path) -> list[Path]:
    return _written(partial(claim_figures, claim), claim.id, folder)


def _written(draw: Callable[[], Mapping[str, Figure]], id: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    with style(), failing_as(f"figure of {id}"):
        return [path for suffix, figure in draw().items() for path in save(figure, folder / f"{id}{suffix}")]


def variant_groups(claim: ClaimResults, rows: Sequence[Verdict]) -> dict[tuple[str, str, str], list[Verdict]]:
    """Group verdicts of the variants of each sweep, by sweep, noise and what was measured; few are left out."""
    curves = (row for row in rows if row.rules.judges_noise or (row.rules.measures_slope and not row.rules.counts))
    drawn = [row for row in curves if _points(claim, row) is not None]
    stems = {row.part.rpartition("-")[0] for row in drawn} - {""}

    def sweep(row: Verdict) -> tuple[str, str, str]:
        stem = row.part if row.part in stems else row.part.rpartition("-")[0]
        return stem, row.calibration, quantity(claim, row)

    def of_one_instance(found: Sequence[Verdict]) -> bool:
        return len({(row.parameter, claim.part(row).problem, row.rules.judges_noise) for row in found}) == 1

    single = (row for row in drawn if len({method.label for method in claim.part(row).methods}) <= 1)
    groups = grouped(single, sweep).items()
    return {key: own for key, own in groups if key[0] and len(own) >= LEAST_VARIANTS and of_one_instance(own)}


def _points(claim: ClaimResults, row: Verdict) -> np.ndarray | None:
    """Read values, means (or real epsilons) and interval ends, ``(4, points)``; None where one cannot be drawn."""
    if row.rules.judges_noise:
        charged = claim.charged(row.part, row.calibration)
        rows = [(float(cell.cell.value), cell.real, cell.real, cell.real) for cell in charged]
    else:
        cells = [] if claim.part(row).uses else claim.evidence(row.part, row.calibration)
        found = series([cell for cell in cells if cell.risks.size])
        rows = list(zip(found.x, found.mean, found.low, found.high, strict=True))
    good = sorted(one for one in rows if is_number(one[1]) and one[0] > 0 and 0 < one[1] < math.inf)
    every = len({one[0] for one in good}) == len(good) == len(rows)
    return np.array(good).T if every and len(good) >= 2 else None


def variant_panels(claim: ClaimResults, groups: Mapping[tuple[str, str, str], list[Verdict]]) -> Iterator[Panel]:
    """Draw a panel per sweep and calibration with the curves of all its variants, each alike under all calibrations."""
    for (stem, calibration, _), rows in groups.items():
        names = list(dict.fromkeys(row.part for (other, *_), own in groups.items() if other == stem for row in own))
        (word, most), *others = Counter(row.word.replace("_", " ") for row in rows).most_common()
        said = f"all {most} {word}" if not others else f"{most} of {len(rows)} {word}"  # 3 of 4 match, 1 faster
        told = ", ".join([said, *(f"{count} {other}" for other, count in others)])
        line = f"{BESIDE}; " * all(row.beside for row in rows)
        line += f"{stem}: {panel_line(claim.part(rows[0])).partition('; ')[2]}".rstrip(": ")
        draw = partial(_draw_variants, claim=claim, stem=stem, rows={names.index(row.part): row for row in rows})
        yield Panel(f"In {symbols(rows[0].parameter)}, {NOISE[calibration]}: {told}", draw, line)


def _variant_label(stem: str, row: Verdict, y: float, colour: str) -> EndLabel:
    name = f"{SYMBOLS[tone(row)]} {row.part[len(stem) + 1 :].replace('_', ' ') or 'as stated'}"
    told = slope(row.slope) if is_number(row.slope) else ""
    short = len(name) + len(told) < LABEL_CHARACTERS
    more = [(f"    {told}", colour)] * bool(told and not short) + [(f"    {BESIDE}", FAINT)] * bool(row.beside)
    return EndLabel(y, f"{name} {told}".rstrip() if short else name, colour, tuple(more))


def _draw_variants(axes: Axes, claim: ClaimResults, stem: str, rows: Mapping[int, Verdict]) -> None:
    curves = {place: points for place, row in rows.items() if (points := _points(claim, row)) is not None}
    first = next(iter(rows.values()))
    private = first.rules.judges_noise
    plot = Plot(axes)
    for position, (x, y, low, high) in curves.items():
        look: dict[str, Any] = {"color": SHADES[position % len(SHADES)], "marker": SHAPES[position % len(SHAPES)]}
        errors = np.nan_to_num(np.array([y - low, high - y]))
        size = 5.0 - 0.5 * min(position, 5)  # curves that coincide stay visible
        axes.errorbar(x, y, errors, linewidth=0.9, elinewidth=0.6, markersize=size, zorder=3, **look)
        plot.labels.append(_variant_label(stem, rows[position], float(y[-1]), TEXTS[position % len(TEXTS)]))
        plot.held += [*y]
    judged = next((row for row in rows.values() if row.bound and row.rules.bounded), None)
    if judged is not None and not private:
        line = bound_line(judged)
        axes.plot(judged.values, line, color=FAINT, **BOUND)
        told = f"bound {slope(judged.bound_slope)}" if is_number(judged.bound_slope) else "bound"
        plot.label(float(line[int(np.argmax(judged.values))]), told, FAINT)
    places = [x for points in curves.values() for x in points[0]]
    measure = "real ε at the claimed δ" if private else quantity(claim, first)
    plot.finish(places, parameter_label(first.parameter, claim.paper), measure)


def checks_panel(claim: ClaimResults, rows: Sequence[Verdict]) -> Panel | None:
    """Map measured over bound: explicit bounds against the sweeps on which they were held; None for few bounds."""
    checks = [row for row in rows if row.rules.checks_bounds and row.values]
    names = list(dict.fromkeys(row.part for row in checks))
    if len(names) < LEAST_CHECKS:
        return None
    worst: dict[tuple[str, str], float] = {}
    for row in checks:
        parts = [part for part in claim.part(row).uses for _ in claim.evidence(part, row.calibration)]
        for part, mean, bound in zip(parts, row.mean, row.bound, strict=False):
            if not is_number(mean) or not is_number(bound):
                continue
            ratio = mean / bound if bound > 0 else (0.0 if mean <= 0 else math.inf)
            stem = part.rpartition("-")[0] or part
            key = (row.part, "grid" if stem.startswith("grid") else stem)
            worst[key] = max(ratio, worst.get(key, -math.inf))
    columns = list(dict.fromkeys(stem for _, stem in worst))
    broken = [row for row in checks if row.meaning.outcome == "contradicts"]
    open_ = [row for row in checks if row.meaning.outcome not in ("confirms", "contradicts")]
    title = f"{len(broken)} of {len(checks)} checks of explicit bounds are violated" if broken else ""
    title = title or ("All explicit bounds hold" if not open_ else f"No explicit bound is violated, {len(open_)} open")
    line = "largest measured / bound over cells and noise; below 1 the bound holds"
    beside = {row.part for row in checks} - {row.part for row in checks if not row.beside}
    line = f"largest measured / bound; below 1 it holds; grey: {BESIDE}" if beside else line
    values = np.array([[worst.get((name, column), math.nan) for column in columns] for name in names])
    return Panel(title, lambda axes: _draw_map(axes, names, columns, values, beside), line)


def _draw_map(axes: Axes, names: Sequence[str], columns: Sequence[str], values: np.ndarray, grey: set[str]) -> None:
    """Draw values, shape ``(names, columns)``, as shades with their numbers; names in grey are beside the statement."""
    move_edges(axes, 0.42, 0.5)  # words at the left take room from the margin at the right
    shades = np.log10(np.clip(values, LOWEST, 1.0))
    axes.imshow(shades, cmap=_RATIOS, norm=Normalize(math.log10(LOWEST), 0.0), aspect="auto")
    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        colour = "#ffffff" if shades[row, column] > -0.9 else INK
        short = number(value, 2) if value >= 0.01 else f"{value:.0e}".replace("e-0", "e−") if value > 0 else "≤ 0"
        axes.text(column, row, short, ha="center", va="center", size=4.6, color=colour)
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], size=5.2)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_color(FAINT if name in grey else INK)
    room = max(5, NAME_CHARACTERS // len(columns))
    below = ["\n".join(textwrap.wrap(name.replace("_", " "), room, break_long_words=False)) for name in columns]
    axes.set_xticks(range(len(columns)), below, size=5)
    bare(axes)
