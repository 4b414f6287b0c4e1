"""Nodes of a tree with normal noise: adaptive Gaussian-DP composition along the worst record's path."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.privacy.tree import TreeQuery


def covers(plan: Plan) -> bool:
    """Whether there is one query, on a tree, with normal noise."""
    return len(plan.queries) == 1 and isinstance(plan.queries[0], TreeQuery)


def level(query: TreeQuery, scale: float) -> float:
    """Gaussian-DP parameter of all nodes together."""
    return query.spread * math.sqrt(query.path_cost) / scale


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact where neighbours attain the path's cost, else an upper bound."""
    query = _tree(plan)
    epsilon = gaussian.gdp_epsilon(level(query, scales[query.name]), delta)
    return Charge(epsilon, "exact" if query.attained else "upper", gaussian.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """``spread sqrt(paid cost)/m`` with m the exact Gaussian-DP parameter of the claim."""
    query = _tree(plan)
    m = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    return {query.name: query.spread * math.sqrt(query.paid_cost) / m}


def _tree(plan: Plan) -> TreeQuery:
    query = plan.queries[0]
    assert isinstance(query, TreeQuery)
    return query


COMPOSITION = Composition(covers, charge, accounted_scales)
