"""Lower bounds on epsilon of generalised Gaussian releases: counts, and likelihood ratios.

*Counting how often one coordinate is large.* If a data set moves the value of a release by ``j s`` along one axis with
probability ``w_j`` and its neighbour never does, then the event that at least k of N releases exceed a threshold t in
that coordinate has the probabilities of binomial laws with ``p = sum_j w_j S(t - j s)`` and ``p_0 = S(t)``, where S is
the survival function of one coordinate of the noise. Differential privacy requires ``P(A) <= e^epsilon Q(A) + delta``
of every event A, hence

    epsilon >= ln((P(at least k) - delta)/Q(at least k))    for every t and k.

The coordinate of a vector of density ``~ exp(-||z||_r^2/2)`` is ``chi_d V`` with independent factors, where
``|V|^r ~ Beta(1/r, (d-1)/r)``: V has a density ``~ (1 - |v|^r)^((d-1)/r - 1)`` on (-1, 1), so that S is one
Gauss-Jacobi quadrature.

*The likelihood ratio of one statistic of each of few releases.* A statistic of every release is processing: the laws
``p``, ``q`` of a discrete one under two neighbours give ``epsilon >= ln((P(A) - delta)/Q(A))`` with the event A that
the log ratios of N releases, rounded to a grid, add up to a threshold (as in `single_index`). The record moves a
release by ``j v`` with probability ``w_j``, its neighbour never. Two statistics are taken:

- *one coordinate*, in cells, where v lies along an axis;
- *many coordinates*, the number above a threshold less the number below minus it, where v is the same in all. Then the
  noise tells more of v the larger r is, as a coordinate alone has a share of the norm that vanishes with d.

The law of the second: for ``alpha = 2/r < 1``, ``exp(-x^alpha/2)`` is the Laplace transform of a positive stable law,
so that given some U the coordinates are independent with ``|z_j|^r ~ Gamma(1/r)/U``, and the statistic is a sum of d
independent values in {-1, 0, 1}. By Kanter's representation ``U = 2^(-r/2) (A(theta)/G)^((1-alpha)/alpha)``; the weight
``U^(-d/r)`` that normalises the coordinates makes the density of theta on (0, pi) proportional to ``A^-b`` and
``G ~ Gamma(1 + b)``, independent, with ``b = (d/r)(1-alpha)/alpha``. Source: Kanter, Annals of Probability 3, 1975.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import chdtrc, gammaincc, gammainccinv, gammaincinv, gammaln, roots_jacobi

from dpsco_bench.privacy.accountants.single_index import threshold_epsilon
from dpsco_bench.privacy.accountants.solve import require

Floats = NDArray[np.float64]
COUNTING = "threshold count of one coordinate, lower bound"
RATIO_TEST = "likelihood ratio of a statistic of each release, lower bound"
MOST_COORDINATES = 512
"""So many coordinates are looked at; fewer than all only make the bound smaller."""
_NODES, _THRESHOLDS = 256, 96
# Counts looked at: so many standard deviations below and above the mean, and some more.
_BELOW, _SPREAD, _MORE = 6.0, 40.0, 200
_CELLS, _POINTS = 400, 2**13
_ANGLES, _LEVELS = 32, 80
# Probabilities below this share are rounding errors of the transforms; their cells join the last one above it.
_RESOLVED = 1e-12
_TAIL = 1e-12
# Probability, as a share of delta, of larger multiples of the change that are not looked at.
_REST = 1e-4
_LEAST_TILT = 1.0


def counting_epsilon(
    shift: float, steps: int, r: float, dimension: int, delta: float, weights: Sequence[float] = (0.0, 1.0)
) -> float:
    """Lower bound on epsilon of adaptive releases with generalised Gaussian noise of scale one.

    A release moves by ``j shift`` along one axis with probability ``weights[j]``; these may sum to less than one. The
    noise has exponent r >= 1. Raises InputError for arguments out of range.
    """
    require(shift=shift, steps=steps, dimension=dimension, delta=delta)
    if shift == 0.0:
        return 0.0
    survival = CoordinateSurvival(r, dimension)

    def bound(threshold: float) -> float:
        moved = sum(w * survival(threshold - j * shift) for j, w in enumerate(weights))
        return _binomial_epsilon(min(moved, 1.0), survival(threshold), int(steps), delta)

    width = survival.deviation
    grid = np.linspace(-width, min(shift, 30.0 * width) + 8.0 * width, _THRESHOLDS)
    best = int(np.argmax([bound(t) for t in grid]))
    from scipy.optimize import minimize_scalar  # as in `solve.root`

    fine = minimize_scalar(
        lambda t: -bound(t), bounds=(grid[max(0, best - 1)], grid[min(best + 1, _THRESHOLDS - 1)]), method="bounded"
    )
    return max(0.0, bound(grid[best]), -float(fine.fun))


class CoordinateSurvival:
    """Survival function of one coordinate of a vector of density ``~ exp(-||z||_r^2/2)`` in d dimensions."""

    def __init__(self, r: float, d: int) -> None:
        self._d = d
        if d == 1:
            self._nodes, self._weights = np.ones(1), np.ones(1)
        else:
            power = (d - 1.0) / r - 1.0
            nodes, weights = roots_jacobi(_NODES, power, 0.0)
            v = 0.5 * (nodes + 1.0)
            with np.errstate(divide="ignore"):
                rest = np.exp(power * np.log(-np.expm1(r * np.log(v)) / (1.0 - v)))
            self._nodes, self._weights = v, weights * rest / np.sum(weights * rest)
        self.deviation = math.sqrt(d * float(self._weights @ self._nodes**2))

    def __call__(self, threshold: float) -> float:
        exceeding = 0.5 * float(self._weights @ chdtrc(self._d, (threshold / self._nodes) ** 2))
        return exceeding if threshold >= 0.0 else 1.0 - exceeding


def _binomial_epsilon(moved: float, still: float, steps: int, delta: float) -> float:
    """Best bound over k from the tails of Bin(steps, moved) and Bin(steps, still)."""
    if still <= 0.0 or moved <= still:
        return 0.0
    mean = steps * moved
    spread = math.sqrt(mean)
    counts = np.arange(max(0, int(mean - _BELOW * spread)), min(steps, int(mean + _SPREAD * spread) + _MORE) + 1.0)
    power, level = _log_tails(moved, steps, counts, False), _log_tails(still, steps, counts, True)
    with np.errstate(divide="ignore"):
        gain = power + np.log(-np.expm1(np.minimum(math.log(delta) - power, 0.0)))
    return max(0.0, float(np.max(gain - level)))


def _log_tails(p: float, steps: int, counts: Floats, complete: bool) -> Floats:
    """Logarithms of the probabilities of at least so many; ``complete`` adds a bound on what lies beyond the counts."""
    choices = gammaln(steps + 1.0) - gammaln(counts + 1.0) - gammaln(steps - counts + 1.0)
    logs = choices + counts * math.log(p) + (steps - counts) * (math.log1p(-p) if p < 1.0 else -1e300)
    if complete:
        last = counts[-1]
        ratio = (steps - last) * p / ((last + 1.0) * (1.0 - p))
        logs[-1] -= math.log1p(-ratio)
    return np.minimum(np.logaddexp.accumulate(logs[::-1])[::-1], 0.0)


def coordinate_epsilon(
    shift: float, steps: int, r: float, dimension: int, delta: float, weights: Sequence[float]
) -> float:
    """Lower bound on epsilon of releases with generalised Gaussian noise of scale one, moved along an axis.

    A release moves by ``j shift`` with probability ``weights[j]``; the noise has exponent r >= 1.
    """
    require(shift=shift, steps=steps, dimension=dimension, delta=delta)
    survival = CoordinateSurvival(r, dimension)
    width = survival.deviation
    edges = np.linspace(-8.0 * width, min(shift, 30.0 * width) + 8.0 * width, _CELLS)

    def law(multiple: int) -> Floats:
        centre = multiple * shift
        above = np.array([survival(t - centre) for t in edges])
        below = np.array([survival(centre - t) for t in edges])
        inner = np.where(edges[1:] < centre, np.diff(below), -np.diff(above))
        return np.concatenate(([below[0]], inner, [above[-1]]))

    return _ratio_epsilon(law, weights, steps, delta)


def spread_epsilon(shift: float, steps: int, r: float, dimension: int, delta: float, weights: Sequence[float]) -> float:
    """Bound epsilon for a change by ``shift`` in every one of d coordinates, r > 2; 0 if the law is not resolved."""
    require(shift=shift, steps=steps, dimension=dimension, delta=delta)
    if dimension * (0.5 - 1.0 / r) < _LEAST_TILT:
        return 0.0
    counted = min(dimension, MOST_COORDINATES)
    scales, shares = stable_mixture(r, dimension)
    threshold = _best_threshold(shift, r, float(np.exp(shares @ np.log(scales))))

    def law(multiple: int) -> Floats:
        above, below = (_coordinate_survival(threshold + side * multiple * shift, r, scales) for side in (-1.0, 1.0))
        length = next_fast_len(2 * counted + 1, real=True)
        single = np.zeros((len(scales), length))
        single[:, 0], single[:, 1], single[:, -1] = 1.0 - above - below, above, below
        sums = irfft(shares @ _power(rfft(single), counted), length)
        return np.asarray(np.maximum(np.roll(sums, counted)[: 2 * counted + 1], 0.0))

    return _ratio_epsilon(law, weights, steps, delta)


def _power(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Compute ``base ** exponent`` by squaring, exponent >= 1: NumPy's own takes a logarithm for each number."""
    result = base.copy()
    for bit in bin(exponent)[3:]:
        np.square(result, out=result)
        if bit == "1":
            result *= base
    return result


