"""The contents of a site's pages, each computed once; first what all claims come to, by paper, in bars and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from matplotlib.figure import Figure

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.analysis import answer as rules
from dpsco_bench.analysis.answer import NO, OPEN, UNTESTED, WORDS, YES, Answer
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import Erratum, load_errata
from dpsco_bench.execution.cell import CalibratedCell
from dpsco_bench.report.drawing import FAINT, INK, bare
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.kind_figures import known_audits
from dpsco_bench.report.ledger import privacy_table
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, leads_to
from dpsco_bench.report.verdicts import statement
from dpsco_bench.report.wording import symbols
from dpsco_bench.site import markdown as md

COLOURS = {YES: "#00563f", NO: "#c0532a", OPEN: "#e9b44c", UNTESTED: "#dedede"}
"""Word -> colour, from left to right in the bars; neighbours differ in lightness, so that they do in grey too."""
DARK = (YES, NO)  # words whose numbers are white
TONES = {YES: "good", NO: "bad", OPEN: "open", UNTESTED: "absent"}
ASKED = ("printed", "noise", "private")  # questions of a statement about risk, in the order of the bars
BARS = {"printed": "shows, printed noise", "noise": "that noise private", "private": "shows, private noise"}
BAR, ROW, GAP = 0.8, 0.21, 0.14  # height of a bar in rows; of a row, and of the gap below a paper, in inches
WIDTH, LEFT = 6.4, 1.35  # inches: narrow enough to be read on a telephone without scrolling; room for names
Pages = Mapping[str, str]  # name of a page without suffix, from the root -> its Markdown


Answered = tuple[ClaimResults, Answer]


@dataclass(frozen=True)
class PaperLine:
    """One paper in the opening: its name, and its claims with their answers."""

    paper: str
    name: str
    answered: Sequence[Answered]

    def of(self, *subjects: str) -> list[Answered]:
        return [(claim, answer) for claim, answer in self.answered if answer.subject in subjects]

    @cached_property
    def words(self) -> dict[str, dict[str, int]]:
        """Question -> word -> how many of its statements about risk have it as the answer."""
        found = {key: [answer.cells[key].word for _, answer in self.of("risk")] for key in ASKED}
        return {key: {word: own.count(word) for word in WORDS} for key, own in found.items()}

    def alone(self, *subjects: str) -> dict[str, int]:
        """Word -> how many of its statements that are asked one thing have it as the answer."""
        return Counter(answer.word for _, answer in self.of(*subjects))

    @property
    def rows(self) -> list[Answered]:
        """Its table: statements about risk, and theorems on privacy that none of these names."""
        risk = self.of("risk")
        named = {id for claim, _ in risk for row in claim.rows[:1] for id in row.noise_of or ()}
        return [*risk, *(one for one in self.of("privacy") if one[0].id not in named)]

    @property
    def answers(self) -> ReportTable:
        """The three answers of each of its statements, as a row."""
        columns = {"Statement": STATEMENT, **{title: _asked(key) for key, title in rules.QUESTIONS.items()}}
        note = f"Marks: {'; '.join(f'{mark}, {meaning}' for mark, meaning in MARKS.items())}."
        return ReportTable(f"{self.paper}.answers", f"{self.name}: the answers", columns, self.rows, symbols(note))

    @property
    def counts(self) -> ReportTable:
        columns = {"Statement": STATEMENT, "As stated": _asked("printed"), "With private noise": _asked("private")}
        return ReportTable(f"{self.paper}.counts", "Counts and laws", columns, self.of("count", "law"))


def _asked(key: str) -> Column:
    """Make the column of a question; a dot where that is not asked."""

    def show(row: Answered) -> str:
        return symbols(row[1].cells[key].short) if key in row[1].cells else md.ABSENT

    def tone(row: Answered) -> str:
        return TONES[row[1].cells[key].word] if key in row[1].cells else "plain"

    return Column(show, raw=key, kind="verdict", tone=tone)


def papers_table(lines: Sequence[PaperLine]) -> ReportTable:
    def told(words: Mapping[str, int]) -> str:
        return ", ".join(f"{words[word]} {word}" for word in WORDS if words[word]) or md.ABSENT

    columns: dict[str, Column] = {
        "Paper": Column("name", raw={"paper": "paper"}, link=leads_to("paper", kind="paper")),
        "About risk": Number(lambda line: len(line.of("risk")), str, "risk"),
    }
    for key in ASKED:
        raw = {f"{key}_{word.replace(' ', '_')}": f"words.{key}.{word}" for word in WORDS}
        columns[rules.QUESTIONS[key]] = Column(f"words.{key}", told, raw)
    columns["On privacy"] = Column(lambda line: told(line.alone("privacy")), raw="privacy")
    columns["Counts and laws"] = Column(lambda line: told(line.alone("count", "law")), raw="counts")
    columns["Errata"] = Number(lambda line: len(load_errata(line.paper)), raw="errata")
    return ReportTable("papers", "All papers", columns, lines)


STATEMENT = Column(lambda row: symbols(statement(row[0].claim)), raw={"claim": "0.id"}, link=leads_to("0.id"))
MARKS = {  # mark of an answer -> what it means
    "s": "by the schedule: this share of the risk is there without noise",
    "c": "for a constant of at least this, which the theorem leaves open",
    "q": "the query sequence has this eps, and the output is not known to exceed the claim",
    "r": "noise recalled from a cited paper",
    "b": "a bound alone, of which the risk is at most this share",
    "E1": "noise as this erratum corrects it",
    "*": "the constants of the instance are nominal",
}


def claims_table(inputs: Inputs) -> ReportTable:
    columns: Columns = {
        "Claim": Column("id", raw="claim", kind="code", link=leads_to("id")),
        "About": Column(lambda claim: inputs.answers[claim.id].subject, raw="subject"),
        "Answer": Column(lambda claim: inputs.answers[claim.id].text, symbols, "answer", kind="prose"),
    }
    rows = [claim for paper in inputs.papers for claim in inputs.of_paper(paper)]
    return ReportTable("claims", f"All claims, profile {inputs.profile}", columns, rows)


def papers_figure(lines: Sequence[PaperLine]) -> Figure:
    """Draw three stacked bars a paper, one for each question, below its name."""
    height = len(lines) * (4 * ROW + GAP) + 0.42
    figure = Figure(figsize=(WIDTH, height))
    box = (LEFT / WIDTH, 0.05 / height, (WIDTH - LEFT - 0.05) / WIDTH, (height - 0.42) / height)
    axes = figure.add_axes(box)
    most = max((len(line.of("risk")) for line in lines), default=1) or 1
    y, step = 0.0, GAP / ROW
    for line in lines:
        axes.text(0, y, line.name, ha="left", va="center", size=8.5, color=INK)
        for place, key in enumerate(ASKED, start=1):
            left, words = 0, line.words[key]
            for word, colour in COLOURS.items():
                wide, ink = words[word], "white" if word in DARK else INK
                axes.barh(y + place, wide, BAR, left=left, color=colour, edgecolor="white", linewidth=0.8)
                if wide:
                    middle, shown = (left + wide / 2, y + place), str(wide)
                    axes.text(*middle, shown, ha="center", va="center", size=7.5, color=ink, weight="bold")
                left += wide
            axes.text(-0.012 * most, y + place, BARS[key], ha="right", va="center", size=7.5, color=FAINT)
        y += 4.0 + step
    axes.set_xlim(0, most * 1.02)
    axes.set_ylim(y - step - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    bare(axes)
    x = LEFT
    for word, colour in COLOURS.items():
        figure.text(x / WIDTH, 1 - 0.14 / height, "■", va="center", size=10, color=colour)
        figure.text((x + 0.15) / WIDTH, 1 - 0.14 / height, word, va="center", size=8.5, color=INK)
        x += 0.4 + 0.075 * len(word)
    return figure


@dataclass(frozen=True)
class SiteContent:
    """The results of a profile as the pages read them."""

    inputs: Inputs
    figures: Path  # folder of the figures of claims, boards and papers; those that are missing are left out
    own: Path = Path()  # folder of the figures that the site draws itself
    short: bool = False  # for the one file to mail, which leaves out code and the figures of single claims

    @cached_property
    def names(self) -> dict[str, str]:
        """Paper -> its authors and year, from the first claim whose source has them: audits are ours, and name none."""
        sources = [(claim.paper, re.match(r".*?\b(?:19|20)\d\d\b", claim.claim.source)) for claim in self.inputs.claims]
        found = {paper: name[0] for paper, name in reversed(sources) if name}
        return {paper: found.get(paper, paper) for paper in self.inputs.papers}

    @cached_property
    def lines(self) -> list[PaperLine]:
        claims, answers = self.inputs.of_paper, self.inputs.answers
        return [
            PaperLine(paper, name, [(c, answers[c.id]) for c in claims(paper)]) for paper, name in self.names.items()
        ]

    @cached_property
    def corrected(self) -> dict[tuple[str, str], str]:
        """(method, variant) -> the erratum that corrects its noise; a part that compares several does not say whose."""
        found = {}
        for claim, job in self.inputs.all_jobs():
            part = claim.parts.get(job.part)
            alone = len({cell.algorithm for cell in job.cells}) == 1
            if part and part.amended and alone and job.calibration == "paper":
                for cell, fixed in zip(job.cells, claim.calibrations(job), strict=False):
                    if isinstance(fixed, CalibratedCell):
                        found[cell.algorithm, fixed.variant] = part.amended
        return found

    @cached_property
    def errata(self) -> dict[str, list[Erratum]]:
        return {paper: load_errata(paper) for paper in self.inputs.papers}

    @cached_property
    def algorithms(self) -> list[str]:
        """Methods that have a page: those of the papers of this profile, and others that it runs."""
        jobs = [job for _, job in self.inputs.all_jobs()]
        jobs += [job for board in self.inputs.boards for job in board.entry.jobs]
        used = {cell.algorithm for job in jobs for cell in job.cells}
        return [id for id in list_algorithms() if id in used or id.partition(".")[0] in self.inputs.papers]

    @cached_property
    def audits(self) -> list[Verdict]:
        return known_audits(self.inputs.rows)

    @cached_property
    def ledger(self) -> ReportTable:
        return privacy_table(self.inputs)

    def drawn(self, name: str) -> bool:
        return (self.figures / f"{name}.svg").is_file()

    def figure(self, name: str, alt: str, up: str = "") -> str:
        """Show a figure of the results, if it was drawn. ``up`` leads from the page to the root."""
        file = self.figures / f"{name}.svg"
        return md.figure(f"{up}figures/claims/{file.name}", alt, file) if self.drawn(name) else ""
