"""Lower bounds on epsilon where every step looks at one uniform record, drawn with replacement.

All other records contribute zero, one admissible case, and the differing record is drawn with probability ``q = 1/n``
in each of ``N`` independent steps. With ``s`` the norm of its contribution over the noise standard deviation,
`single_index_tests` tests the first two pairs of neighbours below, and `opposed_epsilon` the last one.

*Reversed contribution.* The coordinates of the transcript are independent,

    (1-q) N(0,1) + q N(+s,1)    against    (1-q) N(0,1) + q N(-s,1).

Differential privacy requires ``P(A) <= e^epsilon Q(A) + delta`` of every event ``A``. Here ``A`` says that the sum
``S`` of the steps' privacy losses, each *rounded to a grid*, reaches a threshold: a statistic of the transcript, whose
laws under both distributions are computed by fast Fourier transforms. So ``epsilon >= log((P(A) - delta) / Q(A))`` on
every grid, and on a fine one, where ``A`` is nearly the likelihood-ratio event, this is the exact epsilon of the pair.
``Q`` is transformed after tilting by ``e^S``, as ``Q(A)`` can be far below the smallest float.

*Vanishing contribution*, for ``s > 8``, against ``N(0,1)`` in every step. The loss of a step with
``u = s x - s^2/2`` is ``log(1-q+q e^u) >= max(log q + u, log(1-q))``. Using the first bound in the ``k ~ Bin(N, q)``
steps that draw the record, where ``u ~ N(s^2/2, s^2)``, and the second one in the others, the loss is given ``k`` at
least

    Normal(k (s^2/2 + ln q) + (N-k) ln(1-q), k s^2),

and the divergence, an expectation of a function that grows with the loss, is at least that of the mixture over ``k``.

*Anchored contribution.* Steps of variance reduction add the mean gradient v at an anchor. Where a record's gradient has
norm G, and turns round between anchor and iterate, v moves every answer by ``a = G/(n sigma)`` against its contribution
of ``s = 2G/sigma``. The first pair is then ``(1-q) N(-a,1) + q N(s-a,1)`` against its mirror image; against a record
that contributes nothing, a step moves by ``s - a`` where it draws the record, and by ``-a`` where it does not.

*Opposed contribution* (`opposed_epsilon`): all other records contribute one and the same vector and the differing one
its opposite, against all alike. Then a step that draws the record moves by ``s``, twice the norm of a contribution, and
the pair is ``(1-q) N(0,1) + q N(s,1)`` against ``N(0,1)``. If it can be drawn several times in a step, which moves the
step by a multiple of ``s``, then ``q`` is the probability of drawing it at all: the events above say that an increasing
function of the steps is large, and moving further makes them more probable.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln, log_ndtr, logsumexp, ndtri

from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.pld import AnchoredPair, Floats, GaussianPair, transform_rounding
from dpsco_bench.privacy.accountants.solve import require, root

NAME = "single-index likelihood-ratio test, lower bound"
REVERSED, VANISHING = "two opposed records", "a record with a contribution and one without"
"""Differences within the two pairs of neighbours."""
# Fraction of the information, or of epsilon to first order, that rounding may cost.
INFORMATION_TOLERANCE = 1e-3
_MIXTURE_FROM = 8.0
_FIRST_POINTS, _MOST_POINTS = 2**12, 2**19
# Wider cells waste whole nats per draw of the record.
_WIDEST_SPACING = 1.0
# A grid that wastes more nats than this in all is only refined: the transform of the tilted law loses its digits.
_MOST_WASTE = 5.0
# Probability beyond the transforms' grid, as a fraction of delta.
_TAIL_SHARE = 1e-4
# An event must be this many times more probable than what rounding errors may misplace.
_RESOLVED = 100.0
_CHERNOFF_ORDERS = 24


@lru_cache(maxsize=256)
def single_index_tests(
    shift_over_sigma: float, steps: int, population: int, delta: float, anchor: float = 0.0
) -> dict[str, float]:
    """Lower bounds on epsilon of Gaussian steps that each look at one uniform record, by pair of neighbours.

    Raises InputError for arguments out of range. Returns for `REVERSED` and `VANISHING` an epsilon below which the
    transcript is not (epsilon, delta)-differentially private under replace-one neighbours. ``shift_over_sigma`` >= 0 is
    the norm of one record's contribution (half the replace-one change) over the noise standard deviation, ``anchor`` by
    how much it moves every answer against its contribution. The index is drawn from the ``population``; with one record
    the value is exact.
    """
    require(shift_over_sigma=shift_over_sigma, anchor=anchor, steps=steps, population=population, delta=delta)
    if population == 1 or shift_over_sigma in (0.0, math.inf):
        moved = shift_over_sigma - anchor if shift_over_sigma < math.inf else math.inf
        return {REVERSED: gaussian.gdp_epsilon(2.0 * abs(moved) * math.sqrt(steps), delta)}
    shift, rate, steps = shift_over_sigma, 1.0 / population, int(steps)
    pair = AnchoredPair(shift, rate, anchor) if anchor > 0.0 else GaussianPair(shift, rate, True)
    found = {REVERSED: _reversed_epsilon(pair, steps, delta)}
    if shift > _MIXTURE_FROM:
        found[VANISHING] = _vanishing_epsilon(shift - anchor, steps, rate, delta, anchor)
    return found


def opposed_epsilon(shift_over_sigma: float, steps: int, rate: float, delta: float) -> float:
    """Lower bound on epsilon of Gaussian steps, all records but one contributing the same and that one the opposite.

    ``shift_over_sigma`` >= 0 is the replace-one change of a step that draws the record once, over the noise; ``rate``
    in (0, 1] the probability that a step draws it at all. At rate 1 it is exact for a record that is drawn once.
    """
    require(shift_over_sigma=shift_over_sigma, steps=steps, rate=rate, delta=delta)
    if rate == 1.0 or shift_over_sigma in (0.0, math.inf):
        return gaussian.gdp_epsilon(shift_over_sigma * math.sqrt(steps), delta)
    tested = _reversed_epsilon(GaussianPair(shift_over_sigma, rate, False), int(steps), delta)
    return max(tested, _vanishing_epsilon(shift_over_sigma, int(steps), rate, delta))


def _reversed_epsilon(pair: GaussianPair | AnchoredPair, steps: int, delta: float) -> float:
    """Halve the grid until rounding costs almost no information; every grid gives a valid bound."""
    tail = _TAIL_SHARE * delta / steps
    mean, variance = pair.moments(tail)
    spread = math.sqrt(steps * variance)
    low, high = pair.loss_range(tail)
    spacing = min(_WIDEST_SPACING, (high - low + spread) / _FIRST_POINTS)
    best = 0.0
    while spacing * _MOST_POINTS >= high - low + spread:
        first, upper, tilted = pair.rounded_losses(spacing, tail)
        best = max(best, threshold_epsilon(spacing, first, upper, tilted, steps, delta, tail))
        # Part of the Kullback-Leibler divergence that the rounded loss retains: Donsker and Varadhan's bound.
        kept = float(spacing * np.arange(first, first + len(upper)) @ upper) - math.log(tilted.sum())
        lost = steps * (mean - kept)
        # In the normal limit, epsilon is steps * mean + spread * quantile, and spread^2 is twice the information.
        shift = lost * (1.0 - float(ndtri(delta)) / spread)
        if lost <= INFORMATION_TOLERANCE * steps * mean or shift <= INFORMATION_TOLERANCE * best:
            break
        spacing *= 0.5
    return best


def threshold_epsilon(
    spacing: float, first: int, upper: Floats, tilted: Floats, steps: int, delta: float, tail: float
) -> float:
    """Best bound of the tests that threshold the sum of rounded losses.

    ``upper`` has the probabilities of a release's loss on the grid, ``tilted`` ``e^loss`` times those under the lower
    distribution; ``tail`` is the probability per release that may lie beyond the grid of the sum.
    """
    if steps * math.log(tilted.sum()) > _MOST_WASTE:
        return 0.0
    low, high = _sum_range(upper, steps, tail)
    if high - low > 4 * _MOST_POINTS:
        return 0.0
    grid = spacing * (steps * first + np.arange(low, high + 1, dtype=np.float64))
    power = _composed(upper, steps, low, high)[::-1].cumsum()
    gain = power - delta - 2.0 * steps * tail - transform_rounding(steps)
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(_composed(tilted, steps, low, high), 0.0)) - grid
    level = np.logaddexp.accumulate(logs[::-1])
    usable = (gain > 0.0) & (power > _RESOLVED * transform_rounding(steps)) & np.isfinite(level)
    return max(0.0, float(np.max(np.log(gain[usable]) - level[usable], initial=0.0)))


def _sum_range(masses: Floats, steps: int, tail: float) -> tuple[int, int]:
    """Find indices outside which the sum of ``steps`` draws has at most ``steps * tail``, by Chernoff's bound."""
    points = np.arange(len(masses), dtype=np.float64)
    mean = float(points @ masses)
    with np.errstate(divide="ignore"):
        logs = np.log(masses)
    spread = math.sqrt(steps * float(masses @ (points - mean) ** 2)) + 1.0
    low, high = 0.0, (len(masses) - 1.0) * steps
    surprise = math.log(2.0 / (steps * tail))
    for order in np.geomspace(1.0 / (len(masses) + spread), 64.0 / spread, _CHERNOFF_ORDERS):
        high = min(high, steps * mean + (surprise + steps * logsumexp(order * (points - mean) + logs)) / order)
        low = max(low, steps * mean - (surprise + steps * logsumexp(-order * (points - mean) + logs)) / order)
    return math.floor(low), math.ceil(high)


