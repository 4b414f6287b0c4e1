"""G1: the noise layer against NumPy's generator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpsco_bench.bench.measure import AT_MOST, Case, Pair, goal
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

VALUES = 1 << 16
GOAL = 0.17
SHAPES = ((8, 64, 128), (16, 256, 16), (64, 102, 10))
"""Steps, replicates, dimension: about 64k values; ten is no multiple of a block of four."""


@goal("G1", "the noise layer")
def cases() -> Iterator[Case]:
    """Both kinds of noise in blocks of 64k."""
    for kind in ("normal", "laplace"):
        for shape in SHAPES:
            yield Case(
                id="G1",
                case=f"{kind} noise, rows of {shape[2]}",
                peer="standard_normal, float32, blocks of 64k",
                unit="value",
                sense=AT_MOST,
                goal=GOAL,
                build=partial(_pair, kind, shape),
            )


def _pair(kind: str, shape: tuple[int, int, int]) -> Pair:
    draw = getattr(Stream(stream_key(0, "bench", kind)), kind)
    steps, replicates, dim = shape
    generator, block = np.random.default_rng(0), np.empty(VALUES, dtype=np.float32)
    return Pair(
        ours=lambda: draw(0, steps, 0, replicates, dim),
        peer=lambda: generator.standard_normal(out=block, dtype=np.float32),
        ours_units=steps * replicates * dim,
        peer_units=VALUES,
    )
