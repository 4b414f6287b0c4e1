"""Fix the noise of a plan and charge what it declares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants import gaussian, pld, single_index
from dpsco_bench.privacy.ledger import privacy_status
from dpsco_bench.privacy.plan import Full, GaussianQuery, Plan, Poisson, Query, SingleIndex
from dpsco_bench.privacy.rules import RULES
from dpsco_bench.privacy.spec import PrivacySpec


@dataclass(frozen=True)
class Charge:
    """An accountant's value for a plan with given noise.

    Attributes
    ----------
    epsilon : float
        Epsilon at the target delta under replace-one neighbours; infinite without noise.
    kind : str
        ``exact``, ``upper`` or ``lower``.
    accountant : str
        Name and version.
    """

    epsilon: float
    kind: str
    accountant: str


@dataclass(frozen=True)
class Calibration:
    """A plan's noise and its place in the privacy ledger.

    Attributes
    ----------
    calibration : str
        ``paper``, ``accounted`` or ``none``.
    scales : dict
        Noise scale per query; of a normal its standard deviation.
    charge : Charge
        The accountant's value for these scales.
    privacy_status : str
        See `ledger.privacy_status`.
    """

    calibration: str
    scales: dict[str, float]
    charge: Charge
    privacy_status: str


def calibrate(plan: Plan, privacy: PrivacySpec, calibration: str, constants: str = "global") -> Calibration:
    """Noise scales of a plan and the epsilon they really give.

    Parameters
    ----------
    plan : Plan
        Declares the queries.
    privacy : PrivacySpec
        The claim.
    calibration : str
        ``paper`` (scales of the theorem), ``accounted`` (least noise that the accountant accepts) or ``none``.
    constants : str
        ``global`` or ``nominal``, from the problem.

    Raises
    ------
    InputError
        For an unknown calibration.
    Refusal
        Where the plan has no scale of that kind.
    """
    if calibration not in _SCALES:
        raise InputError("calibration", calibration, "one of " + ", ".join(_SCALES))
    scales = _SCALES[calibration](plan, privacy)
    charged = charge(plan, scales, privacy.delta)
    exact_minimiser = any(q.exact_minimiser for q in plan.queries)
    status = privacy_status(charged.kind, charged.epsilon, privacy.epsilon, constants, calibration, exact_minimiser)
    return Calibration(calibration, scales, charged, status)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Epsilon of the composed queries at ``delta``.

    Full-data Gaussians compose exactly as one; one sampled Gaussian query joins them in a PLD (upper bound). Another
    kind is charged alone, by its rule. What a plan says it leaks is not charged: a lower bound. An output that nothing
    protects has no finite epsilon, whatever is released beside it.
    """
    if plan.unprotected:
        return Charge(math.inf, "exact", "no noise on the output")
    if any(scales[q.name] == 0 for q in plan.queries):
        return Charge(math.inf, "exact", "no noise")
    if any(not isinstance(q, GaussianQuery) for q in plan.queries):
        query = _alone(plan)
        rule = RULES[type(query)]
        value = Charge(rule.epsilon(query, scales[query.name], delta), "upper", rule.accountant())
    else:
        value = _charge_gaussians(plan, scales, delta)
    return Charge(value.epsilon, "lower", value.accountant) if plan.leaks else value


def add_remove_epsilon(plan: Plan, scales: Mapping[str, float], delta: float) -> float:
    """Epsilon under add/remove neighbours, which other libraries speak; NaN where no accountant covers it.

    Adding a record changes a full-data release by one contribution, half the replace-one sensitivity.
    """
    if plan.unprotected or any(scales[q.name] == 0 for q in plan.queries):
        return math.inf
    sampled = [q for q in plan.queries if _is_sampled(q)]
    covered = all(isinstance(q, GaussianQuery) and not isinstance(q.records, SingleIndex) for q in plan.queries)
    if not covered or len(sampled) > 1 or plan.leaks:
        return math.nan
    mu = math.sqrt(sum(q.releases * (q.contribution / scales[q.name]) ** 2 for q in plan.queries if q not in sampled))
    if not sampled:
        return gaussian.gdp_epsilon(mu, delta)
    query = sampled[0]
    assert isinstance(query.records, Poisson)
    return pld.add_remove_epsilon(
        scales[query.name] / query.contribution, query.records.rate, query.releases, delta, mu
    )


