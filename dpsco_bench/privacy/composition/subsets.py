"""One query with normal noise on uniform subsets of the records: Renyi amplification without replacement.

The bound is Wang, Balle and Kasiviswanathan's (`accountants.subsampled_zcdp`): it holds under replace-one for the very
scheme that is run, and is loose.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import subsampled_zcdp
from dpsco_bench.privacy.accountants.solve import least_noise
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query, WithoutReplacement
from dpsco_bench.privacy.spec import PrivacySpec

TOLERANCE = 1e-6


def covers(plan: Plan) -> bool:
    """Whether some query draws subsets."""
    return any(isinstance(q.records, WithoutReplacement) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """An upper bound.

    Raises
    ------
    Refusal
        For several queries, noise that is not normal, or noise that changes.
    """
    query, rate = _alone(plan)
    epsilon = _epsilon(scales[query.name] / query.sensitivity, rate, query.releases, delta)
    return Charge(epsilon, "upper", subsampled_zcdp.accountant_name())


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Least noise that the bound accepts."""
    query, rate = _alone(plan)
    return {query.name: query.sensitivity * _multiplier(privacy.epsilon, privacy.delta, rate, query.releases)}


def _epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of noise in units of the replace-one sensitivity: a release is ``1/(2 multiplier^2)``-zCDP."""
    return subsampled_zcdp.without_replacement_epsilon(0.5 / multiplier**2, rate, steps, delta)


@lru_cache(maxsize=1024)
def _multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    return least_noise(lambda z: _epsilon(z, rate, steps, delta), epsilon, 1.0, TOLERANCE)


def _alone(plan: Plan) -> tuple[Query, float]:
    query = plan.queries[0]
    records = query.records
    if len(plan.queries) > 1 or not query.is_normal or query.factors(0, 1) is not None:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}, one of them on subsets of the records")
    assert isinstance(records, WithoutReplacement)
    return query, records.size / records.population


COMPOSITION = Composition(covers, charge, accounted_scales)
