"""Accounting of the queries that do not compose with Gaussians: one rule per kind, for a query that stands alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.privacy.accountants import objective, pure, zcdp
from dpsco_bench.privacy.plan import GammaObjectiveQuery, NoisyMinimumQuery, ObjectiveQuery, Query
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery
from dpsco_bench.privacy.spec import PrivacySpec


@dataclass(frozen=True)
class Rule:
    """Charge and calibration of one kind of query; every rule bounds epsilon from above.

    Attributes
    ----------
    accountant : callable, name for the privacy ledger
    epsilon : callable, (query, scale, delta) -> epsilon of all its releases
    scale : callable, (query, privacy) -> the scale at which `epsilon` is the claim
    """

    accountant: Callable[[], str]
    epsilon: Callable[[Query, float, float], float]
    scale: Callable[[Query, PrivacySpec], float]


def _minimum_epsilon(query: Query, scale: float, delta: float) -> float:
    """Report noisy max is ``2 s/scale``-differentially private each time."""
    return pure.composed_epsilon(2.0 * query.sensitivity / scale, query.releases, delta)


def _minimum_scale(query: Query, privacy: PrivacySpec) -> float:
    return 2.0 * query.sensitivity / pure.epsilon_each_for(privacy.epsilon, privacy.delta, query.releases)


def _worst_record_zcdp() -> str:
    return f"{zcdp.accountant_name()}, worst record"


def decaying_costs(query: DecayingNoisyMinimumQuery) -> tuple[float, float]:
    """Parameters rho of zCDP, at scale one, of a record of the first batch and of the worst one that enters later.

    Release t is ``2 c_t/scale_t``-differentially private for a record that changes scores by ``c_t``, hence
    ``2 (c_t/scale_t)^2``-zCDP. The costs ``R_i`` of later records satisfy ``R_i = g_i + decay^2 R_(i+1)``.
    """
    from scipy.signal import lfilter

    precision = 2.0 * query.factors(0, query.releases) ** -2.0
    reach = query.decay ** (2.0 * np.arange(query.releases))
    from_first = query.first**2 * float(reach @ precision)
    entering = lfilter([1.0], [1.0, -(query.decay**2)], precision[:0:-1])
    return from_first, query.later**2 * float(entering.max(initial=0.0))


def _decaying_epsilon(query: Query, scale: float, delta: float) -> float:
    assert isinstance(query, DecayingNoisyMinimumQuery)
    return zcdp.zcdp_epsilon(max(decaying_costs(query)) / scale**2, delta)


def _decaying_scale(query: Query, privacy: PrivacySpec) -> float:
    assert isinstance(query, DecayingNoisyMinimumQuery)
    return math.sqrt(max(decaying_costs(query)) / zcdp.zcdp_rho(privacy.epsilon, privacy.delta))


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
    DecayingNoisyMinimumQuery: Rule(_worst_record_zcdp, _decaying_epsilon, _decaying_scale),
    ObjectiveQuery: Rule(objective.accountant_name, _objective_epsilon, _objective_scale),
    GammaObjectiveQuery: Rule(objective.accountant_name, _gamma_epsilon, _gamma_scale),
}
"""Rules by the query's class."""
