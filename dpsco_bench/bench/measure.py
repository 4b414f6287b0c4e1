"""Ratios of processor times within one process, robust on a machine that others use too."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from dpsco_bench.registry import Registry

AT_MOST, AT_LEAST = "at most", "at least"

Task = Callable[[], object]


class NotMeasurable(Exception):
    """A case that cannot be measured; the message says why."""


@dataclass(frozen=True)
class Pair:
    """Comparison of two tasks, and how much work each call of them does.

    Attributes
    ----------
    ours, peer : callable, warm: whatever they compile or allocate once has happened
    """

    ours: Task
    peer: Task
    ours_units: float
    peer_units: float


@dataclass(frozen=True)
class BenchCase:
    """One line of the suite.

    Attributes
    ----------
    build : callable, makes the pair; raises `NotMeasurable` where it cannot
    limit : str, what the time goes to: said where the goal is missed
    untimed : str, why it is not measured, where that is known before it is built; else empty
    """

    id: str
    case: str
    peer: str
    unit: str
    sense: str
    goal: float | None
    build: Callable[[], Pair]
    limit: str = ""
    untimed: str = ""


class Effort(NamedTuple):
    """How long to measure: ``rounds`` of one sample of each task, a sample taking about ``seconds``."""

    rounds: int
    seconds: float


FULL, QUICK = Effort(40, 0.01), Effort(8, 0.004)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Measurements of a case.

    Attributes
    ----------
    id, case, peer, unit, sense, goal : as of `BenchCase`
    ratio, met : None where nothing was measured; ``met`` without a goal too
    ours_ns, peer_ns : least times per unit
    ratio_median : median of the rounds' ratios, beside ``ratio`` a measure of disturbance
    reason : why nothing was measured, else empty
    limit : of the case, where its goal is missed; else empty
    """

    id: str
    case: str
    ratio: float | None = None
    goal: float | None = None
    met: bool | None = None
    sense: str
    peer: str
    unit: str
    ours_ns: float | None = None
    peer_ns: float | None = None
    ratio_median: float | None = None
    reason: str = ""
    limit: str = ""


def measure(case: BenchCase, effort: Effort) -> Row:
    """Measure one case.

    Samples of the two tasks alternate, so that both see the same machine, and their least times count, since
    disturbances only ever add time. Times are processor times of all threads.
    """
    row = Row(id=case.id, case=case.case, goal=case.goal, sense=case.sense, peer=case.peer, unit=case.unit)
    if case.untimed:
        return replace(row, reason=case.untimed)
    try:
        pair = case.build()
    except NotMeasurable as reason:
        return replace(row, reason=str(reason))
    calls = [_calls(task, effort.seconds) for task in (pair.ours, pair.peer)]
    ours, peer = [], []  # nanoseconds per unit of work
    for _ in range(effort.rounds):
        ours.append(1e9 * _seconds(pair.ours, calls[0]) / pair.ours_units)
        peer.append(1e9 * _seconds(pair.peer, calls[1]) / pair.peer_units)
    ratio = _ratio(case, min(ours), min(peer))
    median = statistics.median(_ratio(case, a, b) for a, b in zip(ours, peer, strict=True))
    met = None if case.goal is None else ratio <= case.goal if case.sense == AT_MOST else ratio >= case.goal
    limit = case.limit if met is False else ""
    return replace(row, ratio=ratio, met=met, ours_ns=min(ours), peer_ns=min(peer), ratio_median=median, limit=limit)


def _ratio(case: BenchCase, ours: float, peer: float) -> float:
    return ours / peer if case.sense == AT_MOST else peer / ours


def _calls(task: Task, seconds: float) -> int:
    """How many calls fill a sample; the first call only warms up."""
    task()
    return max(1, round(seconds / max(_seconds(task, 1), 1e-9)))


def _seconds(task: Task, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        task()
    return (time.process_time() - start) / calls


@dataclass(frozen=True)
class Goal:
    """A goal of the suite: its name in words, and what makes its cases."""

    title: str
    cases: Callable[[], Iterable[BenchCase]]


GOALS: Registry[Goal] = Registry("benchmark", "bench", core="bench")


def goal(id: str, title: str) -> Callable[[Callable[[], Iterable[BenchCase]]], Callable[[], Iterable[BenchCase]]]:
    """Register a function that makes the cases of a goal (used as a decorator)."""

    def register(cases: Callable[[], Iterable[BenchCase]]) -> Callable[[], Iterable[BenchCase]]:
        GOALS.add(id, Goal(title, cases), cases.__module__)
        return cases

    return register
