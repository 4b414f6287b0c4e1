"""Privacy losses of one sampled Gaussian release, cut into cells of a regular grid.

The noise has standard deviation one and a record, when sampled, moves the release by ``shift``. Two pairs of output
distributions matter, with sampling rate ``q``:

- replace-one: ``(1-q) N(0,1) + q N(+shift,1)`` against ``(1-q) N(0,1) + q N(-shift,1)``;
- remove-one: ``(1-q) N(0,1) + q N(shift,1)`` against ``N(0,1)``; the add-one pair is the same one swapped.

In both the privacy loss ``log(upper density / lower density)`` grows with the output, so a cell of losses is an
interval of outputs, whose probabilities under the two distributions are differences of normal distribution
functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

Floats = NDArray[np.floating[Any]]
_TINY = 1e-60
_CELLS, _MOST_CELLS = 1 << 14, 1 << 20


@dataclass(frozen=True)
class GaussianPair:
    """Output distributions of one sampled Gaussian release on neighbouring data sets.

    Attributes
    ----------
    shift : float, norm of one record's contribution over the noise standard deviation, > 0
    rate : float, probability that the record is sampled, in (0, 1]
    replace : bool, replace-one pair (the record's contribution is reversed) or remove-one pair (it vanishes)
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
        still, moved = _normal_masses(cuts, 0.0), _normal_masses(cuts, self.shift)
        upper = (1.0 - self.rate) * still + self.rate * moved
        if not self.replace:
            return upper, still
        return upper, (1.0 - self.rate) * still + self.rate * _normal_masses(cuts, -self.shift)

    def rounded(self, edges: Floats) -> tuple[Floats, Floats]:
        """Round as `masses` does, by the logarithm of the lower probability, which may be below the smallest float."""
        cuts = np.concatenate(([-np.inf], self.output(edges), [np.inf]))
        lower = _log_normal_masses(cuts, 0.0)
        if self.replace:
            moved = _log_normal_masses(cuts, -self.shift) + math.log(self.rate)
            lower = np.logaddexp(lower + math.log1p(-self.rate), moved) if self.rate < 1.0 else moved
        return self.masses(edges)[0], lower

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Losses below and above which either distribution has a mass of at most ``2 tail``."""
        reach = self._reach(tail)
        return float(self.loss(-reach)), float(self.loss(reach))

    def moments(self, tail: float, points: int = 4001) -> tuple[float, float]:
        """Mean and variance of the loss under the upper distribution, to about three digits."""
        reach = self._reach(tail)
        edges = self.loss(np.linspace(-reach, reach, points))
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
    one loss.

    Attributes
    ----------
    shift, rate : as in `GaussianPair`
    anchor : float, > 0; at most ``shift/2`` times the rate in a mean of gradients
    """

    shift: float
    rate: float
    anchor: float

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Smallest and largest loss of the cells."""
        loss, _ = self._cells(tail, _CELLS)
        return float(loss.min()), float(loss.max())

    def moments(self, tail: float) -> tuple[float, float]:
        """Mean and variance of the loss under the upper distribution."""
        loss, log_masses = self._cells(tail, _CELLS)
        masses = np.exp(log_masses)
        mean = float(masses @ loss)
        return mean, float(masses @ (loss - mean) ** 2)

    def rounded_losses(self, spacing: float, tail: float) -> tuple[int, Floats, Floats]:
        """Round as `rounded_losses` does for a pair whose loss grows."""
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
    Algorithm 1.

    Parameters
    ----------
    tail : float, mass that may be treated as infinite loss
    swapped : bool, discretise the loss of the lower distribution against the upper one
    """
    low, high = pair.loss_range(tail)
    first, last = math.floor(low / spacing), math.ceil(high / spacing)
    upper, lower = pair.masses(spacing * np.arange(first, last + 1))
    if swapped:
        first, upper, lower = -last, lower[::-1], upper[::-1]
    masses = connect_the_dots(spacing, first, upper[1:-1], lower[1:-1])
    masses[0] += upper[0]
    return swept(spacing, first, masses, float(upper[-1]))


def rounded_losses(pair: GaussianPair | AnchoredPair, spacing: float, tail: float) -> tuple[int, Floats, Floats]:
    """Law of the loss rounded to the nearest grid point, whose ends collect the tails.

    Returns
    -------
    first : int, index of the lowest grid point
    upper, tilted : arrays of shape (points,)
        Probabilities under the upper distribution, and ``e^loss`` times those under the lower one.
    """
    if isinstance(pair, AnchoredPair):
        return pair.rounded_losses(spacing, tail)
    low, high = pair.loss_range(tail)
    first, last = math.floor(low / spacing), math.ceil(high / spacing)
    upper, log_lower = pair.rounded(spacing * (np.arange(first, last) + 0.5))
    return first, upper, np.exp(spacing * np.arange(first, last + 1) + log_lower)


def transform_rounding(steps: int) -> float:
    """Probability that floating-point errors may misplace in the ``steps``-th power of a Fourier transform.

    Measured against exact normal tails it is about ``2e-17 steps`` for up to 1e8 steps; this leaves a factor five.
    """
    return 1e-14 + 1e-16 * steps


def clt_multiplier(mu: float, rate: float, steps: int) -> float:
    """Noise multiplier z of Gaussian-DP parameter ``mu = 2 q sqrt(N sinh(1/z^2))``, that of many replace-one steps.

    It is that of the central limit. The variance of one step's loss is ``q^2 Var(e^u - e^v) = 2 q^2 (e^(1/z^2) -
    e^(-1/z^2))`` to leading order in ``q``, with ``u, v = +-x/z - 1/(2 z^2)`` and ``x ~ N(0, 1)``; an approximation,
    not a bound.
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


def _normal_masses(cuts: Floats, mean: float) -> Floats:
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
