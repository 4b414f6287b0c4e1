"""Upper bounds on epsilon by privacy-loss distributions.

Beside `fixed_size` the only module that imports dp-accounting, inside functions.

One release is discretised here (`losses`); dp-accounting composes the releases and inverts the divergence. Conventions:

- ``multiplier`` is always noise standard deviation over the norm of *one record's contribution*. Under replace-one that
  contribution is reversed, so at ``rate = 1`` a release is ``(2 / multiplier)``-GDP. dp-accounting's own PLD accountant
  reads its multiplier in the same way, its RDP accountant as standard deviation over *sensitivity*: a factor 2.
- ``gdp_mu`` adds everything else that the algorithm releases as one Gaussian, exact in composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, ndtri

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.checks import (
    require_count,
    require_delta,
    require_nonnegative,
    require_rate,
    require_target,
)
from dpsco_bench.privacy.accountants.losses import (
    GaussianPair,
    LossMasses,
    clt_multiplier,
    pessimistic_losses,
    pessimistic_single_index_losses,
    transform_rounding,
)
from dpsco_bench.privacy.accountants.solve import least_noise

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Discretiser = Callable[[float, float], list[LossMasses]]

# Coarsest grids that give a result: 1e-4 from this multiplier on, 5e-4 below it.
_FINE_FROM = 0.8
_FINE_SPACING, _COARSE_SPACING = 1e-4, 5e-4
# A grid is fine enough once halving it moved epsilon by less than this fraction.
GRID_TOLERANCE = 2e-3
MULTIPLIER_TOLERANCE = 1e-3
# Grid points of a composed loss, about: bounds time and memory where epsilon is in the thousands.
_MOST_POINTS = 2**20
# Fraction of delta that truncated tails may cost.
_TAIL_SHARE = 1e-4
# Above this fraction of delta, rounding errors of the transforms call for the moment bound.
_ROUNDING_SHARE = 0.02
# Aim below the target, so that a last digit lost on the way to the ledger does not matter.
_SAFE = 1.0 - 1e-7
# One record's loss is in the thousands here; a target that is met at this multiplier needs no noise at all.
_LEAST_MULTIPLIER = 1e-2


def accountant_name() -> str:
    return f"PLD, dp-accounting {library_version()}"


def library_version() -> str:
    return version("dp-accounting")


def poisson_gaussian_epsilon(multiplier: float, rate: float, steps: int, delta: float, gdp_mu: float = 0.0) -> float:
    """Replace-one upper bound on epsilon of Poisson-subsampled Gaussians composed with a Gaussian.

    Raises InputError for arguments out of range.

    Parameters
    ----------
    multiplier : float, noise standard deviation over the norm of one record's contribution, >= 0; 0 gives infinity
    rate : float, probability with which each record enters a step's batch, in (0, 1]; 1 is exact
    steps : int, number of subsampled releases, >= 1
    delta : float, in (0, 1)
    gdp_mu : float, Gaussian-DP parameter of everything else that is released, under replace-one

    Returns
    -------
    float
        Epsilon at ``delta`` of the pair ``(1-q) N(0, z^2) + q N(+1, z^2)`` against ``(1-q) N(0, z^2) + q N(-1, z^2)``,
        which dominates every pair of replace-one neighbours.
    """
    _require(multiplier, rate, steps, delta, gdp_mu)
    if rate == 1.0 or multiplier in (0.0, math.inf):
        return gaussian.gdp_epsilon(math.hypot(gdp_mu, _full_mu(2.0, multiplier, steps)), delta)
    return _sampled_epsilon(GaussianPair(1.0 / multiplier, rate, replace=True), int(steps), delta, gdp_mu)


def add_remove_epsilon(multiplier: float, rate: float, steps: int, delta: float, gdp_mu: float = 0.0) -> float:
    """Add/remove counterpart of `poisson_gaussian_epsilon`, as other libraries report it.

    The arguments are the same, but ``gdp_mu`` is to be counted under add/remove (one contribution, not its reversal):
    half its replace-one value for a mean or sum. At ``rate = 1`` a release is ``(1 / multiplier)``-GDP.
    """
    _require(multiplier, rate, steps, delta, gdp_mu)
    if rate == 1.0 or multiplier in (0.0, math.inf):
        return gaussian.gdp_epsilon(math.hypot(gdp_mu, _full_mu(1.0, multiplier, steps)), delta)
    return _sampled_epsilon(GaussianPair(1.0 / multiplier, rate, replace=False), int(steps), delta, gdp_mu)


def single_index_upper_epsilon(shift_over_sigma: float, steps: int, population: int, delta: float) -> float:
    """Replace-one upper bound for steps that each look at one uniform record, drawn with replacement.

    It holds whatever the other records contribute; `single_index.single_index_epsilon` is the lower bound for others
    that contribute nothing. Raises InputError for arguments out of range.

    Parameters
    ----------
    shift_over_sigma : float
        Largest change of one step's value, when the record is drawn, over the noise standard deviation: the full
        replace-one sensitivity, *twice* the norm of a contribution; >= 0.
    steps, population : int, number of steps and of records, >= 1
    delta : float, in (0, 1)
    """
    require_nonnegative("shift_over_sigma", shift_over_sigma)
    require_count("population", population)
    require_count("steps", steps)
    require_delta(delta)
    if population == 1 or shift_over_sigma in (0.0, math.inf):
        return gaussian.gdp_epsilon(shift_over_sigma * math.sqrt(steps), delta)
    pair = GaussianPair(shift_over_sigma, 1.0 / population, replace=False)

    def losses(spacing: float, tail: float) -> list[LossMasses]:
        return [pessimistic_single_index_losses(pair, spacing, tail)]

    return _converged_epsilon(losses, pair, int(steps), delta, 0.0)


def single_index_upper_scale(epsilon: float, delta: float, steps: int, population: int) -> float:
    """Least noise for which `single_index_upper_epsilon` is at most ``epsilon``.

    Raises InputError for arguments out of range.

    Returns
    -------
    float
        Noise standard deviation for a replace-one change of one, at most 0.1 % above the least one and never below
        it; at least 0.01.
    """
    require_target(epsilon, delta)
    require_count("steps", steps)
    require_count("population", population)
    budget = gaussian.gdp_mu(epsilon, delta)
    if population == 1:
        return math.sqrt(steps) / budget * (1.0 + 1e-12)

    def epsilon_of(scale: float) -> float:
        return single_index_upper_epsilon(1.0 / scale, steps, population, delta)

    # The central limit of the remove-one pair, q sqrt(N (e^(1/z^2) - 1)).
    start = math.log1p((budget * population) ** 2 / steps) ** -0.5
    return least_noise(
        epsilon_of, epsilon * _SAFE, max(_LEAST_MULTIPLIER, start), MULTIPLIER_TOLERANCE, _LEAST_MULTIPLIER
    )


def solve_poisson_multiplier(epsilon: float, delta: float, rate: float, steps: int, gdp_mu: float = 0.0) -> float:
    """Least noise multiplier for which `poisson_gaussian_epsilon` is at most ``epsilon``; at least 0.01.

    At most 0.1 % above the least one and never below it. Raises InputError for arguments out of range, and if
    ``gdp_mu`` alone uses up the target.
    """
    require_target(epsilon, delta)
    _require(1.0, rate, steps, delta, gdp_mu)
    budget = gaussian.gdp_mu(epsilon, delta)
    if gdp_mu >= budget:
        raise InputError("gdp_mu", gdp_mu, f"below {budget:.6g}, which is all that epsilon and delta allow")
    rest = math.sqrt((budget - gdp_mu) * (budget + gdp_mu))
    if rate == 1.0:
        return 2.0 * math.sqrt(steps) / rest * (1.0 + 1e-12)

    def epsilon_of(multiplier: float) -> float:
        return poisson_gaussian_epsilon(multiplier, rate, steps, delta, gdp_mu)

    start = max(_LEAST_MULTIPLIER, clt_multiplier(rest, rate, steps))
    return least_noise(epsilon_of, epsilon * _SAFE, start, MULTIPLIER_TOLERANCE, _LEAST_MULTIPLIER)


def _require(multiplier: float, rate: float, steps: int, delta: float, gdp_mu: float) -> None:
    require_nonnegative("multiplier", multiplier)
    require_rate(rate)
    require_count("steps", steps)
    require_delta(delta)
    require_nonnegative("gdp_mu", gdp_mu)


def _full_mu(shift: float, multiplier: float, steps: int) -> float:
    return math.inf if multiplier == 0.0 else shift * math.sqrt(steps) / multiplier


@lru_cache(maxsize=4096)
def _sampled_epsilon(pair: GaussianPair, steps: int, delta: float, mu: float) -> float:
    def losses(spacing: float, tail: float) -> list[LossMasses]:
        sides = (False,) if pair.replace else (False, True)
        return [pessimistic_losses(pair, spacing, tail, swapped) for swapped in sides]

    return _converged_epsilon(losses, pair, steps, delta, mu)


def _converged_epsilon(losses: Discretiser, pair: GaussianPair, steps: int, delta: float, mu: float) -> float:
    """Halve the grid until epsilon, an upper bound on every grid, no longer moves; stop at the largest grid."""
    tail = _TAIL_SHARE * delta / steps
    mean, variance = pair.moments(tail)
    limit = _FINE_SPACING if pair.shift * _FINE_FROM <= 1.0 else _COARSE_SPACING
    finest = _total_range(pair, mean, variance, steps, tail, mu) / _MOST_POINTS
    spacing = 2.0 * max(min(limit, math.sqrt(variance)), finest)
    epsilon = math.inf
    while True:
        coarse, epsilon = epsilon, _composed_epsilon(losses(spacing, tail), steps, delta, mu, tail)
        spacing *= 0.5
        if coarse - epsilon <= GRID_TOLERANCE * epsilon or spacing < finest:
            return epsilon


def _total_range(pair: GaussianPair, mean: float, variance: float, steps: int, tail: float, mu: float) -> float:
    """Length, about, of the grid on which dp-accounting composes; its Chernoff bounds need 4 single ranges."""
    low, high = pair.loss_range(tail)
    reach = mu - float(ndtri(tail))
    return 4.0 * (high - low) + steps * mean + 10.0 * math.sqrt(steps * variance) + 2.0 * mu * reach


def _composed_epsilon(losses: list[LossMasses], steps: int, delta: float, mu: float, tail: float) -> float:
    """Largest epsilon over the given losses, each composed ``steps`` times and with a mu-GDP Gaussian."""
    rounding = transform_rounding(steps)
    if rounding > _ROUNDING_SHARE * delta:
        return max(_chernoff_epsilon(loss, steps, delta, mu) for loss in losses)
    delta -= rounding
    epsilon = 0.0
    for loss in losses:
        composed = _distribution(loss, steps).self_compose(steps, tail)
        if mu > 0.0:
            other = pessimistic_losses(GaussianPair(mu, 1.0, replace=False), loss.spacing, tail)
            composed = composed.compose(_distribution(other), tail)
        # Asked first, because the library's inversion overflows where the answer is zero.
        if composed.get_delta_for_epsilon(0.0) > delta:
            epsilon = max(epsilon, float(composed.get_epsilon_for_delta(delta)))
    return epsilon


def _chernoff_epsilon(loss: LossMasses, steps: int, delta: float, mu: float) -> float:
    """Upper bound from the moments of the loss, for deltas that are lost in the rounding of the transforms.

    ``(1 - e^-y)_+ <= r^r / (1+r)^(1+r) e^(r y)`` for every order ``r > 0``, and moments of independent losses multiply.
    """
    values = loss.spacing * np.arange(loss.first, loss.first + len(loss.masses))
    with np.errstate(divide="ignore"):
        logs = np.log(loss.masses)
    best = math.inf
    for order in np.geomspace(0.01, 1e4, 150):
        moment = steps * float(logsumexp(order * values + logs)) + 0.5 * order * (order + 1.0) * mu**2
        share = order * math.log(order) - (1.0 + order) * math.log1p(order)
        best = min(best, (moment + share - math.log(delta - steps * loss.infinite)) / order)
    return max(0.0, best)


def _distribution(loss: LossMasses, steps: int = 1) -> PrivacyLossDistribution:
    """The library's object, padded with zeros to a few standard deviations of the composed loss.

    The library takes the orders of its Chernoff bounds from the length of the list; for a short list and many steps
    they are far too large, and the composed grid becomes thousands of times longer than the loss.
    """
    from dp_accounting.pld.pld_pmf import DensePLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    points = np.arange(len(loss.masses))
    spread = math.sqrt(steps * max(0.0, float(loss.masses @ points**2) - float(loss.masses @ points) ** 2))
    masses = np.pad(loss.masses, (0, max(0, min(_MOST_POINTS, int(3.0 * spread)) - len(points))))
    return PrivacyLossDistribution(
        DensePLDPmf(loss.spacing, loss.first, masses, loss.infinite, pessimistic_estimate=True)
    )
