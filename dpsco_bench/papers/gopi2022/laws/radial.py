"""The law of the radius under exp(-A rho - B rho^2) in d dimensions, by quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.papers.gopi2022.laws.nodes import bracket, gauss_legendre

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


_COUNT = 128


@dataclass(frozen=True, eq=False)
class RadialLaw:
    """Density proportional to ``rho^(d-1) exp(-A rho - B rho^2)`` on ``[0, R]``.

    It is that of ``||x||`` under ``exp(-A ||x|| - B ||x||^2)`` on a ball of any norm in R^d. Where the square is of
    another norm, ``exp(-A ||x|| - b ||x||_q^2)``, it is averaged over directions u of the cone measure of the ball:
    give ``B`` as the array of ``b ||u||_q^2``. Raises InputError for arguments out of range.

    Parameters
    ----------
    d : int, dimension, >= 1
    A : float, slope, of either sign
    B : float or array (N,), Curvature(s), >= 0
    R : float, radius of the ball, > 0
    """

    d: int
    A: float
    B: Any
    R: float = 1.0

    def __post_init__(self) -> None:
        checked_count("d", self.d)
        if not np.isfinite(self.A):
            raise InputError("A", self.A, "a finite number")
        if not (np.all(np.isfinite(self.B)) and np.all(np.asarray(self.B) >= 0)):
            raise InputError("B", self.B, "finite numbers >= 0")
        if not 0.0 < self.R < np.inf:
            raise InputError("R", self.R, "a finite number > 0")

    def mean(self) -> float:
        rho, mass = self._nodes
        return float(np.sum(rho * mass))

    def second_moment(self) -> float:
        rho, mass = self._nodes
        return float(np.sum(rho * rho * mass))

    def tail(self, shift: float) -> float:
        """``P(rho - E rho >= shift)`` for one curvature."""
        start = self.mean() + shift
        if not 0.0 < start < self.R:
            return float(start <= 0.0)
        curvature = float(self.B)
        whole = self._log_mass(curvature, 0.0)
        return float(np.exp(self._log_mass(curvature, start) - whole))

    def _log_mass(self, curvature: float, start: float) -> float:
        """Logarithm of the integral over ``(start, R)``."""
        low, high = bracket(lambda rho: self._log_density(rho, curvature), start, self.R)
        nodes, weights = gauss_legendre(_COUNT)
        logs = self._log_density(low + (high - low) * nodes, curvature)
        top = logs.max()
        return float(top + np.log((high - low) * np.sum(weights * np.exp(logs - top))))

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Radii and their probabilities."""
        curvatures = np.atleast_1d(np.asarray(self.B, dtype=np.float64))
        ends = [
            bracket(lambda rho, b=b: self._log_density(rho, b), 0.0, self.R)  # type: ignore[misc]
            for b in {curvatures.min(), curvatures.max()}
        ]
        low, high = min(e[0] for e in ends), max(e[1] for e in ends)
        nodes, weights = gauss_legendre(_COUNT)
        rho = low + (high - low) * nodes
        middle = float(curvatures.mean())
        logs = self._log_density(rho, middle)
        if len(curvatures) > 1:
            logs = logs + np.log(np.mean(np.exp(-np.outer(curvatures - middle, rho * rho)), axis=0))
        mass = weights * np.exp(logs - logs.max())
        return rho, mass / mass.sum()

    def _log_density(self, rho: np.ndarray, curvature: float) -> np.ndarray:
        volume = 0.0
        if self.d > 1:
            with np.errstate(divide="ignore"):
                volume = (self.d - 1) * np.log(rho)
        return volume - self.A * rho - curvature * rho * rho
