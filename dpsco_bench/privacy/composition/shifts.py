"""Queries paid by squared shifts: Gaussians and generalised Gaussians on all records or on disjoint blocks.

One release costs ``kappa (s/scale)^2`` (kappa = 1 for a Gaussian), the square of its Gaussian-DP parameter
(docs/accounting.md). Costs of releases that a record enters add up, under adaptive composition. A record enters one
release at most of all queries on disjoint blocks, so the dearest of these counts, whatever the others are (parallel
composition).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.records import Disjoint, Full
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    """Check that all queries are of this kind and none draws its records at random."""
    return all(q.norm_kappa is not None and isinstance(q.records, Full | Disjoint) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact for normal noise, else an upper bound."""
    kind = "exact" if all(q.is_normal for q in plan.queries) else "upper"
    epsilon = gaussian.gdp_epsilon(math.sqrt(total_cost(plan.queries, scales)), delta)
    return Charge(epsilon, kind, gaussian.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Give queries with a share their part of the squared budget; disjoint blocks each get all of the rest.

    Raises InputError: see `check_shares`.
    """
    if not plan.queries:
        return {}
    check_shares(plan)
    budget = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    left = 1.0 - sum(q.share for q in plan.queries if q.share is not None)
    return {q.name: scale_for(q, left if q.share is None else q.share, budget) for q in plan.queries}


def check_shares(plan: Plan) -> None:
    """Several queries say how they divide the budget: all but one, or all but disjoint blocks, which divide nothing.

    Raises InputError, naming the queries that say too much or too little.
    """
    without = [query for query in plan.queries if query.share is None]
    given = [query for query in plan.queries if query.share is not None]
    names = " and ".join(query.name for query in given)
    blocks = bool(without) and all(isinstance(query.records, Disjoint) for query in without)
    if plan.queries and not without:
        shares = ", ".join(f"{query.share:g}" for query in given)
        raise InputError(f"share of {names}", shares, "left out of one query, which takes what is left")
    if len(without) > 1 and not blocks:
        allowed = "given for all queries but one: the fraction of the squared privacy budget that it gets, in (0, 1)"
        raise InputError("share of " + " and ".join(query.name for query in without), "missing", allowed)
    total = sum(query.share for query in given if query.share is not None)
    if total >= 1:
        raise InputError(f"share of {names}", f"{total:g} together", "less than 1")


def scale_for(query: Query, share: float, budget: float) -> float:
    """Least noise at which the query costs a share of ``budget^2``."""
    return query.sensitivity * math.sqrt(_unit_cost(query) / share) / budget


def total_cost(queries: Iterable[Query], scales: Mapping[str, float]) -> float:
    """Largest cost over the records."""
    cost, parallel = 0.0, 0.0
    for query in queries:
        one = _unit_cost(query) * (query.sensitivity / scales[query.name]) ** 2
        if isinstance(query.records, Disjoint):
            parallel = max(parallel, one)
        else:
            cost += one
    return cost + parallel


def _unit_cost(query: Query) -> float:
    """Cost at ratio one of sensitivity and scale, of all releases that one record may enter."""
    factors, parallel = query.factors(0, query.releases), isinstance(query.records, Disjoint)
    assert query.norm_kappa is not None
    if factors is None:
        return query.norm_kappa * (1 if parallel else query.releases)
    costs = factors**-2.0
    return query.norm_kappa * float(np.max(costs) if parallel else np.sum(costs))


COMPOSITION = Composition(covers, charge, accounted_scales)
