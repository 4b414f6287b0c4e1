"""A search for neighbours that change a released value by more than its plan declares.

A run records its transcript on a data set D. Forced on a neighbour D', the differences between the values that are
passed to the mechanism are the queries' sensitivities given the past; equal outputs say that all else is
post-processing. Since normal noise can be anything, the adversary chooses it: large noise along one direction drives
the iterates to the edge of where the method can be, projections of points included, and the next direction follows the
largest change that was found there. A search can refute a sensitivity, not prove it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.audit.membership import misplaced
from dpsco_bench.audit.neighbours import DOMAIN_RECORDS
from dpsco_bench.audit.subject import REPLICATES, Subject, SubjectRun, replaced
from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Query
from dpsco_bench.privacy.queries import CoveringQuery
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Data

NEIGHBOURS = 12
"""Domain records that are tried in one place."""
REACH = 1e4
"""Noise that steers a run, in units of the calibrated one."""
ROUNDS = 5
"""Steered runs, each in the direction of the largest change that the one before found."""

_SIGNS = np.where(np.arange(REPLICATES) % 2 == 0, 1.0, -1.0)[:, None]
"""Every other replicate is steered the opposite way."""

Values = dict[str, np.ndarray]
"""What a run passed to each query, ``(steps, R, k)``."""


@dataclass
class Found:
    """What a search found, by query.

    Attributes
    ----------
    ratios : dict of str to float, largest change of a released value, in units of the declared sensitivity
    leak : float, largest difference of outputs under one transcript: 0 if all else is post-processing
    directions : dict of str to array (R, k), the largest changes of the last place that was looked at
    misplaced : dict of str to str, queries that look at records which they do not declare, and how (`membership`)
    """

    ratios: dict[str, float] = field(default_factory=dict)
    leak: float = 0.0
    directions: Values = field(default_factory=dict)
    misplaced: dict[str, str] = field(default_factory=dict)


class Steered(Recorder):
    """A recorder whose noise is large and points in one direction ``(R, k)`` by query, by default that of its first."""

    def __init__(self, directions: Values, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._directions = dict(directions)

    def _noise(self, query: Query, step: int, dim: int) -> Any:
        noise = super()._noise(query, step, dim)
        if noise is None:
            return None
        given = self._directions.get(query.name)
        if given is None:
            self._directions[query.name] = given = _unit(to_numpy(noise).astype(np.float64))
        steering = array_namespace(noise).asarray(REACH * self.scales[query.name] * given, dtype=noise.dtype)
        return noise + steering


def search(
    subject: Subject,
    places: Sequence[int] = (0,),
    neighbours: int = NEIGHBOURS,
    rounds: int = ROUNDS,
    everywhere: bool = True,
) -> Found:
    """Search the neighbours of a data set.

    Covering noise hides a solver's error, not data, and is left out. Of batches drawn with replacement, whose
    sensitivity is declared for a record that a batch holds once, nothing but that is looked at.

    Parameters
    ----------
    places : sequence of int, records for which all replacements are tried
    neighbours : int, domain records that are tried
    rounds : int, steered runs
    everywhere : bool, replace every record once besides
    """
    domain = subject.problem.domain_records(max(DOMAIN_RECORDS, neighbours), subject.seed)
    found = Found({query.name: 0.0 for query in searched(subject)})
    recorded = subject.run(Recorder)
    for position in range(subject.data.n if everywhere else 0):
        _try(found, subject, recorded, position, [replaced(subject.data, position, domain, position % domain.n)])
    tried = Data(neighbours, domain.features[:neighbours], domain.labels[:neighbours])
    for place in places:
        _look(found, subject, subject.run(Recorder, first=1), tried, place, 1)
        directions: Values = {}
        for first in range(rounds):
            steered = subject.run(partial(Steered, directions), first=first)
            _look(found, subject, steered, tried, place, first)
            directions = {name: _SIGNS * rows for name, rows in found.directions.items() if rows.any()}
    return found


def _look(found: Found, subject: Subject, recorded: SubjectRun, domain: Data, place: int, first: int) -> None:
    """Try every record of the domain in one place, and those that the problem has for where the run ended."""
    nearby = subject.problem.records_at(recorded.output[np.isfinite(recorded.output).all(axis=1)])
    sources = [domain] if nearby is None else [domain, nearby]
    swaps = [replaced(subject.data, place, source, which) for source in sources for which in range(source.n)]
    found.directions = _try(found, subject, recorded, place, swaps, first)


def _try(
    found: Found, subject: Subject, recorded: SubjectRun, place: int, swaps: Sequence[Data], first: int = 0
) -> Values:
    """Force the transcript of a run on other data sets; returns the largest changes as unit vectors."""
    transcript, values = recorded.mechanism.transcript, [exposed_values(subject, recorded)]
    for data in swaps:
        other = subject.run(partial(Replay, transcript), data=data, first=first)
        if not np.array_equal(recorded.output, other.output):
            found.leak = max(found.leak, float(np.abs(recorded.output - other.output).max()))
        values.append(exposed_values(subject, other))
        if all(values[0][name].shape == values[-1][name].shape for name in values[0]):  # else `_compare` says so
            found.misplaced |= misplaced(subject.plan, transcript, place, values[0], values[-1])
    return _compare(found, subject, values)


def _compare(found: Found, subject: Subject, values: list[Values]) -> Values:
    """Note the largest change between any two data sets; returns it for every replicate as a unit vector."""
    directions = {}
    for query in searched(subject):
        if len({value[query.name].shape for value in values}) > 1:
            raise InputError(f"releases of query {query.name}", "others on a neighbour", "the same on neighbours")
        stacked = np.stack([value[query.name] for value in values])
        largest, change = np.zeros(REPLICATES), np.zeros(stacked.shape[2:])
        rows = np.arange(REPLICATES)
        for number in range(1, len(stacked)):
            differences = (stacked[number] - stacked[:number]).reshape(-1, *stacked.shape[2:])
            sizes = np.linalg.norm(differences, ord=query.norm, axis=-1)
            best = sizes.argmax(axis=0)
            better = sizes[best, rows] > largest
            largest = np.where(better, sizes[best, rows], largest)
            change = np.where(better[:, None], differences[best, rows], change)
        found.ratios[query.name] = max(found.ratios[query.name], float(largest.max()) / query.sensitivity)
        directions[query.name] = _unit(change)
    return directions


def exposed_values(subject: Subject, run: SubjectRun) -> Values:
    transcript = run.mechanism.transcript
    return {q.name: transcript.value(q.name) for q in subject.plan.queries if not isinstance(q, CoveringQuery)}


def searched(subject: Subject) -> list[Query]:
    """List the queries whose changes are compared with what they declare: see `search`."""
    left_out = CoveringQuery, WithReplacement
    return [q for q in subject.plan.queries if not isinstance(q, left_out) and not isinstance(q.records, left_out)]


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0.0, length, 1.0)
