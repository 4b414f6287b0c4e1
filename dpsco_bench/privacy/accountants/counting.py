"""Lower bounds on epsilon of generalised Gaussian releases, by counting how often one coordinate is large.

If a data set moves the value of a release by ``j s`` along one axis with probability ``w_j`` and its neighbour never
does, then the event that at least k of N releases exceed a threshold t in that coordinate has the probabilities of
binomial laws with ``p = sum_j w_j S(t - j s)`` and ``p_0 = S(t)``, where S is the survival function of one coordinate
of the noise. Differential privacy requires ``P(A) <= e^epsilon Q(A) + delta`` of every event A, hence

    epsilon >= ln((P(at least k) - delta)/Q(at least k))    for every t and k.

The coordinate of a vector of density ``~ exp(-||z||_r^2/2)`` is ``chi_d V`` with independent factors, where
``|V|^r ~ Beta(1/r, (d-1)/r)``: V has a density ``~ (1 - |v|^r)^((d-1)/r - 1)`` on (-1, 1), so that S is one
Gauss-Jacobi quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln, roots_jacobi

from dpsco_bench.privacy.accountants.checks import require_count, require_delta, require_nonnegative

Floats = NDArray[np.float64]
_NODES, _THRESHOLDS = 256, 96
# Counts looked at: so many standard deviations below and above the mean, and some more.
_BELOW, _SPREAD, _MORE = 6.0, 40.0, 200


def accountant_name() -> str:
    return "threshold count of one coordinate, lower bound"


def counting_epsilon(
    shift: float, steps: int, r: float, dimension: int, delta: float, weights: Sequence[float] = (0.0, 1.0)
) -> float:
    """Lower bound on epsilon of adaptive releases with generalised Gaussian noise of scale one.

    Raises InputError for arguments out of range. Returns an epsilon below which the releases are not (epsilon,
    delta)-differentially private, >= 0.

    Parameters
    ----------
    shift : float, change of the released value along one axis, over the noise scale, >= 0
    steps : int, number of releases, >= 1
    r : float, exponent of the noise, >= 1; for 2 it is normal
    delta : float, in (0, 1)
    weights : sequence of float
        Probability ``w_j`` of a change by ``j shift`` in one release; they may sum to less than one.
    """
    require_nonnegative("shift", shift)
    require_count("steps", steps)
    require_count("dimension", dimension)
    require_delta(delta)
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
