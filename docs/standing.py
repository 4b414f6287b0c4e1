"""How every claim is answered in the recorded runs.

`python docs/standing.py` writes docs/standing.md, and the README's counts and the answer that it shows.

One table a paper: the answers of every statement, made from the recorded
verdicts by the function that the report and the terminal use.
"""

from __future__ import annotations

import re
from pathlib import Path

from dpsco_bench.analysis.answer import NO, OPEN, QUESTIONS, UNTESTED, YES, Answer, answers, says
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claim, read_claims
from dpsco_bench.claims.model import Part
from dpsco_bench.claims.parsing import expected_words
from dpsco_bench.cli.verbs.gate import answers_text
from dpsco_bench.execution.progress import duration
from dpsco_bench.jsonio import loads
from dpsco_bench.report.verdicts import place
from dpsco_bench.site.content import MARKS

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {"ci": "every claim at reduced sizes"}
"""Profile -> what it is: those whose record has what the answers rest on."""
BEGIN, END = "<!-- counts -->", "<!-- end of counts -->"
SHOWN = "wang2017.thm4.2"
"""Claim whose answer the README shows."""


def recorded(profile: str) -> list[Verdict]:
    return read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")


ASKED = {
    "Does a statement about risk show with the printed noise?": ("printed", "risk"),
    "Is the printed noise of such a statement private?": ("noise", "risk"),
    "Does it show with private noise?": ("private", "risk"),
    "Is the printed noise of a privacy theorem private?": ("noise", "privacy"),
    "Is a count or law as stated?": ("printed", "count", "law"),
}
"""Question of the table of counts -> its key, and the subjects that are asked."""


