"""Every verdict whose word changed since before 1.0.0, and why: `python docs/changes.py` writes docs/changes.md.

The lines are those of workflows/recorded/changes, which a test compares with the recorded verdicts.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

from dpsco_bench.analysis.changes import Change, changed, known_rules, read_before, read_changes, read_reserved, removed
from dpsco_bench.analysis.record import read_record

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "workflows" / "recorded" / "changes"
PROFILES = ("ci", "full")
"""Profiles whose record is of these rules."""


NUMBERS = (
    "Three words stayed and changed the real epsilon in their brackets, in every profile that has them. They are for "
    "the paper's noise of `gopi2022.thm3.privacy` delta-1e-5 (19.9 before, 8.46 now), and of `gopi2022.thm4.privacy` "
    "delta-1e-5 (19.9, 13.1) and delta-1e-6 (8.19, 5.6). The value is that of the worst pair of laws that a search "
    "finds, in place of the theorem's bound."
)


def standing_lines(profile: str) -> list[Change]:
    """The lines that tell of a recorded word of a profile, sorted by claim and part."""
    verdicts, before = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json"), read_before(FOLDER)
    words = changed(before, verdicts) | removed(before, verdicts)
    told = [line for line in read_changes(FOLDER) if words.get(line.place) == (line.old, line.new)]
    return sorted(told, key=lambda line: line.place)


def page() -> str:
    """The whole page, Markdown."""
    lines = ["# Change log: words of verdicts", ""]
    lines += ["Old words are those of a record from before version 1.0.0, at its rules and instances."]
    lines += ["", NUMBERS]
    for profile in PROFILES:
        found = standing_lines(profile)
        counts = Counter(line.because for line in found)
        lines += ["", f"## Profile {profile}: {len(found)} verdicts", "", "| because | verdicts | what it is |"]
        lines += ["| --- | ---: | --- |"]
        lines += [f"| {rule} | {count} | {known_rules()[rule]} |" for rule, count in counts.most_common()]
        lines += ["", *_reserved(profile)]
        for paper, own in groupby(found, key=lambda line: line.claim.partition(".")[0]):
            lines += ["", f"### {paper}, {profile}", "", "| claim, part, noise | old | new | because | reason |"]
            lines += ["| --- | --- | --- | --- | --- |", *map(_row, own)]
    return "\n".join(lines) + "\n"


def _reserved(profile: str) -> list[str]:
    """How many words stayed and got a reservation, by word; the lines themselves stand in a file."""
    rows = read_record(ROOT / "workflows" / "recorded" / f"{profile}.json")
    said = {(row.profile, row.id, row.part, row.calibration): row.said for row in rows}
    found = [line for line in read_reserved(FOLDER) if said.get(line.place) == line.new]
    counts = Counter(line.new.partition(", ")[2] for line in found)
    told = " and ".join(f"{count} `{name}`" for name, count in counts.most_common())
    rules = {line.because for line in found}
    why = "; ".join(f"{rule}: {known_rules()[rule]}" for rule in sorted(rules))
    return [
        f"{len(found)} more words stayed and got a reservation ({told}). {why[:1].upper()}{why[1:]}. They stand in "
        "`workflows/recorded/changes/reserved.csv`."
    ]


def _row(line: Change) -> str:
    place = f"`{line.claim}` {line.part}, {line.calibration}"
    cells = [place, line.old, line.new, line.because, line.reason]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    (ROOT / "docs" / "changes.md").write_text(page(), encoding="utf-8")
