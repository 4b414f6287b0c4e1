"""Privacy of one draw from an axis law, by quadrature of the laws on two neighbouring data sets."""

from __future__ import annotations

import math

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw

LARGEST = 200.0


def pair_delta(first: AxisLaw, second: AxisLaw, epsilon: float) -> float:
    """``max_A P(A) - e^epsilon Q(A)``, where the laws differ in their tilt alone: same p, d and c.

    The log ratio of the densities is linear in x_1, so that the best event is a tail.
    """
    shift = first.kap - second.kap
    threshold = (epsilon + first.log_normaliser() - second.log_normaliser()) / shift
    if shift > 0:
        return first.tail(threshold) - math.exp(epsilon) * second.tail(threshold)
    return _mirrored(first).tail(-threshold) - math.exp(epsilon) * _mirrored(second).tail(-threshold)


def pair_epsilon(first: AxisLaw, second: AxisLaw, delta: float) -> float:
    """Least epsilon for which both `pair_delta` are at most delta; accurate to 1e-10."""
    from scipy.optimize import brentq

    def excess(epsilon: float) -> float:
        return max(pair_delta(first, second, epsilon), pair_delta(second, first, epsilon)) - delta

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, LARGEST, xtol=1e-10))


def _mirrored(law: AxisLaw) -> AxisLaw:
    return AxisLaw(law.p, law.d, -law.kap, law.c)
