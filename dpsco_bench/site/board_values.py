"""Numbers and words of findings that are read of a leaderboard: counts of points, frontiers, searches, what is open."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.errors import InputError
from dpsco_bench.report.board import cost_text
from dpsco_bench.site.content import Content

Value = float | str
TAKES: Mapping[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "sum": math.fsum}


class NotMeasured(Exception):
    """What a reference reads is no part of this profile, or could not be run here."""


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
            return taken([getattr(row, self.column) for row in here], self.take, where)
        wanted = set(self.methods)
        found = [getattr(method, self.column) for row in here for method in row.methods if method.method in wanted]
        if not found:
            raise NotMeasured(f"{', '.join(sorted(wanted))} did not run there")
        return taken(found, self.take, where)


@dataclass(frozen=True)
class OfPoints:
    """How many points of a board's instances (all of them by default) are decided.

    Attributes
    ----------
    epsilon : list of float, points of these epsilons alone
    largest : bool, the largest n of them instead
    tied : bool, only those at which several share the first place
    """

    points: str
    instances: list[str] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)
    largest: bool = False
    tied: bool = False

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        rows = _decided(content, self.points, self.instances, self.epsilon)
        here = [row for row in rows if not self.tied or len(row.tied) > 1]
        return float(max(row.n for row in here) if self.largest else len(here))


@dataclass(frozen=True)
class OfRan:
    """How many methods ran at decided points of these instances, those of ``paper`` alone if it is given."""

    ran: str
    instances: list[str] = field(default_factory=list)
    paper: str = ""

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        here = [method for row in _decided(content, self.ran, self.instances) for method in row.methods]
        return float(len({m.method for m in here if self.paper in ("", m.algorithm.partition(".")[0])}))


@dataclass(frozen=True)
class OfGain:
    """By how many per cent the least private risk is below that of the starting point, at decided points.

    Attributes
    ----------
    take : str, ``min`` or ``max``
    epsilon : list of float, points of these epsilons alone
    """

    gain: str
    take: str
    instances: list[str] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        rows = _decided(content, self.gain, self.instances, self.epsilon)
        least = [min([row.trivial, *(m.risk for m in row.methods if m.ranked)]) for row in rows]
        return taken([100.0 * (1.0 - b / row.trivial) for b, row in zip(least, rows, strict=True)], self.take, where)


@dataclass(frozen=True)
class OfUndecided:
    """How many points of a board's instances are undecided, or with ``cost`` what deciding one takes.

    Where that differs, all are named.
    """

    undecided: str
    instances: list[str] = field(default_factory=list)
    cost: bool = False

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        rows = [row for row in _standings(content, self.undecided) if row.contenders]
        here = [row for row in rows if not self.instances or row.instance in self.instances]
        if not self.cost:
            return float(len(here))
        if not here:
            raise NotMeasured(f"no such point of {self.undecided} is undecided in profile {content.inputs.profile}")
        return " or ".join(dict.fromkeys(cost_text(row) for row in here))


@dataclass(frozen=True)
class OfWinners:
    """How many methods have the least mean risk at some of these points."""

    winners: str
    instances: list[str] = field(default_factory=list)

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        return float(len({row.winner for row in _decided(content, self.winners, self.instances)}))


@dataclass(frozen=True)
class OfWins:
    """At how many of these points a method of ``methods`` has the least mean risk, or with ``shared`` ties for it."""

    wins: str
    methods: list[str]
    instances: list[str] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)
    shared: bool = False

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        here = _decided(content, self.wins, self.instances, self.epsilon)
        first = [set(row.tied) if self.shared else {row.winner} for row in here]
        return float(sum(not found.isdisjoint(self.methods) for found in first))


@dataclass(frozen=True)
class OfFrontier:
    """The largest ``n epsilon/sqrt(d)`` of a decided point at which the starting point shares the first place.

    Attributes
    ----------
    either : bool, of the instances those that the profile has
    d : int or None, points of this dimension alone
    beyond : bool
        The next larger value instead, of a decided point at which a method beats the starting point: what lies between
        the two is not known.
    beaten : bool
        As ``beyond``, and where a method beats the starting point everywhere the least value that was tried.
    """

    frontier: str
    instances: list[str] = field(default_factory=list)
    either: bool = False
    d: int | None = None
    beyond: bool = False
    beaten: bool = False

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        known_here = {row.instance for row in _standings(content, self.frontier)}
        asked = [id for id in self.instances if not self.either or id in known_here]
        here = [row for row in _decided(content, self.frontier, asked or self.instances) if self.d in (None, row.d)]
        found = {row.n * row.epsilon / math.sqrt(row.d): TRIVIAL in row.tied for row in here}
        found |= {row.n * row.epsilon / math.sqrt(row.d): True for row in here if TRIVIAL in row.tied}
        last = max((ratio for ratio, tied in found.items() if tied), default=None)
        if last is None and self.beaten and found:
            return min(found)
        if last is None:
            raise NotMeasured(f"a method beats the starting point everywhere on {self.frontier}")
        if not (self.beyond or self.beaten):
            return last
        above = [ratio for ratio in found if ratio > last]
        if not above:
            raise NotMeasured(f"nothing beats the starting point there on {self.frontier}")
        return min(above)


@dataclass(frozen=True)
class OfSearch:
    """The least private risk over that of the public grid search at decided points.

    Attributes
    ----------
    take : str
        As of a claim, or ``median``; ``count`` is the number of these points, ``above`` that of ratios above 1.
    own : bool
        In place of the least risk that of the searched method itself, with the parameters of its theorem, where it ran.
    """

    search: str
    take: str
    instances: list[str] = field(default_factory=list)
    own: bool = False

    def value(self, content: Content, known: Mapping[str, Value], where: str) -> Value:
        """See `value_of`."""
        found = []
        for row in _decided(content, self.search, self.instances):
            if row.search and row.search.risk > 0:
                searched = row.search.algorithm
                ours = [m.risk for m in row.methods if m.ranked and (not self.own or m.algorithm == searched)]
                found += [min(ours) / row.search.risk] if ours else []
        if not found:
            raise NotMeasured(f"nothing is searched on {self.search}")
        words = {"count": float(len(found)), "above": float(sum(ratio > 1 for ratio in found)), "median": median(found)}
        return words[self.take] if self.take in words else taken(found, self.take, where)


def _standings(content: Content, id: str) -> list[Standing]:
    boards = [board for board in content.inputs.boards if board.id == id]
    return [row for board in boards for row in board.rows if isinstance(row, Standing)]


def _decided(content: Content, id: str, instances: Collection[str], epsilon: Collection[float] = ()) -> list[Standing]:
    """Decided points of a board's instances, of some epsilons alone if these are given."""
    rows = _standings(content, id)
    wanted = set(instances) or {row.instance for row in rows}
    here = [row for row in rows if row.instance in wanted and row.runner_up is not None and not row.contenders]
    if not here or not wanted <= {row.instance for row in here}:
        raise NotMeasured(f"{id} has not all of these instances in profile {content.inputs.profile}")
    return [row for row in here if not epsilon or any(math.isclose(row.epsilon, value) for value in epsilon)]


def taken(found: Sequence[Any], take: str | int | None, where: str) -> Value:
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
