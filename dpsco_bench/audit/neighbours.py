"""Pairs of neighbouring data sets on which an audit compares an algorithm's runs.

On a canary: its replacement by its mirror image, its removal (by a record that contributes nothing, since n is public),
and its replacement among copies of itself, all in the place of the data set where it changes the releases most; where
it changes none by what is declared, the two records of the domain that come nearest. Elsewhere: the two records whose
exchange changes the releases of noisy runs most, in the norm of each query and in units of its noise, all along them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from dpsco_bench.audit.likelihood import factor
from dpsco_bench.audit.subject import replaced
from dpsco_bench.audit.transcript import NeighbourRun, Recording, replayed
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.canaries import CANARIES, CanaryHuber

DOMAIN_RECORDS = 64  # records that are tried in one place
MOST_TRIED = 1e6
"""Work that a search along trajectories may take, in releases of one replicate: fewer records are tried above it."""
TRAJECTORIES = 4  # runs along which neighbours are compared
WEAK, BETTER = 0.95, 1e-6
"""Share of the declared sensitivity below which a canary is weak; by how much a place must be better to be taken."""
EIGHTHS = 8
MIRRORED = ("canary_curved", "canary_linear", "canary_public", "canary_quadratic")
"""Canaries whose mirror image has the negative features; that of ``canary_heavy`` depends on the method's levels."""


def candidate_pairs(cell: Cell, seed: int, plan: Plan, scales: Mapping[str, float]) -> Iterator[NeighbourRun]:
    """List the pairs to choose from. Raises Refusal on a problem that has no neighbouring data sets."""
    problem = cell.problem_entry
    if problem.shares_records:
        raise Refusal(f"audit on {cell.problem}", "all its records are equal, so it has no neighbouring data sets")
    if problem.draws_per_replicate:
        raise Refusal(f"audit on {cell.problem}", "every run has a sample of its own, so no two are neighbours")
    if isinstance(problem, CanaryHuber):
        asked = cell.problem_options.get("canary")
        for canary in CANARIES if asked is None else (asked,):
            chosen = replace(cell, problem_options={**cell.problem_options, "canary": canary})
            yield from _canary_pairs(chosen, f"{canary} canary", seed, plan, scales)
    elif cell.problem in MIRRORED:
        yield from _canary_pairs(cell, "canary", seed, plan, scales)
    else:
        yield along_trajectories(cell, seed, plan, scales)


def _canary_pairs(
    cell: Cell, canary: str, seed: int, plan: Plan, scales: Mapping[str, float]
) -> Iterator[NeighbourRun]:
    """Build pairs by replacement, removal, and replacement among copies, and a searched pair beside weak ones."""
    problem, data = cell.problem_entry, cell.draw_data(seed, 0)
    own = np.asarray(data.features)[0]
    mirrored = problem.neighbour(data) if isinstance(problem, CanaryHuber) else _with_row(data, -own)
    tried = NeighbourRun(cell, plan, scales, (data, mirrored), 0)
    place, share = 0, 1.0
    if not (tried.hides_batches or any(isinstance(query, DrawQuery) for query in plan.queries)):
        place, share = worst_place(tried, seed)
    canary = f"{canary} in place {place}" if place else canary

    def pair(name: str, one: Data, two: Data, alone: bool = True) -> NeighbourRun:
        name = f"{cell.problem} n={cell.n} d={problem.dimension}: {name}"
        return NeighbourRun(cell, plan, scales, (moved(one, place), moved(two, place)), place, name, alone)

    yield pair(f"{canary} and its mirror image", data, mirrored)
    yield pair(f"{canary} and its removal", data, _with_row(data, np.zeros_like(own)))
    if problem.constants.norm != 2.0 and problem.dimension > 1:  # the canary along the diagonal, of l_q norm 1
        even = np.ones(own.shape) / np.linalg.norm(np.ones(own.shape), ord=dual_exponent(problem.constants.norm))
        yield pair(f"even {canary} and its mirror image", _with_row(data, even), _with_row(data, -even))
    if data.n > 1:
        copies = Data(data.n, np.tile(data.features[:1], (data.n, 1)), np.tile(data.labels[:1], data.n))
        others, name = _with_row(copies, np.asarray(mirrored.features)[0]), f"{canary} among {data.n - 1} copies"
        yield pair(f"{name} and its mirror image", copies, others, alone=False)
    if share < WEAK:
        yield replace(along_trajectories(cell, seed, plan, scales, place), alone=True)


