"""Numbers and words of findings, read from the results: a cell of a verdict row, of a board, or a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.analysis.standings import RANKED, TRIVIAL
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.entries import build_checked
from dpsco_bench.claims.model import RISK
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.report.inputs import NOT_MEASURED, ClaimResults
from dpsco_bench.site.content import Content

Value = float | str
TAKES: Mapping[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "sum": math.fsum}
PERCENT = "percent"


class NotMeasured(Exception):
    """What a reference reads is no part of this profile, or could not be run here."""


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
        return 100.0 * abs(float(found[0]) - 1.0) if self.error == PERCENT else _taken(found, self.take, where)

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
    """

    kind: str
    words: list[str] = field(default_factory=list)
    calibration: str = ""
    reserved: str = ""

    def __contains__(self, row: Verdict) -> bool:
        return (
            row.kind == self.kind
            and (not self.words or row.word in self.words)
            and self.calibration in ("", row.calibration)
            and (not self.reserved or self.reserved in row.reserved)
        )


@dataclass(frozen=True)
class OfRows:
    """How many verdicts of the statements there are; those beside them do not count."""

    rows: RowsAsked

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        return float(sum(score.row in self.rows for score in content.scores if not score.row.beside))


@dataclass(frozen=True)
class OfBoard:
    """A column of a board's instance, of its points or of methods there; ``at`` a point, ``take`` as of a claim."""

    board: str
    instance: str
    column: str
    at: Mapping[str, float] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    take: str | int | None = None

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        rows = _standings(content, self.board)
        here = [row for row in rows if row.instance == self.instance and _lies_at(row, self.at)]
        if not here:
            raise NotMeasured(f"{self.board} has no such point in profile {content.inputs.profile}")
        if not self.methods:
            return _taken([getattr(row, self.column) for row in here], self.take, where)
        wanted = set(self.methods)
        found = [getattr(method, self.column) for row in here for method in row.methods if method.method in wanted]
        if not found:
            raise NotMeasured(f"{', '.join(sorted(wanted))} did not run there")
        return _taken(found, self.take, where)


@dataclass(frozen=True)
class OfPoints:
    """How many decided points a board's instances have (all of them by default)."""

    points: str
    instances: list[str] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        return float(len(_decided(content, self.points, self.instances)))


@dataclass(frozen=True)
class OfWins:
    """At how many of these points a method of ``methods`` has the least mean risk."""

    wins: str
    methods: list[str]
    instances: list[str] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        return float(sum(row.winner in self.methods for row in _decided(content, self.wins, self.instances)))


@dataclass(frozen=True)
class OfFrontier:
    """The largest ``n epsilon/sqrt(d)`` of a decided point at which the starting point shares the first place."""

    frontier: str
    instances: list[str] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        here = _decided(content, self.frontier, self.instances)
        found = [row.n * row.epsilon / math.sqrt(row.d) for row in here if TRIVIAL in row.tied]
        if not found:
            raise NotMeasured(f"a method beats the starting point everywhere on {self.frontier}")
        return max(found)


@dataclass(frozen=True)
class OfSearch:
    """The least private risk over that of the public grid search at decided points.

    ``take`` as of a claim, or ``median``; ``count`` is the number of these points, ``above`` that of ratios above 1.
    """

    search: str
    take: str
    instances: list[str] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        found = []
        for row in _decided(content, self.search, self.instances):
            risks = [method.risk for method in row.methods if method.ranked]
            if row.search and row.search.risk > 0 and risks:
                found.append(min(risks) / row.search.risk)
        if not found:
            raise NotMeasured(f"nothing is searched on {self.search}")
        words = {"count": float(len(found)), "above": float(sum(ratio > 1 for ratio in found)), "median": median(found)}
        return words[self.take] if self.take in words else _taken(found, self.take, where)


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
        return words[self.accounted] if self.accounted in words else _taken(found, self.accounted, where)


@dataclass(frozen=True)
class OfErrata:
    """How many errata a paper has, or ``all``."""

    errata: str

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        papers = content.inputs.papers if self.errata == "all" else [self.errata]
        return float(sum(len(content.errata.get(paper, ())) for paper in papers))


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


Reference = OfClaim | OfRows | OfBoard | OfWins | OfPoints | OfFrontier | OfSearch | OfAccounted | OfErrata | Over
FORMS: Mapping[str, type[Reference]] = {
    **{"claim": OfClaim, "rows": OfRows, "board": OfBoard, "wins": OfWins, "points": OfPoints},
    **{"frontier": OfFrontier, "search": OfSearch, "accounted": OfAccounted, "errata": OfErrata, "over": Over},
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


def _standings(content: Content, id: str) -> list[Standing]:
    boards = [board for board in content.inputs.boards if board.id == id]
    return [row for board in boards for row in board.rows if isinstance(row, Standing)]


def _decided(content: Content, id: str, instances: Collection[str]) -> list[Standing]:
    """Decided points of a board's instances."""
    rows = _standings(content, id)
    wanted = set(instances) or {row.instance for row in rows}
    here = [row for row in rows if row.instance in wanted and row.runner_up is not None and not row.contenders]
    if not here or not wanted <= {row.instance for row in here}:
        raise NotMeasured(f"{id} has not all of these instances in profile {content.inputs.profile}")
    return here


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


def _taken(found: Sequence[Any], take: str | int | None, where: str) -> Value:
    """The one value, the one of an index, or the least or largest of several."""
    if isinstance(take, int):
        return float(found[take])
    if take is None and len(found) == 1:
        return found[0] if isinstance(found[0], str) else float(found[0])
    if take is None or take not in TAKES:
        raise InputError(f"{where}: take", take, f"an index or one of {', '.join(TAKES)}, for {len(found)} values")
    numbers = [float(value) for value in found if value is not None and not math.isnan(value)]
    if not numbers:
        raise InputError(where, list(found), "a reference to numbers")
    return TAKES[take](numbers)


def _lies_at(row: Standing, point: Mapping[str, float]) -> bool:
    return all(math.isclose(getattr(row, key), value) for key, value in point.items())
