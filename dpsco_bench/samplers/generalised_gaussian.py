"""Generalised Gaussian noise from counter streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import gammaincinv

from dpsco_bench.rng.streams import Stream


def generalised_gaussian(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float
) -> np.ndarray:
    """Vectors ``(steps, replicates, dim)`` of density ``~ exp(-||z||_r^2/2)``."""
    host, where = replace(stream, xp=np), (first_step, steps, first_replicate, replicates, dim)
    normals = np.asarray(host.normal(*where), dtype=np.float64)
    uniforms = 2.0 * np.asarray(host.uniform(*where)) - 1.0
    shape = np.sign(uniforms) * gammaincinv(1.0 / r, np.abs(uniforms)) ** (1.0 / r)
    norms = (np.abs(shape) ** r).sum(axis=-1, keepdims=True) ** (1.0 / r)
    return shape * (np.sqrt((normals**2).sum(axis=-1, keepdims=True)) / norms)


def generalised_gaussian_mean(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float, draws: int
) -> np.ndarray:
    """Means ``(steps, replicates, dim)`` of ``draws`` independent such vectors each."""
    where = (first_step * draws, steps * draws, first_replicate, replicates, dim)
    drawn = replace(stream, xp=np).normal(*where) if r == 2.0 else generalised_gaussian(stream, *where, r)
    return drawn.astype(np.float64).reshape(steps, draws, replicates, dim).mean(axis=1)
