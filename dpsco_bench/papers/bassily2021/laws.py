"""Laws of private Frank-Wolfe on one good coordinate, with noise and without (ours)."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import log

import numpy as np

from dpsco_bench.errors import InputError

FARTHEST = 45.0
"""Beyond so many scales a Laplace density is below the rounding of its integral."""


def winning_probabilities(u: float, vertices: int) -> tuple[float, float]:
    """Probabilities that the score of ``+e_1`` or of ``-e_1`` is the least of K with unit Laplace noise.

    The first is lowered by u >= 0, the second raised by u; the others stay.
    """
    from scipy.integrate import quad  # takes longer to import than most commands run

    others = vertices - 2

    def survival(y: float) -> float:
        return 1.0 - 0.5 * np.exp(y) if y < 0 else 0.5 * np.exp(-y)

    def chance(shift: float) -> float:
        """Compute the chance of a vertex; ``shift`` lowers its score and raises the opposite one's."""

        def density(y: float) -> float:
            return 0.5 * np.exp(-abs(y + shift)) * survival(y) ** others * survival(y - shift)

        ends = sorted({-abs(u) - FARTHEST, -u, 0.0, u, -log(vertices), FARTHEST})
        return sum(quad(density, low, high, epsabs=0.0, epsrel=1e-10, limit=200)[0] for low, high in pairwise(ends))

    return chance(u), chance(-u)


@lru_cache(maxsize=256)
def largest_excess(vertices: int) -> float:
    """h(K) = sup_u u (1 - P_+ + P_-), K >= 4: the largest excess risk over signals, in units of the noise scale."""
    from scipy.optimize import minimize_scalar  # takes longer to import than most commands run

    if vertices < 4:
        raise InputError("vertices", vertices, "an integer >= 4")

    def loss(u: float) -> float:
        plus, minus = winning_probabilities(u, vertices)
        return -u * (1.0 - plus + minus)

    found = minimize_scalar(loss, bounds=(0.1, 4.0 + 2.0 * log(vertices)), method="bounded", options={"xatol": 1e-6})
    return float(-found.fun)


def largest_excess_without_noise(n: int, dimension: int) -> float:
    """Largest excess risk over signals g of Algorithm 1 without noise on records of mean ``g e_1`` and unit variances.

    The estimate of step t is about normal, of variance ``s_t^2 = (1-eta)^(2t) 2/n + eta^2 sum_(j<t) (1-eta)^(2j)``. The
    vertex +-e_1 is taken with probabilities P_+, P_- that the first of d normals is farthest from zero, on either side.
    Step t has the weight ``eta (1-eta)^(N-t)`` in the output, the start what is left; the sum of ``g (1 - P_+ + P_-)``
    is maximised in g.
    """
    from scipy.integrate import trapezoid
    from scipy.special import ndtr

    step, last = log(n / log(2 * dimension)) / n, n // 2
    t = np.unique(np.linspace(0, last, 65).round())
    decay = (1.0 - step) ** (2.0 * t)
    deviation = np.sqrt(decay * 2.0 / n + step * (1.0 - decay) / (2.0 - step))
    y = np.linspace(0.0, 24.0, 8001)
    others = (2.0 * ndtr(y) - 1.0) ** (dimension - 1)
    u = np.linspace(0.0, 12.0, 481)[:, None]
    gain = trapezoid((np.exp(-0.5 * (y - u) ** 2) - np.exp(-0.5 * (y + u) ** 2)) * others, y) / np.sqrt(2.0 * np.pi)
    signals = np.linspace(0.1, 10.0, 199)[:, None] * deviation[-1]
    lost = signals * (1.0 - np.interp(signals / deviation, u[:, 0], gain))
    weights = (1.0 - step) ** (last - t)
    moved = trapezoid(lost * weights, t, axis=1) / trapezoid(weights, t) * (1.0 - (1.0 - step) ** (last + 1))
    return float(np.max(moved + signals[:, 0] * (1.0 - step) ** (last + 1)))
