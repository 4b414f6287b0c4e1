"""The density ``exp(-k (F_D + mu r))`` of one objective, as a private query asks for a draw and as samplers see it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.ball import Ball, LpBall
from dpsco_bench.geometry.norms import dual_exponent, lp_norm, square_gradient
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser, RegularisedLaw
from dpsco_bench.problems.objective import Objective

Array = Any


class Target:
    """The law of one draw, on the host in float64: kF may be a million.

    Parameters
    ----------
    sampler : callable, (target, k, mu, draws) -> points ``(R, d)``: one of `setting.SAMPLERS`
    losses : str, what the records are known to be (`Constants.losses`, as the plan saw it)

    Attributes
    ----------
    queries : array (R,), values of single losses asked for
    info : Info, diagnostics of the draw
    """

    def __init__(self, objective: Objective, regulariser: NormRegulariser | None, sampler: Any, losses: str) -> None:
        self.objective, self.regulariser, self._sampler, self.losses = objective, regulariser, sampler, losses
        self.own = objective.problem.own_constants  # of the losses as they are, whatever is declared
        self.ball = objective.domain
        self.rows, self.d = objective.replicates, objective.problem.dimension
        self.queries, self.info = np.zeros(self.rows), Info()

    def draw(self, k: float, mu: float, draws: Any) -> Array:
        """Draw one point per row; note the sampler's cost, and the risk by quadrature."""
        points, extras, problem = self._sampler(self, k, mu, draws), self.info.extras, self.objective.problem
        extras["value_queries"] = self.queries
        if (expected := self.mean_excess(k, mu)) is None:
            return self._given(points)
        extras["expected_gap"] = expected
        one_sample = problem.population and not problem.draws_per_replicate
        if "chain_risk" in extras and self.rows > 1 and not one_sample:  # standard errors above that mean
            risks = extras["chain_risk"]
            error = float(risks.std(ddof=1)) / math.sqrt(self.rows)
            extras["z_score"] = (float(risks.mean()) - expected) / error if error > 0 else math.nan
        return self._given(points)

    def mean_excess(self, k: float, mu: float) -> float | None:
        """Mean excess risk under the law of the draw, where the problem knows it for its own data; for a measurement.

        A population's risk is averaged over the data.
        """
        problem = self.objective.problem
        law = "gopi2022.exp_mech_sc" if self.regulariser is None else "gopi2022.reg_exp_mech"
        several = np.size(getattr(problem, "strengths", 0.0)) > 1  # the law is that of the first signal alone
        if not isinstance(problem, RegularisedLaw) or law not in problem.algorithms or several:
            return None
        try:
            return problem.mean_excess(k, mu)
        except InputError:  # outside the range of a closed form
            return None

    def minimiser(self, mu: float) -> Array:
        """Compute the limit of infinite temperature in closed form: ``argmin F_D + mu r`` over the domain.

        Raises Refusal if none is known.
        """
        c, losses = self.own, self.losses
        weight = 0.0 if self.regulariser is None else 2.0 * mu * self.regulariser.coefficient
        if losses in ("norm", "norm_quadratic"):
            self.require_centred_data()
            return self._given(np.zeros((self.rows, self.d)))
        if losses == "quadratic":
            scaled = self.mean_slope() / (c.strong_convexity + weight)
            return self._given(self.ball.project(scaled))
        found = None
        if losses in ("linear", "axis_linear") and self.regulariser is not None:
            found = _regularised_vertex(self.mean_slope(), self.ball, self.regulariser.q, weight)
        if found is None:
            reason = "no closed form of the regularised minimiser is known"
            raise Refusal(f"calibration none on {self.objective.problem.name}", reason)
        return self._given(found)

    def slopes(self, x: Array) -> np.ndarray:
        """``n grad F_D(x)/G``, for the search over neighbours; not counted."""
        return self.objective.n * to_numpy(self.objective.exact_gradient(x)) / self.objective.constants.lipschitz

    def mean_slope(self) -> np.ndarray:
        """``-grad F_D(0)``, ``(R, d)``: the mean record of linear losses, mu0 times that of quadratic ones.

        One pass over the data, in which no loss is evaluated.
        """
        origin = self.objective.xp.zeros((self.rows, self.d), dtype=self.objective.dtype)
        gradient = self.objective.problem.mean_gradient(origin, self.objective.data)
        return -to_numpy(gradient).astype(np.float64)

    def require_centred_data(self) -> None:
        """Refuse records other than the centre of the domain, which alone make the law radial."""
        at_centre = self.values(np.zeros((self.rows, self.d)), np.arange(self.rows), counted=False)
        if np.any(at_centre != 0.0):
            reason = "some record lies elsewhere than in the centre of the domain; the law is not radial"
            raise Refusal(f"radial_exact on {self.objective.problem.name}", reason)

    def values(self, x: np.ndarray, rows: np.ndarray, counted: bool = True) -> np.ndarray:
        """``F_D`` at points ``(m, d)`` of ``rows (m,)``, up to a constant.

        Each costs n value queries; for linear losses none.
        """
        if self.losses in ("linear", "axis_linear"):
            return -np.sum(self._means[rows] * x, axis=1)
        if counted:
            self.queries[rows] += self.objective.n
        if self.losses == "quadratic":  # the risk may be the population's
            slope = np.sum(self._means[rows] * x, axis=1)
            return 0.5 * self.own.strong_convexity * np.sum(x * x, axis=1) - slope
        given, back = self._spread(x, rows)
        risk = self.objective.problem.risk(self._given(given), self.objective.data)
        return to_numpy(risk).astype(np.float64)[back]

    def log_density(self, k: float, mu: float) -> Any:
        """(points (m, d), rows (m,)) -> ``-k (F_D + mu r)``, -inf outside the domain."""

        def function(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
            inside = self.ball.norm(x)[:, 0] <= self.ball.radius
            found = np.full(len(x), -np.inf)
            exponent = self.values(x[inside], rows[inside])
            if self.regulariser is not None:
                exponent = exponent + mu * self.regulariser.value(x[inside])
            found[inside] = -k * exponent
            return found

        return function

    def differences(self, z: np.ndarray, x: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """``f_j(z) - f_j(x)`` at points ``(m, d)`` of records ``indices (m, W)`` of ``rows (m,)``."""
        if self.losses in ("linear", "axis_linear"):
            return self._losses(z - x, indices, rows)
        return self._losses(z, indices, rows) - self._losses(x, indices, rows)

    def _losses(self, x: np.ndarray, indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        given, back = self._spread(x, rows)
        where = self.objective.xp.asarray(self._spread(indices, rows)[0])
        losses = self.objective.problem.batch_losses(self._given(given), self.objective.data, where)
        return to_numpy(losses).astype(np.float64)[back]

    def _spread(self, values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, Any]:
        """Values ``(m, ...)`` as a problem takes them, and how to get m rows back: zeros elsewhere if rows differ."""
        problem = self.objective.problem
        if not problem.draws_per_replicate and not problem.signal_option:
            return values, slice(None)
        full = np.zeros((self.rows, *values.shape[1:]), dtype=values.dtype)
        full[rows] = values
        return full, rows

    def excess(self, x: np.ndarray) -> np.ndarray:
        """Excess risk ``(R,)`` of states, for a measurement only."""
        return self.objective.excess_risk(self._given(x))

    @cached_property
    def _means(self) -> np.ndarray:
        return self.mean_slope()

    def _given(self, points: np.ndarray) -> Array:
        return self.objective.xp.asarray(points, dtype=self.objective.dtype)


def _regularised_vertex(slope: np.ndarray, ball: Any, q: float, weight: float) -> np.ndarray | None:
    """``argmin -<slope, x> + (weight/2) ||x||_q^2`` over a ball of some norm; None if no closed form is known."""
    if weight == 0.0:
        return np.asarray(ball.minimise_linear(-slope))
    if not isinstance(ball, Ball | LpBall):
        return None
    if q == ball.p:  # a multiple of the dual map, cut at the ball of the same norm
        free = square_gradient(slope, dual_exponent(q), 1.0 / weight)
        length = lp_norm(free, q)
        return np.asarray(free * np.minimum(1.0, ball.radius / np.where(length > 0, length, 1.0)))
    return np.clip(slope / weight, -ball.radius, ball.radius) if np.isinf(ball.p) else None
