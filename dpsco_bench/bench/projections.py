"""P10: the projection on an l2 ball against the fewest calls of NumPy that project an array which needs no care."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpsco_bench.bench.measure import AT_MOST, Case, Pair, goal
from dpsco_bench.geometry.lp import project_l2

SIZES = ((12, 8), (64, 128), (512, 128))
MOST = 1.5
RADIUS = 1.0


def careless(x: np.ndarray) -> np.ndarray:
    """Shrink what lies outside; squares may overflow and vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))
    return x * (RADIUS / np.maximum(length, RADIUS))[:, None]


@goal("P10", "the projection on an l2 ball against four calls of NumPy")
def projection_cases() -> Iterator[Case]:
    """P10: rows inside and outside the ball, float64."""
    for replicates, d in SIZES:
        case, peer = f"project_l2, R/d = {replicates}/{d}", "einsum, sqrt, maximum, product"
        limit = "of an array so small the calls are seen, and one more asks whether squares may overflow"
        yield Case("P10", case, peer, "entry", AT_MOST, MOST, partial(_pair, replicates, d), limit)


def _pair(replicates: int, d: int) -> Pair:
    lengths = np.geomspace(0.1, 10.0, replicates)[:, None]
    x = np.random.default_rng(0).standard_normal((replicates, d)) * lengths / d**0.5
    return Pair(lambda: project_l2(x, RADIUS), lambda: careless(x), x.size, x.size)
