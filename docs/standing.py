"""How every claim stands in the recorded runs.

`python docs/standing.py` writes docs/standing.md and the README's sentences.

One line a claim: its standing and the sentence that answers it, both made from
the recorded verdicts by the function that the report and the terminal use.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from dpsco_bench.analysis.answer import STANDINGS, Answer, answers, headline
from dpsco_bench.analysis.answer_rows import AnswerRow
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claim, read_claims
from dpsco_bench.claims.model import Part
from dpsco_bench.claims.parsing import expected_words
from dpsco_bench.cli.verdict_table import answers_text
from dpsco_bench.execution.progress import duration
from dpsco_bench.jsonio import loads

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {"ci": "every claim at reduced sizes", "full": "the complete replication"}
"""Profile -> what it is: those whose record says of each verdict what its noise is, which a standing rests on."""
SHOWN = "wang2017.thm4.2"
"""Claim whose answer the README shows."""


def recorded(profile: str) -> dict[str, Answer]:
    """Claim -> its answer in the recorded verdicts of a profile."""
    return answers(read_record(ROOT / "workflows" / "recorded" / f"{profile}.json"))


def headline_of(profile: str) -> str:
    """All claims in three sentences, such as ``Of 107 theorems, rows and figures 22 hold ...``."""
    said = headline(found.standing for found in recorded(profile).values())
    return f"{said[0].upper()}{said[1:]}."


def claim_answer(profile: str, claim: str) -> str:
    """What `claim` prints first of a claim, from the recorded verdicts."""
    rows = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")
    return answers_text([row for row in rows if row.id == claim])


def overview(found: Mapping[str, Answer]) -> list[str]:
    """Papers against standings."""
    counts = Counter((claim.partition(".")[0], answer.standing) for claim, answer in found.items())
    papers = sorted({paper for paper, _ in counts})
    seen = [standing for standing in STANDINGS if any(counts[paper, standing] for paper in papers)]
    lines = ["| paper | " + " | ".join(seen) + " |", "| --- |" + " ---: |" * len(seen)]
    for paper in papers:
        lines.append(f"| {paper} | " + " | ".join(str(counts[paper, standing] or "") for standing in seen) + " |")
    return lines


def page() -> str:
    """The whole page, Markdown."""
    titles = {claim.id: claim.title for claim in read_claims()}
    lines = [
        "# How the claims stand",
        "",
        "A claim counts once, however many rows it has. `dpsco claim ID` measures it again, with every row's reason.",
        "[How to read a verdict](verdicts.md#what-a-claim-comes-to) says what each standing means.",
    ]
    for profile, what in PROFILES.items():
        found = recorded(profile)
        lines += ["", f"## Profile {profile}: {what}", "", headline_of(profile), "", *overview(found)]
        lines += ["", *left_open(profile)]
        for paper in sorted({claim.partition(".")[0] for claim in found}):
            lines += ["", f"### {paper}, {profile}", "", "| claim | standing | answer |", "| --- | --- | --- |"]
            own = {claim: answer for claim, answer in found.items() if claim.partition(".")[0] == paper}
            for claim, answer in own.items():
                lines.append(
                    f"| `{claim}`: {_cell(titles.get(claim, ''))} | {answer.standing} | {_cell(answer.text)} |"
                )
        lines += ["", f"### Other than expected, {profile}", "", *unexpected(profile)]
    return "\n".join(lines) + "\n"


ALLOWED = {"ci": 15, "full": 5}
"""Most rows that this project aims to leave inconclusive."""


def left_open(profile: str) -> list[str]:
    """How many rows are inconclusive, and which, where they are more than aimed at."""
    rows = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")
    found = [row for row in rows if row.verdict.startswith("inconclusive")]
    missed = f". The goal, at most {ALLOWED[profile]}, is missed."
    said = missed if len(found) > ALLOWED[profile] else f"; the goal is at most {ALLOWED[profile]}."
    return [
        f"Of {len(rows):,} rows {len(found)} are inconclusive{said}",
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
    """The last clause of a row's sentence."""
    return row.sentence.rpartition("; ")[2].removeprefix("it takes ")


def _note(row: Verdict) -> str:
    """What its claim's file says of the part."""
    return _cell(" ".join(_part(row).note.split()))


def _part(row: Verdict) -> Part:
    return next(part for part in read_claim(row.id).parts if part.id == row.part)


def _costs(row: Verdict, profile: str) -> str:
    """What so many times the replicates take, by the record of the run that the row is read from."""
    times = re.search(r"about ([\d,]+) times the replicates", row.sentence)
    if not times:
        return "-"
    seconds = loads((ROOT / "workflows" / "seconds" / f"{profile}.json").read_text(encoding="utf-8"))[row.id]
    of = sum(seconds[f"{name}.{row.calibration}"][1] for name in (_part(row).uses or (row.part,)))
    return duration(float(times[1].replace(",", "")) * of)


def unexpected(profile: str) -> list[str]:
    """The rows that say something else than their claim's file expects."""
    rows = [row for row in read_record(ROOT / "workflows" / "recorded" / f"{profile}.json") if row.expected]
    named = [
        row for row in rows if expected_words(row.expected, row.calibration) and AnswerRow(row).says and not row.beside
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
    """Write the page, and into the README the sentences on profile full and the answer of one claim."""
    target.write_text(page(), encoding="utf-8")
    said = f"{headline_of('full')} {left_open('full')[0]}"
    quoted = "\n".join(f"> {line}" for line in textwrap.wrap(said, 120))
    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"(?<=In profile `full`:\n\n)(?:> .*\n)+", quoted + "\n", text)
    answer = claim_answer("ci", SHOWN)
    text = re.sub(rf"(?<=dpsco_bench claim {re.escape(SHOWN)}\n)[^`]*?(?=\.\.\.\n)", answer + "\n", text)
    rows = len(read_record(ROOT / "workflows" / "recorded" / "ci.json"))
    text = re.sub(r"(?<=\n0 of )\d+(?= verdicts changed)", str(rows), text)
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
