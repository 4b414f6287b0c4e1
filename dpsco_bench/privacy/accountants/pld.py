"""Upper bounds on epsilon by privacy-loss distributions.

The only module that imports dp-accounting, inside functions.

One release is discretised here (`losses`); dp-accounting composes the releases and inverts the divergence. Conventions:

- ``multiplier`` is always noise standard deviation over the norm of *one record's contribution*. Under replace-one that
  contribution is reversed, so at ``rate = 1`` a release is ``(2 / multiplier)``-GDP. dp-accounting's own PLD accountant
  reads its multiplier in the same way, its RDP accountant as standard deviation over *sensitivity*: a factor 2.
- ``gdp_mu`` adds everything else that the algorithm releases as one Gaussian, exact in composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

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
    transform_rounding,
)
from dpsco_bench.privacy.accountants.solve import least_noise

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

Discretiser = Callable[[float, float], list[LossMasses]]


class Spread(Protocol):
    """Interface of a pair of distributions for choosing a grid; see `losses.GaussianPair`."""

    @property
    def shift(self) -> float: ...

    def loss_range(self, tail: float) -> tuple[float, float]: ...

    def moments(self, tail: float) -> tuple[float, float]: ...


# Coarsest grids that give a result: 1e-4 from this multiplier on, 5e-4 below it.
_FINE_FROM = 0.8
_FINE_SPACING, _COARSE_SPACING = 1e-4, 5e-4
# A grid is fine enough once halving it moved epsilon by less than this fraction.
GRID_TOLERANCE = 2e-3
MULTIPLIER_TOLERANCE = 1e-3
# Grid points of a composed loss, about: bounds time and memory where epsilon is in the thousands.
_MOST_POINTS = 2**20
# Fraction of delta that truncated tails may cost.
TAIL_SHARE = 1e-4
# Above this fraction of delta, rounding errors of the transforms call for the moment bound.
_ROUNDING_SHARE = 0.02
# Aim below the target, so that a last digit lost on the way to the ledger does not matter.
SAFE = 1.0 - 1e-7
# One record's loss is in the thousands here; a target that is met at this multiplier needs no noise at all.
LEAST_MULTIPLIER = 1e-2


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


def several_poisson_epsilon(parts: Sequence[tuple[float, float, int]], delta: float, gdp_mu: float = 0.0) -> float:
    """Bound epsilon as `poisson_gaussian_epsilon` does, for several queries with their own rates and noises.

    Parameters
    ----------
    parts : sequence of (multiplier, rate, steps)
    """
    for multiplier, rate, steps in parts:
        _require(multiplier, rate, steps, delta, gdp_mu)
    full = [_full_mu(2.0, multiplier, steps) for multiplier, rate, steps in parts if rate == 1.0 or multiplier == 0.0]
    sampled = [(GaussianPair(1.0 / z, rate, replace=True), steps) for z, rate, steps in parts if rate < 1.0 and z > 0.0]
    mu = math.hypot(gdp_mu, *full)
    if not sampled or mu == math.inf:
        return gaussian.gdp_epsilon(mu, delta)
    return _several_epsilon(tuple(sampled), delta, mu)


@lru_cache(maxsize=256)
def _several_epsilon(parts: tuple[tuple[GaussianPair, int], ...], delta: float, mu: float) -> float:
    """Halve the grid as `converged_epsilon` does, from the finest spacing that one of the parts starts with."""
    tail = TAIL_SHARE * delta / sum(steps for _, steps in parts)
    moments = [pair.moments(tail) for pair, _ in parts]
    ranges = [_total_range(p, *m, steps, tail, mu) for (p, steps), m in zip(parts, moments, strict=True)]
    finest = sum(ranges) / _MOST_POINTS
    spacing = 2.0 * max(min(_FINE_SPACING, *(math.sqrt(variance) for _, variance in moments)), finest)
    epsilon = math.inf
    while True:
        losses = [(pessimistic_losses(pair, spacing, tail), steps) for pair, steps in parts]
        coarse, epsilon = epsilon, _composed_with(losses, delta, mu, tail)
        spacing *= 0.5
        if coarse - epsilon <= GRID_TOLERANCE * epsilon or spacing < finest:
            return epsilon


def add_remove_epsilon(multiplier: float, rate: float, steps: int, delta: float, gdp_mu: float = 0.0) -> float:
    """Add/remove counterpart of `poisson_gaussian_epsilon`, as other libraries report it.

    The arguments are the same, but ``gdp_mu`` is to be counted under add/remove (one contribution, not its reversal):
    half its replace-one value for a mean or sum. At ``rate = 1`` a release is ``(1 / multiplier)``-GDP.
    """
    _require(multiplier, rate, steps, delta, gdp_mu)
    if rate == 1.0 or multiplier in (0.0, math.inf):
        return gaussian.gdp_epsilon(math.hypot(gdp_mu, _full_mu(1.0, multiplier, steps)), delta)
    return _sampled_epsilon(GaussianPair(1.0 / multiplier, rate, replace=False), int(steps), delta, gdp_mu)


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

    start = max(LEAST_MULTIPLIER, clt_multiplier(rest, rate, steps))
    return least_noise(epsilon_of, epsilon * SAFE, start, MULTIPLIER_TOLERANCE, LEAST_MULTIPLIER)


def solve_several_multiplier(
    epsilon: float, delta: float, parts: Sequence[tuple[float, float, int]], gdp_mu: float = 0.0
) -> float:
    """Least z for which `several_poisson_epsilon` of ``z`` times the parts' multipliers is at most ``epsilon``."""
    require_target(epsilon, delta)
    budget = gaussian.gdp_mu(epsilon, delta)
    if gdp_mu >= budget:
        raise InputError("gdp_mu", gdp_mu, f"below {budget:.6g}, which is all that epsilon and delta allow")

    def epsilon_of(z: float) -> float:
        return several_poisson_epsilon([(z * own, rate, steps) for own, rate, steps in parts], delta, gdp_mu)

    alone = [solve_poisson_multiplier(epsilon, delta, rate, steps, gdp_mu) / own for own, rate, steps in parts]
    return least_noise(epsilon_of, epsilon * SAFE, math.hypot(*alone), MULTIPLIER_TOLERANCE, LEAST_MULTIPLIER)


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

    return converged_epsilon(losses, pair, steps, delta, mu)


