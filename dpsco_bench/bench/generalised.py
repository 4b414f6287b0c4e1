"""G7: generalised Gaussian draws against gamma variates and powers in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpsco_bench.bench.measure import AT_LEAST, Case, Pair, goal
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

GOAL = 5.0
SHAPES = ((64, 256, 4), (16, 256, 16), (8, 64, 128), (1, 64, 1024))
"""Steps, replicates, dimension: about 64k values."""
EXPONENTS = (3.0, 10.0)


@goal("G7", "generalised Gaussian draws against gamma and power in NumPy")
def cases() -> Iterator[Case]:
    """In blocks of 64k, for exponents that p = 1.5 and p = 1 with large dimensions lead to."""
    for r in EXPONENTS:
        for shape in SHAPES:
            yield Case(
                id="G7",
                case=f"GG draws, r = {r:g}, rows of {shape[2]}",
                peer="gamma and power in NumPy",
                unit="value",
                sense=AT_LEAST,
                goal=GOAL,
                build=partial(_pair, r, shape),
            )


def _pair(r: float, shape: tuple[int, int, int]) -> Pair:
    stream, generator = Stream(stream_key(0, "bench", "generalised")), np.random.default_rng(0)
    steps, replicates, dim = shape
    values = steps * replicates * dim
    return Pair(
        ours=lambda: stream.generalised_gaussian(0, steps, 0, replicates, dim, r),
        peer=lambda: gamma_and_power(generator, steps * replicates, dim, r),
        ours_units=values,
        peer_units=values,
    )


def gamma_and_power(generator: np.random.Generator, rows: int, dim: int, r: float) -> np.ndarray:
    """Vectors ``(rows, dim)`` of density ``~ exp(-||z||_r^2/2)`` as a careful script draws them."""
    magnitude = generator.standard_gamma(1.0 + 1.0 / r, (rows, dim))
    magnitude **= 1.0 / r
    uniform = generator.random((rows, dim))
    uniform *= 2.0
    uniform -= 1.0
    magnitude *= uniform
    norm = np.sum(np.abs(magnitude) ** r, axis=-1, keepdims=True) ** (1.0 / r)
    magnitude *= np.sqrt(generator.chisquare(dim, (rows, 1))) / norm
    return magnitude
