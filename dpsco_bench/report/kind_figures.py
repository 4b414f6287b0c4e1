"""Draw the figures of kinds without panels: audits beside what accountants say, and risks along runs (`ordering`)."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dpsco_bench.analysis.cells import HOLDS, REVERSED, SAYS_SOMETHING
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.model import Part
from dpsco_bench.report.axes import EndLabel, decades, label_ends, log_y
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK, TEXT_COLOURS, Panel, compose
from dpsco_bench.report.inputs import ClaimResults, grouped
from dpsco_bench.report.numbers import number, plain
from dpsco_bench.report.own_figures import MethodStyle, styles_of
from dpsco_bench.report.panels import KIND_MARKERS, beside_text
from dpsco_bench.report.verdicts import NOISE, claim_title
from dpsco_bench.report.wording import SYMBOLS, setting, symbols, tone

WIDTH, LEFT, MARGIN_RIGHT = 3.9, 1.98, 0.1
AUDIT_ROW, ABOVE, BELOW = 0.135, 0.62, 0.95
"""Inches of the audits: width and margins, the height of a row, and of what is above and below all rows."""
TITLE_LINE = 0.14  # inches
LEAST, HIGHEST = 0.05, 20.0
"""Epsilons beyond, in units of the claim, stand at the edge: as arrows, or with their number."""
TICKS = (0.1, 0.3, 1.0, 3.0, 10.0)
BELOW_AXIS = "<"  # marker of a value below the axis
TOLD = "An audit refutes where its bound is right of the dashed line, the claim. It never proves privacy."
SEEN, SILENT = INK, GREY  # an audit whose predicted power is at least one half, and one that says nothing
MOST_POINTS = 250  # curves are thinned to this many points, evenly on the logarithmic axis, the last one kept
Styles = Mapping[str, MethodStyle]  # label of a method -> its look


@dataclass(frozen=True)
class AuditRow:
    """Audits of one algorithm, variant and calibration at one claim: by the transcript, by fused runs, or both."""

    algorithm: str
    variant: str
    calibration: str
    part: str
    audits: tuple[tuple[Part, Verdict], ...]

    @property
    def claimed(self) -> float:
        return float(self.audits[0][1].epsilon_claimed or math.nan)

    @property
    def name(self) -> str:
        """Variant, where the algorithm has a name for it, claim, where it is not 1, and what a part of its own says."""
        variant = "" if self.variant == "standard" else self.variant.replace("_", " ")
        own = self.part.partition(".")[2].replace("_", " ")
        claim = "" if self.claimed == 1.0 else f"ε = {plain(self.claimed)}"
        said = variant if not own or own == variant else f"{variant} {own}".strip()
        return ", ".join(filter(None, (said, claim)))


def known_audits(rows: Iterable[Verdict]) -> list[Verdict]:
    """Keep the audits whose own bound is known."""
    return [row for row in rows if row.kind == "audit" and "epsilon_lower" in row.own]


def rows_of(claims: Iterable[ClaimResults]) -> list[AuditRow]:
    def about(one: tuple[Part, Verdict]) -> tuple[str, str, str, str]:
        (part, row), method = one, one[0].methods[0]
        stem, whose = part.id.removesuffix("-fused").removesuffix(f"-{row.calibration}"), row.id.partition(".")[2]
        stem = stem if whose == "audit" else f".{whose} {stem}"  # an audit among the parts of another claim
        return method.algorithm, method.variant or "", row.calibration, stem

    found = grouped(((claim.part(row), row) for claim in claims for row in known_audits(claim.rows)), about)
    order = list(COLOURS)
    keys = sorted(found, key=lambda key: (*key[:2], key[3], order.index(key[2])))
    return [AuditRow(*key, tuple(found[key])) for key in keys]


def audits_figure(claims: Iterable[ClaimResults]) -> Figure:
    """Draw the audits of some claims: an axis for each algorithm, a line for each of its variants and calibrations."""
    rows = rows_of(claims)
    blocks = list(grouped(rows, lambda row: row.algorithm).values())
    verdicts = [verdict for row in rows for _, verdict in row.audits]
    runs = Counter(row.calibration for row in verdicts)
    refuted = Counter(row.calibration for row in verdicts if row.word == "refuted")
    said = [
        f"{refuted[key] or 'none'} of {runs[key]} refute {NOISE[key]}" for key in ("paper", "accounted") if runs[key]
    ]
    title = textwrap.wrap(f"Audits: {', '.join(said)}", 52)
    above, own = ABOVE + TITLE_LINE * (len(title) - 1), AUDIT_ROW * sum(map(_height, blocks))
    height = above + BELOW + own
    figure = Figure(figsize=(WIDTH, height))
    box = (LEFT / WIDTH, 1 - (above + own) / height, (WIDTH - LEFT - MARGIN_RIGHT) / WIDTH, own / height)
    _draw_audits(figure.add_axes(box), blocks)
    figure.text(0.05 / WIDTH, 1 - 0.06 / height, "\n".join(title), va="top", size=8, weight="bold", color=INK)
    below, told = 0.09 + TITLE_LINE * len(title), "\n".join(textwrap.wrap(TOLD, 78))
    figure.text(0.05 / WIDTH, 1 - below / height, told, va="top", size=6.5, color=FAINT)
    marks = [
        ("lower bound by all that is released", "D", SEEN, SEEN),
        ("by the output of a fused run", "D", SEEN, "white"),
        ("says nothing: predicted power below 1/2", "D", SILENT, SILENT),
        *((f"accountant, {kind}", KIND_MARKERS[kind], FAINT, FAINT) for kind in ("exact", "upper", "lower")),
        ("at the edge: below the axis", BELOW_AXIS, FAINT, FAINT),
    ]
    look: dict[str, Any] = {"markersize": 3.6, "linestyle": "none"}
    handles = [Line2D([], [], marker=m, label=text, color=c, markerfacecolor=f, **look) for text, m, c, f in marks]
    figure.legend(handles=handles, loc="lower center", ncols=2, fontsize=6, columnspacing=1.0)
    return figure


def _height(block: Sequence[AuditRow]) -> float:
    return len(block) + 1.15


def _draw_audits(axes: Axes, blocks: Sequence[Sequence[AuditRow]]) -> None:
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
    colour, ink, first = COLOURS[row.calibration], TEXT_COLOURS[row.calibration], row.audits[0][1]
    name = f"{row.name}: {row.calibration}" if row.name else row.calibration
    _write_name(axes, y, symbols(name), ink)
    real = math.nan if first.epsilon_real is None else float(first.epsilon_real) / row.claimed
    if not math.isnan(real):
        marker = KIND_MARKERS[first.epsilon_real_kind or "upper"] if real >= LEAST else BELOW_AXIS
        axes.plot([np.clip(real, LEAST, HIGHEST)], [y], marker, color=colour, markersize=3.4, zorder=3)
        if real > HIGHEST:
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "center", "size": 5.0}
            axes.annotate("∞" if math.isinf(real) else number(real), (HIGHEST, y), (-4, 0), color=ink, **look)
    for part, verdict in row.audits:
        own: Any = verdict.own
        lower, seen = own["epsilon_lower"] / row.claimed, own["power"] >= SAYS_SOMETHING or verdict.word == "refuted"
        look = {"color": SEEN if seen else SILENT, "markeredgewidth": 0.7, "zorder": 4, "markersize": 3.0}
        if part.evaluation == "output":  # around the other mark, so that both are seen in one place
            look |= {"markerfacecolor": "white", "markersize": 4.6, "zorder": 3.5}
        axes.plot([np.clip(lower, LEAST, HIGHEST)], [y], "D" if lower >= LEAST else BELOW_AXIS, **look)


def curve_figures(claim: ClaimResults, rows: Sequence[Verdict]) -> dict[str, Figure]:
    """Draw risk against gradient evaluations / n and, where runs were timed, against running time, by file suffix.

    Panels of one part have the same axes. Parts that kept the ends of their runs alone have no curves, unless none has
    more. There is no figure where nothing was measured.
    """
    timed = [row for row in rows if _timings(claim, row)]
    drawn = {".curves": _figure(claim, rows, False), ".time": _figure(claim, timed, True)}
    return {suffix: figure for suffix, figure in drawn.items() if figure}


def _figure(claim: ClaimResults, rows: Sequence[Verdict], timed: bool) -> Figure | None:
    measured = [(row, cells) for row in rows if (cells := claim.evidence(row.part, row.calibration))]
    measured = [one for one in measured if any(len(cell.curve_risks) > 1 for cell in one[1])] or measured
    if not measured:
        return None
    named = [label for row, cells in measured for label in (*(c.entry.method for c in cells), *claim.part(row).pair)]
    styles = styles_of(claim.paper, list(dict.fromkeys(named)))
    panels = []
    for part in grouped(measured, lambda one: one[0].part).values():
        values = sorted({cell.value for _, cells in part for cell in cells})
        races = [Race.of(claim, row, cells, value, styles, timed) for value in values for row, cells in part]
        panels += [_panel(claim, race, races, styles, timed) for race in races if race.cells]
    told = f"{claim.id}: {symbols(claim.claim.title)}"
    if timed and (where := next((t.machine for job in claim.jobs if (t := claim.timing(job))), None)):
        told += f"; fastest run of one replicate on {where.processor}, {where.backend}"
    returns = dict.fromkeys(look.returns for look in styles.values() if look.returns)
    key: list[Any] = [
        Patch(color=FAINT, alpha=0.2, label="line: the iterates, median; band: all replicates"),
        Line2D([], [], color=FAINT, ls="none", marker="o", ms=3, label=", ".join(["dot: what is returned", *returns])),
    ]
    return compose(panels, claim_title(claim.claim, claim.rows), told, more=key)


class Race(NamedTuple):
    """All methods under one noise at one value."""

    row: Verdict
    cells: Sequence[MeasuredCell]
    curves: Mapping[str, np.ndarray]  # label of a method -> its curve (`_curve`)

    @classmethod
    def of(
        cls, claim: ClaimResults, row: Verdict, cells: Iterable[MeasuredCell], value: float, styles: Styles, timed: bool
    ) -> Race:
        clock, here = _timings(claim, row) if timed else None, [cell for cell in cells if cell.value == value]
        return cls(row, here, {c.entry.method: _curve(c, styles[c.entry.method], clock) for c in here})


def _timings(claim: ClaimResults, row: Verdict) -> dict[int, np.ndarray]:
    """Per cell, the curve (gradient evaluations, seconds) of the timing job, shape ``(points, 2)``."""
    job = claim.job(row.part, row.calibration)
    found = None if job is None else claim.timing(job)
    cells = [cell for cell in (found.cells if found else ()) if len(cell.seconds)]
    return {cell.cell: np.array([cell.evaluations, cell.seconds], dtype=float).T for cell in cells}


def _curve(cell: MeasuredCell, look: MethodStyle, seconds: Mapping[int, np.ndarray] | None) -> Any:
    """Make the curve of a cell: x, median, lowest and highest risk, shape ``(4, points)``.

    Of a method whose iterates carry no noise before the end it is the end alone.
    """
    risks = cell.curve_risks.reshape(len(cell.curve_risks), -1)
    x = cell.curve_evaluations.reshape(len(risks), -1).mean(axis=1)
    if seconds is not None:
        clock = seconds.get(int(cell.entry.cell))
        if clock is None:
            return np.empty((4, 0))
        x = np.interp(x, clock[:, 0], clock[:, 1], left=0.0)
    else:
        x = x / float(cell.entry.n)
    curve = np.array([x, np.median(risks, axis=1), risks.min(axis=1), risks.max(axis=1)])
    curve = curve[:, -1:] if look.end_only else curve
    curve = curve[:, curve[0] > 0]
    if curve.shape[1] <= MOST_POINTS:
        return curve
    wanted = np.geomspace(curve[0, 0], curve[0, -1], MOST_POINTS)
    return curve[:, np.unique(np.append(np.searchsorted(curve[0], wanted[:-1]), curve.shape[1] - 1))]


def _panel(claim: ClaimResults, race: Race, races: Sequence[Race], styles: Styles, timed: bool) -> Panel:
    """Draw one of the races of a part, on the axes of all; the pair that is compared stands out."""
    row, cells, curves = race
    names, part = {cell.entry.method: styles[cell.entry.method].name for cell in cells}, claim.part(row)
    for cell in cells:  # with its number of steps: other numbers may end elsewhere
        if (steps := cell.entry.options.get("steps")) and "T =" not in names[cell.entry.method]:
            names[cell.entry.method] += f", T = {steps}"

    def draw(axes: Axes) -> None:
        ends = []
        for label, curve in curves.items():
            if curve.size:
                look = styles[label]
                _draw_curve(axes, look, label in part.pair, curve)
                first, *rest = textwrap.wrap(names[label].replace("T = ", "T\u00a0=\u00a0"), 19)
                more = tuple((line, look.colour) for line in rest)
                ends.append(EndLabel(float(curve[1, -1]), first, look.colour, more, float(curve[0, -1])))
        every = [curve for one in races for curve in one.curves.values()]
        medians, bands = ([v for curve in every for v in curve[1]], [v for c in every for v in c[2:, -1:].flat])
        log_y(axes, [*medians, *bands], "excess risk F − F*")
        axes.set_xscale("log")
        places = [x for curve in every for x in curve[0]]
        axes.set_xlim(min(places) / 1.2, max(places) * 1.3)
        decades(axes.xaxis)
        axes.set_xlabel("running time of the algorithm (s)" if timed else "gradient evaluations / n")
        label_ends(axes, ends)

    first = cells[0].entry
    noise = NOISE[row.calibration]
    where = f"{noise[:1].upper()}{noise[1:]}, {symbols(first.parameter)} = {plain(cells[0].value)}"
    shown = setting({"n": first.n, "delta": first.delta, **part.problem_options})
    line = (beside_text([row]), f"{SYMBOLS[tone(row)]} {symbols(row.said)}", row.part)
    told = "; ".join(filter(None, (*line, part.problem, shown)))
    title = f"{where}: {_said(row, part.pair, names, styles)}".replace("T = ", "T\u00a0=\u00a0")
    return Panel(title, draw, told, right=1.2)  # names of methods are long


def _said(row: Verdict, pair: Sequence[str], names: Mapping[str, str], styles: Styles) -> str:
    """Say which of the pair ends lower: ``DP-SVRG ends below DP-GD, T = 1500``."""
    if len(pair) != 2:
        return symbols(row.said)
    first, second = (names.get(label, styles[label].name) for label in pair)
    words = {HOLDS: f"{first} ends below {second}", REVERSED: f"{second} ends below {first}"}
    return words.get(row.word, f"{first} against {second}: {symbols(row.said)}")


def _draw_curve(axes: Axes, look: MethodStyle, strong: bool, curve: np.ndarray) -> None:
    x, middle, low, high = curve
    if look.end_only:
        errors = [[middle[-1] - low[-1]], [high[-1] - middle[-1]]]
        axes.errorbar(x[-1:], middle[-1:], errors, fmt="D", color=look.colour, markersize=4, zorder=5)
        return
    band: dict[str, Any] = {"color": look.colour, "alpha": 0.2 if strong else 0.08, "linewidth": 0, "zorder": 1}
    line: dict[str, Any] = {"linewidth": 1.6 if strong else 0.8, "zorder": 4 if strong else 3}
    axes.fill_between(x, np.maximum(low, 1e-300), high, **band)
    axes.plot(x, middle, color=look.colour, linestyle=look.dash, **line)
    axes.plot(x[-1:], middle[-1:], "o", color=look.colour, markersize=4 if strong else 2.6, zorder=5)
