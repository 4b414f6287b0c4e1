"""Numbers and words of findings, read from the results: a cell of a verdict row, of a board, or a count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from dpsco_bench.analysis.standings import RANKED
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.entries import build_checked
from dpsco_bench.claims.erratum import CHANGES
from dpsco_bench.claims.model import RISK
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.report.inputs import NOT_MEASURED, ClaimResults
from dpsco_bench.site.board_values import (
    NotMeasured,
    OfBoard,
    OfFrontier,
    OfGain,
    OfPoints,
    OfRan,
    OfSearch,
    OfUndecided,
    OfWinners,
    OfWins,
    Value,
    taken,
)
from dpsco_bench.site.content import Content

PERCENT = "percent"


@dataclass(frozen=True)
class OfClaim:
    """Cells of verdict rows of a claim.

    Attributes
    ----------
    column : str, of the row, an entry of a mapping behind a dot; ``verdict``, or ``standing`` for the claim's
    part, parts : str, list of str, one row or several
    at : float or None, the cell at this value of the swept parameter
    take : int, str or None, of several cells the one of an index, or their ``min``, ``max`` or ``sum``
    error : str, ``percent`` of a ratio: how far it is from 1
    """

    claim: str
    column: str
    part: str = ""
    parts: list[str] = field(default_factory=list)
    calibration: str = "paper"
    at: float | None = None
    take: str | int | None = None
    error: str = ""

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        claim = next((claim for claim in content.inputs.claims if claim.id == self.claim), None)
        if claim is None:
            raise NotMeasured(f"{self.claim} is not in profile {content.inputs.profile}")
        if self.column == "standing":
            return content.claims[claim.id].standing
        rows = [_row(claim, part, self.calibration, where) for part in self.parts or [self.part]]
        found = [value for row in rows for value in self._cells(row, where)]
        return 100.0 * abs(float(found[0]) - 1.0) if self.error == PERCENT else taken(found, self.take, where)

    def _cells(self, row: Verdict, where: str) -> list[Any]:
        """The entries of a row that are meant: all cells, or the one at a value of the swept parameter."""
        found = _entry(row, self.column, where)
        listed = list(found) if isinstance(found, tuple | list) else [found]
        if self.at is None:
            return listed
        here = [entry for entry, value in zip(listed, row.values, strict=False) if math.isclose(value, self.at)]
        if not here:
            raise NotMeasured(f"{row.id} {row.part} has no cell at {self.at:g} in profile {row.profile}")
        return here


@dataclass(frozen=True)
class RowsAsked:
    """Which verdicts are counted: of a kind, and of words, calibration and a reservation what is given.

    Of ``privacy`` under the calibration ``paper`` these are the verdicts of `report.opening.on_printed_noise`.

    Attributes
    ----------
    claims, parts : list of str, verdicts of these alone, where they are given
    recalled : bool, whether only those on noise recalled of a cited source are counted
    distinct : bool, whether claims are counted that have such a verdict, in place of verdicts
    """

    kind: str
    words: list[str] = field(default_factory=list)
    calibration: str = ""
    reserved: str = ""
    claims: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    recalled: bool = False
    distinct: bool = False

    def __contains__(self, row: Verdict) -> bool:
        return (
            row.kind == self.kind
            and (not self.words or row.word in self.words)
            and self.calibration in ("", row.calibration)
            and (not self.reserved or self.reserved in row.reserved)
            and (not self.recalled or bool(row.recalled))
            and (not self.claims or row.id in self.claims)
            and (not self.parts or row.part in self.parts)
        )


@dataclass(frozen=True)
class OfRows:
    """How many verdicts of the statements there are, or claims with such; verdicts beside them do not count."""

    rows: RowsAsked

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        found = self.counted(content)
        return float(len({row.id for row in found}) if self.rows.distinct else len(found))

    def counted(self, content: Content) -> list[Verdict]:
        """These verdicts."""
        return [score.row for score in content.scores if not score.row.beside and score.row in self.rows]


@dataclass(frozen=True)
class OfAccounted:
    """The risk with accounted noise over that with the printed noise, where both are proven private.

    Pairs are cells of sweeps that ran under both, at the same (epsilon, delta). ``accounted`` is ``median``, or as
    ``take`` of a claim; ``count`` is the number of pairs, ``sweeps`` that of the sweeps.
    """

    accounted: str

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        sweeps = list(_both_private(content))
        found = [ratio for ratios in sweeps for ratio in ratios]
        if not found:
            raise NotMeasured(f"nothing is private under both noises in profile {content.inputs.profile}")
        words = {"count": float(len(found)), "sweeps": float(len(sweeps)), "median": median(found)}
        return words[self.accounted] if self.accounted in words else taken(found, self.accounted, where)


@dataclass(frozen=True)
class OfCharged:
    """A number of the worst cell behind a verdict's privacy: ``n``, ``d``, or one of its theorem's schedule."""

    charged: str
    part: str
    column: str
    calibration: str = "paper"

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        name = (self.charged, self.part, self.calibration)
        scores = [s for s in content.scores if (s.row.id, s.row.part, s.row.calibration) == name]
        charged = scores[0].charged if scores else []
        worst = max(charged, key=lambda cell: cell.noise.severity, default=None)
        if worst is None:
            raise NotMeasured(f"{self.charged} {self.part} has no noise in profile {content.inputs.profile}")
        named = {**worst.calibrated.schedule, "n": worst.cell.n, "d": worst.calibrated.dimension}
        if self.column not in named:
            raise InputError(f"{where}: column", self.column, nearest(self.column, named))
        return float(named[self.column])


@dataclass(frozen=True)
class OfSpent:
    """The largest share of the claimed epsilon that the printed noise of some claims spends, over all their cells."""

    spent: list[str]

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        known_claims = [claim.id for claim in content.inputs.claims]
        for id in self.spent:
            if id not in known_claims:
                raise InputError(f"{where}: spent", id, nearest(id, known_claims))
        own = [s for s in content.scores if s.row.id in self.spent and s.row.calibration == "paper"]
        shares = [cell.real / cell.claimed for score in own for cell in score.charged if not math.isnan(cell.real)]
        if not shares:
            raise NotMeasured(f"{', '.join(self.spent)} have no noise in profile {content.inputs.profile}")
        return max(shares)


@dataclass(frozen=True)
class OfErrata:
    """How many errata a paper has, or ``all``.

    Attributes
    ----------
    by : str, counts those that a ``command`` checks, or only a ``hand``
    changes : str, counts those that change this, a word of `claims.erratum.CHANGES`
    """

    errata: str
    by: str = ""
    changes: str = ""

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        papers = content.inputs.papers if self.errata == "all" else [self.errata]
        found = [entry for paper in papers for entry in content.errata.get(paper, ())]
        if self.changes:
            if self.changes not in CHANGES:
                raise InputError(f"{where}: changes", self.changes, nearest(self.changes, CHANGES))
            found = [entry for entry in found if entry.changes == self.changes]
        how = {"": found, "command": [e for e in found if e.command], "hand": [e for e in found if not e.command]}
        if self.by not in how:
            raise InputError(f"{where}: by", self.by, "command or hand")
        return float(len(how[self.by]))


@dataclass(frozen=True)
class Times:
    """The product of values that stand before it."""

    times: list[str]

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        found = [known.get(name, "") for name in self.times]
        numbers = [value for value in found if not isinstance(value, str)]
        if not found or len(numbers) < len(found):
            raise InputError(where, self.times, "numbers")
        return math.prod(numbers)


@dataclass(frozen=True)
class Over:
    """The ratio of two values that stand before it."""

    over: list[str]

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        above, below = (known.get(name, "") for name in (*self.over, "", "")[:2])
        if isinstance(above, str) or isinstance(below, str) or not below or len(self.over) != 2:
            raise InputError(where, self.over, "two numbers, the second of them not 0")
        return above / below


OfOneBoard = OfBoard | OfWins | OfWinners | OfPoints | OfRan | OfGain | OfUndecided | OfFrontier | OfSearch
Reference = OfClaim | OfRows | OfOneBoard | OfAccounted | OfCharged | OfSpent | OfErrata | Times | Over
FORMS: Mapping[str, type[Reference]] = {
    **{"claim": OfClaim, "rows": OfRows, "board": OfBoard, "wins": OfWins, "winners": OfWinners, "points": OfPoints},
    **{"ran": OfRan, "gain": OfGain, "undecided": OfUndecided, "frontier": OfFrontier, "search": OfSearch},
    **{
        "accounted": OfAccounted,
        "charged": OfCharged,
        "spent": OfSpent,
        "errata": OfErrata,
        "times": Times,
        "over": Over,
    },
}
"""The key by which a reference says what it reads."""


def reference(entry: Any, where: str) -> Reference:
    """A reference of a file. Raises InputError for a wrong key.

    Parameters
    ----------
    where : str, what an error names
    """
    form = next((key for key in FORMS if isinstance(entry, Mapping) and key in entry), None)
    if form is None:
        raise InputError(where, entry, f"a reference with one of {', '.join(FORMS)}")
    if form == "rows":
        return OfRows(build_checked(RowsAsked, entry["rows"], f"{where}: rows"))
    made: Reference = build_checked(FORMS[form], entry, where)
    return made


def value_of(content: Content, asked: Reference, known: Mapping[str, Value], where: str) -> Value:
    """What a reference reads.

    Raises InputError if the results have a claim or board, and not what is read of it. Raises NotMeasured if the
    profile does not have it.

    Parameters
    ----------
    known : mapping, the values before it
    where : str, what an error names
    """
    return asked.value(content, known, where)


def _both_private(content: Content) -> Iterator[list[float]]:
    """Ratios of mean risks of each sweep that ran with accounted and with printed noise, both proven private.

    Sweeps of which all numbers are equal are the same runs, held against another formula, and are one.
    """
    found: dict[tuple[str, str], dict[str, Verdict]] = {}
    for score in content.scores:
        if score.part.rules.companion and score.part.quantity == RISK:
            found.setdefault((score.row.id, score.row.part), {})[score.row.calibration] = score.row
    seen = set()
    for (id, _), rows in found.items():
        private = {name: row for name, row in rows.items() if row.noise and row.noise.status in RANKED}
        if not {"accounted", "paper"} <= private.keys():
            continue
        accounted, paper = private["accounted"], private["paper"]
        runs = (id, accounted.values, accounted.mean, paper.values, paper.mean)
        if runs not in seen and accounted.values == paper.values:
            seen.add(runs)
            yield [above / below for above, below in zip(accounted.mean, paper.mean, strict=True) if below > 0]


def _row(claim: ClaimResults, part: str, calibration: str, where: str) -> Verdict:
    known = {(row.part, row.calibration): row for row in claim.rows}
    row = known.get((part, calibration))
    if row is None:
        names = [" ".join(key) for key in known]
        raise InputError(
            f"{where}: part of {claim.id}", f"{part} {calibration}", nearest(f"{part} {calibration}", names)
        )
    if row.skipped or row.verdict == NOT_MEASURED:
        raise NotMeasured(f"{claim.id} {part} is {row.word}")
    return row


def _entry(row: Verdict, column: str, where: str) -> Any:
    """An entry of a row by its name, that of a mapping or an object behind a dot: ``noise.epsilon_real``."""
    found: Any = row.word if column == "verdict" else None
    if found is None:
        found = row
        for name in column.split(".", 1):
            if isinstance(found, Mapping) and name not in found:
                raise NotMeasured(f"{row.id} {row.part} has no {name} in profile {row.profile}")
            found = found[name] if isinstance(found, Mapping) else getattr(found, name, None)
    if found is None:
        raise InputError(f"{where}: column of {row.id} {row.part}", column, "one that this row has")
    return found
