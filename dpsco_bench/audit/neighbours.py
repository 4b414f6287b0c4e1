"""Pairs of neighbouring data sets on which an audit compares an algorithm's runs.

On a canary: its replacement by its mirror image, its removal (by a record that contributes nothing, since n is public),
and its replacement among copies of itself. Elsewhere: the two records whose exchange changes the releases of noisy runs
most, in the norm of each query and in units of its noise, all along the runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpsco_bench.audit.replay import Recorder
from dpsco_bench.audit.transcript import Setting, replayed
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.canary_huber import CANARIES, CanaryHuber

DOMAIN_RECORDS = 64
"""Records that are tried in one place."""
MOST_TRIED = 1e6
"""Work that a search along trajectories may take, in releases of one replicate: fewer records are tried above it."""
TRAJECTORIES = 4
"""Runs along which neighbours are compared."""
MIRRORED = ("canary_curved", "canary_linear", "canary_public", "canary_quadratic")
"""Canaries whose mirror image has the negative features; that of ``canary_heavy`` depends on the method's levels."""


@dataclass(frozen=True)
class Neighbours:
    """Two data sets that differ in one record; ``alone``: whether that is the only one that contributes anything."""

    name: str
    cell: Cell
    data: Data
    other: Data
    record: int = 0
    alone: bool = False


def candidate_pairs(cell: Cell, seed: int, plan: Plan, scales: Mapping[str, float]) -> Iterator[Neighbours]:
    """Pairs to choose from for a cell: see above.

    Raises Refusal on a problem that has no neighbouring data sets.
    """
    problem = cell.problem_entry
    if problem.shares_records:
        raise Refusal(f"audit on {cell.problem}", "all its records are equal, so it has no neighbouring data sets")
    if problem.draws_per_replicate:
        raise Refusal(f"audit on {cell.problem}", "every run has a sample of its own, so no two are neighbours")
    if isinstance(problem, CanaryHuber):
        asked = cell.problem_options.get("canary")
        for canary in CANARIES if asked is None else (asked,):
            chosen = replace(cell, problem_options={**cell.problem_options, "canary": canary})
            yield from _canary_pairs(chosen, f"{canary} canary", seed)
    elif cell.problem in MIRRORED:
        yield from _canary_pairs(cell, "canary", seed)
    else:
        yield along_trajectories(cell, seed, plan, scales)


def _canary_pairs(cell: Cell, canary: str, seed: int) -> Iterator[Neighbours]:
    """Replacement, removal, and replacement among copies."""
    problem, data = cell.problem_entry, cell.draw_data(seed, 0)
    where = f"{cell.problem} n={cell.n} d={problem.dimension}:"
    mirrored = problem.neighbour(data) if isinstance(problem, CanaryHuber) else _mirrored(data)
    yield Neighbours(f"{where} {canary} and its mirror image", cell, data, mirrored, alone=True)
    features = np.array(data.features)
    features[0] = 0.0
    yield Neighbours(f"{where} {canary} and its removal", cell, data, Data(data.n, features, data.labels), alone=True)
    if problem.constants.norm != 2.0 and problem.dimension > 1:
        even = _even(data, problem.constants.norm)
        yield Neighbours(f"{where} even {canary} and its mirror image", cell, *even, alone=True)
    if data.n > 1:
        copies, others = _copied(data), np.array(_copied(data).features)
        others[0] = np.asarray(mirrored.features)[0]
        name = f"{where} {canary} among {data.n - 1} copies and its mirror image"
        yield Neighbours(name, cell, copies, Data(data.n, others, copies.labels))


def _mirrored(data: Data) -> Data:
    rows = np.array(data.features)
    rows[0] *= -1.0
    return Data(data.n, rows, data.labels)


def _even(data: Data, p: float) -> tuple[Data, Data]:
    """The canary along the diagonal, of l_q norm 1, and its mirror image."""
    rows = np.array(data.features)
    rows[0] = 1.0 / np.linalg.norm(np.ones(rows.shape[1]), ord=dual_exponent(p))
    even = Data(data.n, rows, data.labels)
    return even, _mirrored(even)


def _copied(data: Data) -> Data:
    return Data(data.n, np.tile(data.features[:1], (data.n, 1)), np.tile(data.labels[:1], data.n))


def along_trajectories(cell: Cell, seed: int, plan: Plan, scales: Mapping[str, float]) -> Neighbours:
    """The pair of domain records whose exchange in place 0 changes the releases of a few runs most.

    The sum over releases of the squared changes in units of the noise decides, each in the norm of its query; of hidden
    batches those with the record are looked at.
    """
    problem, data = cell.problem_entry, cell.draw_data(seed, 0)
    releases = sum(query.releases for query in plan.queries)
    count = int(min(DOMAIN_RECORDS, max(8, MOST_TRIED / max(1, releases * TRAJECTORIES))))
    try:
        domain = problem.domain_records(count, seed)
    except InputError as error:
        raise Refusal(f"audit on {cell.problem}", "its record domain is not known, so no neighbour is") from error
    sets = [with_record(data, domain, which) for which in range(domain.n)]
    losses = np.zeros((len(sets), len(sets)))
    own = Setting(cell, plan, scales, (data, data), 0)
    recorder = Recorder(Mechanism(plan, scales, cell.run_key(0), seed, 0, TRAJECTORIES))
    own.execute(data, recorder, TRAJECTORIES)
    sides = [replayed(own, other, recorder, TRAJECTORIES).drawn for other in sets]
    for query in plan.queries:
        scale, places = scales[query.name], [where for where in recorder.transcript if where[0] == query.name]
        for where in places:
            exposed = np.stack([side[where] for side in sides])
            losses += _squares(query, exposed) / (scale or 1.0) ** 2
    one, two = map(int, np.unravel_index(int(np.argmax(losses)), losses.shape))
    if one == two:  # nothing changes a release: any two records
        two = (one + 1) % len(sets)
    name = f"{cell.problem} n={cell.n} d={problem.dimension}: the two domain records that differ most along runs"
    return Neighbours(name, cell, sets[one], sets[two])


def _squares(query: Query, exposed: np.ndarray) -> np.ndarray:
    """Mean squared distances ``(K, K)`` of what ``K`` data sets exposed, ``(K, R, k)``, in the query's norm."""
    order = 2.0 if isinstance(query, DrawQuery) else query.norm
    found = np.zeros((len(exposed), len(exposed)))
    for number, own in enumerate(exposed):
        found[number] = np.mean(np.linalg.norm(exposed - own, ord=order, axis=-1) ** 2, axis=-1)
    return found


def with_record(data: Data, domain: Data, index: int) -> Data:
    """A data set with a record of the domain in place 0."""
    features, labels = np.array(data.features), np.array(data.labels)
    features[0], labels[0] = domain.features[index], domain.labels[index]
    return Data(data.n, features, labels)
