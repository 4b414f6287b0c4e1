"""Whether a batch that is charged as part of a hidden order is one: where a record stands, nobody can know beforehand.

The releases of a recorded run are forced with its own order and with another one. The release that a record changes
says where it stood. Over many runs its places are uniform, those under the two orders have nothing to do with each
other, and nor have those of two records under one order.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, compress

import numpy as np
from scipy.stats import chisquare

from dpsco_bench.audit.hidden import Redrawn
from dpsco_bench.audit.membership import changes
from dpsco_bench.audit.neighbours import DOMAIN_RECORDS
from dpsco_bench.audit.search import Values, exposed_values
from dpsco_bench.audit.seldom import farthest
from dpsco_bench.audit.subject import Run, Subject, replaced
from dpsco_bench.privacy.plan import Query
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.privacy.transcript import Replay
from dpsco_bench.problems.base import Data

FALSE_ALARM = 1e-9
"""Of each comparison."""
FEWEST, GROUPS, SIGMAS = 64, 16, 6.0
"""Runs from which on anything is said; parts of the order that are told apart; by how much records may be seen less."""
OUT = -1
"""Of a record that changes no release: it is left over."""


def unshuffled(subject: Subject, recorded: Run) -> dict[str, str]:
    """Queries that are charged for an order which a run does not have, each with what is wrong.

    Parameters
    ----------
    recorded : Run
        Of many replicates, with a transcript.
    """
    queries = [query for query in subject.plan.queries if isinstance(query.records, RandomAllocation)]
    if not queries or len(recorded.output) < FEWEST:
        return {}
    domain = subject.problem.domain_records(DOMAIN_RECORDS, subject.seed)
    n = subject.data.n
    swaps = [
        replaced(subject.data, at, domain, farthest(subject.data, at, domain)) for at in sorted({0, n // 2, n - 1})
    ]
    drawn = {factory: _exposed(subject, recorded, factory, swaps) for factory in (Replay, Redrawn)}
    found: dict[str, str] = {}
    for query in queries:
        ours, others = ([_groups(query, values[0], other) for other in values[1:]] for values in drawn.values())
        wrong = _wrong(query, ours, others)
        found |= {query.name: wrong} if wrong else {}
    return found


def _exposed(subject: Subject, recorded: Run, factory: type[Replay], swaps: list[Data]) -> list[Values]:
    """What runs on the data set and on each neighbour pass to the queries under the recorded releases."""
    forced = partial(factory, recorded.mechanism.transcript)
    runs = (subject.run(forced, data=data, replicates=len(recorded.output)) for data in (subject.data, *swaps))
    return [exposed_values(subject, run) for run in runs]


def _groups(query: Query, own: Values, other: Values) -> np.ndarray:
    """In which of `GROUPS` parts of the order a record stood, ``(R,)``; `OUT` where it changes nothing."""
    changed = changes(query, own[query.name], other[query.name]) > 0.0
    steps = np.argmax(changed, axis=0)
    return np.where(changed.any(axis=0), steps * _count(query) // query.releases, OUT)


def _count(query: Query) -> int:
    return min(GROUPS, query.releases)


def _wrong(query: Query, ours: list[np.ndarray], others: list[np.ndarray]) -> str:
    """What is wrong with the places of some records under two orders, in words; empty where nothing is."""
    assert isinstance(query.records, RandomAllocation)
    n, size, count = query.records.population, query.records.size, _count(query)
    share = query.releases * size / n
    runs = len(ours[0])
    least = share - SIGMAS * np.sqrt(share * (1.0 - share) / runs)
    seen = [all(np.mean(places != OUT) >= least for places in pair) for pair in zip(ours, others, strict=True)]
    ours, others = (list(compress(places, seen)) for places in (ours, others))  # of the rest nothing is known
    width = np.bincount(np.arange(query.releases) * count // query.releases, minlength=count).astype(float)
    apart = np.outer(width, width)
    within = np.maximum(apart * size - np.diag(width), 0.0)  # two records share a batch less often than by chance
    if any(_unlikely(np.bincount(places[places != OUT], minlength=count), width) for places in others):
        return "a record is not in every part of the order as often as in the others"
    if any(_unlikely(_lags(*pair, count), _lagged(apart)) for pair in zip(ours, others, strict=True)):
        return "where a record stands is known before the order is drawn"
    if n > 1 and any(_unlikely(_lags(*pair, count), _lagged(within)) for pair in combinations(others, 2)):
        return "where one record stands tells where another does"
    return ""


def _lags(one: np.ndarray, two: np.ndarray, count: int) -> np.ndarray:
    """How often the second is so many groups behind the first, around a circle; only where both are known."""
    known = (one != OUT) & (two != OUT)
    return np.bincount((two[known] - one[known]) % count, minlength=count)


def _lagged(joint: np.ndarray) -> np.ndarray:
    """Weights of the lags under a joint law of two groups."""
    count = len(joint)
    lags = (np.arange(count) - np.arange(count)[:, None]) % count
    return np.bincount(lags.ravel(), joint.ravel(), minlength=count)


def _unlikely(counts: np.ndarray, weights: np.ndarray) -> bool:
    """Whether counts do not come from a law, by chi-squared; what cannot happen and did is unlikely too."""
    possible = weights > 0.0
    if counts[~possible].any():
        return True
    expected = counts.sum() * weights[possible] / weights.sum()
    return bool(len(expected) > 1 and chisquare(counts[possible], expected).pvalue < FALSE_ALARM)
