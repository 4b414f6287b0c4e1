"""Describe the data sets at which an epsilon exceeds its claim, from what the accountant computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from dpsco_bench.privacy.accountants import single_index
from dpsco_bench.privacy.attained import attaining_pair, rests_on_sensitivities
from dpsco_bench.privacy.calibrate import REFUTATION, loaded
from dpsco_bench.privacy.ledger import ROUNDING
from dpsco_bench.privacy.plan import Charge, Plan, Query
from dpsco_bench.privacy.queries import AnchoredQuery, DrawQuery
from dpsco_bench.privacy.records import Disjoint, SingleIndex
from dpsco_bench.problems.base import Problem

OPPOSED, OPPOSED_TO_ALL = "two opposed records", "one record opposed to all others"
ALONG = {"axis": " along an axis", "even": " equally in every coordinate"}


class Compared(NamedTuple):
    """Difference between two data sets: `records`, empty if no pair is known, and their `effect` on releases."""

    records: str = ""
    effect: str = ""


def compared(
    problem: Problem, plan: Plan, n: int, charge: Charge, scales: Mapping[str, float], delta: float
) -> Compared:
    """Describe the pair behind a plan's exact epsilon or lower bound, found again from ``charge``; else empty."""
    if charge.kind == "exact" and rests_on_sensitivities(plan, charge.epsilon):
        return Compared(OPPOSED if attaining_pair(problem, plan, n) is not None else "")
    if charge.accountant == single_index.NAME and plan.leaks:
        return _of_single_index(plan, scales, delta)
    found = loaded(REFUTATION).deciding_test(plan, scales, delta) if charge.kind in ("exact", "lower") else None
    if found is None or not math.isclose(found[0].epsilon, charge.epsilon, rel_tol=ROUNDING):
        return Compared()
    return _of_test(found[0], found[1], scales[found[1].name])


def _of_single_index(plan: Plan, scales: Mapping[str, float], delta: float) -> Compared:
    """Describe the pair of queries that look at one record each; leaks of the plan are not looked at."""
    (query,) = (query for query in plan.queries if isinstance(query.records, SingleIndex))
    assert isinstance(query.records, SingleIndex)
    shift = query.stretch * query.contribution / scales[query.name]
    tests = loaded("sampled").tests_of(query, scales[query.name], delta)
    anchored = isinstance(query, AnchoredQuery)
    charged = "as they are answered" if anchored else "as the proof charges them"
    drawn = f"each of {query.releases:,} queries, {charged}, draws it with probability"
    others = f"by {shift / query.records.population / 2:.3g} the other way" if anchored else "by none"
    moved = f"and it moves that one by {shift:,.3g} standard deviations of the noise, all others {others}"
    return Compared(max(tests, key=lambda name: tests[name]), f"{drawn} {1.0 / query.records.population:.3g}, {moved}")


def _of_test(bound: Charge, query: Query, scale: float) -> Compared:
    if isinstance(query, DrawQuery):
        pair, _, found = bound.accountant.partition(", ")
        return Compared(f"{'the' if pair.startswith('worst') else 'a'} {pair}", found)
    unit = "standard deviations" if query.is_normal else "scales"
    shift = (query.stretch if query.is_normal else 1.0) * query.sensitivity / scale
    moved = f"by the declared sensitivity, {shift:,.3g} {unit} of the noise{ALONG.get(bound.pair, '')}"
    tested = 1 if isinstance(query.records, Disjoint) else query.releases
    each = "the release" if tested == 1 else f"each of {tested:,} releases"
    drawn = loaded(REFUTATION).chance(query.records)
    if drawn is None:
        return Compared(OPPOSED, f"they move {each} {moved}")
    return Compared(OPPOSED_TO_ALL, f"{each} draws it with probability {drawn:.3g}, and it moves that one {moved}")
