"""Choose the canary that an algorithm is audited on: the first of its own family that it accepts at a bearable price.

A canary is a problem of which one record alone has a gradient, so that nothing hides it. What a method asks for, it
asks of a canary too: each declares its own constants and traits, and the first fitting one is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import PROBLEM, make_cell
from dpsco_bench.plain import Options
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.objective import Objective

RECORDS = (200, 60, 20)  # numbers of records, unless one is given: fewer for methods whose schedules are long
EPSILONS = (1.0, 0.5, 0.25, 0.1)
"""Claims, unless one is given: smaller ones where the paper states its noise for these alone."""
MOST_WORK = 3e4
"""Most work of one run, in gradients of single records; above it fewer records, or another canary, are tried."""
RELEASE_COST, SWEEP_COST = 20.0, 100.0
"""Work of one release, and of a sweep of a chain, in units of one gradient evaluation."""
SWEEPS, STEPS = 20, 24
"""Default sweeps of a chain: a draw by a longer one costs too much to be repeated often enough. And steps of a method
whose own schedule asks for far more records."""
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


def work_of(plan: Plan) -> float:
    """Estimate the work of one run of a plan, in gradients of single records."""
    chains = SWEEP_COST * plan.schedule.get("sweeps", 0)
    return plan.gradient_evaluations + RELEASE_COST * sum(q.releases for q in plan.queries) + chains


def check_private(algorithm: str) -> None:
    """Refuse an algorithm that claims no privacy at all."""
    entry = get_algorithm(algorithm)
    if not any(set(CALIBRATIONS) & set(allowed) for allowed in entry.variants.values()):
        raise Refusal(f"audit of {entry.id}", "it is not private and claims nothing: none is its only calibration")


def audit_cell_of(algorithm: str, calibration: str, keys: Options) -> Cell:
    """Make the cell of an audit on the first fitting canary; raises a one-line error where there is none.

    Without n, or an epsilon, it is the first of `RECORDS` and `EPSILONS` with which a run is neither outside the
    paper's range nor too long; where all are, the shortest.
    """
    check_private(algorithm)
    entry, failures, given = get_algorithm(algorithm), list[DpscoError](), {"epsilon": EPSILONS, "n": RECORDS}
    entry.variant_for(calibration, keys.get("variant"))
    epsilons, records = ((keys[key],) if key in keys else several for key, several in given.items())
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
    for key in keys if wrong else ():
        if all(f.key in (key, key.rpartition(".")[2]) for f in wrong):
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
    problem: str
    problem_options: Options
    options: Options
    n: int
    d: int
    epsilon: float
    statistic: str
    fused: bool
    reason: str


def trials(algorithms: list[str] | None = None) -> Iterator[Trial]:
    """List, without running it, what is tried for every algorithm, variant and calibration, compiled runs besides."""
    from dpsco_bench.audit.likelihood import supports

    for id in list_algorithms() if algorithms is None else algorithms:
        variants = get_algorithm(id).variants.items()
        pairs = [(v, c) for v, allowed in variants for c in allowed if c in CALIBRATIONS]
        for variant, calibration in pairs or [("", "none")]:
            try:
                cell = audit_cell_of(id, calibration, {"variant": variant} if variant else {})
            except (InputError, Refusal) as failure:
                yield Trial(id, variant, calibration, "", {}, {}, 0, 0, math.nan, "", False, str(failure))
                continue
            plan = cell.plan(calibration, 0, twice=False)[1]
            place = cell.problem, cell.problem_options, cell.options, cell.n, cell.problem_entry.dimension
            known = id, variant, calibration, *place, float(cell.epsilon)
            yield Trial(*known, "transcript" if supports(plan) else "output", False, "")
            if runs_fused(cell, plan):
                yield Trial(*known, "output", True, "")


def runs_fused(cell: Cell, plan: Plan) -> bool:
    """Tell whether compiled steps run in place of the reference where nothing but the output is wanted."""
    from dpsco_bench.fused.registry import run_of

    entry, scales = cell.algorithm_entry, {query.name: 1.0 for query in plan.queries}
    objective = Objective(cell.problem_entry, cell.draw_data(0, 0), 1)
    return run_of(entry, objective, plan, Mechanism(plan, scales, "fused", 0, 0, 1)) is not entry.run_function
