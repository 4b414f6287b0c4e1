"""The report's opening: what all claims come to, by paper, in a table and a figure, before anything is explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_bench.analysis import answer as standings
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.report.drawing import FAINT, INK, bare
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.scores import Score
from dpsco_bench.report.tables import Column, Columns, ReportTable, leads_to
from dpsco_bench.report.wording import TONES, symbols

COLOURS = {
    standings.AS_PRINTED: "#00664b",
    standings.AS_RECALLED: "#9bd6bd",
    standings.AS_CORRECTED: "#4a7d3a",
    standings.WITH_OURS: "#4a9fd6",
    standings.NOT_SHOWN: "#e9a820",
    standings.NOT_PRIVATE: "#bf6900",
    standings.WITHOUT_NOISE: "#f5e38c",
    standings.FAILS: "#a63c00",
    standings.UNDECIDED: "#c4c4c4",
    standings.VACUOUS: "#d6d6d6",
    standings.BY_CONSTRUCTION: "#dedede",
    standings.SHOWN: "#e6e6e6",
    standings.AUDITED: "#ededed",
    standings.NOT_RUN: "#f4f4f4",
}
"""Standing -> colour, from left to right in the bars: neighbours differ in lightness, so that they do in grey too."""
DARK = ("#00664b", "#4a7d3a", "#bf6900", "#a63c00")
"""Colours on which numbers are white."""
RESERVED = (standings.NOT_SHOWN, standings.NOT_PRIVATE, standings.WITHOUT_NOISE)
"""Standings that hold with a reservation."""
UNPROVEN = {
    "target_law_only": "the target law alone is",
    "unproven": "nothing is shown, as constants are nominal or the bound is above the claim",
    "exceeds_claim": "its ε is above the claim",
}
"""Status of accounted noise that is not proven private -> what is said of such verdicts."""
BAR, ROW, KEY_LINE = 0.62, 0.34, 0.2
"""Height of a bar in rows; of a row and of a line of the key in inches."""
WIDTH, LEFT = 5.8, 2.05
"""Inches: narrow enough to be read on a telephone without scrolling; room for names."""


@dataclass(frozen=True)
class ClaimLine:
    """A claim and what its verdicts come to."""

    results: ClaimResults
    answer: standings.Answer

    @property
    def standing(self) -> str:
        return self.answer.standing

    @property
    def text(self) -> str:
        """Its sentence, with Greek letters and inequality signs."""
        return symbols(self.answer.text)

    @property
    def tone(self) -> str:
        return "qualified" if self.standing in RESERVED else TONES[standings.STANDINGS[self.standing].outcome]


@dataclass(frozen=True)
class PaperLine:
    """One paper in the opening.

    Attributes
    ----------
    privacy, recalled : mapping of str to int
        Verdicts on a theorem's own noise (`on_printed_noise`) by outcome (`claims.kinds.OUTCOMES`): on what the paper
        prints, and on what it cites of another source, which it does not print.
    """

    paper: str
    name: str
    claims: Sequence[ClaimLine]
    privacy: Mapping[str, int]
    errata: int
    recalled: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """Standing -> how many of its claims."""
        return standings.counted(line.standing for line in self.claims)


def on_printed_noise(row: Verdict) -> bool:
    """Check whether a verdict says of a theorem's own noise whether it is private: no audit, and nothing beside it."""
    rules = get_kind(row.kind)
    return rules.judges_noise and not rules.aside and row.calibration == "paper" and not row.beside


def paper_lines(inputs: Inputs, rows: Sequence[Score], names: Mapping[str, str]) -> list[PaperLine]:
    lines = []
    for paper in inputs.papers:
        own = [score.row for score in rows if score.results.paper == paper and on_printed_noise(score.row)]
        printed, recalled = (
            Counter(row.meaning.outcome for row in own if bool(row.recalled) is cited) for cited in (False, True)
        )
        claims = [ClaimLine(claim, standings.answer(claim.rows)) for claim in inputs.of_paper(paper)]
        lines.append(PaperLine(paper, names[paper], claims, printed, len(load_errata(paper)), recalled))
    return lines


PAPER: Columns = {"Paper": Column("name", raw={"paper": "paper"}, link=leads_to("paper", kind="paper"))}


def papers_table(lines: Sequence[PaperLine]) -> ReportTable:
    """Tabulate claims by standing, and errata, of every paper."""
    columns = {**PAPER, "Claims": Column(lambda line: len(line.claims), str, "claims", numeric=True)}
    for standing in standings.counted(claim.standing for line in lines for claim in line.claims):
        name = standing.replace(", ", "_").replace(" ", "_")
        columns[standing.capitalize()] = Column(partial(_count, standing), _or_dot, name, numeric=True)
    columns["Errata"] = Column("errata", numeric=True)
    return ReportTable("papers", "All papers", columns, lines, "Every claim counts once, however many verdicts it has.")


def _count(standing: str, line: PaperLine) -> int:
    return line.counts.get(standing, 0)


def _or_dot(found: object) -> str:
    return str(found or "·")


