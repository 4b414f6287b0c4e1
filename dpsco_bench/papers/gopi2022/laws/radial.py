"""The law of the radius under exp(-A rho - B rho^2), and of a linear loss on a Schatten ball."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln, ive

from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.quadrature import bracket, gauss_legendre

Array = np.ndarray
DIRECTIONS = 8192
SEED = 20220622


@lru_cache(maxsize=64)
def cone_norms(p: float, d: int, q: float) -> np.ndarray:
    """``||u||_q`` of `DIRECTIONS` directions u of the cone measure of the l_p ball in R^d, the same in every call."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    g = rng.random((DIRECTIONS, d)) if math.isinf(p) else rng.standard_gamma(1.0 / p, (DIRECTIONS, d)) ** (1.0 / p)
    return np.linalg.norm(g, ord=q, axis=1) / np.linalg.norm(g, ord=p, axis=1)


_COUNT = 128


@dataclass(frozen=True, eq=False)
class RadialLaw:
    """Density proportional to ``rho^(d-1) exp(-A rho - B rho^2)`` on ``[0, R]``, A of either sign and B >= 0.

    This is the law of ``||x||`` under ``exp(-A ||x|| - B ||x||^2)`` on a ball of any norm in R^d. If the square is in
    another norm, ``exp(-A ||x|| - b ||x||_q^2)``, the law is averaged over directions u of the ball's cone measure:
    give ``B`` as the array ``(N,)`` of ``b ||u||_q^2``.
    """

    d: int
    A: float
    B: Any
    R: float = 1.0

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
        return float(np.exp(self._log_mass(start) - self._log_mass(0.0)))

    def _log_mass(self, start: float) -> float:
        """Logarithm of the integral over ``(start, R)``, for one curvature."""
        curvature = float(self.B)
        low, high = bracket(lambda rho: self.log_density(rho, curvature), start, self.R)
        nodes, weights = gauss_legendre(_COUNT)
        logs = self.log_density(low + (high - low) * nodes, curvature)
        top = logs.max()
        return float(top + np.log((high - low) * np.sum(weights * np.exp(logs - top))))

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Radii and their probabilities."""
        curvatures = np.atleast_1d(np.asarray(self.B, dtype=np.float64))
        ends = [
            bracket(lambda rho, b=b: self.log_density(rho, b), 0.0, self.R)  # type: ignore[misc]
            for b in {curvatures.min(), curvatures.max()}
        ]
        low, high = min(e[0] for e in ends), max(e[1] for e in ends)
        nodes, weights = gauss_legendre(_COUNT)
        rho = low + (high - low) * nodes
        middle = float(curvatures.mean())
        logs = self.log_density(rho, middle)
        if len(curvatures) > 1:
            logs = logs + np.log(np.mean(np.exp(-np.outer(curvatures - middle, rho * rho)), axis=0))
        mass = weights * np.exp(logs - logs.max())
        return rho, mass / mass.sum()

    def log_density(self, rho: Any, curvature: float) -> Any:
        volume: Any = 0.0
        if self.d > 1:
            with np.errstate(divide="ignore"):
                volume = (self.d - 1) * np.log(rho)
        return volume - self.A * rho - curvature * rho * rho


POINTS, LEAST_POINTS = 1 << 17, 1000.0
SCHATTEN_SEED = 20220623
LARGEST = 1e8
"""Largest k: Bessel functions of larger arguments are not known to all digits."""
MOST_COLUMNS = 5
"""Proposals are a mixture over ``2^((d2 - 1)(d2 - 2)/2)`` products."""


@dataclass(frozen=True)
class SchattenLaw:
    """The law of the loss ``-x_11`` of d1 x d2 matrices X on the unit ball of the Schatten-p norm.

    With ``X = U diag(s) V^T`` the loss is ``-sum_i s_i a_i v_i``, a the first row of U and v that of V, and a is
    integrated out: (s, v), v uniform on the sphere, has the density ``prod s_i^(d1 - d2) prod |s_i^2 - s_j^2| exp(-c
    ||s||_q^2) I_nu(z)/z^nu``, ``z = k |S v|``, ``nu = d1/2 - 1``. Points are written as ``s = rho u``, ``u_i =
    y_i^(1/p)`` with ``sum y = 1`` and u_1 the largest. Proposed are Gamma variables y_2.., in the mixture that
    ``|u_i^2 - u_j^2| <= u_i^2 + u_j^2`` makes of products, the direction v of a Gaussian, and an exponential ``1 -
    rho``, at rates such that the weights are bounded: ``|S v|`` falls at least so fast. Source: Gopi, Lee, Liu, Shen,
    Tian 2022, Corollary 5, for the law.

    Raises InputError for arguments out of range.

    Parameters
    ----------
    rows, columns : int, ``d1 >= d2``, d2 from 1 to 5
    p, q : float, norms of the ball, in [1, inf), and of the regulariser, in [1, 2]
    k, c : float, in (0, 1e8] and >= 0
    """

    rows: int
    columns: int
    p: float
    q: float
    k: float
    c: float

    def __post_init__(self) -> None:
        if self.columns > MOST_COLUMNS:
            raise InputError("columns", self.columns, f"at most {MOST_COLUMNS}")
        if math.isinf(self.p):
            raise InputError("p", self.p, "finite")
        if self.k > LARGEST:
            raise InputError("k", self.k, f"at most {LARGEST:g}")

    def mean_gap(self) -> tuple[float, float]:
        """Estimate ``E[1 - x_11]`` and its standard error, infinite where fewer than `LEAST_POINTS` points count."""
        gaps, weights = self._weighted()
        mean = np.sum(gaps * weights)
        few = 1.0 / np.sum(weights**2) < LEAST_POINTS
        return float(mean), math.inf if few else float(np.sqrt(np.sum((weights * (gaps - mean)) ** 2)))

    def _weighted(self) -> tuple[Array, Array]:
        """``E[1 - x_11]`` given (s, v) at the points, and their normalised weights."""
        k, p, d = self.k, self.p, self.rows * self.columns
        shapes, normal, uniform = proposals(self.rows, self.columns, p)
        others = shapes * (p / k)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = 1.0 - others.sum(axis=1)
            u = np.column_stack([np.maximum(first, 0.0), others]) ** (1.0 / p)
            inside = u[:, 0] > u[:, 1:].max(axis=1, initial=0.0)
            logs = np.where(inside, self._log_spectrum(u, others), -np.inf)
            ratio = u[:, 1:].max(axis=1, initial=0.0) / np.where(inside, u[:, 0], 1.0)
            turn = 0.5 * k * u[:, 0] * np.maximum(1.0 - ratio**2, 0.0)
            spread = 1.0 + 2.0 * turn
            v = np.column_stack([normal[:, 0], normal[:, 1:] / np.sqrt(spread)[:, None]])
            v /= np.linalg.norm(v, axis=1, keepdims=True)
            away = np.sum(v[:, 1:] ** 2, axis=1)
            half = 0.5 * self.columns
            logs += half * np.log1p((spread - 1.0) * away) - (half - 0.5) * np.log(spread)
            length = np.linalg.norm(u * v, axis=1)
            rate = k * length
            below = -np.log1p(uniform * np.expm1(-rate)) / rate
            rho, z = 1.0 - below, k * (1.0 - below) * length
            logs += (d - 1) * np.log(rho) - self.c * (rho * np.linalg.norm(u, ord=self.q, axis=1)) ** 2
            # I_nu(z)/z^nu over the exponential density of 1 - rho; exp(z + rate below) is exp(rate)
            nu = 0.5 * self.rows - 1.0
            logs += np.log(ive(nu, z)) - nu * np.log(z) + (rate - k) - np.log(rate) + np.log(-np.expm1(-rate))
            gaps = 1.0 - rho * length * ive(nu + 1.0, z) / ive(nu, z)
        if not inside.any():
            raise InputError("k", k, "so large that some proposals lie in the ball")
        weights = np.exp(np.where(inside, logs - logs[inside].max(), -np.inf))
        return np.where(inside, gaps, 0.0), weights / weights.sum()

    def _log_spectrum(self, u: Array, others: Array) -> Array:
        """Log density of u over that of its proposal."""
        squares = u * u
        logs = ((1.0 + self.rows - self.columns) / self.p - 1.0) * self.p * np.log(u[:, 0])
        logs = logs + (self.k / self.p) * others.sum(axis=1)
        for i, j in itertools.combinations(range(self.columns), 2):
            logs = logs + np.log(np.abs(squares[:, i] - squares[:, j]))
            if i > 0:
                logs = logs - np.log(squares[:, i] + squares[:, j])
        return np.asarray(logs)


@lru_cache(maxsize=16)
def proposals(rows: int, columns: int, p: float) -> tuple[Array, Array, Array]:
    """Gamma variables ``(N, d2 - 1)``, normal ``(N, d2)`` and uniform ``(N,)`` ones, the same in every call.

    The Gammas have a density ``~ prod_(i < j) (y_i^(2/p) + y_j^(2/p)) prod y_i^((1 + d1 - d2)/p - 1) exp(-y_i)``: a
    mixture over which of each pair counts.
    """
    rng, size = np.random.Generator(np.random.PCG64(SCHATTEN_SEED)), columns - 1
    pairs = list(itertools.combinations(range(size), 2))
    shapes = []
    for winners in itertools.product((0, 1), repeat=len(pairs)):
        counts = np.bincount([pair[side] for pair, side in zip(pairs, winners, strict=True)], minlength=size)
        shapes.append((1.0 + rows - columns + 2.0 * counts[:size]) / p)
    table = np.array(shapes).reshape(len(shapes), size)
    masses = np.exp(gammaln(table).sum(axis=1) - gammaln(table).sum(axis=1).max())
    chosen = rng.choice(len(table), size=POINTS, p=masses / masses.sum())
    return rng.standard_gamma(table[chosen]), rng.standard_normal((POINTS, columns)), rng.random(POINTS)
