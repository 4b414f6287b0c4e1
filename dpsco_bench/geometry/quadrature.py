"""Adaptive quadrature in one dimension, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise


def integral(function: Callable[[float], float], ends: Sequence[float], absolute: float = 0.0) -> float:
    """Integral over consecutive pieces, to relative accuracy 1e-12.

    Parameters
    ----------
    function : callable, of one number
    ends : sequence of float, increasing ends of the pieces, at least two
    absolute : float, absolute accuracy of a piece that is enough
    """
    from scipy.integrate import quad  # a tenth of a second that most runs can do without

    return float(sum(quad(function, *piece, epsabs=absolute, epsrel=1e-12, limit=200)[0] for piece in pairwise(ends)))
