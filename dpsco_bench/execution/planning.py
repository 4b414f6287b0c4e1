"""Plan functions are called here alone: what goes wrong in one, or between two calls, is one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.records import Disjoint, Poisson, RandomAllocation

NOT_PURE = "its plan function is not pure"


class AlgorithmError(DpscoError):
    """An algorithm that fails or does not do what its plan declares; the original error, if any, is its cause."""


class ImpurePlan(AlgorithmError):
    """A plan function that gives two plans for one set of arguments: what is charged need not be what runs."""


def call_plan(id: str, where: str, make: Callable[[], Plan]) -> Plan:
    """What a plan function returns.

    Parameters
    ----------
    id, where : str
        Algorithm, and the numbers it is planned at, for errors.
    make : callable
        The function with its arguments.

    Raises
    ------
    InputError, Refusal
        As the function raises them.
    AlgorithmError
        For another exception, or something else than a plan.
    """
    try:
        plan = make()
    except DpscoError:
        raise
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise AlgorithmError(f"algorithm {id}: its plan failed at {where} with {what}") from error
    if not isinstance(plan, Plan):
        raise AlgorithmError(f"algorithm {id}: its plan returned {type(plan).__name__}, must be what make_plan returns")
    return plan


def check_records(id: str, plan: Plan, n: int) -> None:
    """Check that a plan samples from the ``n`` records of its run, and from no more of them than there are.

    Raises AlgorithmError naming the query, the number and what it must be.
    """

    def refuse(what: str, value: Any, allowed: str) -> None:
        raise AlgorithmError(f"algorithm {id}: {what} = {value}: must be {allowed}{n}, the records of its run")

    if plan.schedule.get("n", n) != n:
        refuse("n of its plan", plan.schedule["n"], "")
    for query in plan.queries:
        records: Any = query.records
        if isinstance(records, Poisson) and "n" not in plan.schedule:
            refuse("n of its plan", "missing", "given to make_plan: ")
        if getattr(records, "population", n) != n:
            refuse(f"population of {query.name}", records.population, "")
        if getattr(records, "count", 0) > n:
            refuse(f"count of {query.name}", records.count, "at most ")
    blocks = [q.records.size * q.releases for q in plan.queries if isinstance(q.records, Disjoint | RandomAllocation)]
    if sum(blocks) > n:
        refuse("sizes of its blocks", f"{sum(blocks)} in all", "at most ")


def check_same(id: str, first: PlanRecord, second: PlanRecord, when: str) -> None:
    """Hold two plans for one set of arguments against each other.

    Parameters
    ----------
    id, when : str
        Algorithm, and when the first plan was made.
    first, second : PlanRecord

    Raises
    ------
    ImpurePlan
        Naming the first quantity that differs, and both values.
    """
    found = None if repr(first) == repr(second) else first.difference(second)  # nearly all are equal to the letter
    if found:
        key, was, now = (" ".join(str(item).split()) for item in found)
        raise ImpurePlan(f"algorithm {id}: {key} = {now}: must be {was}, as {when}: {NOT_PURE}")
