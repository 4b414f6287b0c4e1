"""What happens in one run of many: outputs and exposed values of a thousand forced runs on other data.

In some of them half of the records, or all, are others: each another one, or all the same. What is made of released
values alone stays the same there, bit for bit, whichever record a leak is of. In the others one record is another, in
several places, and what each query is passed changes by its sensitivity at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dpsco_bench.audit.neighbours import DOMAIN_RECORDS
from dpsco_bench.audit.search import exposed_values, searched
from dpsco_bench.audit.subject import REPLICATES, Run, Subject, replaced
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.privacy.plan import ObjectiveQuery
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.transcript import Replay
from dpsco_bench.problems.base import Data

SELDOM, SELDOM_SLOW, SELDOM_WORK = 1024, 512, 1 << 22
"""Replicates in which a run that is dishonest in a hundredth of all cases is caught; fewer where one is solved or drawn
by itself, and where their work, in gradients and releases of coordinates, would be more."""
TOLERANCE = 1e-9


@dataclass
class Seldom:
    """What many runs show.

    Attributes
    ----------
    runs : int
        How many.
    leaking : int
        In how many of them an output on other data is another one.
    ratios : dict of str to float
        Largest change of a released value between neighbours, in units of the declared sensitivity, by query.
    beyond : dict of str to int
        In how many of them it is more than declared.
    """

    runs: int
    leaking: int = 0
    ratios: dict[str, float] = field(default_factory=dict)
    beyond: dict[str, int] = field(default_factory=dict)


def often(subject: Subject) -> int:
    """Replicates of the runs that look for what happens seldom."""
    plan, d = subject.plan, subject.problem.dimension
    slow = any(isinstance(query, ObjectiveQuery | DrawQuery) for query in plan.queries)
    work = plan.gradient_evaluations + sum(query.releases for query in plan.queries) * d
    return int(max(REPLICATES, min(SELDOM_SLOW if slow else SELDOM, SELDOM_WORK // max(1.0, work))))


def compare(subject: Subject, recorded: Run) -> Seldom:
    """Force a recorded run on other data sets.

    Parameters
    ----------
    recorded : Run
        Of `often` replicates, with a transcript.

    Raises
    ------
    InputError
        For releases that are others on a neighbour.
    """
    found = Seldom(len(recorded.output))
    domain = subject.problem.domain_records(DOMAIN_RECORDS, subject.seed)
    for data in (all_replaced(subject.data, domain), *copied(subject.data, domain)):
        with suppress(DpscoError):  # solvers may fail on what is no sample; the neighbours below are near one
            _on(subject, recorded, data, found)
    own = exposed_values(subject, recorded)
    for swap in _neighbours(subject.data, domain, subject.seed):
        other = _on(subject, recorded, swap, found)
        _note(found, subject, own, exposed_values(subject, other))
    return found


def _on(subject: Subject, recorded: Run, data: Data, found: Seldom) -> Run:
    """The transcript forced on another data set; notes in how many runs the output is another one."""
    other = subject.run(partial(Replay, recorded.mechanism.transcript), data=data, replicates=found.runs)
    found.leaking = max(found.leaking, int(recorded.differs(other).sum()))
    return other


def _note(found: Seldom, subject: Subject, own: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Note the largest changes of what each query is passed."""
    for query in searched(subject):
        one, two = own[query.name], other[query.name]
        if one.shape != two.shape:
            raise InputError(f"releases of query {query.name}", "others on a neighbour", "the same on neighbours")
        sizes = np.linalg.norm(two - one, ord=query.norm, axis=-1) / query.sensitivity
        ratio, beyond = float(sizes.max()), int((sizes > 1.0 + TOLERANCE).any(axis=0).sum())
        found.ratios[query.name] = max(found.ratios.get(query.name, 0.0), ratio)
        found.beyond[query.name] = max(found.beyond.get(query.name, 0), beyond)


def _neighbours(data: Data, domain: Data, seed: int) -> Iterator[Data]:
    """The first record, one in the middle, the last and a random one, each replaced by what is farthest from it."""
    random = int(np.random.default_rng(seed).integers(data.n))
    for place in sorted({0, data.n // 2, data.n - 1, random}):
        yield replaced(data, place, domain, farthest(data, place, domain))


def farthest(data: Data, place: int, domain: Data) -> int:
    """Which record of a domain is farthest from the one in a place."""
    gaps = [
        np.abs(np.asarray(others) - np.asarray(own)[place]).reshape(domain.n, -1).sum(axis=-1)
        for own, others in ((data.features, domain.features), (data.labels, domain.labels))
    ]
    return int(np.argmax(gaps[0] + gaps[1]))


def all_replaced(data: Data, domain: Data) -> Data:
    """A data set of which every record is another, each by one of its own as far as the domain has them."""
    features, labels = np.array(data.features), np.array(data.labels)
    for place in range(data.n):
        turns = ((place + turn) % domain.n for turn in range(domain.n))
        other = next((which for which in turns if not _equal(data, place, domain, which)), place % domain.n)
        features[place], labels[place] = domain.features[other], domain.labels[other]
    return Data(data.n, features, labels)


def copied(data: Data, domain: Data) -> Iterator[Data]:
    """Half of a data set, then all of it, replaced by copies of one record, and of the one that is farthest from it.

    What is made of a majority, or of another threshold of a count, changes on one of them.
    """
    for which in (0, farthest(domain, 0, domain)):
        for count in (data.n // 2, data.n):
            features, labels = np.array(data.features), np.array(data.labels)
            features[:count], labels[:count] = domain.features[which], domain.labels[which]
            yield Data(data.n, features, labels)


def _equal(data: Data, place: int, domain: Data, which: int) -> bool:
    features = np.array_equal(data.features[place], domain.features[which])
    return features and np.array_equal(data.labels[place], domain.labels[which])
