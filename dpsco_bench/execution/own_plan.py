"""Plans of one's own algorithms: a mistake in one is one line that names the algorithm, the key and what is allowed."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import fields
from numbers import Integral, Real
from types import TracebackType
from typing import Any

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.guarded import AlgorithmError
from dpsco_bench.privacy import plan as plans
from dpsco_bench.privacy.composition import sampled, shifts
from dpsco_bench.privacy.plan import Disjoint, Plan, Query, Records


def make_plan(*queries: Query, gradient_evaluations: float, **further: Any) -> Plan:
    """Build a plan (`privacy.plan.make_plan`) from checked arguments; further keywords are the schedule's quantities.

    Raises
    ------
    InputError
        For something that is no query, or a number of gradient evaluations that is none.
    """
    for query in queries:
        if not isinstance(query, Query):
            raise InputError("query", query, "a query, e.g. GaussianQuery(name, sensitivity, releases)")
    if not _is_real(gradient_evaluations, least=0.0):
        raise InputError("gradient_evaluations", gradient_evaluations, "a finite number >= 0")
    return plans.make_plan(*queries, gradient_evaluations=gradient_evaluations, **further)


def checked_plan(cell: Cell, calibration: str, root_seed: int) -> tuple[str, Plan]:
    """Plan a cell as `Cell.plan` does; the plan of one's own algorithm is checked besides.

    Raises
    ------
    InputError, Refusal
        As `Cell.plan`, or naming a key of the plan that has a wrong type or is out of range.
    AlgorithmError
        For an exception within the plan function, or if it returns something else.
    """
    entry = cell.algorithm_entry
    if not is_own(entry):
        return cell.plan(calibration, root_seed)
    try:
        variant, plan = cell.plan(calibration, root_seed)
    except DpscoError:
        raise
    except Exception as error:
        _check_unfinished(entry.id, error.__traceback__)
        what = " ".join(f"{type(error).__name__}: {error}".split())
        where = f"n = {cell.n}, epsilon = {cell.epsilon:g}, delta = {cell.delta:g}"
        raise AlgorithmError(f"algorithm {entry.id}: its plan failed at {where} with {what}") from error
    check_plan(entry.id, plan, calibration)
    return variant, plan


def is_own(entry: Algorithm) -> bool:
    """Whether an algorithm is not one of this package."""
    return not entry.module.startswith("dpsco_bench.")


def check_plan(id: str, plan: Any, calibration: str) -> None:
    """Check what a plan function returned.

    Raises
    ------
    InputError
        Naming the algorithm and the key.
    AlgorithmError
        For something else than a plan.
    """
    if not isinstance(plan, Plan):
        raise AlgorithmError(f"algorithm {id}: its plan returned {type(plan).__name__}, must be what make_plan returns")
    if not _is_real(plan.gradient_evaluations, least=0.0):
        raise InputError(f"algorithm {id}: gradient_evaluations", plan.gradient_evaluations, "a finite number >= 0")
    for query in plan.queries:
        check_query(id, query)
    names = [query.name for query in plan.queries]
    if len(set(names)) < len(names):
        raise InputError(f"algorithm {id}: names of its queries", ", ".join(names), "different ones")
    if calibration == "accounted" and (shifts.covers(plan) or sampled.covers(plan)):
        _check_shares(id, plan)


def check_query(id: str, query: Any) -> None:
    """Check the types and ranges of a query's fields.

    Raises
    ------
    InputError
        Naming the algorithm, the field and the query.
    """
    if not isinstance(query, Query):
        raise InputError(f"algorithm {id}: query", query, "a query, e.g. GaussianQuery(name, sensitivity, releases)")
    for key, (fits, allowed) in _FIELDS.items():
        value = getattr(query, key)
        if not fits(value):
            raise InputError(f"algorithm {id}: {key} of {query.name}", value, allowed)


def _check_shares(id: str, plan: Plan) -> None:
    """Several queries say how they divide the budget: all but one, or all but disjoint blocks, which divide nothing."""
    without = [query for query in plan.queries if query.share is None]
    given = [query for query in plan.queries if query.share is not None]
    blocks = bool(without) and all(isinstance(query.records, Disjoint) for query in without)
    if plan.queries and not without:
        shares = ", ".join(f"{query.share:g}" for query in given)
        names = " and ".join(query.name for query in given)
        raise InputError(f"algorithm {id}: share of {names}", shares, "left out of one query, which takes what is left")
    if len(without) > 1 and not blocks:
        names = " and ".join(query.name for query in without)
        allowed = "given for all queries but one: the fraction of the squared privacy budget that it gets, in (0, 1)"
        raise InputError(f"algorithm {id}: share of {names}", "missing", allowed)
    total = sum(query.share for query in given if query.share is not None)
    if total >= 1:
        names = " and ".join(query.name for query in given)
        raise InputError(f"algorithm {id}: share of {names}", f"{total:g} together", "less than 1")


def _check_unfinished(id: str, trace: TracebackType | None) -> None:
    """A query whose constructor failed: name the field that it failed on, if it is one of these."""
    for frame, _ in traceback.walk_tb(trace):
        query = frame.f_locals.get("self")
        if isinstance(query, Query) and all(f.name in vars(query) for f in fields(Query)):
            check_query(id, query)


def _is_real(value: Any, least: float = -math.inf) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and math.isfinite(value) and float(value) >= least


def _is_positive(value: Any) -> bool:
    return _is_real(value) and value > 0


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str) and bool(value), "text"),
    "sensitivity": (_is_positive, "a finite number > 0"),
    "releases": (_is_count, "an integer >= 1"),
    "records": (lambda value: isinstance(value, Records), "Full(), Poisson(rate), SingleIndex(population), ..."),
    "paper_scale": (lambda value: value is None or _is_real(value, least=0.0), "left out or a finite number >= 0"),
    "share": (lambda value: value is None or (_is_positive(value) and value < 1), "left out or a number in (0, 1)"),
}
"""Of `Query`: whether a value fits, and what does."""
