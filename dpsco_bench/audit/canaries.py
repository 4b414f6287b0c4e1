"""Choose the canary that an algorithm is audited on: the first of its own family that it accepts at a bearable price.

A canary is a problem of which one record alone has a gradient, so that nothing hides it. What a method asks for, it
asks of a canary too: each declares its own constants and traits, and the first fitting one is taken.

Neighbours of a canary are its mirror image, a record that contributes nothing (n is public), and its mirror image among
copies of itself, all in the place of the data set where it changes the releases most. Elsewhere, and where it changes
none by what is declared, they are the two records of the domain whose exchange changes noisy runs most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.audit.subject import replaced
from dpsco_bench.audit.transcript import NeighbourRun, Recording, factor, hides_batches, replayed, supports
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import PROBLEM, make_cell
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.plain import Options
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.canaries import CANARIES as HUBER_CANARIES
from dpsco_bench.problems.canaries import CanaryHuber
from dpsco_bench.problems.objective import Objective

RECORDS = (200, 60, 20)  # numbers of records, unless one is given: fewer for methods whose schedules are long
EPSILONS = (1.0, 0.5, 0.25, 0.1)  # claims, unless one is given: smaller ones where a paper's noise is for these alone
MOST_WORK = 3e4  # most work of a run, in gradients of single records; above it fewer records or others are tried
RELEASE_COST, SWEEP_COST = 20.0, 100.0  # work of a release, and of a sweep of a chain, in gradient evaluations
SWEEPS, STEPS = 20, 24  # default sweeps of a chain; steps of a method whose own schedule asks for far more records
CALIBRATIONS = ("paper", "accounted")
CANARIES: tuple[tuple[str, Options], ...] = (
    ("canary_huber", {}),  # generalised linear, on the whole space
    ("canary_linear", {"p": 1.5, "d": 3}),
    ("canary_linear", {"p": 2.0, "d": 3}),
    ("canary_linear", {"p": 1.0, "d": 3}),
    ("canary_linear", {"p": math.inf, "d": 3}),  # the cube
    ("canary_linear", {"p": 1.5, "d": 21}),
    ("canary_curved", {"domain": "space", "p": 1.5}),
    ("canary_curved", {"p": 1.5}),
    ("canary_curved", {"domain": "space"}),
    ("canary_curved", {}),
    ("canary_curved", {"domain": "l1_ball", "d": 1}),  # a polytope
    ("canary_heavy", {"p": 1.5}),
    ("canary_heavy", {}),
    ("canary_public", {}),
    ("canary_quadratic", {}),  # strongly convex records
)
"""Problems with options, of which one record alone has a gradient, in the order in which they are tried."""
DOMAIN_RECORDS = 64  # records that are tried in one place
MOST_TRIED = 1e6  # releases of one replicate that a search along trajectories may make; above it fewer are tried
TRAJECTORIES = 4  # runs along which neighbours are compared
WEAK, BETTER = 0.95, 1e-6
"""Share of the declared sensitivity below which a canary is weak; by how much a place must be better to be taken."""
MIRRORED = ("canary_curved", "canary_linear", "canary_public", "canary_quadratic")
"""Canaries whose mirror image has the negative features; that of ``canary_heavy`` depends on the method's levels."""


def work_of(plan: Plan) -> float:
    """Estimate the work of one run of a plan, in gradients of single records."""
    chains = SWEEP_COST * plan.schedule.get("sweeps", 0)
    return plan.gradient_evaluations + RELEASE_COST * sum(q.releases for q in plan.queries) + chains


def make_audit_cell(
    algorithm: str, problem: str | None = None, keys: Options | None = None, calibration: str = "accounted"
) -> Cell:
    """Make the cell of an audit: on a problem as `execution.request.make_cell`, else on the first fitting canary.

    Without n, or an epsilon, it is the first of `RECORDS` and `EPSILONS` with which a run is neither outside the
    paper's range nor too long; where all are, the shortest.

    Raises InputError, or Refusal where nothing fits, and for an algorithm that claims no privacy.
    """
    entry, keys, failures = get_algorithm(algorithm), keys or {}, list[DpscoError]()
    if not any(set(CALIBRATIONS) & set(allowed) for allowed in entry.variants.values()):
        raise Refusal(f"audit of {entry.id}", "it is not private and claims nothing: none is its only calibration")
    if problem is not None:
        return make_cell(algorithm, problem, {"n": RECORDS[0], **keys})
    entry.variant_for(calibration, keys.get("variant"))
    epsilons, records = ((keys[k],) if k in keys else own for k, own in (("epsilon", EPSILONS), ("n", RECORDS)))
    for steps in [{}, {"steps": STEPS}] if {"steps"} & (entry.options.keys() - keys.keys()) else [{}]:
        for epsilon in epsilons:
            found = list[tuple[float, Cell]]()
            for n, canary in product(records, CANARIES):
                try:
                    work, cell = _cell(algorithm, calibration, canary, {**keys, **steps, "epsilon": epsilon, "n": n})
                except (InputError, Refusal) as failure:
                    failures.append(failure)
                    continue
                if work <= MOST_WORK:
                    return cell
                found.append((work, cell))
            if found:
                return min(found, key=lambda pair: pair[0])[1]
    raise _why_none(algorithm, keys, failures)


