"""Queries that stand alone in their plan, charged by the rule of their kind."""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.records import Full
from dpsco_bench.privacy.rules import RULES
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return len(plan.queries) == 1 and type(plan.queries[0]) in RULES and isinstance(plan.queries[0].records, Full)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Charge an upper bound."""
    query = plan.queries[0]
    rule = RULES[type(query)]
    return Charge(rule.epsilon(query, scales[query.name], delta), "upper", rule.accountant())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    query = plan.queries[0]
    return {query.name: RULES[type(query)].scale(query, privacy)}


COMPOSITION = Composition(covers, charge, accounted_scales)
