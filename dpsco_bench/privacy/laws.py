"""Laws of noise of scale one, by the names that queries give them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import row_norm, to_numpy
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.rng.streams import Stream

_MOST_VALUES = 1 << 17


def generalised_gaussian_mean(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float, draws: int
) -> np.ndarray:
    """Means of ``draws`` independent vectors of density ``~ exp(-||z||_r^2/2)`` each; not such a vector, unless r = 2.

    The draws of step t are those of the steps ``t draws .. (t + 1) draws - 1`` of the stream, added up in this order.
    Returns (steps, replicates, dim) of float64, on the host, for every namespace.
    """
    host, rest = replace(stream, xp=np), (first_replicate, replicates, dim)
    if r == 2.0:
        return host.normal(first_step, steps, *rest).astype(np.float64) / math.sqrt(draws)
    means = np.empty((steps, replicates, dim))
    at_once = max(1, _MOST_VALUES // max(1, draws * replicates * dim))
    for t in range(0, steps, at_once):
        count = min(at_once, steps - t)
        drawn = host.generalised_gaussian((first_step + t) * draws, count * draws, *rest, r)
        sums = np.cumsum(drawn.reshape(count, draws, replicates, dim), axis=1, dtype=np.float64)
        means[t : t + count] = sums[:, -1] / draws
    return means


Array = Any


def gamma_norm(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, q: float = 2.0
) -> np.ndarray:
    """Vectors ``(steps, replicates, dim)`` of density ``~ exp(-||b||_q)``, 1 <= q <= inf.

    The norm has the law Gamma(dim), the direction that of the cone measure: of normals for q = 2, of generalised
    Gaussians else, of a uniform point of the cube for q = inf. Computed on the host, where logarithms round in one way
    for all namespaces.
    """
    where = (first_step, steps, first_replicate, replicates, dim)
    if q == 2.0:
        rays = to_numpy(stream.normal(*where)).astype(np.float64)
    elif math.isinf(q):
        further = to_numpy(stream.uniform(*where[:-1], 2 * dim))  # the norm has the first half of these
        rays = 2.0 * further[..., dim:] - 1.0
    else:
        rays = to_numpy(stream.generalised_gaussian(*where, q)).astype(np.float64)
    radius = -np.log(to_numpy(stream.uniform(*where))).sum(axis=-1, keepdims=True)
    return rays * (radius / (row_norm(rays) if q == 2.0 else lp_norm(rays, q)))


NOISE_LAWS: dict[str, Callable[..., Array]] = {
    "normal": lambda stream, *where: stream.normal(*where),
    "laplace": lambda stream, *where: stream.laplace(*where),
    "gamma_norm": gamma_norm,
    "generalised_gaussian": lambda stream, *where: stream.generalised_gaussian(*where),
    "generalised_gaussian_mean": generalised_gaussian_mean,
}
"""Draws by name, each called like the methods of `rng.streams.Stream`, with the law's own parameters after those."""
