"""Directions of the cone measure of l_p balls, by their norms."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

DIRECTIONS = 8192
SEED = 20220622


@lru_cache(maxsize=64)
def cone_norms(p: float, d: int, q: float) -> np.ndarray:
    """``||u||_q`` of `DIRECTIONS` directions u of the cone measure of the l_p ball in R^d, the same in every call.

    The entries of ``g`` with density ``exp(-|g|^p)`` divided by ``||g||_p``; for p = inf uniform ones by the largest.
    """
    rng = np.random.Generator(np.random.PCG64(SEED))
    g = rng.random((DIRECTIONS, d)) if math.isinf(p) else rng.standard_gamma(1.0 / p, (DIRECTIONS, d)) ** (1.0 / p)
    return np.linalg.norm(g, ord=q, axis=1) / np.linalg.norm(g, ord=p, axis=1)
