"""Accounting of the queries that do not compose with Gaussians: one rule per kind, for a query that stands alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsco_bench.privacy.accountants import objective, pure
from dpsco_bench.privacy.plan import GammaObjectiveQuery, NoisyMinimumQuery, ObjectiveQuery, Query
from dpsco_bench.privacy.spec import PrivacySpec


@dataclass(frozen=True)
class Rule:
    """How one kind of query is charged and calibrated; all of them bound epsilon from above.

    Attributes
    ----------
    accountant : callable
        Name for the privacy ledger.
    epsilon : callable
        (query, scale, delta) -> epsilon of all its releases.
    scale : callable
        (query, privacy) -> the scale at which `epsilon` is the claim.
    """

    accountant: Callable[[], str]
    epsilon: Callable[[Query, float, float], float]
    scale: Callable[[Query, PrivacySpec], float]


def _minimum_epsilon(query: Query, scale: float, delta: float) -> float:
    """Report noisy max is ``2 s/scale``-differentially private each time."""
    return pure.composed_epsilon(2.0 * query.sensitivity / scale, query.releases, delta)


def _minimum_scale(query: Query, privacy: PrivacySpec) -> float:
    return 2.0 * query.sensitivity / pure.epsilon_each_for(privacy.epsilon, privacy.delta, query.releases)


def _objective_epsilon(query: Query, scale: float, delta: float) -> float:
    assert isinstance(query, ObjectiveQuery)
    k = query.releases
    return k * objective.gaussian_epsilon(query.sensitivity / scale, query.log_jacobian, delta / k)


def _objective_scale(query: Query, privacy: PrivacySpec) -> float:
    assert isinstance(query, ObjectiveQuery)
    k = query.releases
    return query.sensitivity / objective.gaussian_ratio(privacy.epsilon / k, query.log_jacobian, privacy.delta / k)


def _gamma_epsilon(query: Query, scale: float, delta: float) -> float:
    assert isinstance(query, ObjectiveQuery)
    return query.releases * objective.gamma_epsilon(query.sensitivity / scale, query.log_jacobian)


def _gamma_scale(query: Query, privacy: PrivacySpec) -> float:
    assert isinstance(query, ObjectiveQuery)
    return query.sensitivity / objective.gamma_ratio(privacy.epsilon / query.releases, query.log_jacobian)


RULES = {
    NoisyMinimumQuery: Rule(pure.accountant_name, _minimum_epsilon, _minimum_scale),
    ObjectiveQuery: Rule(objective.accountant_name, _objective_epsilon, _objective_scale),
    GammaObjectiveQuery: Rule(objective.accountant_name, _gamma_epsilon, _gamma_scale),
}
"""By the query's class."""