def _with_row(data: Data, row: np.ndarray) -> Data:
    """Replace the features of record 0."""
    features = np.array(data.features)
    features[0] = row
    return Data(data.n, features, data.labels)


def worst_place(tried: NeighbourRun, seed: int) -> tuple[int, float]:
    """Find the place in which record 0 of a pair changes the releases most, and its largest share of a sensitivity.

    It matters where records enter in an order: the nodes above a leaf, the later batches of a pass. The sum over
    releases of the squared changes in units of the noise decides; of equal places the first is taken.
    """
    n, recorder = tried.cell.n, _recorded(tried, seed)
    powers = {1 << k for k in range(n.bit_length()) if 1 << k < n}
    places = {0, n - 1} | powers | {k * n // EIGHTHS for k in range(EIGHTHS)}
    best, found = -1.0, (0, 0.0)
    for place in [0] if tried.cell.algorithm_entry.order_invariant else sorted(places):
        one, two = (replayed(tried, moved(data, place), recorder, TRAJECTORIES).out for data in tried.pair)
        loss, share = 0.0, 0.0
        for name, step in recorder.transcript:
            query = tried.plan.query(name)
            change = float(np.mean(np.linalg.norm(one[name, step] - two[name, step], ord=query.norm, axis=-1)))
            noise = (tried.scales[name] or 1.0) * factor(query, step)
            loss, share = loss + (change / noise) ** 2, max(share, change / query.sensitivity)
        if loss > best * (1.0 + BETTER):
            best, found = loss, (place, share)
    return found


def _recorded(setting: NeighbourRun, seed: int) -> Recording:
    recorder = Recording(Mechanism(setting.plan, setting.scales, setting.cell.run_key(0), seed, 0, TRAJECTORIES))
    setting.execute(setting.pair[0], recorder, TRAJECTORIES)
    return recorder


def moved(data: Data, place: int) -> Data:
    if place == 0:
        return data
    rows = [np.array(own) for own in (data.features, data.labels)]
    for own in rows:
        own[[0, place]] = own[[place, 0]]
    return Data(data.n, *rows)


def along_trajectories(cell: Cell, seed: int, plan: Plan, scales: Mapping[str, float], place: int = 0) -> NeighbourRun:
    """Find the pair of domain records whose exchange in a place changes the releases of a few runs most.

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
    sets = [moved(replaced(data, 0, domain, which), place) for which in range(domain.n)]
    losses, own = np.zeros((len(sets), len(sets))), NeighbourRun(cell, plan, scales, (data, data), place)
    recorder = _recorded(own, seed)
    sides = [replayed(own, other, recorder, TRAJECTORIES).drawn for other in sets]
    for query in plan.queries:
        for where in [where for where in recorder.transcript if where[0] == query.name]:
            losses += _squares(query, np.stack([side[where] for side in sides])) / (scales[query.name] or 1.0) ** 2
    one, two = map(int, np.unravel_index(int(np.argmax(losses)), losses.shape))
    if one == two:  # nothing changes a release: any two records
        two = (one + 1) % len(sets)
    name = f"{cell.problem} n={cell.n} d={problem.dimension}: the two domain records that differ most along runs"
    return replace(own, pair=(sets[one], sets[two]), name=name)


def _squares(query: Query, exposed: np.ndarray) -> np.ndarray:
    """Mean squared distances ``(K, K)`` of what ``K`` data sets exposed, ``(K, R, k)``, in the query's norm."""
    order = 2.0 if isinstance(query, DrawQuery) else query.norm
    rows = (np.linalg.norm(exposed - own, ord=order, axis=-1) for own in exposed)
    return np.stack([np.mean(row**2, axis=-1) for row in rows])
