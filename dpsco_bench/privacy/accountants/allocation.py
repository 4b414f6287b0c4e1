"""Upper bound on epsilon where every record takes part in one batch of T at most, chosen at random: random allocation.

A uniformly random order of the records is cut into T batches, with at least one record left over. One batch's release
is ``s``-GDP under replace-one. Let ``1 - q`` be the probability that a record is left over, ``a = e^epsilon >= 1``, and
X, Y of the law ``exp(N(-s^2/2, s^2))``. Then

    delta(epsilon) <= E ((1-q)(1-a) + (q/T) (D_1 + ... + D_T))_+

for independent copies of the variable D whose tails are those of ``X - a`` above zero and of ``1 - a Y`` below, with an
atom at zero between (docs/accounting.md).

The sum is computed on a grid by fast Fourier transforms. All that is rounded is rounded up: D is spread within each
cell to its edges (mass and mean are kept, so that convex functions grow), cut above with its excess added, and raised
below; Chernoff bounds cover what lies beyond the transform's range. At a large epsilon one D that is positive carries
all, with a probability below a transform's rounding: there `_one_positive` is taken, if it is smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.pld import Floats, normal_masses, transform_rounding
from dpsco_bench.privacy.accountants.solve import require, require_target, root

NAME = "random allocation, dpsco_bench 2"
# Cells in one standard deviation of D, and points of the transform at most.
_CELLS, _MOST_POINTS = 64, 2**18
# Fractions of delta that the cut of D, and the end of the transform's range, may cost.
_CUT_SHARE, _END_SHARE = 1e-4, 1e-4
# Share of the mean of Y beyond which D is raised.
_RAISED_SHARE = 1e-6
# Multiples of T a beyond which D is raised, or cut with its excess added, however heavy its tails.
_FARTHEST = 4.0
# Below it the tails of D end before that, and no single release stands out.
_LARGE_SHIFT = 1.5
# Aim below delta, so that a last digit lost on the way to the ledger does not matter.
_SAFE = 1.0 - 1e-5
_ORDERS = 20


@lru_cache(maxsize=4096)
def allocation_epsilon(shift: float, batches: int, participation: float, delta: float) -> float:
    """Replace-one upper bound on epsilon of T >= 1 batches cut from a random order of the records.

    ``shift`` >= 0 is the Gaussian-DP parameter of one batch's release, for a record that is known to be in it;
    ``participation`` is q, the probability that a record is in a batch at all, in (0, 1): with one batch 1 is exact,
    with more than one the proof needs a record that is left over.
    """
    require(shift=shift, delta=delta)
    _require(batches, participation)
    known = gaussian.gdp_epsilon(shift, delta)
    if batches == 1 and participation == 1.0 or known in (0.0, math.inf):
        return known

    def excess(epsilon: float) -> float:
        return math.log(allocation_delta(shift, batches, participation, epsilon, delta) / delta)

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(known) >= 0.0:  # the grid's error is all that there is between them
        return known
    found = root(excess, 0.0, known, 1e-9 * known)
    while excess(found) > 0.0 and found < known:
        found = min(known, found + 2e-9 * known)
    return found


@lru_cache(maxsize=1024)
def largest_shift(epsilon: float, delta: float, batches: int, participation: float) -> float:
    """Largest shift, to a relative 1e-4 and on the safe side, for which `allocation_epsilon` is at most ``epsilon``."""
    require_target(epsilon, delta)
    _require(batches, participation)
    low = gaussian.gdp_mu(epsilon, delta)
    if batches == 1 and participation == 1.0:
        return low

    def excess(log_shift: float) -> float:
        value = allocation_delta(math.exp(log_shift), batches, participation, epsilon, _SAFE * delta)
        return math.log(value / (_SAFE * delta))

    # The batch that is known takes at least this noise; where the grid cannot tell, it is the answer.
    if excess(math.log(low)) >= 0.0:
        return low
    step, high = 0.5, math.log(low) + 0.5
    while excess(high) < 0.0:
        step, high = 1.5 * step, high + 1.5 * step
    found = root(excess, math.log(low), high, 5e-5)
    # The two functions round differently, which shows at a delta near the rounding of a transform.
    while excess(found) > 0.0 or allocation_epsilon(math.exp(found), batches, participation, delta) > epsilon:
        found -= 2e-5
    return math.exp(found)


def allocation_delta(
    shift: float, batches: int, participation: float, epsilon: float, resolution: float = 1e-12
) -> float:
    """Upper bound on delta at ``epsilon`` >= 0; truncations cost a small fraction of the delta ``resolution``."""
    require(epsilon=epsilon)
    _require(batches, participation)
    known = gaussian.gdp_delta(shift, epsilon)
    if known <= 1e-300:
        return 1e-300
    offset = batches * (1.0 - participation) / participation * math.expm1(epsilon)
    law = _step_law(shift, epsilon, participation, resolution, batches, offset)
    tolerance = _END_SHARE * resolution * batches / participation
    value = participation * (_excess_of_sum(law, batches, offset, tolerance) / batches + law.cut)
    if shift > _LARGE_SHIFT:
        value = min(value, participation * _one_positive(shift, epsilon, batches, offset))
    return max(min(value, known, 1.0), 1e-300)


@dataclass(frozen=True)
class StepLaw:
    """The variable D on a grid: ``masses[i]`` at ``(first + i) * spacing``, and the mean of what was cut off."""

    spacing: float
    first: int
    masses: Floats
    cut: float


def _step_law(
    shift: float, epsilon: float, participation: float, resolution: float, batches: int, offset: float
) -> StepLaw:
    """Discretise D, rounded up in the order of increasing convex functions."""
    a = math.exp(epsilon)
    # Beyond it X has an expected excess of at most this share of delta.
    reach = math.exp(shift * (0.5 * shift - float(ndtri(_CUT_SHARE * resolution / participation))))
    raised = math.exp(shift * (0.5 * shift - float(ndtri(_RAISED_SHARE))))
    top, variance, farthest = max(reach - a, 0.0), math.expm1(min(shift**2, 100.0)), _FARTHEST * batches
    if raised > farthest:
        # The largest sum of others that matters is about T a below zero: one D beyond it adds its whole excess.
        raised, top, variance = farthest, min(top, offset + farthest * a), _capped_square(shift, farthest)
    bottom = max(a * raised - 1.0, 0.0)
    deviation = min(a * math.sqrt(variance), top + bottom)
    spacing = max(
        deviation / _CELLS, 8.0 * (top + bottom) / _MOST_POINTS, 24.0 * math.sqrt(batches) * deviation / _MOST_POINTS
    )
    above = spacing * np.arange(math.ceil(top / spacing) + 2)
    below = spacing * np.arange(math.ceil(bottom / spacing) + 2)
    upper, upper_means = _cells(shift, np.append(a + above, np.inf))
    lower, lower_means = _cells(shift, np.append((1.0 + below) / a, np.inf))
    first = 1 - len(below)
    masses = np.zeros(len(above) + len(below) - 1)
    masses[-first:] += _spread(upper[:-1], upper_means[:-1] - a * upper[:-1], spacing)
    masses[: 1 - first] += _spread(lower[:-1], a * lower_means[:-1] - lower[:-1], spacing)[::-1]
    masses[-1] += upper[-1]
    masses[0] += lower[-1]
    masses[-first] += max(0.0, 1.0 - upper.sum() - lower.sum())
    return StepLaw(spacing, first, masses, max(0.0, float(upper_means[-1] - (a + above[-1]) * upper[-1])))


def _excess_of_sum(law: StepLaw, batches: int, offset: float, tolerance: float) -> float:
    """Upper bound on ``E (S - offset)_+`` of the sum of ``batches`` draws from the law."""
    values = law.spacing * (law.first + np.arange(len(law.masses)))
    mean = float(values @ law.masses)
    spread = math.sqrt(batches * float(law.masses @ (values - mean) ** 2))
    orders = np.geomspace(0.01 / spread, 100.0 / spread, _ORDERS)
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses)
    growth = np.array([batches * logsumexp(order * values + logs) for order in orders])
    fall = np.array([batches * logsumexp(-order * values + logs) for order in orders])
    # (y)_+ <= e^(t y)/(e t), and P(S > h) <= E e^(t (S - h)).
    moments = math.exp(min(700.0, float(np.min(growth - orders * offset - 1.0 - np.log(orders)))))
    widest = batches * (values[-1] - values[0]) + abs(offset)
    end = np.log((np.exp(-1.0) / orders + widest) / tolerance)
    high = min(float(np.min((growth + end) / orders)), batches * values[-1])
    low = max(float(np.max(-(fall + end) / orders)), batches * values[0])
    points = int((high - low) / law.spacing) + 2
    if high <= offset:
        return min(moments, tolerance)
    if points > 4 * _MOST_POINTS:
        return moments
    length = next_fast_len(max(points, len(law.masses)), real=True)
    start = math.floor(low / law.spacing)
    masses = np.roll(irfft(rfft(law.masses, length) ** batches, length), -((start - batches * law.first) % length))
    gains = np.maximum(law.spacing * (start + np.arange(length)) - offset, 0.0)
    rounding = transform_rounding(batches) * float(gains[-1])
    return min(moments, float(gains @ masses) + rounding + tolerance)


def _capped_square(shift: float, cap: float) -> float:
    """Mean of ``min(Y, cap)^2``."""
    z = math.log(cap) / shift
    below = math.exp(shift**2 + float(log_ndtr(z - 1.5 * shift)))
    return below + cap**2 * float(ndtr(-z - 0.5 * shift))


def _one_positive(shift: float, epsilon: float, batches: int, offset: float) -> float:
    """Upper bound on ``E (D_1 + ... + D_T - offset)_+ / T`` that is close where two positive D are rare.

    One is positive, and the others add up to -N: ``E (D - offset - N; D > 0) = h_s(a + offset + N)``. Of more, their
    mean sum is taken. N is lowered by a cap on each term and where a transform wraps around.
    """
    a = math.exp(epsilon)
    spacing = 2.0 * _FARTHEST * batches * a / _MOST_POINTS
    edges = np.append(1.0 + spacing * np.arange(_MOST_POINTS // 2 + 2), np.inf) / a
    lower, means = _cells(shift, edges)
    masses = _spread(lower[:-1], a * means[:-1] - lower[:-1], spacing)
    masses[-1] += lower[-1]
    masses[0] += max(0.0, 1.0 - lower.sum())
    others = np.maximum(irfft(rfft(masses, _MOST_POINTS) ** (batches - 1), _MOST_POINTS), 0.0)
    orders = np.log(a + offset + spacing * np.arange(_MOST_POINTS))
    values = ndtr(0.5 * shift - orders / shift) - np.exp(orders + log_ndtr(-0.5 * shift - orders / shift))
    positive = float(ndtr(-epsilon / shift - 0.5 * shift))
    several = (batches - 1) * positive * gaussian.gdp_delta(shift, epsilon)
    return float(others @ np.maximum(values, 0.0)) + transform_rounding(batches) * float(values[0]) + several


def _cells(shift: float, edges: Floats) -> tuple[Floats, Floats]:
    """Probabilities that X lies in each of the cells, and its partial means there."""
    z = np.log(edges) / shift
    return normal_masses(z, -0.5 * shift), normal_masses(z, 0.5 * shift)


def _spread(masses: Floats, means: Floats, spacing: float) -> Floats:
    """Masses on the edges, from zero on, that keep mass and partial mean of every cell."""
    right = np.clip(means / spacing - np.arange(len(masses)) * masses, 0.0, masses)
    edges = np.zeros(len(masses) + 1)
    edges[:-1] += masses - right
    edges[1:] += right
    return edges


def _require(batches: int, participation: float) -> None:
    require(batches=batches)
    if not 0.0 < participation <= 1.0 or (participation == 1.0 and batches > 1):
        raise InputError("participation", participation, "in (0, 1), or 1 with one batch")