def noise_table(lines: Sequence[PaperLine]) -> ReportTable:
    """Tabulate whether the printed noise of every paper is private."""
    printed = Column(lambda line: _privacy_text(line.privacy) or "no claim of its own", raw="privacy")
    columns = {**PAPER, "Printed noise is (ε, δ)-private": printed}
    note = "What an accountant says of the theorem’s own noise, by experiment."
    if any(line.recalled for line in lines):
        recalled = Column(lambda line: _or_dot(_privacy_text(line.recalled)), raw="recalled")
        columns["Noise of cited sources is"] = recalled
        note += " A paper does not print the noise of methods that it cites: it is recalled of their sources."
    note = f"{note} {accounted_text(lines)}".rstrip()
    return ReportTable("printed_noise", "Printed noise", columns, lines, note)


def accounted_text(lines: Sequence[PaperLine]) -> str:
    """Count verdicts whose accounted noise is proven private; empty where a profile has none.

    The accountant that chooses the noise bounds its epsilon by the claim. That is no proof where it speaks of the law
    of an exact draw or minimiser, or where a constant of the objective is nominal.
    """
    rows = [row for line in lines for claim in line.claims for row in claim.results.rows]
    own = [row.noise.status for row in rows if row.calibration == "accounted" and row.noise and row.rests_on_noise]
    if not own:
        return ""
    found = Counter(own)
    others = [f"behind {found[status]} {said}" for status, said in UNPROVEN.items() if found[status]]
    told = ", ".join([f"It is proven private behind {found['proven'] or 'none'} of {len(own)} verdicts", *others])
    return (
        f"Accounted noise is chosen so that an accountant bounds ε by the claim; that it does confirms nothing. {told}."
    )


CLAIMS: Columns = {
    "Claim": Column("results.id", raw="claim", kind="code", link=leads_to("results.id")),
    "Standing": Column("standing", kind="verdict", tone="tone"),
    "What": Column("results.claim.title", symbols),
    "Answer": Column("answer.text", symbols, "answer", kind="prose"),
}


def claims_table(lines: Sequence[PaperLine], profile: str) -> ReportTable:
    """Tabulate every claim with its standing and the sentence that answers it."""
    rows = [claim for line in lines for claim in line.claims]
    return ReportTable("claims", f"All claims, profile {profile}", CLAIMS, rows)


def _privacy_text(found: Mapping[str, int]) -> str:
    """Count how many verdicts on noise have each outcome, in words."""
    words = {"confirms": "proven", "contradicts": "above the claim", "unproven": "not shown"}
    parts = [f"{found[key]} {word}" for key, word in words.items() if found.get(key)]
    rest = sum(number for key, number in found.items() if key not in words)
    return ", ".join([*parts, *([f"{rest} not run"] if rest else [])])


def papers_figure(lines: Sequence[PaperLine]) -> Figure:
    """Draw one bar per paper: what its claims come to."""
    used = [standing for standing in COLOURS if any(line.counts.get(standing) for line in lines)]
    key = _key_places(used)
    top = KEY_LINE * (1 + max((row for row, _ in key), default=0)) + 0.06
    height = ROW * len(lines) + top + 0.07
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((LEFT / WIDTH, 0.07 / height, (WIDTH - LEFT - 0.05) / WIDTH, ROW * len(lines) / height))
    most = max((len(line.claims) for line in lines), default=1)
    for number, line in enumerate(lines):
        _bar(axes, line, len(lines) - 1 - number, most)
    axes.set_xlim(0, most * 1.02)
    axes.set_ylim(-0.5, len(lines) - 0.5)
    axes.set_yticks(range(len(lines)), [line.name for line in reversed(lines)])
    axes.tick_params(labelsize=8)
    axes.set_xticks([])
    bare(axes)
    for standing, (row, x) in zip(used, key, strict=True):
        where = 1 - (0.1 + KEY_LINE * row) / height
        figure.text(x / WIDTH, where, "■", va="center", size=9, color=COLOURS[standing])
        figure.text((x + 0.14) / WIDTH, where, standing, va="center", size=7.5, color=FAINT)
    return figure


def _bar(axes: Axes, line: PaperLine, y: int, most: int) -> None:
    left = 0
    for standing, colour in COLOURS.items():
        wide = line.counts.get(standing, 0)
        axes.barh(y, wide, BAR, left=left, color=colour, edgecolor="white", linewidth=0.8)
        if wide >= 0.018 * most:
            ink = "white" if colour in DARK else INK
            axes.text(left + wide / 2, y, str(wide), ha="center", va="center", size=7.5, color=ink, weight="bold")
        left += wide


def _key_places(used: Sequence[str]) -> list[tuple[int, float]]:
    """Find (line, inches from the left) of each word of the key, broken where the figure ends."""
    places, row, x = [], 0, 0.05
    for standing in used:
        wide = 0.34 + 0.058 * len(standing)
        if x + wide > WIDTH and x > 0.05:
            row, x = row + 1, 0.05
        places.append((row, x))
        x += wide
    return places


def headline(lines: Sequence[PaperLine]) -> str:
    """Say what the figure says, in one sentence."""
    text = standings.headline(claim.standing for line in lines for claim in line.claims)
    return text[:1].upper() + text[1:]
