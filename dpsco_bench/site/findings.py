"""The findings of a profile: those that its results support, with their figures, and those that it does not measure.

A finding whose conditions fail stops the build. One whose claims, data or papers are not there is left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.claims.catalogue import naming
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.registry import papers
from dpsco_bench.report.drawing import COLOURS as NOISE
from dpsco_bench.report.drawing import FAINT, GREY, INK, style, svg_text
from dpsco_bench.report.findings import Finding, NotMeasured, Results, Said, all_findings
from dpsco_bench.report.numbers import number
from dpsco_bench.report.tables import address
from dpsco_bench.report.wording import symbols
from dpsco_bench.site.content import SiteContent

WIDTH, ROW, ABOVE, BELOW = 4.6, 0.3, 0.12, 0.5  # inches: legible on a telephone without scrolling
LOOKS = {
    "main": ("o", INK),
    "printed": ("o", NOISE["paper"]),
    "private": ("s", NOISE["accounted"]),
    "plain": ("D", GREY),
}
"""Blue and orange are the papers' noise and accounted noise here as in all figures; a number of neither is dark."""
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # behind a value, so that no line runs through it
ROUNDING = 1e-12  # share of the largest number from which on a number is more than rounding
FAR = 30.0  # ratio of the largest and the smallest number from which on the axis is logarithmic


@dataclass(frozen=True)
class Supported:
    """A finding that the results support, what it says, and the ids of the claims behind it."""

    finding: Finding
    said: Said
    claims: Sequence[str]

    @property
    def id(self) -> str:
        return self.finding.id


@dataclass(frozen=True)
class Unsaid:
    """A finding of this profile that this run does not measure, and why."""

    id: str
    title: str
    reason: str


def findings(content: SiteContent, known: Iterable[Finding] | None = None) -> tuple[list[Supported], list[Unsaid]]:
    """Evaluate the findings of a profile. Raises InputError for one that the numbers contradict."""
    results = Results(content.inputs, content.scores, content.errata)
    said, unsaid = [], []
    for finding in all_findings() if known is None else known:
        if not finding.profiles or content.inputs.profile in finding.profiles:
            with naming(finding.path):
                try:
                    said.append(_supported(finding, results))
                except NotMeasured as reason:
                    unsaid.append(Unsaid(finding.id, finding.outline("title"), str(reason)))
    return said, unsaid


def _supported(finding: Finding, results: Results) -> Supported:
    in_profile = {claim.id for claim in results.inputs.claims}
    if absent := [claim for claim in finding.claims if claim not in in_profile]:
        raise results.unmeasured(f"{absent[0]} is not in")
    if gone := [paper for paper in finding.papers if paper not in papers()]:
        raise NotMeasured(f"paper {gone[0]} is not installed")
    try:
        said = finding.say(results)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise InputError(f"finding {finding.id}", repr(error), "one that reads what the results have") from error
    return Supported(finding, said, list(dict.fromkeys([*finding.claims, *(row.id for row in said.rows)])))


def draw_findings(found: Iterable[Supported], folder: Path) -> None:
    for one in found:
        if one.said.points:
            with naming(one.finding.path), style(**{"font.size": 8.5}):
                write_atomic(folder / f"{address('finding', one.id)}.svg", svg_text(figure(one.said)))


def figure(said: Said) -> Figure:
    """Draw the numbers of a finding as points on one axis, a row each, with name and value beside it."""
    rows = [(symbols(point.text), outward(float(point.value), point.bound), point.look) for point in said.points]
    height = ABOVE + BELOW + ROW * len(rows)
    drawn = Figure(figsize=(WIDTH, height))
    left = 0.2 + 0.058 * max(len(name) for name, _, _ in rows)
    axes = drawn.add_axes((left / WIDTH, BELOW / height, (WIDTH - left - 0.62) / WIDTH, ROW * len(rows) / height))
    line = said.reference
    ends = [value for _, value, _ in rows] + ([line] if line is not None else [])
    start = _set_axis(axes, ends, said.linear)
    for place, (_, value, look) in enumerate(rows):
        marker, colour = LOOKS[look]
        shown = number(0.0 if abs(value) < ROUNDING * max(map(abs, ends)) else value)
        axes.plot([start if line is None else line, value], [place, place], color="#c8c8c8", linewidth=1.4)
        axes.plot(value, place, marker, color=colour, markersize=6)
        axes.annotate(shown, (value, place), (7, 0), textcoords="offset points", va="center", color=INK, bbox=PAPER)
    if line is not None:
        axes.axvline(line, color=FAINT, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.set_xlabel(symbols(said.label), color=INK)
    return drawn


def _set_axis(axes: Axes, ends: Sequence[float], linear: bool) -> float:
    """Set the axis of numbers, logarithmic where they are far apart; returns where lines begin."""
    low, high = min(ends), max(ends)
    if not linear and low > 0 and high / low > FAR:
        axes.set_xscale("log")
        axes.set_xlim(low / (high / low) ** 0.06, high * (high / low) ** 0.1)
        return low
    start = min(0.0, low)
    if all(float(end).is_integer() for end in ends):
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_xlim(start - 0.04 * (high - start), high + 0.1 * (high - start))
    return start