def composed_epsilon(moved: Floats, still: Floats, steps: int, delta: float) -> float:
    """Best bound from thresholds on the sum of rounded log ratios of values, likely as ``moved`` and ``still`` say."""
    moved, still = _joined(moved, still)
    with np.errstate(divide="ignore"):
        losses = np.log(moved) - np.log(still)
    finite = losses[np.isfinite(losses)]
    if not len(finite) or np.ptp(finite) == 0.0:
        return 0.0
    losses = np.maximum(losses, finite.min())
    spacing = float(np.ptp(losses)) * math.sqrt(steps) / _POINTS
    index = np.rint(losses / spacing).astype(np.int64)
    first = int(index.min())
    upper, tilted = (
        np.asarray(np.bincount(index - first, weights=law), dtype=np.float64)
        for law in (moved, still * np.exp(spacing * index))
    )
    return threshold_epsilon(spacing, first, upper, tilted, steps, delta, _TAIL * delta)


def stable_mixture(r: float, dimension: int) -> tuple[Floats, Floats]:
    """Values of U and their probabilities: given U, coordinates are independent, ``|z_j|^r ~ Gamma(1/r)/U``.

    For noise of density ``~ exp(-||z||_r^2/2)``, r > 2, by quadrature: to six digits where ``d (1/2 - 1/r) >= 1``.
    """
    alpha = 2.0 / r
    power = (1.0 - alpha) / alpha
    b = dimension / r * power
    nodes, weights = np.polynomial.legendre.leggauss(_ANGLES)
    angles = 0.5 * np.pi * (nodes + 1.0)
    end = _reach(alpha, b)
    angles, weights = angles * (end / np.pi), weights
    logs = _log_kanter(angles, alpha)
    density = weights * np.exp(-b * (logs - logs.min()))
    low, high = gammaincinv(1.0 + b, 1e-13), gammainccinv(1.0 + b, 1e-13)
    nodes, heights = np.polynomial.legendre.leggauss(_LEVELS)
    levels = low + 0.5 * (high - low) * (nodes + 1.0)
    heights = heights * np.exp(b * np.log(levels / (1.0 + b)) - levels + 1.0 + b)
    values = 2.0 ** (-r / 2.0) * np.exp(power * (logs[:, None] - np.log(levels)[None, :]))
    shares = density[:, None] * heights[None, :]
    kept = shares > 1e-16 * shares.sum()
    return values[kept], shares[kept] / shares[kept].sum()


