"""Laws of noise of scale one, by the names that queries give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import row_norm, to_numpy
from dpsco_bench.rng.streams import Stream
from dpsco_bench.samplers.generalised_gaussian import generalised_gaussian_mean

Array = Any


def gamma_norm(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int
) -> np.ndarray:
    """Vectors ``(steps, replicates, dim)`` of density ``~ exp(-||b||)``: Gamma(dim) norm, uniform direction.

    Computed on the host, where logarithms round in one way for all namespaces.
    """
    where = (first_step, steps, first_replicate, replicates, dim)
    normals = to_numpy(stream.normal(*where)).astype(np.float64)
    radius = -np.log(to_numpy(stream.uniform(*where))).sum(axis=-1, keepdims=True)
    return normals * (radius / row_norm(normals))


NOISE_LAWS: dict[str, Callable[..., Array]] = {
    "normal": lambda stream, *where: stream.normal(*where),
    "laplace": lambda stream, *where: stream.laplace(*where),
    "gamma_norm": gamma_norm,
    "generalised_gaussian": lambda stream, *where: stream.generalised_gaussian(*where),
    "generalised_gaussian_mean": generalised_gaussian_mean,
}
"""Draws by name, each called like the methods of `rng.streams.Stream`, with the law's own parameters after those."""