def _alone(plan: Plan) -> Query:
    if len(plan.queries) != 1 or type(plan.queries[0]) not in RULES:
        kinds = ", ".join(type(q).__name__ for q in plan.queries)
        raise Refusal("plan", f"no accountant here composes {kinds}")
    return plan.queries[0]


def _charge_gaussians(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    sampled = [q for q in plan.queries if _is_sampled(q)]
    if len(sampled) > 1:
        raise Refusal("plan", "no accountant here composes several sampled queries")
    mu = math.sqrt(sum(q.releases * (q.sensitivity / scales[q.name]) ** 2 for q in plan.queries if q not in sampled))
    if not sampled:
        return Charge(gaussian.gdp_epsilon(mu, delta), "exact", gaussian.accountant_name())
    query, scale = sampled[0], scales[sampled[0].name]
    if isinstance(query.records, Poisson):
        multiplier = scale / query.contribution
        epsilon = pld.poisson_gaussian_epsilon(multiplier, query.records.rate, query.releases, delta, mu)
        return Charge(epsilon, "upper", pld.accountant_name())
    if plan.leaks:
        assert isinstance(query.records, SingleIndex)
        shift = query.contribution / scale
        epsilon = single_index.single_index_epsilon(shift, query.releases, query.records.population, delta)
        return Charge(epsilon, "lower", single_index.accountant_name())
    if mu > 0:
        raise Refusal("plan", "no accountant here composes single-index queries with others")
    return Charge(_single_index_epsilon(query, scale, delta), "upper", pld.accountant_name())


def _single_index_epsilon(query: Query, scale: float, delta: float) -> float:
    assert isinstance(query.records, SingleIndex)
    return _profile_epsilon(query.sensitivity / scale, query.releases, query.records.population, delta)


_profile_epsilon = lru_cache(maxsize=1024)(pld.single_index_upper_epsilon)
_profile_scale = lru_cache(maxsize=1024)(pld.single_index_upper_scale)


def _is_sampled(query: Query) -> bool:
    return not isinstance(query.records, Full)


def _paper_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    for query in plan.queries:
        if query.paper_scale is None:
            raise Refusal(f"calibration paper for query {query.name}", "the paper states no noise for it")
    return {q.name: float(q.paper_scale) for q in plan.queries if q.paper_scale is not None}


def _no_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    return {q.name: 0.0 for q in plan.queries}


def _accounted_scales(plan: Plan, privacy: PrivacySpec) -> dict[str, float]:
    """Give each query with a share its part of the squared Gaussian-DP budget, then solve for the one that is left."""
    for leak in (plan.unprotected, *plan.leaks):
        if leak:
            raise Refusal("calibration accounted", f"no noise makes the plan private: {leak}")
    if any(not isinstance(q, GaussianQuery) for q in plan.queries):
        query = _alone(plan)
        return {query.name: RULES[type(query)].scale(query, privacy)}
    mu = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    rest = [q for q in plan.queries if q.share is None]
    if len(rest) != 1:
        raise Refusal("calibration accounted", "shares are missing: exactly one query has none")
    spent = sum(q.share for q in plan.queries if q.share is not None)
    scales = {q.name: q.sensitivity * math.sqrt(q.releases / q.share) / mu for q in plan.queries if q.share is not None}
    scales[rest[0].name] = _last_scale(rest[0], privacy, mu, spent)
    return scales


def _last_scale(query: Query, privacy: PrivacySpec, mu: float, spent: float) -> float:
    """Least noise of the query that takes what the shares leave of the squared budget ``mu``."""
    epsilon, delta = privacy.epsilon, privacy.delta
    if isinstance(query.records, Poisson):
        z = pld.solve_poisson_multiplier(epsilon, delta, query.records.rate, query.releases, mu * math.sqrt(spent))
        return z * query.contribution
    if isinstance(query.records, SingleIndex):
        if spent > 0:
            raise Refusal("calibration accounted", "no accountant here composes single-index queries with others")
        return query.sensitivity * _profile_scale(epsilon, delta, query.releases, query.records.population)
    return query.sensitivity * math.sqrt(query.releases / (1.0 - spent)) / mu


_SCALES = {"paper": _paper_scales, "accounted": _accounted_scales, "none": _no_scales}