def _composed(masses: Floats, steps: int, low: int, high: int) -> Floats:
    """Masses of the sum of ``steps`` independent draws at the indices ``low .. high``."""
    length = next_fast_len(max(high - low + 1, len(masses)), real=True)
    summed = irfft(rfft(masses, length) ** steps, length)
    return np.roll(summed, -(low % length))[: high - low + 1]


def _vanishing_epsilon(shift: float, steps: int, rate: float, delta: float, still: float = 0.0) -> float:
    """Epsilon of the mixture that bounds the loss against a contribution of zero; ``still``: without a draw."""
    # Numbers of draws left out make the divergence smaller, hence the bound weaker but no less valid.
    most = min(steps, int(steps * rate + 40.0 * math.sqrt(steps * rate)) + 200)
    draws = np.arange(1.0, most + 1.0)
    weights = gammaln(steps + 1.0) - gammaln(draws + 1.0) - gammaln(steps - draws + 1.0)
    weights += draws * math.log(rate) + (steps - draws) * math.log1p(-rate)
    means = draws * (0.5 * shift**2 + math.log(rate)) + (steps - draws) * (math.log1p(-rate) + 0.5 * still**2)
    deviations = np.sqrt(draws * shift**2 + (steps - draws) * still**2)

    def excess(epsilon: float) -> float:
        """Logarithm of the mixture's divergence over delta: ``E(1 - e^(epsilon - L))_+`` of each normal ``L``."""
        upper = log_ndtr((means - epsilon) / deviations)
        lower = epsilon - means + 0.5 * deviations**2 + log_ndtr((means - epsilon) / deviations - deviations)
        with np.errstate(divide="ignore"):
            logs = weights + upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))
        return float(logsumexp(logs)) - math.log(delta)

    if excess(0.0) <= 0.0:
        return 0.0
    high = float(means.max() + 40.0 * deviations.max())
    return root(excess, 0.0, high, xtol=1e-9, rtol=1e-12) if excess(high) < 0.0 else 0.0
