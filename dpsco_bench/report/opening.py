"""The report's opening: all papers in one table and one figure, before anything is explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.report.drawing import FAINT, INK, inline_svg, style
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.scores import Score
from dpsco_bench.report.tables import Column, Table

TONE_GROUPS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("confirmed", ("good", "better"), "#009E73"),
    ("confirmed with a reservation", ("qualified",), "#8fd3bd"),
    ("not confirmed", ("bad",), "#D55E00"),
    ("open", ("open", "plain"), "#d0d0d0"),
    ("not run", ("absent",), "#f0f0f0"),
)
"""Group of verdicts -> tones and colour, from left to right in the bars."""
OPEN_WORDS = "inconclusive, not observable, vacuous, unproven or only shown"
BAR, ROW = 0.62, 0.34
"""Height of a bar in rows, and of a row in inches."""
WIDTH, LEFT, TOP = 5.8, 2.05, 0.32
"""Inches: narrow enough to be read on a telephone without scrolling; room for names, and for the key."""
LIGHT = ("#8fd3bd", "#d0d0d0", "#f0f0f0")


@dataclass(frozen=True)
class PaperLine:
    """One paper in the opening.

    Attributes
    ----------
    groups : mapping of str to int, verdicts by group of `TONE_GROUPS`
    privacy : mapping of str to int
        Verdicts on the paper's own noise (kind privacy) by outcome: ``holds``, ``fails``, ``unproven``.
    """

    paper: str
    name: str
    claims: int
    groups: Mapping[str, int]
    privacy: Mapping[str, int]
    errata: int


def paper_lines(inputs: Inputs, rows: Sequence[Score], names: Mapping[str, str]) -> list[PaperLine]:
    lines = []
    for paper in inputs.papers:
        own = [score for score in rows if score.results.paper == paper]
        groups = Counter(group_of(score.tone) for score in own)
        private = [score for score in own if score.kind.judges_noise and score.row.calibration == "paper"]
        outcomes = Counter(score.row.counted_as for score in private)
        claims = len(inputs.of_paper(paper))
        lines.append(PaperLine(paper, names[paper], claims, groups, outcomes, len(load_errata(paper))))
    return lines


def group_of(tone: str) -> str:
    """Group of a verdict's tone."""
    return next((name for name, tones, _ in TONE_GROUPS if tone in tones), "open")


def papers_table(lines: Sequence[PaperLine]) -> Table:
    """Claims by verdict, privacy of the printed noise, and errata of every paper."""
    columns = [
        Column("Paper", lambda line: line.name, {"paper": lambda line: line.paper}),
        Column("Claims", lambda line: str(line.claims), {"claims": lambda line: line.claims}, True),
    ]
    for name, _, _ in TONE_GROUPS:
        columns.append(
            Column(
                name.capitalize(),
                partial(_shown_group, name),
                {name.replace(", ", "_").replace(" ", "_"): partial(_group, name)},
                True,
            )
        )
    columns.append(Column("Printed noise is (ε, δ)-private", _privacy_text, {"privacy": _privacy_text}))
    columns.append(Column("Errata", lambda line: str(line.errata), {"errata": lambda line: line.errata}, True))
    note = (
        f"Verdicts, one for each part of a claim under each noise; open: {OPEN_WORDS}. Printed noise: what an "
        "accountant says of the theorem’s own noise, by claim of privacy."
    )
    return Table("papers", "All papers", columns, lines, note)


def _group(name: str, line: PaperLine) -> int:
    return line.groups.get(name, 0)


def _shown_group(name: str, line: PaperLine) -> str:
    return str(_group(name, line) or "·")


def _privacy_text(line: PaperLine) -> str:
    words = {"holds": "proven", "fails": "above the claim", "unproven": "not shown"}
    parts = [f"{line.privacy[key]} {word}" for key, word in words.items() if line.privacy.get(key)]
    rest = sum(number for key, number in line.privacy.items() if key not in words)
    return ", ".join([*parts, *([f"{rest} not run"] if rest else [])]) or "no claim of its own"


def papers_figure(lines: Sequence[PaperLine]) -> Figure:
    """One bar per paper: what share of its verdicts confirms it."""
    height = ROW * len(lines) + TOP + 0.07
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((LEFT / WIDTH, 0.07 / height, (WIDTH - LEFT - 0.05) / WIDTH, ROW * len(lines) / height))
    most = max((sum(line.groups.values()) for line in lines), default=1)
    for number, line in enumerate(lines):
        _bar(axes, line, len(lines) - 1 - number, most)
    axes.set_xlim(0, most * 1.02)
    axes.set_ylim(-0.5, len(lines) - 0.5)
    axes.set_yticks(range(len(lines)), [line.name for line in reversed(lines)])
    axes.tick_params(length=0, labelsize=8)
    axes.set_xticks([])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _key(figure, lines, height)
    return figure


def _bar(axes: Axes, line: PaperLine, y: int, most: int) -> None:
    left = 0
    for name, _, colour in TONE_GROUPS:
        wide = line.groups.get(name, 0)
        axes.barh(y, wide, BAR, left=left, color=colour, edgecolor="white", linewidth=0.8)
        if wide >= 0.018 * most:
            ink = INK if colour in LIGHT else "white"
            axes.text(left + wide / 2, y, str(wide), ha="center", va="center", size=7.5, color=ink, weight="bold")
        left += wide


def _key(figure: Figure, lines: Sequence[PaperLine], height: float) -> None:
    """The colours beside the words that they mean."""
    x = 0.05
    for name, _, colour in TONE_GROUPS:
        if not any(line.groups.get(name) for line in lines):
            continue
        where = 1 - 0.15 / height
        figure.text(x / WIDTH, where, "■", va="center", size=9, color=colour)
        figure.text((x + 0.14) / WIDTH, where, name, va="center", size=7.5, color=FAINT)
        x += 0.34 + 0.058 * len(name)


def headline(lines: Sequence[PaperLine]) -> str:
    """What the figure says, in one sentence."""
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line.groups)
    good = total["confirmed"]
    return (
        f"{good} of {sum(total.values())} verdicts confirm their paper, {total['confirmed with a reservation']} more "
        f"do with a reservation, {total['not confirmed']} do not"
    )


def page_papers(lines: Sequence[PaperLine]) -> Any:
    with style(**{"svg.fonttype": "none"}):
        return inline_svg(papers_figure(lines), "papers", escape(headline(lines), quote=True), 1.6)