def _cell(algorithm: str, calibration: str, canary: tuple[str, Options], keys: Options) -> tuple[float, Cell]:
    """Make the cell on one canary, and measure the work of its run, if a plan can be made."""
    given = {key.rpartition(".")[2] for key in keys}
    own = {key if key == "d" else f"{PROBLEM}.{key}": v for key, v in canary[1].items() if key not in given}
    cell = make_cell(algorithm, canary[0], {**own, **keys})
    plan = cell.plan(calibration, 0, twice=False)[1]
    if plan.schedule.get("sweeps", 0) > SWEEPS and "sweeps" not in given:
        cell = replace(cell, options={**cell.options, "sweeps": SWEEPS})
        plan = cell.plan(calibration, 0, twice=False)[1]
    if calibration == "paper" and plan.paper_limit is not None:
        raise plan.paper_limit.error()
    return work_of(plan), cell


def _why_none(algorithm: str, keys: Options, failures: list[DpscoError]) -> DpscoError:
    """Return the user's own mistake if there is one, else that the algorithm takes no canary."""
    wrong = [f for f in failures if isinstance(f, InputError)]
    if wrong and any(all(f.key in (key, key.rpartition(".")[2]) for f in wrong) for key in keys):
        return wrong[0]
    refused = [f for f in failures if isinstance(f, Refusal) and "lacks" not in str(f)]
    other = [f for f in wrong if f.key not in ("domain", "norm", "p", "d", "option")]
    why = next((str(f) for f in (*other, *refused)), "none is of the class that it asks for")
    return Refusal(f"audit of {get_algorithm(algorithm).id}", f"it takes none of the canaries: {why}")


@dataclass(frozen=True)
class Trial:
    """Default trial of one variant under one calibration, or the ``reason`` why there is none."""

    algorithm: str
    variant: str
    calibration: str
    problem: str = ""
    problem_options: Options = field(default_factory=dict)
    options: Options = field(default_factory=dict)
    n: int = 0
    d: int = 0
    epsilon: float = math.nan
    statistic: str = ""
    fused: bool = False
    reason: str = ""


def trials() -> Iterator[Trial]:
    """List, without running it, what is tried for every algorithm, variant and calibration, compiled runs besides."""
    for id in list_algorithms():
        variants = get_algorithm(id).variants.items()
        pairs = [(v, c) for v, allowed in variants for c in allowed if c in CALIBRATIONS]
        for variant, calibration in pairs or [("", "none")]:
            try:
                cell = make_audit_cell(id, None, {"variant": variant} if variant else {}, calibration)
            except (InputError, Refusal) as failure:
                yield Trial(id, variant, calibration, reason=str(failure))
                continue
            plan = cell.plan(calibration, 0, twice=False)[1]
            place = cell.problem, cell.problem_options, cell.options, cell.n, cell.problem_entry.dimension
            known = Trial(id, variant, calibration, *place, float(cell.epsilon), "output")
            yield replace(known, statistic="transcript") if supports(plan) else known
            if runs_fused(cell, plan):
                yield replace(known, fused=True)


def runs_fused(cell: Cell, plan: Plan) -> bool:
    """Tell whether compiled steps run in place of the reference where nothing but the output is wanted."""
    from dpsco_bench.fused.registry import run_of

    entry, scales = cell.algorithm_entry, {query.name: 1.0 for query in plan.queries}
    objective = Objective(cell.problem_entry, cell.draw_data(0, 0), 1)
    return run_of(entry, objective, plan, Mechanism(plan, scales, "fused", 0, 0, 1)) is not entry.run_function


def candidate_pairs(cell: Cell, seed: int, plan: Plan, scales: Mapping[str, float]) -> Iterator[NeighbourRun]:
    """List the pairs to choose from. Raises Refusal on a problem that has no neighbouring data sets."""
    problem = cell.problem_entry
    if problem.shares_records:
        raise Refusal(f"audit on {cell.problem}", "all its records are equal, so it has no neighbouring data sets")
    if problem.draws_per_replicate:
        raise Refusal(f"audit on {cell.problem}", "every run has a sample of its own, so no two are neighbours")
    if isinstance(problem, CanaryHuber):
        asked = cell.problem_options.get("canary")
        for canary in HUBER_CANARIES if asked is None else (asked,):
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
    place, share = 0, 1.0
    if not (hides_batches(plan) or any(isinstance(query, DrawQuery) for query in plan.queries)):
        place, share = worst_place(NeighbourRun(cell, plan, scales, (data, mirrored), 0), seed)
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
    features = np.array(data.features)
    features[0] = row
    return Data(data.n, features, data.labels)


def worst_place(tried: NeighbourRun, seed: int) -> tuple[int, float]:
    """Find the place in which record 0 of a pair changes the releases most, and its largest share of a sensitivity.

    It matters where records enter in an order: the nodes above a leaf, the later batches of a pass. The sum over
    releases of the squared changes in units of the noise decides; of equal places the first is taken.
    """
    n, recorder = tried.cell.n, _recorded(tried, seed)
    places = {0, n - 1} | {1 << k for k in range(n.bit_length()) if 1 << k < n} | {k * n // 8 for k in range(8)}
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
    order = np.arange(data.n)
    order[[0, place]] = place, 0
    return Data(data.n, np.asarray(data.features)[order], np.asarray(data.labels)[order])


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
    two = two if one != two else (one + 1) % len(sets)  # where nothing changes a release, any two records
    name = f"{cell.problem} n={cell.n} d={problem.dimension}: the two domain records that differ most along runs"
    return replace(own, pair=(sets[one], sets[two]), name=name)


def _squares(query: Query, exposed: np.ndarray) -> np.ndarray:
    """Compute mean squared distances ``(K, K)`` of what data sets exposed, ``(K, R, k)``, in the query's norm."""
    order = 2.0 if isinstance(query, DrawQuery) else query.norm
    rows = (np.linalg.norm(exposed - own, ord=order, axis=-1) for own in exposed)
    return np.stack([np.mean(row**2, axis=-1) for row in rows])
