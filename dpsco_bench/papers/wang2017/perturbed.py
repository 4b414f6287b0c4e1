"""The minimiser of a perturbed objective as a function of its random linear term, for objective perturbation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.backend.namespace import cast, to_numpy
from dpsco_bench.papers.wang2017.newton_rows import minimise_rows, suits
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.minimisers import MeanTerms, Minimum, isotropic_minimiser, minimise_glm_in_ball
from dpsco_bench.problems.objective import Objective

Array = Any


class PerturbedMinimiser:
    """``argmin F(x) + (weight/2) ||x||^2 + <b, x>/n`` over the domain, for each replicate's own ``b``.

    Computed on the host in float64 by Newton's method; `Objective.certify` keeps how well. Of the gradients that this
    takes, only those of the certificate count, n per replicate: the sources list no number for an exact minimiser.
    Hessians that are multiples of the identity have closed forms.

    Parameters
    ----------
    objective : Objective
        Of a generalised linear problem whose domain is R^d or an l2 ball, or with `Problem.isotropic_curvature`.
    """

    def __init__(self, objective: Objective, weight: float) -> None:
        self.objective, self.weight, self.info = objective, weight, Info()
        self._radius = objective.domain.radius if objective.domain else math.inf

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.replicates, self.objective.problem.dimension

    def data_part(self, x: Array) -> np.ndarray:
        """Sum of the records' loss gradients at ``x (R, d)``, in float64 on the host; not counted."""
        if self.objective.problem.isotropic_curvature is not None:
            return self.objective.n * to_numpy(self.objective.exact_gradient(x))
        data = self.objective.host_data
        return data.n * self.objective.problem.mean_gradient(to_numpy(x).astype(np.float64), data)

    def solve(self, linear: Array | None) -> Array:
        """Minimisers ``(R, d)`` for linear terms ``b (R, d)``; None stands for zeros."""
        xp = self.objective.xp
        curvature = self.objective.problem.isotropic_curvature
        if curvature is not None:
            zeros = xp.zeros(self.shape, dtype=xp.float64)
            given = zeros if linear is None else cast(xp.asarray(linear), xp.float64) / self.objective.n
            return cast(isotropic_minimiser(self.objective, curvature, given, self.weight), self.objective.dtype)
        terms = np.zeros(self.shape) if linear is None else to_numpy(linear).astype(np.float64)
        problem = self.objective.problem
        assert isinstance(problem, GeneralisedLinear)
        mean = MeanTerms(problem, self.objective.host_data)
        start = self._minimise(mean, np.zeros(self.shape[1]), problem.start).point
        points, norms = self._minimisers(mean, terms / self.objective.n, start)
        sizes = np.linalg.norm(terms / self.objective.n, axis=1) + self.objective.constants.lipschitz
        self.info.certify(float(np.max(norms / sizes)))
        self.objective.count(self.objective.n)
        return xp.asarray(points, dtype=self.objective.dtype)

    def _minimisers(self, mean: MeanTerms, terms: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Minimisers and norms of their gradients; small problems in all rows at once, as far as that settles them."""
        points, norms, settled = np.empty_like(terms), np.empty(len(terms)), np.zeros(len(terms), dtype=bool)
        if suits(mean, self.weight):
            points, norms, settled = minimise_rows(mean, self._radius, terms, self.weight, start)
        for row in np.flatnonzero(~settled):
            best = self._minimise(mean, terms[row], start)
            points[row], norms[row] = best.point, best.gradient_norm
        return points, norms

    def _minimise(self, mean: MeanTerms, linear: np.ndarray, start: np.ndarray) -> Minimum:
        return minimise_glm_in_ball(
            mean.problem, mean.data, self._radius, linear=linear, weight=self.weight, start=start, mean=mean
        )
