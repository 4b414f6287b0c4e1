"""Batches drawn with replacement: no accountant here bounds their epsilon from above.

What is charged is a lower bound, from tests on the transcript of one pair of data sets: with it a claim is refuted or
left unproven. The accountant's name carries the value of a scheme that is *not* run, for comparison: Poisson batches
for normal noise, batches without replacement otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from scipy.special import gammaln

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants import counting, pld, single_index, subsampled_zcdp
from dpsco_bench.privacy.charge import Charge, Composition
from dpsco_bench.privacy.plan import Plan, Query, WithReplacement
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.spec import PrivacySpec

# Draws of one record in one batch that are looked at; more of them only make the bound larger.
_MOST_COUNTS = 12


def covers(plan: Plan) -> bool:
    return any(isinstance(q.records, WithReplacement) for q in plan.queries)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """A lower bound. Raises Refusal for several queries, or noise of another kind."""
    query = _alone(plan)
    shift = query.sensitivity / scales[query.name]
    epsilon, name = _normal(query, shift, delta) if query.is_normal else _generalised(query, shift, delta)
    return Charge(epsilon, "lower", name)


def accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Refused: raises Refusal always."""
    reason = "no accountant here covers batches of several records drawn with replacement; single records and all are"
    raise Refusal("calibration accounted", reason)


def poisson_surrogate(query: Query, shift: float, delta: float) -> float:
    """Epsilon of Poisson batches of the same expected size, add/remove form: indicative only."""
    records = _records(query)
    rate = min(1.0, records.size / records.population)
    return _poisson(1.0 / shift, rate, query.releases, delta)


def counts_of_draws(records: WithReplacement) -> list[float]:
    """Probabilities that one record is drawn 0, 1, 2, ... times in a batch."""
    m, n = records.size, records.population
    most = min(m, _MOST_COUNTS)
    if n == 1:
        return [0.0] * most + [1.0]
    return [
        math.exp(gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) - j * math.log(n) + (m - j) * math.log1p(-1 / n))
        for j in range(most + 1)
    ]


def _normal(query: Query, shift: float, delta: float) -> tuple[float, str]:
    records = _records(query)
    drawn = -math.expm1(records.size * math.log1p(-1.0 / records.population)) if records.population > 1 else 1.0
    epsilon = _opposed(shift, query.releases, drawn, delta)
    surrogate = poisson_surrogate(query, shift, delta)
    return epsilon, f"likelihood-ratio test, lower bound (Poisson batches by {pld.accountant_name()}: {surrogate:.4g})"


def _generalised(query: Query, shift: float, delta: float) -> tuple[float, str]:
    assert isinstance(query, GeneralisedGaussianQuery)
    records, r, d = _records(query), query.smooth.r, query.smooth.d
    epsilon = counting.counting_epsilon(shift, query.releases, r, d, delta, counts_of_draws(records))
    rho, rate = 0.5 * query.norm_kappa * shift**2, min(1.0, records.size / records.population)
    surrogate = subsampled_zcdp.without_replacement_epsilon(rho, rate, query.releases, delta)
    return epsilon, f"{counting.accountant_name()} (without replacement: at most {surrogate:.4g})"


_opposed = lru_cache(maxsize=1024)(single_index.opposed_epsilon)
_poisson = lru_cache(maxsize=1024)(pld.add_remove_epsilon)


def _records(query: Query) -> WithReplacement:
    assert isinstance(query.records, WithReplacement)
    return query.records


def _alone(plan: Plan) -> Query:
    query = plan.queries[0]
    averaged = isinstance(query, GeneralisedGaussianQuery) and query.draws > 1
    if len(plan.queries) > 1 or query.norm_kappa is None or averaged or query.factors(0, 1) is not None:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}, one of them on batches drawn with replacement")
    return query


COMPOSITION = Composition(covers, charge, accounted_scales)
