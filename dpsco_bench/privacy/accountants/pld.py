"""Upper bounds on epsilon by privacy-loss distributions: one sampled release, cut into cells of a grid, and composed.

The noise has standard deviation one and a record, when sampled, moves the release by ``shift``. Two pairs of output
distributions matter, with sampling rate ``q``:

- replace-one: ``(1-q) N(0,1) + q N(+shift,1)`` against ``(1-q) N(0,1) + q N(-shift,1)``;
- remove-one: ``(1-q) N(0,1) + q N(shift,1)`` against ``N(0,1)``; the add-one pair is the same one swapped.

In both the privacy loss ``log(upper density / lower density)`` grows with the output, so a cell of losses is an
interval of outputs, whose probabilities under the two distributions are differences of normal distribution
functions.

One release is discretised here; dp-accounting, which no other module imports and this one inside functions, composes
the releases and inverts the divergence. Conventions:

- ``multiplier`` is always noise standard deviation over the norm of *one record's contribution*. Under replace-one that
  contribution is reversed, so at ``rate = 1`` a release is ``(2 / multiplier)``-GDP. dp-accounting's own PLD accountant
  reads its multiplier in the same way, its RDP accountant as standard deviation over *sensitivity*: a factor 2.
- ``gdp_mu`` adds everything else that the algorithm releases as one Gaussian, exact in composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.solve import least_noise, require, require_target

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution


VERSION = f"dp-accounting {version('dp-accounting')}"
NAME = f"PLD, {VERSION}"
Floats = NDArray[np.floating[Any]]
_TINY = 1e-60
_CELLS, _MOST_CELLS = 1 << 14, 1 << 20
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


@dataclass(frozen=True)
class GaussianPair:
    """Output distributions of one sampled Gaussian release on neighbouring data sets.

    `shift` > 0 is the norm of one record's contribution over the noise standard deviation, `rate` in (0, 1] the
    probability that it is sampled. In a `replace` pair the contribution is reversed, else it vanishes.
    """

    shift: float
    rate: float
    replace: bool

    def loss(self, output: Floats | float) -> Floats:
        outputs = np.asarray(output, dtype=np.float64)
        loss = self._remove_loss(outputs)
        return loss - self._remove_loss(-outputs) if self.replace else loss

    def output(self, loss: Floats) -> Floats:
        """Output at which the privacy loss has a given value; infinite where it never has."""
        return self._replace_output(loss) if self.replace else self._remove_output(loss)

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Probabilities, upper and lower, of the ``len(edges) + 1`` intervals of losses that ``edges`` cut."""
        cuts = np.concatenate(([-np.inf], self.output(edges), [np.inf]))
        still, moved = normal_masses(cuts, 0.0), normal_masses(cuts, self.shift)
        upper = (1.0 - self.rate) * still + self.rate * moved
        if not self.replace:
            return upper, still
        return upper, (1.0 - self.rate) * still + self.rate * normal_masses(cuts, -self.shift)

    def rounded_losses(self, spacing: float, tail: float) -> tuple[int, Floats, Floats]:
        """Law of the loss rounded to the nearest grid point, whose ends collect the tails.

        Returns the index of the lowest grid point, and two arrays ``(points,)``: probabilities under the upper
        distribution, and ``e^loss`` times those under the lower one, which may be below the smallest float.
        """
        low, high = self.loss_range(tail)
        first, last = math.floor(low / spacing), math.ceil(high / spacing)
        edges = spacing * (np.arange(first, last) + 0.5)
        cuts = np.concatenate(([-np.inf], self.output(edges), [np.inf]))
        lower = _log_normal_masses(cuts, 0.0)
        if self.replace:
            moved = _log_normal_masses(cuts, -self.shift) + math.log(self.rate)
            lower = np.logaddexp(lower + math.log1p(-self.rate), moved) if self.rate < 1.0 else moved
        return first, self.masses(edges)[0], np.exp(spacing * np.arange(first, last + 1) + lower)

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Losses below and above which either distribution has a mass of at most ``2 tail``."""
        reach = self._reach(tail)
        return float(self.loss(-reach)), float(self.loss(reach))

    def moments(self, tail: float) -> tuple[float, float]:
        """Mean and variance of the loss under the upper distribution, to about three digits."""
        reach = self._reach(tail)
        edges = self.loss(np.linspace(-reach, reach, 4001))
        weights = self.masses(edges)[0][1:-1]
        middle = 0.5 * (edges[1:] + edges[:-1])
        # The mean of e^-loss is one: subtracting it leaves a sum of positive terms, where the losses themselves cancel.
        narrow = float(np.diff(edges).max()) < 0.1
        mean = float(weights @ (_second_order(middle) if narrow else middle))
        return mean, float(weights @ (middle - mean) ** 2)

    def _reach(self, tail: float) -> float:
        """Output beyond which the unmoved component and the moved one, by its weight, have at most ``tail`` each."""
        still, moved = -ndtri(max(tail, 1e-300)), -ndtri(min(0.5, max(tail, 1e-300) / self.rate))
        return max(float(still), self.shift + float(moved))

    def _remove_loss(self, output: Floats) -> Floats:
        exponent = self.shift * output - 0.5 * self.shift**2
        if self.rate == 1.0:
            return exponent
        return np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + exponent)

    def _remove_output(self, loss: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # e^loss - (1 - rate), without cancellation at a small rate
            excess = self.rate * np.exp(-loss) - np.expm1(-loss) if self.rate < 1.0 else np.ones_like(loss)
            exponent = loss + np.log(np.maximum(excess, 0.0)) - math.log(self.rate)
        return exponent / self.shift + 0.5 * self.shift

    def _replace_output(self, loss: Floats) -> Floats:
        """Solve ``(1 + w e^y) = e^loss (1 + w e^-y)`` for ``y = shift * output``, ``w = q e^(-shift^2/2) / (1-q)``."""
        half = 0.5 * loss
        if self.rate == 1.0:
            return half / self.shift
        log_w = math.log(self.rate) - math.log1p(-self.rate) - 0.5 * self.shift**2
        size = np.abs(half)
        with np.errstate(divide="ignore"):
            log_sinh = size + np.log(-0.5 * np.expm1(-2.0 * size))
        return (half + np.sign(half) * _arcsinh_exp(log_sinh - log_w)) / self.shift


@dataclass(frozen=True)
class AnchoredPair:
    """Answers of a step that looks at one record and adds the mean gradient at an anchor, on neighbouring data sets.

    The record's gradient at the anchor moves every answer by ``-anchor``, and where it is drawn the difference of its
    gradients moves it back by ``shift``: ``(1-q) N(-anchor,1) + q N(shift-anchor,1)`` against the mirror image. The
    loss falls with the output near zero and grows far from it, so that cells are small intervals of outputs, each of
    one loss. `shift` and `rate` are as in `GaussianPair`; `anchor` > 0 is at most ``shift/2`` times the rate in a mean
    of gradients.
    """

    shift: float
    rate: float
    anchor: float

    def loss_range(self, tail: float) -> tuple[float, float]:
        loss, _ = self._cells(tail, _CELLS)
        return float(loss.min()), float(loss.max())

    def moments(self, tail: float) -> tuple[float, float]:
        loss, log_masses = self._cells(tail, _CELLS)
        masses = np.exp(log_masses)
        mean = float(masses @ loss)
        return mean, float(masses @ (loss - mean) ** 2)

    def rounded_losses(self, spacing: float, tail: float) -> tuple[int, Floats, Floats]:
        """Round as `GaussianPair.rounded_losses` does for a pair whose loss grows."""
        low, high = self.loss_range(tail)
        loss, log_masses = self._cells(tail, min(_MOST_CELLS, max(_CELLS, 4 * math.ceil((high - low) / spacing))))
        place = np.rint(loss / spacing).astype(np.int64)
        first = int(place.min())
        tilted = np.exp(spacing * place + log_masses[::-1])  # the lower distribution is the mirror image
        upper, lower = (np.bincount(place - first, own).astype(np.float64) for own in (np.exp(log_masses), tilted))
        return first, upper, lower

    def _cells(self, tail: float, count: int) -> tuple[Floats, Floats]:
        """Loss in the middle of each of ``count`` intervals of outputs, and the logarithm of its upper probability."""
        still, moved = -ndtri(max(tail, 1e-300)), -ndtri(min(0.5, max(tail, 1e-300) / self.rate))
        reach = max(float(still) + self.anchor, abs(self.shift - self.anchor) + float(moved))
        edges = np.linspace(-reach, reach, count + 1)
        middle = 0.5 * (edges[1:] + edges[:-1])
        centres = ((-self.anchor, math.log1p(-self.rate)), (self.shift - self.anchor, math.log(self.rate)))
        density = np.logaddexp(*(weight - 0.5 * (middle - centre) ** 2 for centre, weight in centres))
        cuts = np.concatenate(([-np.inf], edges[1:-1], [np.inf]))
        return density - density[::-1], np.logaddexp(*(w + _log_normal_masses(cuts, c) for c, w in centres))


@dataclass(frozen=True)
class LossMasses:
    """A discretised privacy loss: ``masses[i]`` lies at ``(first + i) * spacing``, the rest at infinity."""

    spacing: float
    first: int
    masses: Floats
    infinite: float


def pessimistic_losses(pair: GaussianPair, spacing: float, tail: float, swapped: bool = False) -> LossMasses:
    """Connect-the-dots discretisation, whose divergence is nowhere below that of the pair.

    Each cell's masses under both distributions are put on its two edges; what lies above the grid counts as infinite
    loss, what lies below it is raised to its lower edge. Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022,
    Algorithm 1. ``tail`` is the mass that may be treated as infinite loss; ``swapped`` takes the loss of the lower
    distribution against the upper one.
    """
    low, high = pair.loss_range(tail)
    first, last = math.floor(low / spacing), math.ceil(high / spacing)
    upper, lower = pair.masses(spacing * np.arange(first, last + 1))
    if swapped:
        first, upper, lower = -last, lower[::-1], upper[::-1]
    masses = connect_the_dots(spacing, first, upper[1:-1], lower[1:-1])
    masses[0] += upper[0]
    return swept(spacing, first, masses, float(upper[-1]))


def transform_rounding(steps: int) -> float:
    """Probability that floating-point errors may misplace in the ``steps``-th power of a Fourier transform.

    Measured against exact normal tails it is about ``2e-17 steps`` for up to 1e8 steps; this leaves a factor five.
    """
    return 1e-14 + 1e-16 * steps


def clt_multiplier(mu: float, rate: float, steps: int) -> float:
    """Noise multiplier z of Gaussian-DP parameter ``mu = 2 q sqrt(N sinh(1/z^2))``, that of many replace-one steps.

    It is that of the central limit. The variance of one step's loss is
    ``q^2 Var(e^u - e^v) = 2 q^2 (e^(1/z^2) - e^(-1/z^2))`` to leading order in ``q``, with ``u, v = +-x/z - 1/(2 z^2)``
    and ``x ~ N(0, 1)``; an approximation, not a bound.
    """
    return math.asinh((0.5 * mu / rate) ** 2 / steps) ** -0.5


def connect_the_dots(spacing: float, first: int, upper: Floats, lower: Floats) -> Floats:
    """Masses on the ``len(upper) + 1`` edges, from index ``first`` on, that keep both masses of every cell."""
    left_edges = spacing * np.arange(first, first + len(upper))
    with np.errstate(divide="ignore"):  # a mass of nearly nothing may be negative by rounding
        raised = np.exp(left_edges + np.log(np.maximum(lower, 0.0)))
    right = np.clip((upper - raised) / -math.expm1(-spacing), 0.0, upper)
    masses = np.zeros(len(upper) + 1)
    masses[:-1] = upper - right
    masses[1:] += right
    return masses


def swept(spacing: float, first: int, masses: Floats, infinite: float) -> LossMasses:
    """Count vanishing masses as infinite loss: their reciprocals overflow in Chernoff bounds."""
    tiny = masses < _TINY
    infinite += float(masses[tiny].sum())
    masses[tiny] = 0.0
    return LossMasses(spacing, first, masses, infinite)


def normal_masses(cuts: Floats, mean: float) -> Floats:
    """Probabilities of the intervals between cuts, with small relative error in both tails."""
    left, right = cuts[:-1] - mean, cuts[1:] - mean
    flip = left > 0.0
    return ndtr(np.where(flip, -left, right)) - ndtr(np.where(flip, -right, left))


def _log_normal_masses(cuts: Floats, mean: float) -> Floats:
    left, right = cuts[:-1] - mean, cuts[1:] - mean
    flip = left > 0.0
    small, large = log_ndtr(np.where(flip, -right, left)), log_ndtr(np.where(flip, -left, right))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(small < large, large + np.log(-np.expm1(small - large)), -np.inf)


def _second_order(loss: Floats) -> Floats:
    """``loss - 1 + e^-loss``."""
    series = 0.5 * loss**2 * (1.0 - loss / 3.0)
    return np.where(np.abs(loss) < 1e-4, series, loss + np.expm1(-np.maximum(loss, -700.0)))


def _arcsinh_exp(exponent: Floats) -> Floats:
    """``arcsinh(exp(exponent))`` without overflow."""
    return np.where(exponent < 50.0, np.arcsinh(np.exp(np.minimum(exponent, 50.0))), exponent + math.log(2.0))


@lru_cache(maxsize=4096)
def poisson_gaussian_epsilon(
    multiplier: float, rate: float, steps: int, delta: float, gdp_mu: float = 0.0, replace: bool = True
) -> float:
    """Upper bound on epsilon of Poisson-subsampled Gaussians composed with a Gaussian.

    Raises InputError for arguments out of range. Under replace-one it is that of the pair ``(1-q) N(0, z^2) + q N(+1,
    z^2)`` against ``(1-q) N(0, z^2) + q N(-1, z^2)``, which dominates every pair of neighbours.

    Parameters
    ----------
    multiplier : float, noise standard deviation over the norm of one record's contribution, >= 0; 0 gives infinity
    rate : float, probability with which each record enters a step's batch, in (0, 1]; 1 is exact
    steps : int, number of subsampled releases, >= 1
    gdp_mu : float
        Gaussian-DP parameter of everything else that is released, under the same neighbours: without ``replace`` half
        its replace-one value for a mean or sum, as one contribution counts and not its reversal.
    replace : bool, replace-one neighbours, else add/remove ones, as other libraries report
    """
    require(multiplier=multiplier, rate=rate, steps=steps, delta=delta, gdp_mu=gdp_mu)
    if rate == 1.0 or multiplier in (0.0, math.inf):
        full = _full_mu(2.0 if replace else 1.0, multiplier, steps)
        return gaussian.gdp_epsilon(math.hypot(gdp_mu, full), delta)
    pair, sides = GaussianPair(1.0 / multiplier, rate, replace), (False,) if replace else (False, True)
    return converged_epsilon(
        lambda h, t: [[pessimistic_losses(pair, h, t, s)] for s in sides], [(pair, int(steps))], delta, gdp_mu
    )


def several_poisson_epsilon(parts: Sequence[tuple[float, float, int]], delta: float, gdp_mu: float = 0.0) -> float:
    """As `poisson_gaussian_epsilon`, for several queries: ``parts`` has their (multiplier, rate, steps)."""
    for multiplier, rate, steps in parts:
        require(multiplier=multiplier, rate=rate, steps=steps, delta=delta, gdp_mu=gdp_mu)
    full = [_full_mu(2.0, multiplier, steps) for multiplier, rate, steps in parts if rate == 1.0 or multiplier == 0.0]
    sampled = [(GaussianPair(1.0 / z, rate, replace=True), steps) for z, rate, steps in parts if rate < 1.0 and z > 0.0]
    mu = math.hypot(gdp_mu, *full)
    if not sampled or mu == math.inf:
        return gaussian.gdp_epsilon(mu, delta)
    return converged_epsilon(lambda h, t: [[pessimistic_losses(pair, h, t) for pair, _ in sampled]], sampled, delta, mu)


def solve_poisson_multiplier(epsilon: float, delta: float, rate: float, steps: int, gdp_mu: float = 0.0) -> float:
    """Least noise multiplier for which `poisson_gaussian_epsilon` is at most ``epsilon``; at least 0.01.

    At most 0.1 % above the least one and never below it. Raises InputError for arguments out of range, and if
    ``gdp_mu`` alone uses up the target.
    """
    require_target(epsilon, delta)
    require(rate=rate, steps=steps, gdp_mu=gdp_mu)
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

    def epsilon_of(z: float) -> float:
        return several_poisson_epsilon([(z * own, rate, steps) for own, rate, steps in parts], delta, gdp_mu)

    alone = [solve_poisson_multiplier(epsilon, delta, rate, steps, gdp_mu) / own for own, rate, steps in parts]
    return least_noise(epsilon_of, epsilon * SAFE, math.hypot(*alone), MULTIPLIER_TOLERANCE, LEAST_MULTIPLIER)


def _full_mu(shift: float, multiplier: float, steps: int) -> float:
    return math.inf if multiplier == 0.0 else shift * math.sqrt(steps) / multiplier


def converged_epsilon(
    losses: Callable[[float, float], list[list[LossMasses]]],
    parts: Sequence[tuple[Any, int]],
    delta: float,
    mu: float = 0.0,
    points: int | None = None,
) -> float:
    """Halve the grid until epsilon, an upper bound on every grid, no longer moves; stop at the largest grid.

    The ``parts`` are pairs, with a shift, ``loss_range`` and ``moments`` as `GaussianPair`, and their steps; ``losses``
    of a spacing and a tail are lists with a loss for each part, of which the dearest counts. The first grid has about
    so many ``points`` in the composed loss; left out, a spacing that is fine for most losses.
    """
    pairs, counts = zip(*parts, strict=True)
    tail = TAIL_SHARE * delta / sum(counts)
    moments = [pair.moments(tail) for pair in pairs]
    total = 0.0
    for (pair, steps), (mean, variance) in zip(parts, moments, strict=True):
        total += _total_range(pair, mean, variance, steps, tail, mu)
    finest = total / _MOST_POINTS
    if points is None:
        coarse = len(pairs) == 1 and pairs[0].shift * _FINE_FROM > 1.0
        limit = min(_COARSE_SPACING if coarse else _FINE_SPACING, *(math.sqrt(variance) for _, variance in moments))
        spacing = 2.0 * max(limit, finest)
    else:
        spacing = total / points
    epsilon = math.inf
    while True:
        tried = [list(zip(each, counts, strict=True)) for each in losses(spacing, tail)]
        before, epsilon = epsilon, max(_composed_with(each, delta, mu, tail) for each in tried)
        spacing *= 0.5
        if before - epsilon <= GRID_TOLERANCE * epsilon or spacing < finest:
            return epsilon


def _total_range(pair: Any, mean: float, variance: float, steps: int, tail: float, mu: float) -> float:
    """Length, about, of the grid on which dp-accounting composes; its Chernoff bounds need 4 single ranges."""
    low, high = pair.loss_range(tail)
    reach = mu - float(ndtri(tail))
    return 4.0 * (high - low) + steps * mean + 10.0 * math.sqrt(steps * variance) + 2.0 * mu * reach


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
    pmf = DensePLDPmf(loss.spacing, loss.first, masses, loss.infinite, pessimistic_estimate=True)
    return PrivacyLossDistribution(pmf)
