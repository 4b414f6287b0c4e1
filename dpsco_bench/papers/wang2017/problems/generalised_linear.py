"""Generalised linear models of Wang, Ye, Xu 2017, and objectives whose regulariser has an l1 term."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.wang2017.problems.quadratics import SoftQuadraticPP
from dpsco_bench.plain import Options
from dpsco_bench.problems.base import Constants, Data, Problem, StreamFactory, Trait, option
from dpsco_bench.problems.families import InBall
from dpsco_bench.problems.glm import GeneralisedLinear, LeastSquares, Logistic, RidgeLogistic, draw_sphere_logistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import problem

Array = Any
RANK = 8
OUTLIERS = 0.2
INFORMATIVE = 3
MOST_STEPS = 100_000
SETTLED = 1e-14
"""Largest move of a proximal step at the minimiser: its risk is then exact to ``move^2 L^2/mu``."""


@problem
class LogisticPlain(InBall, Logistic):
    """Rows uniform on the unit sphere, ``P(y=1) = sigmoid(<a, 2*ones>)``."""

    name = "logistic_plain"
    summary = "logistic loss on the unit sphere without regulariser"
    source = "instance `logistic_plain` for Wang, Ye, Xu 2017, Theorem 4.4"
    default_dimension = 8

    @property
    def own_constants(self) -> Constants:
        """G = 1, L = 1/4 (rows of norm 1); a-priori gap ln 2 and the distance of the labels' true parameter."""
        found = Constants(1.0, 0.25, initial_gap=math.log(2.0), initial_distance=2.0 * math.sqrt(self.dimension))
        if (ball := self.ball) is None:
            return found
        distance = min(found.initial_distance, ball.radius)
        return found.but(initial_distance=distance, diameter=ball.diameter, domain=ball.name)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return draw_sphere_logistic(n, self.dimension, streams)


@problem
class Rank8LeastSquares(LeastSquares):
    """``a = U s`` with U orthonormal (d, 8), s uniform on the sphere, ``y = clip(<a, 0.5 U 1> + 0.1 N, -1, 1)``.

    L and mu are the extreme nonzero eigenvalues of ``A'A/n``, hence depend on the data; schedules and bounds use the
    rank 8 for the dimension.
    """

    name = "rank8_least_squares"
    summary = "least squares of rank 8 in dimension d, Polyak-Lojasiewicz without strong convexity"
    source = "instance `rank8_least_squares` for Wang, Ye, Xu 2017, Theorem 6.2"
    default_dimension = 32
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.POLYAK_LOJASIEWICZ, Trait.LIPSCHITZ})
    data_dependent_constants = True
    least_dimension = effective_dimension = RANK

    @property
    def own_constants(self) -> Constants:
        """G = 1 declared (nominal); L = mu = 1/8, the design's expected eigenvalues."""
        start: Options = dict(initial_gap=0.5, initial_distance=0.5 * RANK**0.5)
        return Constants(1.0, 1.0 / RANK, strong_convexity=1.0 / RANK, **start, status="nominal")

    def constants_of(self, data: Data) -> Constants:
        """Constants with the extreme nonzero eigenvalues of ``A'A/n``."""
        values = np.linalg.eigvalsh(data.features.T @ data.features / data.n)[-min(RANK, data.n) :]
        realised = replace(self.own_constants, smoothness=float(values[-1]), strong_convexity=float(values[0]))
        return realised.override(**self._overrides)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """Draw records in a subspace from its own stream, so that it does not depend on n's order."""
        gaussian = streams("subspace").normal(0, 1, 0, self.dimension, RANK)[0].astype(np.float64)
        basis, triangle = np.linalg.qr(gaussian)
        basis = basis * np.sign(np.diag(triangle))
        sphere = streams("features").normal(0, 1, 0, n, RANK)[0].astype(np.float64)
        rows = (sphere / np.linalg.norm(sphere, axis=1, keepdims=True)) @ basis.T
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.clip(rows @ (0.5 * basis.sum(axis=1)) + 0.1 * noise, -1.0, 1.0))


