"""Lower bounds on epsilon: what refutes a claim where the accountant has an upper bound only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from scipy.special import gammaln

from dpsco_bench.privacy.accountants import generalised, single_index
from dpsco_bench.privacy.plan import Charge, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery, GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint, Full, RecordChoice, SingleIndex, WithoutReplacement, WithReplacement

BATCH_TEST = "likelihood-ratio test, lower bound"
"""Name of the test of batches for the privacy ledger."""
# Copies of one record in one batch that are looked at; more of them only make the bound larger.
_MOST_COPIES = 12
# More releases are told apart by counting.
_MOST_RELEASES = 64
_opposed = lru_cache(maxsize=1024)(single_index.opposed_epsilon)


def covers(plan: Plan) -> bool:
    """Tell whether a query of the plan may have a test, whatever its noise."""
    return any(map(_is_tested, plan.queries))


def lower_bound(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge | None:
    """Best lower bound from tests of one query of the plan; None if there is no test for any.

    Of a draw it may be the exact value. A record may enter any one block of a query on disjoint blocks: one release is
    tested.
    """
    best = deciding_test(plan, scales, delta)
    return best and best[0]


def deciding_test(plan: Plan, scales: Mapping[str, float], delta: float) -> tuple[Charge, Query] | None:
    """Find the bound of `lower_bound`, with the query that is tested."""
    tested = filter(_is_tested, plan.queries)
    bounds = [(bound, q) for q in tested if (bound := _query_bound(q, scales[q.name], delta)) is not None]
    return max(bounds, key=lambda found: found[0].epsilon, default=None)


def _is_tested(query: Query) -> bool:
    """Tell whether a query has a test: draws, normal noise on drawn batches, generalised Gaussian noise."""
    if query.factors(0, 1) is not None:
        return False
    if isinstance(query, DrawQuery) or (query.is_normal and chance(query.records) is not None):
        return True
    return isinstance(query, GeneralisedGaussianQuery) and _counts(query.records) is not None and query.draws == 1


def _query_bound(query: Query, scale: float, delta: float) -> Charge | None:
    if isinstance(query, DrawQuery):
        found = query.attained(scale, delta)
        return None if found is None else replace(found, pair="computed")
    drawn = chance(query.records)
    if query.is_normal and drawn is not None:
        epsilon = _opposed(query.stretch * query.sensitivity / scale, query.releases, drawn, delta)
        name = single_index.NAME if isinstance(query.records, SingleIndex) else BATCH_TEST
        return Charge(epsilon, "lower", name, pair="any" if query.norm_kappa in (None, 1.0) else "even")
    assert isinstance(query, GeneralisedGaussianQuery)
    return _generalised_bound(query, scale, delta)


def _generalised_bound(query: GeneralisedGaussianQuery, scale: float, delta: float) -> Charge:
    """Bound by counting and, for few releases, likelihood ratios: changes along an axis, and equal everywhere."""
    smooth, shift, counts = query.smooth, query.sensitivity / scale, _counts(query.records)
    steps = 1 if isinstance(query.records, Disjoint) else query.releases
    assert counts is not None
    epsilon = generalised.counting_epsilon(shift, steps, smooth.r, smooth.d, delta, counts)
    found = [Charge(epsilon, "lower", generalised.COUNTING, pair="axis")]
    if 0.0 < shift < math.inf and steps <= _MOST_RELEASES:
        everywhere = shift * smooth.d ** (-1.0 / smooth.q)
        tested = (
            ("axis", generalised.coordinate_epsilon(shift, steps, smooth.r, smooth.d, delta, counts)),
            ("even", generalised.spread_epsilon(everywhere, steps, smooth.r, smooth.d, delta, counts)),
        )
        found += [Charge(value, "lower", generalised.RATIO_TEST, pair=pair) for pair, value in tested]
    return max(found, key=lambda bound: bound.epsilon)


def chance(records: RecordChoice) -> float | None:
    """Probability that a release looks at the record at all, where batches are drawn; None if they are not."""
    if isinstance(records, SingleIndex):
        return 1.0 / records.population
    if isinstance(records, WithoutReplacement):
        return records.size / records.population
    if isinstance(records, WithReplacement):
        return 1.0 - _copies(records)[0]
    return None


def _counts(records: RecordChoice) -> list[float] | None:
    """Probabilities that a release looks at the record 0, 1, 2, ... times; None if nothing is known of them."""
    if isinstance(records, Full | Disjoint):
        return [0.0, 1.0]
    if isinstance(records, WithoutReplacement):
        return [1.0 - records.size / records.population, records.size / records.population]
    return _copies(records) if isinstance(records, WithReplacement) else None


def _copies(records: WithReplacement) -> list[float]:
    m, n = records.size, records.population
    most = min(m, _MOST_COPIES)
    if n == 1:
        return [0.0] * m + [1.0]
    return [
        math.exp(gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) - j * math.log(n) + (m - j) * math.log1p(-1 / n))
        for j in range(most + 1)
    ]