def counts(profile: str) -> list[str]:
    """Tabulate how many statements have which answer."""
    found = answers(recorded(profile)).values()
    lines = ["| question | asked of | yes | no | open | not tested |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for question, (key, *subjects) in ASKED.items():
        words = [one.cells[key].word for one in found if one.subject in subjects]
        said = " | ".join(str(words.count(word)) for word in (YES, NO, OPEN, UNTESTED))
        lines.append(f"| {question} | {len(words)} | {said} |")
    return lines


def claim_answer(profile: str, claim: str) -> str:
    """Print what `claim` prints first of a claim, from the recorded verdicts."""
    rows = recorded(profile)
    return answers_text([row for row in rows if row.id == claim], rows)


def page() -> str:
    lines = [
        "# How the claims stand",
        "",
        "We ask two questions of every theorem, table row and figure: does it show, and is its noise private?",
        "[How to read a verdict](verdicts.md#two-questions) explains the four words. `dpsco claim ID` measures a claim",
        "again, with every row's reason.",
        "",
        "| mark | meaning |",
        "| --- | --- |",
        *(f"| `{mark}` | {meaning} |" for mark, meaning in MARKS.items()),
    ]
    for profile, what in PROFILES.items():
        found = answers(recorded(profile))
        lines += ["", f"## Profile {profile}: {what}", "", *counts(profile), "", *left_open(profile)]
        for paper in sorted({claim.partition(".")[0] for claim in found}):
            own = {claim: one for claim, one in found.items() if claim.partition(".")[0] == paper}
            lines += ["", f"### {paper}, {profile}", "", *_table(own)]
        lines += ["", f"### Other than expected, {profile}", "", *unexpected(profile)]
    return "\n".join(lines) + "\n"


CLAIMS = {claim.id: claim for claim in read_claims()}


def _table(found: dict[str, Answer]) -> list[str]:
    """Tabulate the answers of a paper: statements about risk and privacy, then counts and laws."""
    keys = [*QUESTIONS]
    lines = [
        "| statement | " + " | ".join(QUESTIONS[key].lower() for key in keys) + " |",
        "| --- |" + " --- |" * len(keys),
    ]
    for claim, one in found.items():
        if one.subject in ("risk", "privacy"):
            cells = [one.cells[key].short if key in one.cells else "" for key in keys]
            lines.append(f"| {_named(claim)} | {' | '.join(map(_cell, cells))} |")
    stated = {claim: one for claim, one in found.items() if one.subject in ("count", "law")}
    lines += ["", "| count or law | as stated | with private noise, where it differs |", "| --- | --- | --- |"] * bool(
        stated
    )
    for claim, one in stated.items():
        cells = [one.cells[key].short if key in one.cells else "" for key in ("printed", "private")]
        lines.append(f"| {_named(claim)} | {' | '.join(map(_cell, cells))} |")
    return lines


def _named(claim: str) -> str:
    known = CLAIMS.get(claim)
    return f"`{claim.partition('.')[2]}`" + (f" {_cell(place(known))}" if known else "")


def left_open(profile: str) -> list[str]:
    """Count the inconclusive rows, and list them."""
    rows = recorded(profile)
    found = [row for row in rows if row.verdict.startswith("inconclusive")]
    return [
        f"Of {len(rows):,} rows {len(found)} are inconclusive.",
        "",
        "| row | what it would take, by its verdict | processor time | its claim's note |",
        "| --- | --- | ---: | --- |",
        *(
            f"| `{row.id}` {row.part}, {row.calibration} | {_takes(row)} | {_costs(row, profile)} | {_note(row)} |"
            for row in found
        ),
        "",
        "A time is that of the run on record, times the replicates; a run serves all orderings that are read from it.",
    ]


def _takes(row: Verdict) -> str:
    """Return the last clause of a row's sentence."""
    return row.sentence.rpartition("; ")[2].removeprefix("it takes ")


def _note(row: Verdict) -> str:
    """Read the note of the part in its claim's file."""
    return _cell(" ".join(_part(row).note.split()))


def _part(row: Verdict) -> Part:
    return next(part for part in read_claim(row.id).parts if part.id == row.part)


def _costs(row: Verdict, profile: str) -> str:
    """Estimate the time of so many times the replicates from the recorded run behind the row."""
    times = re.search(r"about ([\d,]+) times the replicates", row.sentence)
    if not times:
        return "-"
    seconds = loads((ROOT / "workflows" / "seconds" / f"{profile}.json").read_text(encoding="utf-8"))[row.id]
    of = sum(seconds[f"{name}.{row.calibration}"][1] for name in (_part(row).uses or (row.part,)))
    return duration(float(times[1].replace(",", "")) * of)


def unexpected(profile: str) -> list[str]:
    """List the rows whose word differs from the one that their claim's file expects."""
    rows = [row for row in recorded(profile) if row.expected]
    named = [
        row
        for row in rows
        if expected_words(row.expected, row.calibration) and (says(row) or row.kind == "privacy") and row.counted
    ]
    others = [row for row in named if not {row.word, row.verdict} & {*expected_words(row.expected, row.calibration)}]
    lines = [
        f"Of {len(named)} rows that count in an answer and have an expectation {len(others)} say something else. An "
        "expectation is that of earlier studies or of the file's author. It is shown and never used. `dpsco claim ID` "
        "gives the reason of each.",
        "",
        "| claim | part | noise | expected | found |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in others:
        words = " or ".join(expected_words(row.expected, row.calibration))
        lines.append(f"| `{row.id}` | {row.part} | {row.calibration} | {words} | {row.verdict} |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write(readme: Path = ROOT / "README.md", target: Path = ROOT / "docs" / "standing.md") -> None:
    """Write the page, and into the README the counts of profile ci and the answer of one claim."""
    target.write_text(page(), encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    shown = "\n".join([BEGIN, *counts("ci"), END])
    text = re.sub(f"{BEGIN}(?s:.*){END}", lambda _: shown, text)
    answer = claim_answer("ci", SHOWN)
    text = re.sub(rf"(?<=dpsco_bench claim {re.escape(SHOWN)}\n)[^`]*?(?=\.\.\.\n)", lambda _: answer + "\n", text)
    rows = len(read_record(ROOT / "workflows" / "recorded" / "ci.json"))
    text = re.sub(r"(?<=\n0 of )\d+(?= verdicts changed)", str(rows), text)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
