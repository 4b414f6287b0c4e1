"""Figures of claims, one file each: variants of a sweep, maps of bounds, curves along the run; and all audits in one.

Parts ``sweep-variant`` with the same sweep belong together, such as one sweep for several learners; a part ``sweep``
joins them.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.claims.model import GRID
from dpsco_bench.errors import failing_as
from dpsco_bench.kinds.audit import SAYS_SOMETHING
from dpsco_bench.kinds.ordering import HOLDS, REVERSED
from dpsco_bench.report.axes import EndLabel, decade_text, label_ends, log_y, value_axis
from dpsco_bench.report.drawing import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    SHADES,
    TEXT_COLOURS,
    TEXTS,
    Panel,
    bare,
    compose,
    save,
    style,
    words_panel,
)
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import is_number, number, plain, slope
from dpsco_bench.report.own_figures import MethodStyle, extra_panels, styles_of
from dpsco_bench.report.panels import (
    BESIDE,
    LABEL_CHARACTERS,
    beside_text,
    bound_constant,
    grid_panel,
    kind_panel,
    panel_line,
    series,
    worded_panel,
)
from dpsco_bench.report.scores import NOISE, Score, claim_scores, claim_title, scores
from dpsco_bench.report.wording import SYMBOLS, parameter_label, parameter_symbol, setting, symbols

MOST_SHOWN = 4  # more panels of what is measured for information, beside judged ones, have a figure of their own
LEAST_VARIANTS = 3
LEAST_CHECKS = 5  # a claim with fewer explicit bounds shows them one by one
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
LOWEST = 1e-4  # ratios below this have the palest colour
_RATIOS = LinearSegmentedColormap.from_list("ratios", ["#f3f7fb", "#9cc3e0", "#0072B2"])
NAME_CHARACTERS = 48  # characters of the names of all columns of the map of ratios together
_LABEL_WIDTH, _RIGHT_WIDTH = 0.42, 0.5  # inches that the map of ratios takes from and gives to its margins
RIGHT = 1.2  # inches of the margin in which the names of curves stand
MOST_POINTS = 250  # curves are thinned to this many points, evenly on the logarithmic axis, the last one kept
CURVE_CHARACTERS = 19  # characters of a line of a method's name beside its curve
Curves = Mapping[str, np.ndarray]
"""Label of a method -> x, median, lowest and highest risk along its run, shape ``(4, points)``."""
AUDITS = "audits"
KIND = "audit"
COLUMN_WIDTH, LEFT, MARGIN_RIGHT = 3.9, 1.98, 0.1
AUDIT_ROW, ABOVE, BELOW = 0.135, 0.62, 0.95
"""Inches of a column: its width and margins, the height of a row, and of what is above and below all rows."""
TITLE_LINE, TITLE_CHARACTERS = 0.14, 52  # inches of a line of the title, and how many characters fit above a column
MOST_ROWS = 60  # in one column
LEAST, HIGHEST = 0.05, 20.0
"""Epsilons beyond, in units of the claim, stand at the edge: as arrows, or with their number."""
TICKS = (0.1, 0.3, 1.0, 3.0, 10.0)
KIND_MARKS = {"exact": "o", "upper": "v", "lower": "^"}  # marker of an accountant's epsilon, by its kind
BELOW_AXIS = "<"  # marker of a value below the axis
TOLD = "An audit refutes where its bound is right of the dashed line, the claim. It never proves privacy."
SEEN, SILENT = INK, GREY  # an audit whose predicted power is at least one half, and one that says nothing


def claim_figures(results: ClaimResults) -> dict[str, Figure]:
    """Draw a claim, by file suffix: its own figure or words, ``.curves``, ``.time``, ``.shown`` (not judged)."""
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
    parts = _by_part(score for score in scores if score.kind.shape == "curves").values()
    panels = [worded_panel(own) for own in parts]
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


def curve_figure(results: ClaimResults, timed: bool = False) -> Figure | None:
    """Draw risk against gradient evaluations / n, or against running time; None where nothing was measured.

    Panels of one part have the same axes. Parts that kept the ends of their runs alone have no curves, unless none has
    more.
    """
    scores = [score for score in claim_scores(results) if score.kind.shape == "curves"]
    scores = [score for score in scores if not timed or _timings(score)]
    measured = [(s, cells) for s in scores if (cells := s.results.evidence(s.row.part, s.row.calibration))]
    measured = [one for one in measured if any(len(cell.curve_risks) > 1 for cell in one[1])] or measured
    if not measured:
        return None
    named = [label for score, cells in measured for label in (*(c.entry.method for c in cells), *score.part.pair)]
    styles = styles_of(results.paper, list(dict.fromkeys(named)))
    panels = []
    for part in dict.fromkeys(score.row.part for score, _ in measured):
        drawn = {}
        own = [(score, cells) for score, cells in measured if score.row.part == part]
        for value in sorted({cell.value for _, cells in own for cell in cells}):
            for score, cells in own:
                seconds = _timings(score) if timed else {}
                here = [cell for cell in cells if cell.value == value]
                found = {cell.entry.method: _curve(cell, styles, seconds if timed else None) for cell in here}
                drawn[score.row.calibration, value] = score, here, found
        curves = [curve for *_, own_curves in drawn.values() for curve in own_curves.values()]
        tall = (v for curve in curves for v in (*curve[1], *curve[2, -1:], *curve[3, -1:]) if v > 0)  # all medians, and
        limits = [float(v) for curve in curves for v in curve[0]], [*map(float, tall)]  # the ends of all bands
        panels += [_curve_panel(*one, styles, limits, timed) for one in drawn.values() if one[1]]
    told = f"{results.id}: {symbols(results.claim.title)}"
    if timed and (where := next((t.machine for job in results.jobs if (t := results.timing(job))), None)):
        told += f"; fastest run of one replicate on {where.processor}, {where.backend}"
    returns = dict.fromkeys(look.returns for look in styles.values() if look.returns)
    key: list[Any] = [
        Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates"),
        Line2D([], [], color=FAINT, ls="none", marker="o", ms=3, label=", ".join(["dot: what is returned", *returns])),
    ]
    return compose(panels, claim_title(results.claim, results.rows), told, more=key)


def _timings(score: Score) -> dict[int, np.ndarray]:
    """Per cell, the curve (gradient evaluations, seconds) of the timing job, shape ``(points, 2)``."""
    job = score.results.job(score.row.part, score.row.calibration)
    found = None if job is None else score.results.timing(job)
    return {
        cell.cell: np.array([cell.evaluations, cell.seconds], dtype=float).T
        for cell in (found.cells if found else ())
        if len(cell.seconds)
    }


def _curve(cell: CellEvidence, styles: Mapping[str, MethodStyle], seconds: Mapping[int, np.ndarray] | None) -> Any:
    """Make the curve of a cell; of a method whose iterates carry no noise before the end, the end alone."""
    risks = cell.curve_risks.reshape(len(cell.curve_risks), -1)
    x = cell.curve_evaluations.reshape(len(risks), -1).mean(axis=1)
    if seconds is not None:
        clock = seconds.get(int(cell.entry.cell))
        if clock is None:
            return np.empty((4, 0))
        x = np.interp(x, clock[:, 0], clock[:, 1], left=0.0)
    else:
        x = x / float(cell.entry.n)
    start = -1 if styles[cell.entry.method].end_only else 0
    curve = np.array([x, np.median(risks, axis=1), risks.min(axis=1), risks.max(axis=1)])[:, start:]
    curve = curve[:, curve[0] > 0]
    if curve.shape[1] <= MOST_POINTS:
        return curve
    wanted = np.geomspace(curve[0, 0], curve[0, -1], MOST_POINTS)
    return curve[:, np.unique(np.append(np.searchsorted(curve[0], wanted[:-1]), curve.shape[1] - 1))]


def _curve_panel(
    score: Score,
    cells: Sequence[CellEvidence],
    curves: Curves,
    styles: Mapping[str, MethodStyle],
    limits: tuple[list[float], list[float]],
    timed: bool,
) -> Panel:
    """Draw all methods under one noise at one value; the pair that is compared stands out."""
    names = {cell.entry.method: _name(cell, styles[cell.entry.method]) for cell in cells}

    def draw(axes: Axes) -> None:
        ends = []
        for label, (x, middle, low, high) in curves.items():
            if len(x):
                look, strong = styles[label], label in score.part.pair
                _draw_curve(axes, look, strong, x, middle, low, high)
                first, *rest = textwrap.wrap(names[label].replace("T = ", "T\u00a0=\u00a0"), CURVE_CHARACTERS)
                more = tuple((line, look.colour) for line in rest)
                ends.append(EndLabel(float(middle[-1]), first, look.colour, more, float(x[-1])))
        log_y(axes, limits[1], "excess risk F − F*")
        axes.set_xscale("log")
        axes.set_xlim(min(limits[0]) / 1.2, max(limits[0]) * 1.3)
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decade_text(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
        label_ends(axes, ends)

    first = cells[0].entry
    noise = NOISE.get(score.row.calibration, score.row.calibration)
    where = f"{noise[:1].upper()}{noise[1:]}, {symbols(first.parameter)} = {plain(cells[0].value)}"
    shown = setting({"n": first.n, "delta": first.delta, **score.part.problem_options})
    line = (beside_text([score]), f"{SYMBOLS.get(score.tone, '·')} {score.verdict}", score.row.part)
    told = "; ".join(filter(None, (*line, score.part.problem, shown)))
    title = f"{where}: {_said(score, names, styles)}".replace("T = ", "T\u00a0=\u00a0")
    return Panel(title, draw, told, right=RIGHT)


def _said(score: Score, names: Mapping[str, str], styles: Mapping[str, MethodStyle]) -> str:
    """Say which of the pair ends lower: ``DP-SVRG ends below DP-GD, T = 1500``."""
    if len(score.part.pair) != 2:
        return score.verdict
    first, second = (names.get(label, styles[label].name) for label in score.part.pair)
    words = {HOLDS: f"{first} ends below {second}", REVERSED: f"{second} ends below {first}"}
    return words.get(score.row.word, f"{first} against {second}: {score.verdict}")


def _name(cell: CellEvidence, look: MethodStyle) -> str:
    """Name a method, with its number of steps: other numbers may end elsewhere."""
    steps = cell.entry.options.get("steps")
    return look.name + (f", T = {steps}" if steps and "T =" not in look.name else "")


def _draw_curve(axes: Axes, look: MethodStyle, strong: bool, x: Any, middle: Any, low: Any, high: Any) -> None:
    if look.end_only:
        errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
        axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
        return
    band: dict[str, Any] = {"color": look.colour, "alpha": 0.2 if strong else 0.08, "linewidth": 0, "zorder": 1}
    line: dict[str, Any] = {"linewidth": 1.6 if strong else 0.8, "zorder": 4 if strong else 3}
    axes.fill_between(x, np.maximum(low, 1e-300), high, **band)
    axes.plot(x, middle, color=look.colour, linestyle=look.dash, **line)
    axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=4 if strong else 2.6, zorder=5)


@dataclass(frozen=True)
class AuditRow:
    """Audits of one algorithm, variant and calibration at one claim: by the transcript, by fused runs, or both."""

    algorithm: str
    variant: str
    calibration: str
    part: str
    scores: tuple[Score, ...]

    @property
    def claimed(self) -> float:
        return float(self.scores[0].row.epsilon_claimed or math.nan)

    @property
    def name(self) -> str:
        """Variant, where the algorithm has a name for it, claim, where it is not 1, and what a part of its own says."""
        variant = "" if self.variant == "standard" else self.variant.replace("_", " ")
        own = self.part.partition(".")[2].replace("_", " ")
        claim = "" if self.claimed == 1.0 else f"ε = {plain(self.claimed)}"
        said = variant if not own or own == variant else f"{variant} {own}".strip()
        return ", ".join(filter(None, (said, claim)))


def audit_scores(scores: Iterable[Score]) -> list[Score]:
    return [score for score in scores if score.kind.name == KIND and "epsilon_lower" in (score.row.own or {})]


def rows_of(scores: Iterable[Score]) -> list[AuditRow]:
    found: dict[tuple[str, str, str, str], list[Score]] = {}
    for score in scores:
        method, part = score.part.methods[0], score.row.part.removesuffix("-fused")
        stem = part.removesuffix(f"-{score.row.calibration}")
        found.setdefault((method.algorithm, method.variant or "", score.row.calibration, stem), []).append(score)
    order = {calibration: place for place, calibration in enumerate(COLOURS)}
    keys = sorted(found, key=lambda key: (*key[:2], key[3], order[key[2]]))
    return [AuditRow(*key, tuple(found[key])) for key in keys]


def audits_figure(scores: Sequence[Score]) -> Figure:
    """Draw some audits: an axis for each algorithm, with a line for each of its variants and calibrations."""
    columns = _columns(rows_of(scores))
    wide, lines = COLUMN_WIDTH * len(columns), max(sum(map(_height, column)) for column in columns)
    title = textwrap.wrap(audits_message(scores), TITLE_CHARACTERS * len(columns))
    above = ABOVE + TITLE_LINE * (len(title) - 1)
    height = above + BELOW + AUDIT_ROW * lines
    figure = Figure(figsize=(wide, height))
    for place, column in enumerate(columns):
        own = AUDIT_ROW * sum(map(_height, column))
        left, room = place * COLUMN_WIDTH + LEFT, COLUMN_WIDTH - LEFT - MARGIN_RIGHT
        axes = figure.add_axes((left / wide, 1 - (above + own) / height, room / wide, own / height))
        _draw_column(axes, column)
    figure.text(0.05 / wide, 1 - 0.06 / height, "\n".join(title), va="top", size=8, weight="bold", color=INK)
    below, told = 0.09 + TITLE_LINE * len(title), "\n".join(textwrap.wrap(TOLD, 78 * len(columns)))
    figure.text(0.05 / wide, 1 - below / height, told, va="top", size=6.5, color=FAINT)
    marks = [
        ("lower bound by all that is released", "D", SEEN, SEEN),
        ("by the output of a fused run", "D", SEEN, "white"),
        ("says nothing: predicted power below 1/2", "D", SILENT, SILENT),
        *((f"accountant, {kind}", marker, FAINT, FAINT) for kind, marker in KIND_MARKS.items()),
        ("at the edge: below the axis", BELOW_AXIS, FAINT, FAINT),
    ]
    handles = [
        Line2D([], [], marker=marker, label=label, color=colour, markerfacecolor=face, markersize=3.6, linestyle="none")
        for label, marker, colour, face in marks
    ]
    figure.legend(handles=handles, loc="lower center", ncols=1 + len(columns), fontsize=6, columnspacing=1.0)
    return figure


def audits_message(scores: Sequence[Score]) -> str:
    """Say what audits refute, by whose noise: ``16 audits refute the claim of printed noise, none that of ours``."""
    refuted = Counter(score.row.calibration for score in scores if score.verdict == "refuted")
    names = {"paper": "printed noise", "accounted": "accounted noise"}
    runs = Counter(score.row.calibration for score in scores)
    told = [f"{refuted[key] or 'none'} of {runs[key]} refute {name}" for key, name in names.items() if runs[key]]
    return f"Audits: {', '.join(told)}" if told else "Audits"


def _columns(rows: Sequence[AuditRow]) -> list[list[list[AuditRow]]]:
    """Set algorithms, each with its rows, in one column or in two of about the same height."""
    groups: dict[str, list[AuditRow]] = {}
    for row in rows:
        groups.setdefault(row.algorithm, []).append(row)
    blocks = list(groups.values())
    ends = [*accumulate(map(_height, blocks))]
    if ends[-1] <= MOST_ROWS:
        return [blocks]
    first = sum(end - _height(block) / 2 < ends[-1] / 2 for end, block in zip(ends, blocks, strict=True))
    return [blocks[:first], blocks[first:]]


def _height(block: Sequence[AuditRow]) -> float:
    return len(block) + 1.15


def _draw_column(axes: Axes, blocks: Sequence[Sequence[AuditRow]]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 1.25, HIGHEST * 1.25)
    axes.set_ylim(sum(map(_height, blocks)), 0.0)
    place = 0.0
    for block in blocks:
        _write_name(axes, place + 0.6, block[0].algorithm, INK, "bold")
        axes.axhline(place + 0.6, color="#d9d9d9", linewidth=0.6, zorder=0)
        for line, row in enumerate(block, start=1):
            _draw_row(axes, row, place + 0.6 + line)
        place += _height(block)
    axes.axvline(1.0, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_major_formatter(FixedFormatter([plain(tick) for tick in TICKS]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(False)
    axes.set_xlabel("ε, in units of the claim", color=INK)


def _write_name(axes: Axes, y: float, text: str, colour: str, weight: str = "normal") -> None:
    look: dict[str, Any] = {"ha": "right", "va": "center", "size": 5.8, "color": colour, "weight": weight}
    axes.text(-0.02, y, text, transform=axes.get_yaxis_transform(), **look)


def _draw_row(axes: Axes, row: AuditRow, y: float) -> None:
    colour = COLOURS[row.calibration]
    name = f"{row.name}: {row.calibration}" if row.name else row.calibration
    _write_name(axes, y, symbols(name), TEXT_COLOURS[row.calibration])
    first = row.scores[0].row
    real = math.nan if first.epsilon_real is None else float(first.epsilon_real) / row.claimed
    if not math.isnan(real):
        marker = KIND_MARKS[first.epsilon_real_kind or "upper"] if real >= LEAST else BELOW_AXIS
        axes.plot([_inside(real)], [y], marker, color=colour, markersize=3.4, zorder=3)
        if real > HIGHEST:
            axes.annotate(
                "∞" if math.isinf(real) else number(real), (HIGHEST, y), (-4, 0), textcoords="offset points",
                ha="right", va="center", size=5.0, color=TEXT_COLOURS[row.calibration],
            )  # fmt: skip
    for score in row.scores:
        lower = float(score.own("epsilon_lower")) / row.claimed
        seen = SEEN if float(score.own("power")) >= SAYS_SOMETHING or score.verdict == "refuted" else SILENT
        look: dict[str, Any] = {"color": seen, "markeredgewidth": 0.7, "zorder": 4, "markersize": 3.0}
        if score.part.evaluation == "output":  # around the other mark, so that both are seen in one place
            look |= {"markerfacecolor": "white", "markersize": 4.6, "zorder": 3.5}
        axes.plot([_inside(lower)], [y], "D" if lower >= LEAST else BELOW_AXIS, **look)


def _inside(epsilon: float) -> float:
    return min(max(epsilon, LEAST), HIGHEST)
