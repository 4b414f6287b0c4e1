"""Nodes of a tree: composition along the worst record's path, adaptive Gaussian-DP or pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery

PURE = "pure differential privacy, linear composition"
"""Name of this accountant for the privacy ledger."""


def covers(plan: Plan) -> bool:
    return len(plan.queries) == 1 and isinstance(plan.queries[0], TreeQuery | PureTreeQuery)


def level(query: TreeQuery, scale: float) -> float:
    """Gaussian-DP parameter of all nodes with normal noise together."""
    return query.sensitivity * query.spread * math.sqrt(query.path_cost) / scale


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact for normal noise where neighbours attain the path's cost, else an upper bound."""
    query = _tree(plan)
    scale = scales[query.name]
    if isinstance(query, PureTreeQuery):
        return Charge(query.sensitivity * query.path_cost / scale, "upper", PURE)
    epsilon = gaussian.gdp_epsilon(level(query, scale), delta)
    return Charge(epsilon, "exact" if query.attained else "upper", gaussian.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """``spread sqrt(paid cost)/m`` with m the exact Gaussian-DP parameter of the claim; ``paid cost/eps`` if pure."""
    query = _tree(plan)
    if isinstance(query, PureTreeQuery):
        return {query.name: query.sensitivity * query.paid_cost / privacy.epsilon}
    m = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    return {query.name: query.sensitivity * query.spread * math.sqrt(query.paid_cost) / m}


def _tree(plan: Plan) -> TreeQuery | PureTreeQuery:
    query = plan.queries[0]
    assert isinstance(query, TreeQuery | PureTreeQuery)
    return query


COMPOSITION = Composition(covers, charge, accounted_scales)