def _reach(alpha: float, b: float) -> float:
    """Angle beyond which the density ``A^-b`` is negligible."""
    angles = np.linspace(1e-6, np.pi * (1 - 1e-9), 4001)
    logs = _log_kanter(angles, alpha)
    return float(angles[np.flatnonzero(b * (logs - logs[0]) < 40.0)[-1]])


def _log_kanter(angle: Floats, alpha: float) -> Floats:
    """Logarithm of ``A = sin((1-a) t) sin(a t)^(a/(1-a)) / sin(t)^(1/(1-a))``."""
    rest = 1.0 - alpha
    parts = np.log(np.sin(rest * angle)) + alpha / rest * np.log(np.sin(alpha * angle)) - np.log(np.sin(angle)) / rest
    return np.asarray(parts)


def _coordinate_survival(threshold: float, r: float, scales: Floats) -> Floats:
    """Probability that a coordinate exceeds the threshold, given U."""
    half = 0.5 * gammaincc(1.0 / r, scales * abs(threshold) ** r)
    return np.asarray(half if threshold >= 0.0 else 1.0 - half)


def _best_threshold(shift: float, r: float, scale: float) -> float:
    """Threshold at which a small shift is told best: the largest squared change of the mean over the variance."""
    one = np.array([scale])
    levels = (gammaincinv(1.0 / r, np.linspace(0.02, 0.98, 49)) / scale) ** (1.0 / r)

    def told(t: float) -> float:
        above, below = (float(_coordinate_survival(t + side * shift, r, one)[0]) for side in (-1.0, 1.0))
        return (above - below) ** 2 / float(2.0 * _coordinate_survival(t, r, one)[0])

    return float(max(levels, key=told))


def _ratio_epsilon(law: Callable[[int], Floats], weights: Sequence[float], steps: int, delta: float) -> float:
    """Bound by the law of a statistic for each multiple of the shift; delta pays for multiples that are unlikely."""
    shares = np.array(weights, dtype=np.float64)
    shares = shares[: 1 + np.searchsorted(shares.cumsum(), 1.0 - _REST * delta)]
    rest = max(0.0, 1.0 - float(shares.sum()))
    shares[-1] += rest
    moved = np.asarray(shares @ np.stack([law(j) for j in range(len(shares))]))
    return composed_epsilon(moved, law(0), steps, delta + steps * rest)


def _joined(moved: Floats, still: Floats) -> tuple[Floats, Floats]:
    """Join the unlikely values at either end of both laws to the last likely one there."""
    likely = np.flatnonzero(still > _RESOLVED)
    if len(likely) < 2:
        return np.ones(1), np.ones(1)
    cuts = np.arange(likely[0], likely[-1] + 1)
    starts = cuts.copy()
    starts[0] = 0
    return np.add.reduceat(moved, starts), np.add.reduceat(still, starts)
