"""Call an algorithm's run: what goes wrong in it, or against its plan, is one line that names the algorithm."""

from __future__ import annotations

import traceback
from typing import Any

from dpsco_bench.algorithms.info import Info, split
from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import AlgorithmError
from dpsco_bench.execution.own import is_own
from dpsco_bench.fused.registry import run_of
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.problems.base import Problem

OUTSIDE = 1e-5
"""Distance from a domain, over the size of the output, that rounding may leave, in float32 too."""


def call_run(
    algorithm: Algorithm, objective: Any, plan: Plan, mechanism: Any, counted: bool = True, fused: bool = True
) -> tuple[Any, Info]:
    """Run an algorithm, by compiled steps where these may run (`fused.registry.run_of`).

    Returns its output, of the shape of the objective's start, and its diagnostics: empty ones where it has none.
    ``counted`` says whether every query has to be released as often as the plan declares.

    Raises AlgorithmError for an exception within the run, an output of another shape, or too few releases; for a user's
    method also for an output outside of the domain. Raises InputError for an algorithm without a run.
    """
    id = algorithm.id
    run = run_of(algorithm, objective, plan, mechanism, fused) if algorithm.run_function else None
    if run is None:
        raise InputError("algorithm", id, "one with a run, attached by @plan.run")
    expected = tuple(objective.start.shape)
    try:
        output, info = split(run(objective, plan, mechanism))
    except (DpscoError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise AlgorithmError(f"algorithm {id}: its run failed with {what}{_place(error, run)}") from error
    shape = getattr(output, "shape", None)
    if shape is None or tuple(shape) != expected:
        found = type(output).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise AlgorithmError(f"algorithm {id}: its run returned {found}, must be (replicates, d) = {expected}")
    if is_own(algorithm.plan_function.__module__):
        _check_inside(id, objective, output)
    if counted:
        check_released(id, plan, mechanism, objective.problem)
    return output, info


def undrawn(query: Query, mechanism: Any, problem: Problem) -> str:
    """Say which random choice of records a query is charged for and the run never made; empty if it made all.

    Records that every replicate draws anew are in random order already.
    """
    shuffled = problem.draws_per_replicate and isinstance(query.records, RandomAllocation)
    return "" if shuffled else str(mechanism.undrawn(query))


def check_released(id: str, plan: Plan, mechanism: Any, problem: Problem) -> None:
    """Check at the end of a run that it released what was charged, and drew the records that were charged for.

    Raises AlgorithmError naming the query, how often it was released or drawn, and how often it is declared.
    """
    for query in plan.queries:
        released = mechanism.released[query.name]
        if released != query.releases:
            raise AlgorithmError(
                f"algorithm {id}: query {query.name} was released {released} times, but its plan declares "
                f"{query.releases}: its privacy is not that of the plan"
            )
        if found := undrawn(query, mechanism, problem):
            raise AlgorithmError(f"algorithm {id}: query {found}: its privacy is not that of the plan")


def _check_inside(id: str, objective: Any, output: Any) -> None:
    """Stop a method whose output leaves the domain: its risk may be below the least of the domain."""
    if not hasattr(objective.domain, "project"):  # a polytope has none
        return
    xp = array_namespace(output)
    beyond = float(xp.max(xp.abs(output - objective.project(output))))
    if beyond > OUTSIDE * float(xp.max(xp.abs(output))):
        raise AlgorithmError(
            f"algorithm {id}: output: must be in the domain {objective.domain.name} (farthest coordinate {beyond:.3g} "
            "beyond it): objective.project(x) projects; or it asks for needs=(Trait.UNCONSTRAINED,)"
        )


def _place(error: BaseException, run: Any) -> str:
    """Where in the file of the run an error arose."""
    file = getattr(getattr(run, "__code__", None), "co_filename", "")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({file.rsplit('/', 1)[-1]}, line {lines[-1]})" if lines else ""
