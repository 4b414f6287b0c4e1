"""Fix the noise of a plan and charge what it declares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants import gaussian, pld, single_index
from dpsco_bench.privacy.ledger import privacy_status
from dpsco_bench.privacy.plan import Full, GaussianQuery, Plan, Poisson, SingleIndex
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
        Noise standard deviation per query.
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
    status = privacy_status(charged.kind, charged.epsilon, privacy.epsilon, constants, calibration)
    return Calibration(calibration, scales, charged, status)


def charge(plan: Plan, scales: Mapping[str, float], delta: float) -> Charge:
    """Epsilon of the composed queries at ``delta``.

    Full-data queries compose exactly as one Gaussian; one Poisson-sampled query joins them in a PLD (upper bound);
    single uniform indices have a lower bound only. What a plan says it leaks is not charged: a lower bound again.
    An output that nothing protects has no finite epsilon, whatever is released beside it.
    """
    if plan.unprotected:
        return Charge(math.inf, "exact", "no noise on the output")
    sampled = [q for q in plan.queries if _is_sampled(q)]
    if len(sampled) > 1:
        raise Refusal("plan", "no accountant here composes several sampled queries")
    if any(scales[q.name] == 0 for q in plan.queries):
        return Charge(math.inf, "exact", "no noise")
    mu = math.sqrt(sum(q.releases * (q.sensitivity / scales[q.name]) ** 2 for q in plan.queries if q not in sampled))
    if not sampled:
        value = Charge(gaussian.gdp_epsilon(mu, delta), "exact", gaussian.accountant_name())
    else:
        value = _charge_sampled(sampled[0], scales[sampled[0].name], mu, delta)
    return Charge(value.epsilon, "lower", value.accountant) if plan.leaks else value


def add_remove_epsilon(plan: Plan, scales: Mapping[str, float], delta: float) -> float:
    """Epsilon under add/remove neighbours, which other libraries speak; NaN where no accountant covers it.

    Adding a record changes a full-data release by one contribution, half the replace-one sensitivity.
    """
    if plan.unprotected or any(scales[q.name] == 0 for q in plan.queries):
        return math.inf
    sampled = [q for q in plan.queries if _is_sampled(q)]
    if any(isinstance(q.records, SingleIndex) for q in sampled) or len(sampled) > 1 or plan.leaks:
        return math.nan
    mu = math.sqrt(sum(q.releases * (q.contribution / scales[q.name]) ** 2 for q in plan.queries if q not in sampled))
    if not sampled:
        return gaussian.gdp_epsilon(mu, delta)
    query = sampled[0]
    assert isinstance(query.records, Poisson)
    return pld.add_remove_epsilon(
        scales[query.name] / query.contribution, query.records.rate, query.releases, delta, mu
    )


def _is_sampled(query: GaussianQuery) -> bool:
    return not isinstance(query.records, Full)


def _charge_sampled(query: GaussianQuery, scale: float, mu: float, delta: float) -> Charge:
    if isinstance(query.records, Poisson):
        multiplier = scale / query.contribution
        epsilon = pld.poisson_gaussian_epsilon(multiplier, query.records.rate, query.releases, delta, mu)
        return Charge(epsilon, "upper", pld.accountant_name())
    assert isinstance(query.records, SingleIndex)
    shift = query.contribution / scale
    epsilon = single_index.single_index_epsilon(shift, query.releases, query.records.population, delta)
    return Charge(epsilon, "lower", single_index.accountant_name())


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
    mu = gaussian.gdp_mu(privacy.epsilon, privacy.delta)
    shared = {q.name: q.share for q in plan.queries if q.share is not None}
    rest = [q for q in plan.queries if q.share is None]
    if len(rest) != 1 or isinstance(rest[0].records, SingleIndex):
        raise Refusal("calibration accounted", "no accountant bounds this sampling from above, or shares are missing")
    spent = sum(shared.values())
    scales = {q.name: q.sensitivity * math.sqrt(q.releases / q.share) / mu for q in plan.queries if q.share is not None}
    last = rest[0]
    if isinstance(last.records, Poisson):
        z = pld.solve_poisson_multiplier(
            privacy.epsilon, privacy.delta, last.records.rate, last.releases, mu * math.sqrt(spent)
        )
        scales[last.name] = z * last.contribution
    else:
        scales[last.name] = last.sensitivity * math.sqrt(last.releases / (1.0 - spent)) / mu
    return scales


_SCALES = {"paper": _paper_scales, "accounted": _accounted_scales, "none": _no_scales}
