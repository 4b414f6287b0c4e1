"""The last iterate of a plan that releases nothing else, charged beside the sequence of its queries."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dpsco_bench.privacy.accountants import gaussian, last_iterate
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec


def covers(plan: Plan) -> bool:
    return plan.last_iterate is not None and not plan.leaks and not plan.unprotected


def level(plan: Plan, scale: float) -> float:
    """Gaussian-DP parameter of the output; `Plan` has checked that there is one query, with normal noise."""
    declared, (query,) = plan.last_iterate, plan.queries
    assert declared is not None
    steps, factors = declared.steps, query.factors(0, query.releases)
    if steps.size == 1 and factors is None:
        unit = float(steps[0]) * query.sensitivity
        return last_iterate.constant_mu(
            float(declared.contractions[0]), query.releases, query.sensitivity / scale, declared.diameter / unit
        )
    ones = np.ones(query.releases)
    noises = steps * scale * (ones if factors is None else factors)
    return last_iterate.varying_mu(declared.contractions * ones, steps * query.sensitivity * ones, noises)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Exact where a quadratic attains it, else an upper bound."""
    (query,), declared = plan.queries, plan.last_iterate
    kind = "exact" if declared is not None and declared.attainable else "upper"
    if scales[query.name] == 0.0:
        return Charge(math.inf, "exact", "no noise")
    return Charge(gaussian.gdp_epsilon(level(plan, scales[query.name]), delta), kind, last_iterate.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Compute the scales; the parameter is in proportion to one over the scale."""
    (query,) = plan.queries
    return {query.name: level(plan, 1.0) / gaussian.gdp_mu(privacy.epsilon, privacy.delta)}


COMPOSITION = Composition(covers, charge, accounted_scales)
