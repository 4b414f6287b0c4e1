"""Verdicts whose word changed since an earlier record, each with the rule or the correction that changed it.

``workflows/recorded/changes`` holds ``before.csv``, the words then, and files of lines: ``rules.csv``, which recording
writes for what the rules changed, and any other, written by hand for what the correction of a paper changed. In
``reserved.csv`` the word stayed and got a reservation by a rule; old and new are `Verdict.said` there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from dpsco_bench.analysis.certified import uncertified
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import SKIPPED, all_kinds, get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import write_atomic

BEFORE, RULES, RESERVED = "before.csv", "rules.csv", "reserved.csv"
REMOVED = "removed"
"""New word of a verdict that is not given any more."""
Place = tuple[str, str, str, str]
"""Profile, claim, part, calibration."""
BECAUSE: Mapping[str, str] = {
    "axis": "slopes are fitted in what the exponent is about",
    "tolerance": "a tolerance is at most 0.25, and at most a quarter of the exponent unless that is below 0.08",
    "equivalence": "the whole interval has to lie within the tolerance, or beyond it",
    "joint resampling": "replicates that cells have in common are resampled together",
    "certificate": "no number of chains that are not certified is compared",
    "formula": "which formula or term the part is compared with",
    "instance": "the instance, its sizes or its signals",
    "replicates": "more replicates or sizes decide what was left open",
    "algorithm": "what the algorithm or its schedule does",
    "noise behind it": "a word that rests on noise which is not proven private says so, whatever its kind",
}
"""What can change a word of any kind."""


@dataclass(frozen=True)
class Change:
    """One verdict whose word changed; a line of the files.

    Attributes
    ----------
    old, new : str, the words (`Verdict.form`)
    because : str, a name of `known_rules`
    reason : str, one sentence for readers
    """

    profile: str
    claim: str
    part: str
    calibration: str
    old: str
    new: str
    because: str
    reason: str

    @property
    def place(self) -> Place:
        return self.profile, self.claim, self.part, self.calibration


def known_rules() -> dict[str, str]:
    """Everything that can change a word: what holds for all kinds, and what each kind adds (`Kind.rules`)."""
    return dict(BECAUSE) | {name: text for kind in all_kinds() for name, text in kind.rules.items()}


def read_before(folder: Path) -> dict[Place, str]:
    """The words of the earlier record."""
    rows = _rows(folder / BEFORE)
    return {(r["profile"], r["claim"], r["part"], r["calibration"]): r["word"] for r in rows}


def read_changes(folder: Path, leave_out: Iterable[str] = (RESERVED,)) -> list[Change]:
    """All lines of all files but the named ones; of two on one change, that of ``rules.csv`` gives way.

    Raises InputError for a line with other columns, a reason of no kind, or two lines on one change.
    """
    found: dict[tuple[str, ...], Change] = {}
    for path in sorted(folder.glob("*.csv"), key=lambda path: (path.name == RULES, path.name)):
        for number, row in enumerate(_rows(path) if path.name not in (BEFORE, *leave_out) else (), 2):
            where = f"{path.name}, line {number}"
            if set(row) != {field.name for field in fields(Change)} or None in row.values():
                raise InputError(where, list(row), "columns " + ", ".join(field.name for field in fields(Change)))
            change = Change(**row)
            if change.because not in known_rules() or not change.reason:
                allowed = "one of " + ", ".join(known_rules()) + ", with a reason"
                raise InputError(f"{where}: because", change.because, allowed)
            if (*change.place, change.new) in found and path.name != RULES:
                raise InputError(where, " ".join(change.place), "one line for each change")
            found.setdefault((*change.place, change.new), change)
    return list(found.values())


def read_reserved(folder: Path) -> list[Change]:
    """Verdicts whose word stayed and got a reservation by a rule."""
    others = [path.name for path in folder.glob("*.csv") if path.name != RESERVED]
    return read_changes(folder, leave_out=others)


def changed(before: Mapping[Place, str], verdicts: Iterable[Verdict]) -> dict[Place, tuple[str, str]]:
    """Old and new word of every verdict that had another one; what is skipped on either side has not changed."""
    found = {}
    for row in verdicts:
        place = (row.profile, row.id, row.part, row.calibration)
        old = before.get(place, row.form)
        if old != row.form and SKIPPED not in (old, row.form):
            found[place] = (old, row.form)
    return found


def removed(before: Mapping[Place, str], verdicts: Sequence[Verdict]) -> dict[Place, tuple[str, str]]:
    """Words of verdicts that are no longer given, in the profiles of those that are."""
    there = {(row.profile, row.id, row.part, row.calibration) for row in verdicts}
    profiles = {row.profile for row in verdicts}
    return {place: (old, REMOVED) for place, old in before.items() if place[0] in profiles and place not in there}


def unexplained(before: Mapping[Place, str], verdicts: Sequence[Verdict], lines: Iterable[Change]) -> list[Place]:
    """Verdicts whose word changed, or that are gone, without a line that says so."""
    told = {(line.place, line.old, line.new) for line in lines}
    words = changed(before, verdicts) | removed(before, verdicts)
    return sorted(place for place, (old, new) in words.items() if (place, old, new) not in told)


def record_changes(folder: Path, profile: str, verdicts: Sequence[Verdict]) -> None:
    """Write ``rules.csv``: for a profile what changed by these verdicts and has no line elsewhere; the rest stays.

    A verdict that is only recorded has no reason with it: its line stays too. Where there is no earlier record, nothing
    has changed and nothing is written.
    """
    if not (folder / BEFORE).is_file():
        return
    before, own = read_before(folder), read_changes(folder, leave_out=[RULES, RESERVED])
    told = [line for line in read_changes(folder) if line not in own]
    kept = [line for line in told if line.profile != profile]
    known = {(*line.place, line.old, line.new): line for line in told}
    rows = {(row.profile, row.id, row.part, row.calibration): row for row in verdicts if row.profile == profile}
    words = changed(before, rows.values())
    new = [
        (not rows[place].reason and known.get((*place, *words[place])))
        or Change(*place, *words[place], *because(words[place][0], rows[place]))
        for place in unexplained(before, list(rows.values()), own)
        if place in words
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Change)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(line) for line in sorted([*kept, *new], key=astuple))
    write_atomic(folder / RULES, text.getvalue())


def because(old: str, row: Verdict) -> tuple[str, str]:
    """Which rule gives a verdict another word than before, and its own reason, as far as the verdict shows it."""
    rule = "certificate" if uncertified(row) else get_kind(row.kind).changed_by(old, row)
    return rule, " ".join((row.reason or row.form).split())


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