@problem
class GemanMcClure(GeneralisedLinear):
    """``u^2/(1+u^2)`` of ``u = <a, x> - y``, rows uniform on the unit sphere.

    ``y = <a, ones> + 0.1 N``, with a further 3 N for an outlier, which every fifth record is on average.
    """

    name = "geman_mcclure"
    summary = "non-convex robust regression with outliers"
    source = "instance `geman_mcclure` for Wang, Ye, Xu 2017, Theorem 6.3"
    default_dimension = 8
    rows_fill_the_ball = True
    traits = frozenset({Trait.SMOOTH, Trait.LIPSCHITZ})
    data_dependent_constants = True

    @property
    def own_constants(self) -> Constants:
        """``G = 3 sqrt(3)/8`` and L = 2 for rows of norm 1; the gap of a loss below 1."""
        return Constants(3.0 * math.sqrt(3.0) / 8.0, 2.0, initial_gap=1.0)

    def constants_of(self, data: Data) -> Constants:
        """Constants with D0 = F(0), as the losses are not negative."""
        realised = float(self.risk(self.start[None], data)[0])
        return replace(self.own_constants, initial_gap=realised).override(**self._overrides)

    def draw(self, n: int, streams: StreamFactory) -> Data:
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        noise, shift = streams("labels").normal(0, 1, 0, n, 2)[0].astype(np.float64).T
        outlier = streams("outliers").uniform(0, 1, 0, n, 1)[0, :, 0] < OUTLIERS
        return Data(n, rows, rows.sum(axis=1) + 0.1 * noise + np.where(outlier, 3.0 * shift, 0.0))

    def loss(self, margins: Array, labels: Array) -> Array:
        square = (margins - labels) ** 2
        return square / (1.0 + square)

    def slope(self, margins: Array, labels: Array) -> Array:
        u = margins - labels
        return 2.0 * u / (1.0 + u * u) ** 2

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows on the unit sphere; labels at which the loss is steepest for small and for distant iterates."""
        records = super().domain_records(count, seed)
        return Data(count, records.features, records.labels / math.sqrt(3.0))


class WithL1(Problem):
    """A problem with ``l1 ||x||_1`` added to its objective."""

    def optimal_risk(self, data: Data) -> float:
        return float(self.risk(self.minimiser(data)[None], data)[0])

    def risk(self, x: Array, data: Data) -> Array:
        xp = array_namespace(x)
        return super().risk(x, data) + self.l1 * xp.sum(xp.abs(x), axis=-1)


@problem
class ElasticNetLogistic(WithL1, RidgeLogistic):
    """``ridge_logistic`` with labels of three coordinates and regulariser ``(ridge/2) ||x||^2 + l1 ||x||_1``.

    The minimiser is zero in the other coordinates, from a thousand records on.
    """

    name = "elastic_net_logistic"
    summary = "logistic loss on the unit sphere with an l1 term and a ridge"
    source = "instance `elastic_net_logistic` for Wang, Ye, Xu 2017, Theorem 4.2 (ours)"
    least_dimension = INFORMATIVE
    l1: float = option(0.02, "weight of the l1 term of the regulariser", within="[0, inf)")

    def draw(self, n: int, streams: StreamFactory) -> Data:
        return draw_sphere_logistic(n, self.dimension, streams, INFORMATIVE)

    def minimiser(self, data: Data) -> np.ndarray:
        """Proximal gradient steps of 1/L until they stand still; the contraction is at most ``1/(1 + mu/L)``."""
        objective = Objective(self, data, 1)
        x, step = objective.start, 1.0 / self.constants.smoothness
        for _ in range(MOST_STEPS):
            previous, x = x, objective.prox(x - step * self.mean_gradient(x, data), step)
            if np.abs(x - previous).max() <= SETTLED:
                return np.asarray(x[0])
        raise NumericalFailure(f"{self.name}: no minimiser after {MOST_STEPS} proximal steps")


@problem
class SoftLassoPP(WithL1, SoftQuadraticPP):
    """``soft_quadratic_pp`` plus ``l1 ||x||_1``, ``l1 = threshold h/sqrt(d)``, so that the family scales as that does.

    ``x*_j sqrt(d)`` is 1 for even j and 1/4 for odd j: at the default threshold of 1/2 every other coordinate of the
    minimiser is zero.
    """

    name = "soft_lasso_pp"
    summary = "family of quadratic oracles with an l1 term, matched to the schedule of DP-SVRG++ at each n"
    source = "instance `soft_lasso_pp` for Wang, Ye, Xu 2017, Theorem 4.4 (ours)"
    threshold: float = option(0.5, "soft threshold of the minimiser over the largest coordinate", within="[0, 1)")

    @property
    def l1(self) -> float:  # type: ignore[override]
        return float(self.threshold * self.spectrum[0] * self.dimension**-0.5)

    @property
    def optimum(self) -> np.ndarray:
        return np.where(np.arange(self.dimension) % 2, 0.25, 1.0) * self.dimension**-0.5

    def minimiser(self, data: Data) -> np.ndarray:
        """``max(x*_j - l1/h_j, 0)``, as all x*_j are positive."""
        return np.maximum(self.optimum - self.l1 / self.spectrum, 0.0)

    def excess_risk(self, x: Array, data: Data) -> Array:
        """Without a subtraction of risks: ``sum_j h_j (x_j - m_j)^2/2 + l1 |x_j| - s_j x_j``, s a subgradient at m."""
        xp = array_namespace(x)
        lowest, spectrum = self.minimiser(data), self.spectrum
        slope = xp.asarray(spectrum * (self.optimum - lowest), dtype=x.dtype)
        spectrum, lowest = (xp.asarray(own, dtype=x.dtype) for own in (spectrum, lowest))
        return xp.sum(0.5 * spectrum * (x - lowest) ** 2 + self.l1 * xp.abs(x) - slope * x, axis=-1)
