"""Whether an epsilon that is called exact is attained by a pair of records of the problem, computed.

A pair attains it that is admissible, with gradients within the Lipschitz constant, and changes what is released by what
is declared: not by less, and not by more.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dpsco_bench.audit.subject import Subject, points_of, replaced
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.privacy.attained import attaining_pair, rests_on_sensitivities
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Data

TOLERANCE = 1e-6


def nothing_to_attain(subject: Subject) -> str:
    """Why there is nothing to check, or an empty string."""
    charge, plan = subject.charge, subject.plan
    if charge.kind != "exact":
        return f"its epsilon is called {charge.kind}"
    return "" if rests_on_sensitivities(plan, charge.epsilon) or _draws(subject) else "no pair is asked for"


def shortfall(subject: Subject) -> str:
    """Why no pair attains what is declared, in words; empty where one does."""
    for draw in _draws(subject):
        found = draw.attained(subject.scales[draw.name], subject.delta)
        if found is None or found.kind != "exact" or abs(found.epsilon / subject.charge.epsilon - 1.0) > TOLERANCE:
            return "no pair of laws is known to attain it"
        return ""
    pair = attaining_pair(subject.problem, subject.plan, subject.data.n)
    if pair is None:
        return f"no two records of {subject.problem.name} are known to attain what is declared"
    first, second = (_gradients(subject, pair, which) for which in (0, 1))
    query = subject.plan.queries[0]
    size = query.records.size if isinstance(query.records, Disjoint) else subject.data.n
    apart = np.linalg.norm(first - second, ord=query.norm, axis=-1)
    shares, largest = apart / (query.sensitivity * size), _steepest(subject, (first, second))
    if largest > 1.0 + TOLERANCE:
        return f"a gradient of the two records is {largest:.3g} times the Lipschitz constant: they are not admissible"
    if shares.min() < 1.0 - TOLERANCE:
        return f"the gradients of the two records differ by as little as {shares.min():.3g} of what is declared"
    if shares.max() > 1.0 + TOLERANCE:
        return f"the gradients of the two records differ by {shares.max():.3g} times what is declared"
    ratio = 1.0 if subject.no_neighbours else _least_ratio(subject, pair)
    if abs(ratio - 1.0) > TOLERANCE:
        return f"the two records change a release by {ratio:.3g} of what is declared"
    return ""


def _steepest(subject: Subject, gradients: tuple[np.ndarray, ...]) -> float:
    """Largest gradient of a record in the dual norm, over the Lipschitz constant.

    0 where that is nominal, and binds no record.
    """
    constants = subject.problem.constants
    if constants.status == "nominal":
        return 0.0
    order = dual_exponent(constants.norm)
    return max(float(np.linalg.norm(own, ord=order, axis=-1).max()) for own in gradients) / constants.lipschitz


def _draws(subject: Subject) -> list[DrawQuery]:
    """Queries of a plan that draws its output; they compute the pair themselves."""
    return [query for query in subject.plan.queries if isinstance(query, DrawQuery)]


def _gradients(subject: Subject, pair: Data, which: int) -> np.ndarray:
    """Gradients of one of two records at points of the domain, ``(points, d)``."""
    points = points_of(subject)
    batch = Data(
        2, *(None if rows is None else _tiled(rows[which], len(points)) for rows in (pair.features, pair.labels))
    )
    return to_numpy(subject.problem.batch_gradient(points, batch, np.ones((len(points), 1))))


def _tiled(record: np.ndarray, count: int) -> np.ndarray:
    return np.tile(np.asarray(record)[None, None], (count, 1) + (1,) * np.ndim(record))


def _least_ratio(subject: Subject, pair: Data) -> float:
    """Least change of a release between data sets with either record, in units of the declared sensitivity.

    A record enters one release of queries on disjoint blocks, and the largest one counts.
    """
    one, other = (replaced(subject.data, 0, pair, which) for which in (0, 1))
    recorded = subject.run(Recorder, data=one)
    transcript = recorded.mechanism.transcript
    replayed = subject.run(partial(Replay, transcript), data=other)
    ratios = []
    for query in subject.plan.queries:
        values = [run.mechanism.transcript.value(query.name) for run in (recorded, replayed)]
        changes = np.linalg.norm(values[0] - values[1], ord=query.norm, axis=-1) / query.sensitivity
        ratios.append(changes.max() if isinstance(query.records, Disjoint) else changes.min())
    disjoint = all(isinstance(query.records, Disjoint) for query in subject.plan.queries)
    return float(max(ratios) if disjoint else min(ratios))
