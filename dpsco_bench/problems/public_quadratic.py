"""Least squares on the unit l2 ball with a skewed design, and public points of the same law beside the records."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.base import Constants, Data, StreamFactory, Trait, option
from dpsco_bench.problems.data import axes_first
from dpsco_bench.problems.glm import LeastSquares
from dpsco_bench.problems.registry import problem
from dpsco_bench.problems.unit_set import on_unit_set
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

Array = Any
SKEW = 4.0
"""The scale of the first feature over that of the last."""


@problem
class PublicQuadratic(LeastSquares):
    """``(<a, x> - y)^2/2`` with ``a = s * u`` and ``y = <a, x*> + noise``, u uniform on the sphere, s falling to 1/4.

    ``x* = 0.5 ones/sqrt(d)``, the noise is 0.1 N(0, 1), and y is clipped to [-1, 1]. L = 2 on the ball.
    """

    name = "public_quadratic"
    summary = "least squares on the unit l2 ball with public points of the same law"
    source = "instance for the public-data row of Su, Zhao, Wang 2023, Table 1 (ours)"
    default_dimension = 32
    rows_fill_the_ball = True
    traits = frozenset(
        {
            Trait.CONVEX,
            Trait.SMOOTH,
            Trait.LIPSCHITZ,
            Trait.TWICE_DIFFERENTIABLE,
            Trait.GENERALISED_LINEAR,
            Trait.PUBLIC_QUADRATIC,
        }
    )
    public_points: int = option(
        256, "number of public points; fixed, drawn by the same law, no part of the data", within="[1, inf)"
    )

    @property
    def own_constants(self) -> Constants:
        """L = 2 and beta = 1 on the ball; Hessians of rank 1."""
        return on_unit_set(feasible_set("l2_ball", 1.0), 2.0, 1.0, hessian_rank=1.0, initial_distance=1.0)

    @cached_property
    def public_hessian(self) -> np.ndarray:
        """Hessian of the mean loss of the public points, shape ``(d, d)``."""
        stream = Stream(stream_key(0, f"public points of {self.name}", f"d = {self.dimension}"), np)
        rows = self._rows(stream.normal(0, 1, 0, self.public_points, self.dimension)[0])
        return rows.T @ rows / self.public_points

    def draw(self, n: int, streams: StreamFactory) -> Data:
        """``n`` rows; record i depends on i alone."""
        rows = self._rows(streams("features").normal(0, 1, 0, n, self.dimension)[0])
        noise = streams("labels").normal(0, 1, 0, n, 1)[0, :, 0].astype(np.float64)
        return Data(n, rows, np.clip(rows.sum(axis=1) * 0.5 * self.dimension**-0.5 + 0.1 * noise, -1.0, 1.0))

    def domain_records(self, count: int, seed: int) -> Data:
        """Rows on the unit sphere, axis vectors first, with extreme targets."""
        if count < 1:
            raise InputError("count", count, "an integer >= 1")
        rows = axes_first(np.random.default_rng(seed).standard_normal((count, self.dimension)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.where(np.arange(count) % 2 == 0, 1.0, -1.0))

    def _rows(self, normals: Array) -> np.ndarray:
        rows = np.asarray(normals, dtype=np.float64)
        scales = SKEW ** -(np.arange(self.dimension) / max(1, self.dimension - 1))
        return scales * rows / np.linalg.norm(rows, axis=1, keepdims=True)
