"""Problems as smooth as a method's schedule allows: a hinge for Algorithm 3, medians for Algorithm 6."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.problems.base import Constants, Data, Draws, Trait, option
from dpsco_bench.problems.constants import CURVED
from dpsco_bench.problems.data import PSEUDO_HUBER, Kinds, RecordForm, axis_kinds
from dpsco_bench.problems.families import Sampled, SignalFamily, consecutive
from dpsco_bench.problems.registry import problem

Array = Any
EXPONENTS = {"proof": 0.5, "theorem": 1.0}


@problem
class SmoothHinge(SignalFamily):
    """With ``v = (1 - x_1)_+``: ``F = v^2/2`` up to ``v = rho``, then ``rho v - rho^2/2``; L = beta = 1 in l_p.

    ``rho = min(1, signal * unit)``, with a unit that follows the regulariser alpha of Algorithm 3 at the cell:
    ``1/(2 (1/(k alpha) + 1/2))``. The loss has no data.
    """

    name = "smooth_hinge"
    summary = "smooth hinge in one coordinate on the whole space, L = beta = 1 in l_p, with a free slope"
    source = "instance `smooth_hinge` for Su, Zhao, Wang 2023, Theorem 7"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    shares_records: ClassVar[bool] = True
    default_dimension: ClassVar[int] = 8
    reference: ClassVar[tuple[int, float, float]] = (1 << 28, 1.0, 1e-6)
    least_dimension = 2
    p: float = option(1.5, "norm of the constants", within="(1, 2)", source="Su, Zhao, Wang 2023, Theorem 7")
    norm_kappa: float | None = option(None, "p = 1 + 1/norm_kappa instead, for sweeps over kappa_q", within="(1, inf)")
    horizon: str = option("proof", "whose T the unit of the signal follows (erratum E6)", choices=tuple(EXPONENTS))
    signal = option(1.0, "rho = min(1, signal * unit)")

    def prepare(self) -> None:
        """P from `norm_kappa`, where that is given."""
        super().prepare()
        if self.norm_kappa is not None:
            self.p = self.options["p"].checked(1.0 + 1.0 / self.norm_kappa)

    @property
    def own_constants(self) -> Constants:
        return Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0, norm=self.p)

    @property
    def unit(self) -> float:
        """Compute the unit, as above; 1 where Algorithm 3 has no alpha."""
        k = min(1.0 / (self.p - 1.0), 2.0 * math.log(self.dimension))
        T = max(1, round((self.signal_to_noise(self.dimension) * k ** EXPONENTS[self.horizon]) ** 0.4))
        alpha = 4.0 / T * math.log2(self.count / T)
        return 0.5 / (1.0 / (k * alpha) + 0.5) if alpha > 0 else 1.0

    def mean_gradient(self, x: Array, data: Any) -> Array:
        """``-min(v, rho)`` in the first coordinate."""
        xp = array_namespace(x)
        slope = -xp.minimum(self._gap(x), self.by_row(self.strengths, x))
        return xp.concat([slope, xp.zeros_like(x[:, 1:])], axis=1)

    def risk(self, x: Array, data: Any) -> Array:
        xp = array_namespace(x)
        v, rho = self._gap(x)[:, 0], self.by_row(self.strengths, x)[:, 0]
        return xp.where(v <= rho, 0.5 * v * v, rho * v - 0.5 * rho * rho)

    def optimal_risk(self, data: Any) -> float:
        return 0.0

    def _gap(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.maximum(1.0 - x[:, :1], xp.zeros_like(x[:, :1]))


@dataclass(frozen=True)
class CoordinateSample:
    """Records ``(J, u)`` of R replicates, shape ``(n, R)``: a coordinate, and the uniform number behind its sign."""

    n: int
    places: np.ndarray
    uniforms: np.ndarray


@problem
class CoordPseudoHuber(Sampled, SignalFamily):
    """``f(x, (J, s)) = h(x_J - s)``, ``h(t) = sqrt(t^2 + c^2) - c``, J uniform, ``s = +-B``, ``P(+) = (1 + rho)/2``.

    c is the step eta of Algorithm 6 at the cell, so that beta = 1/eta; L = 1 for every l_p.
    """

    name = "coord_pseudo_huber"
    summary = "pseudo-Huber medians of biased coins, one coordinate a record, on the whole space; population risk"
    source = "instance `coord_pseudo_huber` for Su, Zhao, Wang 2023, Theorem 8"
    traits = CURVED
    default_dimension: ClassVar[int] = 4
    p: float = option(2.0, "norm of the constants", within="[2, inf]", source="Su, Zhao, Wang 2023, Theorem 15")
    regime: str = option(
        "sampling",
        "sampling: B = 1, rho = signal/sqrt n; privacy: B = 1/sqrt d, rho = signal/n; rho is at most 1",
        choices=("sampling", "privacy"),
    )
    extent: float = option(1.0, "multiplies B", within="(0, inf)")
    signal = option(8.0, "in the units of the regime")

    @property
    def rounding(self) -> float:
        """Step eta of Algorithm 6 at the cell, with L = 1."""
        return min(4.0 / math.sqrt(self.count), 0.5 * self.epsilon / math.sqrt(-math.log(self.delta) * self.dimension))

    @property
    def target(self) -> float:
        """B."""
        return self.extent * (1.0 if self.regime == "sampling" else self.dimension**-0.5)

    @property
    def unit(self) -> float:
        return 1.0 / math.sqrt(self.count) if self.regime == "sampling" else 1.0 / self.count

    @property
    def own_constants(self) -> Constants:
        """L = 1, beta = 1/eta; the optimum lies within B in every coordinate."""
        distance = self.target * math.sqrt(self.dimension)
        return Constants(1.0, 1.0 / self.rounding, initial_gap=self.target, initial_distance=distance, norm=self.p)

    def sample(self, n: int, draws: Draws) -> CoordinateSample:
        """Places and the numbers behind the signs."""
        places = draws.stream("places").integers(*draws.box(0, n, 1), high=self.dimension)
        uniforms = draws.stream("signs").uniform(*draws.box(0, n, 1))
        return CoordinateSample(n, to_numpy(places)[:, :, 0], to_numpy(uniforms)[:, :, 0])

    def row_size(self, n: int) -> int:
        """Count a quarter of the records: their numbers are shared by the signals."""
        return max(self.dimension, n // 4)

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        """Sum over the records of a row, one after the other."""
        total = self._single(x, data, first)
        for index in range(first + 1, first + count):
            total = total + self._single(x, data, index)
        return total / count

    def record_gradients(self, x: Array, data: Any, first: int, count: int) -> Array:
        found = [self._single(x, data, index) for index in range(first, first + count)]
        return array_namespace(x).stack(found, axis=1)

    def gather(self, data: Any, indices: Array) -> Data:
        """Gather records ``indices (rows, W)`` of every row: features are coordinates, labels targets."""
        i = to_numpy(indices)
        replicate = np.arange(i.shape[0])[:, None] % data.places.shape[1]
        chance = np.repeat(0.5 + 0.5 * self.strengths, i.shape[0] // len(self.strengths))[:, None]
        signs = np.where(data.uniforms[i, replicate] < chance, self.target, -self.target)
        return Data(data.n, data.places[i, replicate], signs)

    @property
    def record_form(self) -> RecordForm:
        return RecordForm(PSEUDO_HUBER, (self.rounding, 0.0))

    def form_records(self, data: Any, indices: Array) -> Data:
        chosen = self.gather(data, indices)
        return Data(data.n, np.eye(self.dimension)[chosen.features], chosen.labels)

    def form_range(self, data: Any, first: int, count: int) -> Data:
        rows = len(self.strengths) * data.places.shape[1]
        return self.form_records(data, consecutive(rows, first, count))

    def form_kinds(self, data: Any, drawn: bool) -> Kinds | None:
        if not isinstance(data, CoordinateSample):
            return None
        minus = 0.5 + 0.5 * self.strengths[:, None, None] <= data.uniforms.T
        targets = np.repeat([self.target, -self.target], self.dimension)
        return axis_kinds(data.places.T, minus, np.tile(np.eye(self.dimension), (2, 1)), targets)

    def batch_gradient(self, x: Array, batch: Data, weights: Array) -> Array:
        xp, columns = array_namespace(x), zip(batch.features.T, batch.labels.T, strict=True)
        found = [self._at(x, places, targets) for places, targets in columns]
        return xp.sum(xp.stack(found, axis=1) * weights[:, :, None], axis=1)

    def risk(self, x: Array, data: Any) -> Array:
        """Mean over the coordinates of the expected pseudo-Huber loss."""
        return array_namespace(x).mean(self._expected(x, self.by_row(self.strengths, x)), axis=-1)

    def optimal_risk(self, data: Any) -> np.ndarray:
        values = [float(self._expected(self.minimiser(rho), rho)) for rho in self.strengths]
        return np.repeat(values, data.places.shape[1])

    def minimiser(self, rho: float) -> Any:
        B, c = self.target, self.rounding

        def slope(w: float) -> float:
            up, down = w - B, w + B
            return (1 + rho) * up / math.hypot(up, c) + (1 - rho) * down / math.hypot(down, c)

        return np.float64(B if slope(B) <= 0.0 else brentq(slope, -B, B, xtol=1e-300, rtol=8.9e-16))

    def _expected(self, w: Array, rho: Any) -> Array:
        return 0.5 * (1 + rho) * self._loss(w - self.target) + 0.5 * (1 - rho) * self._loss(w + self.target)

    def _loss(self, t: Array) -> Array:
        c = self.rounding
        return (t * t + c * c) ** 0.5 - c

    def _single(self, x: Array, data: Any, index: int) -> Array:
        """Gradient of one record in every row."""
        signs = np.where(data.uniforms[index] < 0.5 + 0.5 * self.strengths[:, None], self.target, -self.target)
        return self._at(x, np.tile(data.places[index], len(self.strengths)), signs.reshape(-1))

    def _at(self, x: Array, places: np.ndarray, targets: np.ndarray) -> Array:
        """Gradient of a record a row, by its coordinate and its target."""
        xp, c = array_namespace(x), self.rounding
        t = x - xp.asarray(targets[:, None], dtype=x.dtype)
        chosen = xp.asarray(places[:, None]) == xp.arange(self.dimension)
        return xp.where(chosen, t / xp.sqrt(t * t + c * c), xp.zeros_like(t))
