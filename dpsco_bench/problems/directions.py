"""Losses on a unit ball whose records lie about a mean in a direction of each replicate."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.constants import CURVED, STRONG
from dpsco_bench.problems.data import Listed, Signs, like
from dpsco_bench.problems.families import SlopeLosses
from dpsco_bench.problems.linear import LinearSample
from dpsco_bench.problems.registry import problem

Array = Any

_ALL = CURVED | {Trait.PLANE_GRADIENTS}
TARGET = 0.3
"""Distance of the mean target from the origin."""


class DirectionSample(LinearSample):
    """Records of ``S R`` rows (signal-major): all signals share the direction and the signs of a replicate.

    ``strengths (S,)`` are the lengths of the mean at each signal; directions are unit vectors in the norm of
    ``exponent``, in [1, inf]: normals are divided by it. `directions (R, d)` has u of each replicate, `means (S R, d)`
    strength times u.
    """

    def __init__(
        self, n: int, d: int, draws: Draws, strengths: np.ndarray, spread: float, exponent: float = 2.0
    ) -> None:
        super().__init__(n, d, draws, len(strengths))
        self.spread = spread
        normals = to_numpy(draws.stream("direction").normal(*draws.box(0, 1, d)))[0].astype(np.float64)
        self.directions = normals / np.linalg.norm(normals, ord=exponent, axis=-1, keepdims=True)
        self.means = (np.asarray(strengths)[:, None, None] * self.directions).reshape(-1, d)

    def mean(self, first: int, count: int) -> np.ndarray:
        if count > 1:
            return super().mean(first, count)
        return self.means if self.spread == 0.0 else self.single(first)

    def records(self, first: int, count: int) -> np.ndarray:
        return self.drawn(first, count).swapaxes(0, 1)

    def drawn(self, first: int, count: int) -> np.ndarray:
        return self.means + np.tile(self._size * self._signs(first, count), (1, self.signals, 1))

    def chosen(self, indices: Any) -> np.ndarray:
        rows = np.arange(len(self.means)) % len(self.directions)
        signs = self._all_signs[rows[:, None], to_numpy(indices)]
        return self.means[:, None, :] + self._size * signs

    def kinds(self, drawn: bool) -> Listed | None:
        """See `Problem.form_kinds`."""
        return Signs(self.means, self._all_signs, self._size) if drawn else None

    @cached_property
    def _all_signs(self) -> np.ndarray:
        """Signs of all records, shape ``(R, n, d)``."""
        return np.ascontiguousarray(self._signs(0, self.n).swapaxes(0, 1).astype(np.int8))

    @property
    def _size(self) -> float:
        return self.spread / math.sqrt(self.d)

    def _signs(self, first: int, count: int) -> np.ndarray:
        """Rademacher signs of records from ``first`` on, shape ``(count, R, d)``."""
        return 2.0 * (self.uniform("signs", first, count, self.d) < 0.5) - 1.0


class DirectionLosses(SlopeLosses):
    """``f(x, z) = <z, x> + (h/2) ||x||_2^2`` with ``z = m + a Rad/sqrt(d)``, ``m = s u``, over a unit ball.

    u is a uniform direction of each replicate, shared by all strengths s. Constants are those of the class, the same
    for all strengths. The population's optimum lies in the direction -u.
    """

    unkeyed_options: ClassVar[tuple[str, ...]] = ("spread",)
    exponent: float = 2.0
    spread: float = option(0.0, "a: root mean square of the slopes about their mean", within="[0, 1)")
    signal = option(0.5, "s: strength of the free signal")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        return _ALL | {Trait.COMMON_HESSIAN} if self.curvature > 0 else _ALL - {Trait.SMOOTH} | {Trait.LINEAR_LOSS}

    @property
    def isotropic_curvature(self) -> float:
        return self.curvature

    @property
    def cap(self) -> float:  # type: ignore[override]
        """Largest s for which the declared Lipschitz constant of 1 holds."""
        return 1.0 - self.spread - self.curvature

    def sample(self, n: int, draws: Draws) -> DirectionSample:
        """Directions; records are drawn when they are looked at."""
        return DirectionSample(n, self.dimension, draws, self.strengths, self.spread, self.exponent)

    def row_size(self, n: int) -> int:
        return 16 * self.dimension

    def form_range(self, data: Any, first: int, count: int) -> Data:
        if data.spread == 0.0:
            return Data(count, data.means[:, None, :])
        return super().form_range(data, first, count)

    def form_kinds(self, data: Any, drawn: bool) -> Listed | None:
        found: Listed | None = data.kinds(drawn)
        return found

    def population_gradient(self, x: Array, data: Any) -> Array:
        return like(data.means, x) + self.curvature * x

    def optimum(self, data: Any) -> np.ndarray:
        """Compute the population's optimum in every row, ``-min(1, s/h) u``, shape ``(S R, d)``."""
        s = np.repeat(self.strengths, len(data.directions))[:, None]
        reach = np.minimum(1.0, s / self.curvature) if self.curvature > 0 else np.ones_like(s)
        return -reach * np.tile(data.directions, (len(self.strengths), 1))

    def optimal_risk(self, data: Any) -> np.ndarray:
        best = self.optimum(data)
        return np.sum((data.means + 0.5 * self.curvature * best) * best, axis=-1)

    def excess_risk(self, x: Array, data: Any) -> Array:
        xp, best = array_namespace(x), self.optimum(data)
        off = x - like(best, x)
        return xp.sum((like(data.means + self.curvature * best, x) + 0.5 * self.curvature * off) * off, axis=-1)


@problem
class Quad(DirectionLosses):
    """``f(x, z) = (mu/2) ||x - z||^2`` over the unit l2 ball, ``z = 0.3 u + a Rad/sqrt(d)``; the optimum is 0.3 u.

    G = mu (1.3 + a), H = mu = Delta (the gauge is the l2 norm), sigma_H = 0, sigma_G = mu a, S = 2 mu (0.3 + a); the
    excess is ``(mu/2) ||x - 0.3 u||^2``. Up to a constant this is ``<-mu z, x> + (mu/2) ||x||^2``, and -z has the law
    of z with -u for u.
    """

    name = "quad"
    summary = "squared distance from noisy targets on the unit l2 ball; population risk"
    source = "instance `quad` for Zhang, Tran, Cutkosky 2022"
    default_dimension: ClassVar[int] = 8
    signal_option: ClassVar[str] = ""
    signal = TARGET
    curvature: float = option(1.0, "modulus of strong convexity", within="(0, inf)", key="mu")
    spread = option(0.0, "a: root mean square of the targets about their mean")

    @property
    def traits(self) -> frozenset[Trait]:  # type: ignore[override]
        return super().traits | STRONG

    @property
    def strengths(self) -> np.ndarray:
        return self.curvature * self.signals

    def sample(self, n: int, draws: Any) -> Any:
        sample = super().sample(n, draws)
        sample.spread = self.curvature * self.spread
        return sample

    def with_signals(self, values: np.ndarray) -> None:
        return

    @property
    def own_constants(self) -> Constants:
        """See the class."""
        mu, a = self.curvature, self.spread
        return Constants(
            mu * (1.0 + TARGET + a),
            mu,
            strong_convexity=mu,
            gauge_convexity=mu,
            initial_gap=0.5 * mu * TARGET**2,
            initial_distance=TARGET,
            diameter=2.0,
            gradient_deviation=mu * a,
            gradient_range=2.0 * mu * (TARGET + a),
            loss_range=2.0 * mu * (TARGET + a),
            hessian_rank=0.0,
            domain="l2_ball",
            losses="quadratic",
        )
