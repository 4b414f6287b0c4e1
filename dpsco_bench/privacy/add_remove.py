"""Epsilon under add/remove neighbours, which other libraries speak, beside that under replace-one.

One record's contribution is there or it is not; its place stays, since the number of records and the schedule are
public (other libraries say zero-out). Where replace-one exchanges two contributions, this is half the change, unless
the query's class says otherwise by `contribution`. A batch of a fixed size has no such place: another record takes
that of an absent one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpsco_bench.privacy.accountants import gaussian, pld
from dpsco_bench.privacy.composition import shifts
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Disjoint, Full, Poisson
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery


@dataclass(frozen=True)
class AddRemove:
    """The value, NaN and a reason if there is none; `kind` is ``exact`` or ``upper``."""

    epsilon: float = math.nan
    kind: str = "upper"
    reason: str = ""


def add_remove(plan: Plan, scales: Mapping[str, float], delta: float) -> AddRemove:
    """Charge a plan with given noise under add/remove neighbours."""
    if plan.unprotected or any(scales[q.name] == 0 for q in plan.queries):
        return AddRemove(math.inf, "exact")
    if not plan.queries:
        return AddRemove(0.0, "exact")
    if plan.leaks:
        return AddRemove(reason="what it leaks is not charged")
    query = plan.queries[0]
    if shifts.covers_output(plan):
        return AddRemove(gaussian.gdp_epsilon(0.5 * shifts.output_level(plan, scales[query.name]), delta))
    if len(plan.queries) == 1 and isinstance(query, TreeQuery | PureTreeQuery):
        return _nodes(query, scales[query.name], delta)
    if len(plan.queries) == 1 and isinstance(query, DrawQuery):
        return _draw(query, scales[query.name], delta)
    if not all(q.norm_kappa is not None for q in plan.queries):
        return AddRemove(reason="its noise is charged for the exchange of two records alone")
    if not all(isinstance(q.records, Full | Disjoint | Poisson) for q in plan.queries):
        return AddRemove(reason="in a batch of a fixed size another record takes the place of an absent one")
    return _shifted(plan, scales, delta)


def _shifted(plan: Plan, scales: Mapping[str, float], delta: float) -> AddRemove:
    """Additive noise on all records, on blocks, and in one query of the plan on Poisson batches."""
    sampled = [q for q in plan.queries if q.records.sampled]
    if len(sampled) > 1 or not all(q.is_normal for q in sampled):
        return AddRemove(reason="no accountant here composes its sampled queries")
    apart = [replace(q, sensitivity=q.contribution) for q in plan.queries if q not in sampled]
    mu = math.sqrt(shifts.total_cost(apart, scales))
    if not sampled:
        normal = all(q.is_normal for q in plan.queries)
        return AddRemove(gaussian.gdp_epsilon(mu, delta), "exact" if normal else "upper")
    (query,) = sampled
    assert isinstance(query.records, Poisson)
    multiplier = scales[query.name] / (query.stretch * query.contribution)
    return AddRemove(pld.poisson_gaussian_epsilon(multiplier, query.records.rate, query.releases, delta, mu, False))


def _nodes(query: TreeQuery | PureTreeQuery, scale: float, delta: float) -> AddRemove:
    """Charge one contribution to a node, half of the change by an exchange."""
    if isinstance(query, PureTreeQuery):
        return AddRemove(0.5 * query.sensitivity * query.path_cost / scale)
    epsilon = gaussian.gdp_epsilon(0.5 * shifts.tree_level(query, scale), delta)
    return AddRemove(epsilon, "exact" if query.attained else "upper")


def _draw(query: DrawQuery, scale: float, delta: float) -> AddRemove:
    """Charge one loss in the exponent, of Lipschitz constant G; an exchange changes it by one of constant S."""
    t = math.sqrt(query.releases) / scale
    if query.sampler_status == "exact":
        return AddRemove(gaussian.gdp_epsilon(t, delta))
    if query.sampler_status == "target_law_only":
        return AddRemove(reason="nothing is proven of the sampler's draws")
    epsilon = gaussian.total_epsilon(t, query.tau * query.releases, delta)
    return AddRemove(epsilon, reason="for the sampler's tau no epsilon reaches delta" if math.isnan(epsilon) else "")
