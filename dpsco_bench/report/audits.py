"""Draw the figure of kind `audit`: lower bounds on epsilon beside what accountants say, a line for each experiment."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dpsco_bench.analysis.cells import SAYS_SOMETHING
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.model import Part
from dpsco_bench.report.drawing import COLOURS, FAINT, GREY, INK, TEXT_COLOURS
from dpsco_bench.report.inputs import ClaimResults, grouped
from dpsco_bench.report.numbers import number, plain
from dpsco_bench.report.panels import KIND_MARKERS
from dpsco_bench.report.wording import symbols

COLUMN_WIDTH, LEFT, MARGIN_RIGHT = 3.9, 1.98, 0.1
AUDIT_ROW, ABOVE, BELOW = 0.135, 0.62, 0.95
"""Inches of a column: its width and margins, the height of a row, and of what is above and below all rows."""
TITLE_LINE, TITLE_CHARACTERS = 0.14, 52  # inches of a line of the title, and how many characters fit above a column
MOST_ROWS = 60  # in one column
LEAST, HIGHEST = 0.05, 20.0
"""Epsilons beyond, in units of the claim, stand at the edge: as arrows, or with their number."""
TICKS = (0.1, 0.3, 1.0, 3.0, 10.0)
BELOW_AXIS = "<"  # marker of a value below the axis
TOLD = "An audit refutes where its bound is right of the dashed line, the claim. It never proves privacy."
SEEN, SILENT = INK, GREY  # an audit whose predicted power is at least one half, and one that says nothing


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
        stem = part.id.removesuffix("-fused").removesuffix(f"-{row.calibration}")
        return method.algorithm, method.variant or "", row.calibration, stem

    found = grouped(((claim.part(row), row) for claim in claims for row in known_audits(claim.rows)), about)
    order = list(COLOURS)
    keys = sorted(found, key=lambda key: (*key[:2], key[3], order.index(key[2])))
    return [AuditRow(*key, tuple(found[key])) for key in keys]


def audits_figure(claims: Iterable[ClaimResults]) -> Figure:
    """Draw the audits of some claims: an axis for each algorithm, a line for each of its variants and calibrations."""
    rows = rows_of(claims)
    columns = _columns(rows)
    wide, lines = COLUMN_WIDTH * len(columns), max(sum(map(_height, column)) for column in columns)
    title = textwrap.wrap(
        _message([verdict for row in rows for _, verdict in row.audits]), TITLE_CHARACTERS * len(columns)
    )
    above = ABOVE + TITLE_LINE * (len(title) - 1)
    height = above + BELOW + AUDIT_ROW * lines
    figure = Figure(figsize=(wide, height))
    for place, column in enumerate(columns):
        own = AUDIT_ROW * sum(map(_height, column))
        left, room = place * COLUMN_WIDTH + LEFT, COLUMN_WIDTH - LEFT - MARGIN_RIGHT
        _draw_column(figure.add_axes((left / wide, 1 - (above + own) / height, room / wide, own / height)), column)
    figure.text(0.05 / wide, 1 - 0.06 / height, "\n".join(title), va="top", size=8, weight="bold", color=INK)
    below, told = 0.09 + TITLE_LINE * len(title), "\n".join(textwrap.wrap(TOLD, 78 * len(columns)))
    figure.text(0.05 / wide, 1 - below / height, told, va="top", size=6.5, color=FAINT)
    marks = [
        ("lower bound by all that is released", "D", SEEN, SEEN),
        ("by the output of a fused run", "D", SEEN, "white"),
        ("says nothing: predicted power below 1/2", "D", SILENT, SILENT),
        *((f"accountant, {kind}", KIND_MARKERS[kind], FAINT, FAINT) for kind in ("exact", "upper", "lower")),
        ("at the edge: below the axis", BELOW_AXIS, FAINT, FAINT),
    ]
    handles = [
        Line2D([], [], marker=marker, label=label, color=colour, markerfacecolor=face, markersize=3.6, linestyle="none")
        for label, marker, colour, face in marks
    ]
    figure.legend(handles=handles, loc="lower center", ncols=1 + len(columns), fontsize=6, columnspacing=1.0)
    return figure


def _message(rows: Sequence[Verdict]) -> str:
    """Say what audits refute, by whose noise: ``16 audits refute the claim of printed noise, none that of ours``."""
    refuted = Counter(row.calibration for row in rows if row.word == "refuted")
    names = {"paper": "printed noise", "accounted": "accounted noise"}
    runs = Counter(row.calibration for row in rows)
    told = [f"{refuted[key] or 'none'} of {runs[key]} refute {name}" for key, name in names.items() if runs[key]]
    return f"Audits: {', '.join(told)}" if told else "Audits"


def _columns(rows: Sequence[AuditRow]) -> list[list[list[AuditRow]]]:
    """Set algorithms, each with its rows, in one column or in two of about the same height."""
    blocks = list(grouped(rows, lambda row: row.algorithm).values())
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
    colour, ink, first = COLOURS[row.calibration], TEXT_COLOURS[row.calibration], row.audits[0][1]
    name = f"{row.name}: {row.calibration}" if row.name else row.calibration
    _write_name(axes, y, symbols(name), ink)
    real = math.nan if first.epsilon_real is None else float(first.epsilon_real) / row.claimed
    if not math.isnan(real):
        marker = KIND_MARKERS[first.epsilon_real_kind or "upper"] if real >= LEAST else BELOW_AXIS
        axes.plot([_inside(real)], [y], marker, color=colour, markersize=3.4, zorder=3)
        if real > HIGHEST:
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "center", "size": 5.0}
            axes.annotate("∞" if math.isinf(real) else number(real), (HIGHEST, y), (-4, 0), color=ink, **look)
    for part, verdict in row.audits:
        lower, power = (float(str(verdict.own[name])) for name in ("epsilon_lower", "power"))
        lower, seen = lower / row.claimed, power >= SAYS_SOMETHING or verdict.word == "refuted"
        look = {"color": SEEN if seen else SILENT, "markeredgewidth": 0.7, "zorder": 4, "markersize": 3.0}
        if part.evaluation == "output":  # around the other mark, so that both are seen in one place
            look |= {"markerfacecolor": "white", "markersize": 4.6, "zorder": 3.5}
        axes.plot([_inside(lower)], [y], "D" if lower >= LEAST else BELOW_AXIS, **look)


def _inside(epsilon: float) -> float:
    return min(max(epsilon, LEAST), HIGHEST)