def converged_epsilon(
    losses: Discretiser, pair: Spread, steps: int, delta: float, mu: float = 0.0, points: int | None = None
) -> float:
    """Halve the grid until epsilon, an upper bound on every grid, no longer moves; stop at the largest grid.

    The first grid has about so many ``points`` in the composed loss; left out, a spacing that is fine for most losses.
    """
    tail = TAIL_SHARE * delta / steps
    mean, variance = pair.moments(tail)
    total = _total_range(pair, mean, variance, steps, tail, mu)
    finest = total / _MOST_POINTS
    if points is None:
        limit = _FINE_SPACING if pair.shift * _FINE_FROM <= 1.0 else _COARSE_SPACING
        spacing = 2.0 * max(min(limit, math.sqrt(variance)), finest)
    else:
        spacing = total / points
    epsilon = math.inf
    while True:
        coarse, epsilon = epsilon, _composed_epsilon(losses(spacing, tail), steps, delta, mu, tail)
        spacing *= 0.5
        if coarse - epsilon <= GRID_TOLERANCE * epsilon or spacing < finest:
            return epsilon


def _total_range(pair: Spread, mean: float, variance: float, steps: int, tail: float, mu: float) -> float:
    """Length, about, of the grid on which dp-accounting composes; its Chernoff bounds need 4 single ranges."""
    low, high = pair.loss_range(tail)
    reach = mu - float(ndtri(tail))
    return 4.0 * (high - low) + steps * mean + 10.0 * math.sqrt(steps * variance) + 2.0 * mu * reach


def _composed_epsilon(losses: list[LossMasses], steps: int, delta: float, mu: float, tail: float) -> float:
    """Largest epsilon over the given losses, each composed ``steps`` times and with a mu-GDP Gaussian."""
    return max(_composed_with([(loss, steps)], delta, mu, tail) for loss in losses)


def _composed_with(parts: list[tuple[LossMasses, int]], delta: float, mu: float, tail: float) -> float:
    """Epsilon of losses on one grid, composed so many times each, and with a mu-GDP Gaussian."""
    rounding = transform_rounding(sum(steps for _, steps in parts))
    if rounding > _ROUNDING_SHARE * delta:
        return _chernoff_epsilon(parts, delta, mu)
    delta -= rounding
    each = [_distribution(loss, steps).self_compose(steps, tail) for loss, steps in parts]
    if mu > 0.0:
        other = pessimistic_losses(GaussianPair(mu, 1.0, replace=False), parts[0][0].spacing, tail)
        each.append(_distribution(other))
    composed = each[0]
    for one in each[1:]:
        composed = composed.compose(one, tail)
    # Asked first, because the library's inversion overflows where the answer is zero.
    return float(composed.get_epsilon_for_delta(delta)) if composed.get_delta_for_epsilon(0.0) > delta else 0.0


def _chernoff_epsilon(parts: list[tuple[LossMasses, int]], delta: float, mu: float) -> float:
    """Upper bound from the moments of the loss, for deltas that are lost in the rounding of the transforms.

    ``(1 - e^-y)_+ <= r^r / (1+r)^(1+r) e^(r y)`` for every order ``r > 0``, and moments of independent losses multiply.
    """
    known = []
    for loss, steps in parts:
        values = loss.spacing * np.arange(loss.first, loss.first + len(loss.masses))
        with np.errstate(divide="ignore"):
            known.append((values, np.log(loss.masses), steps))
    infinite = sum(steps * loss.infinite for loss, steps in parts)
    best = math.inf
    for order in np.geomspace(0.01, 1e4, 150):
        moment = sum(steps * float(logsumexp(order * values + logs)) for values, logs, steps in known)
        moment += 0.5 * order * (order + 1.0) * mu**2
        share = order * math.log(order) - (1.0 + order) * math.log1p(order)
        best = min(best, (moment + share - math.log(delta - infinite)) / order)
    return max(0.0, best)


def _distribution(loss: LossMasses, steps: int = 1) -> PrivacyLossDistribution:
    """Build the library's object, padded with zeros to a few standard deviations of the composed loss.

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
