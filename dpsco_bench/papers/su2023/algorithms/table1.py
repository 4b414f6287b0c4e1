"""Methods of others in Table 1 of Su, Zhao, Wang 2023: mirror descent, a random projection, public data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import average, averaged_steps, mirror_descent_plan, optimal_step
from dpsco_bench.backend.namespace import array_namespace, cast_like, float64_zeros, row_norm, to_numpy
from dpsco_bench.errors import NumericalFailure, Refusal
from dpsco_bench.geometry.norms import largest
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear, record_blocks
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

Array = Any


@algorithm(
    "su2023.ttz14",
    source="Talwar, Thakurta, Zhang 2014, as in Su, Zhao, Wang 2023, Table 1 (constants from memory, unverified)",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL),
)
def ttz14_plan(given: Setting, *, steps: int | None = None, mirror: str = "lq") -> Plan:
    """Noisy mirror descent with T = n/4 steps of 1/(s sqrt T) on an l1 ball and 1/(s sqrt(d T)) on an l2 ball.

    Parameters
    ----------
    given : Setting
        On an l1 or l2 ball.
    steps : optional
        Replaces T.
    mirror : str
        On an l1 ball. ``lq``: a square of an l_q norm. ``entropy``: exponentiated gradient on its 2d vertices, for an
        origin as start.
    """
    given.choice("mirror", mirror, ("lq", "entropy"))
    if mirror == "entropy" and given.constants.domain != "l1_ball":
        raise given.error("mirror", mirror, f"lq on {given.constants.domain}; entropy is for l1_ball")
    made = mirror_descent_plan(given, max(1, given.n // 4) if steps is None else steps, None)
    return made if mirror == "lq" else replace(made, schedule={**made.schedule, "mirror": mirror})


@ttz14_plan.run
def ttz14(objective, plan, mechanism):
    """Mirror steps on ``(R, d)``; returns the average of z_1..z_T."""
    step = step_size(objective, plan, mechanism)
    if plan.schedule.get("mirror") == "entropy":
        return exponentiated_steps(objective, plan, mechanism, step)
    return averaged_steps(objective, plan, mechanism, step)


def step_size(objective, plan, mechanism):
    """Choose the plan's step size; without noise that of the shared method."""
    s, d = mechanism.scales["gradient"], objective.start.shape[-1]
    if s == 0:
        return optimal_step(plan, mechanism)
    return 1 / (s * sqrt(plan.steps * (d if objective.domain.name == "l2_ball" else 1)))


def exponentiated_steps(objective, plan, mechanism, step):
    """Step on weights of the vertices ``+-R e_j``, in proportion to ``exp(-+u_j)``, u the sum of ``R step g``."""
    radius, u = objective.domain.radius, objective.start
    z, total = weighted_vertices(u, radius), float64_zeros(u)
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(z), t) + objective.regulariser_gradient(z)
        u = u + (radius * step) * gradient
        z = weighted_vertices(u, radius)
        total = total + z
        objective.observe(z)
    return cast_like(total / plan.steps, u)


def weighted_vertices(u, radius):
    """``-R sinh(u_j)/sum_k cosh(u_k)`` of ``u (R, d)``; the origin for u = 0."""
    xp, top = array_namespace(u), largest(u)
    up, down = xp.exp(u - top), xp.exp(-u - top)
    return radius * (down - up) / xp.sum(up + down, axis=-1, keepdims=True)


INNER_STEPS = 50


def accelerated(step: Callable[[Array], Array], x: Array, momenta: Iterable[float]) -> Array:
    """Make steps ``x' = step(y)``, ``y = x' + momentum (x' - x)`` from ``y = x``; returns the last x."""
    y = x
    for momentum in momenta:
        moved = step(y)
        x, y = moved, moved + momentum * (moved - x)
    return x


def growing_momenta() -> list[float]:
    """Momenta of Nesterov's method without strong convexity."""
    t, momenta = 1.0, []
    for _ in range(INNER_STEPS):
        t, before = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5), t
        momenta.append((before - 1.0) / t)
    return momenta


LONGEST = 1.1
"""Features of the projected problem are clipped to this norm."""


class Projected:
    """The losses ``f(<v, Phi a>, y)`` of ``v (R, m)`` in Phi C, C the domain, slopes clipped to ``+-steepest``.

    Points of Phi C are up to ``||Phi||`` times as long as those of C, so that a loss which is Lipschitz on C only, such
    as the squared one, is steeper there. Raises Refusal for a problem that does not say its loss by the margin.
    """

    def __init__(self, objective: Objective, m: int, steepest: float) -> None:
        problem = objective.problem
        if not isinstance(problem, GeneralisedLinear):
            raise Refusal(f"random projection of {problem.name}", "its class is no GeneralisedLinear, with a slope")
        xp, d = objective.xp, problem.dimension
        stream = Stream(stream_key(0, "random projection", f"{m} x {d}"), np)  # public, the same in every run
        self.objective = objective
        self.matrix = stream.normal(0, 1, 0, m, d)[0].astype(np.float64) / np.sqrt(m)
        self._slope: Callable[[Array, Array], Array] = problem.slope
        self._steepest, self.momenta = steepest, growing_momenta()
        self.phi = xp.asarray(self.matrix, dtype=objective.dtype)
        self.curvature = float(np.linalg.norm(self.matrix, 2)) ** 2
        rows = objective.data.features @ self.phi.T
        length = row_norm(rows)
        rows = rows * (LONGEST / xp.maximum(length, xp.full_like(length, LONGEST)))
        self.data = Data(objective.n, rows, objective.data.labels)
        self._point = xp.zeros((objective.replicates, d), dtype=objective.dtype)

    def mean_gradient(self, v: Array) -> Array:
        """Mean of the records' gradients at ``v (R, m)``, slopes clipped; costs n evaluations."""
        xp, total = self.objective.xp, 0.0
        self.objective.count(self.objective.n)
        for block in record_blocks(self.data, v.shape[0]):
            slopes = self._slope(v @ block.features.T, block.labels)
            total = total + xp.clip(slopes, -self._steepest, self._steepest) @ block.features
        return total / self.data.n

    def project(self, u: Array) -> Array:
        """Nearest point of ``Phi C`` to ``u (R, m)``: accelerated steps on ``||Phi x - u||^2``, from the last point."""

        def step(y: Array) -> Array:
            return self.objective.domain.project(y - ((y @ self.phi.T - u) @ self.phi) / self.curvature)

        self._point = accelerated(step, self._point, self.momenta)
        return self._point @ self.phi.T

    def lift(self, v: Array) -> Array:
        """``argmin ||x||_C`` with ``Phi x = v``: the pseudo-inverse on an l2 ball, a linear programme on an l1 ball."""
        xp = array_namespace(v)
        if self.objective.domain.name == "l2_ball":
            return v @ xp.asarray(np.linalg.pinv(self.matrix), dtype=v.dtype).T
        rows = [shortest_in_l1(self.matrix, row) for row in to_numpy(v).astype(np.float64)]
        return xp.asarray(np.stack(rows), dtype=v.dtype)


def shortest_in_l1(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """``argmin ||x||_1`` with ``matrix x = target``, ``(d,)``, by linear programming; or NumericalFailure."""
    from scipy.optimize import linprog

    d = matrix.shape[1]
    size = float(np.abs(target).max())
    if size == 0.0:
        return np.zeros(d)
    found = linprog(np.ones(2 * d), A_eq=np.concatenate([matrix, -matrix], axis=1), b_eq=target / size)
    if found.status != 0:
        raise NumericalFailure(f"lift of a projected point: {found.message}")
    return size * (found.x[:d] - found.x[d:])


DEGENERATE = "degenerate: m = ceil(G n eps) is at least d, so that nothing is projected away"


@algorithm(
    "su2023.kj16",
    source="Kasiviswanathan, Jin 2016, as in Su, Zhao, Wang 2023, Table 1 (all but m from memory, unverified)",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.BALL, Trait.UNREGULARISED),
    variants={"standard": ("accounted", "none")},
)
def kj16_plan(given: Setting, *, projection: int | None = None, steps: int | None = None) -> Plan:
    """T = n/4 noisy projected steps on v in Phi C, then a lift to C; m = min(d, ceil(G n eps)).

    The step is diam2/sqrt(T ((1.1 L)^2 + m s^2)). Phi is m x d with entries N(0, 1/m); projected features are clipped
    to norm 1.1 and slopes to L, so that a mean gradient moves by at most 2.2 L/n: s = 2.2 L sqrt(T)/(n gdp_mu). The
    table gives no noise for this row, so that there is no calibration ``paper``.

    Parameters
    ----------
    given : Setting
        On an l1 or l2 ball.
    projection : int
        m in place of the theorem's, at most d.
    steps : optional
        Replaces T.
    """
    c, n, d, ball = given.constants, given.n, given.d, given.ball
    m = given.count("projection", projection, d) or min(d, ceil(ball.width(d) * n * given.epsilon))
    T, slope = given.count("steps", steps) or max(1, n // 4), LONGEST * c.lipschitz
    schedule: Schedule = dict(n=n, steps=T, projection=m, slope=slope, diameter=ball.euclidean_diameter(d))
    query, warnings = GaussianQuery("gradient", 2 * slope / n, T), (DEGENERATE,) * (m == d)
    return make_plan(query, gradient_evaluations=n * T, warnings=warnings, **schedule)


@kj16_plan.run
def kj16(objective, plan, mechanism, projected=Projected):
    """Projected steps on ``v (R, m)``; returns the shortest point over the average of the iterates, ``(R, d)``."""
    small = projected(objective, plan.projection, plan.slope / LONGEST)
    v = objective.xp.zeros((objective.replicates, plan.projection), dtype=objective.dtype)
    variance = plan.slope**2 + plan.projection * mechanism.scales["gradient"] ** 2
    step, total = plan.diameter / sqrt(plan.steps * variance), float64_zeros(v)
    for t in range(plan.steps):
        v = small.project(v - step * mechanism.release("gradient", small.mean_gradient(v), t))
        total = total + v
    x = small.lift(cast_like(total / plan.steps, v))
    objective.observe(x)
    return x


RIDGE = 1e-3
"""Added to the public Hessian where it is singular, or nearly so."""


@algorithm(
    "su2023.pda_dpmd",
    source="Amid et al. 2022, as in Su, Zhao, Wang 2023, Table 1 (from memory, unverified)",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.PUBLIC_QUADRATIC, Trait.SYMMETRIC_SET, Trait.UNREGULARISED),
    variants={"standard": ("accounted", "none")},
)
def pda_dpmd_plan(given: Setting, *, steps: int | None = None) -> Plan:
    """T = n/4 steps argmin_C eta <g, w> + (w - w_t)' Q (w - w_t)/2, Q the public Hessian, eta = 1/(s sqrt(d T)).

    s = 2 L sqrt(T)/(n gdp_mu); the public points cost nothing. The table gives no noise for this row, so that there is
    no calibration ``paper``.

    Parameters
    ----------
    given : Setting
        On a bounded symmetric set.
    steps : optional
        Replaces T.
    """
    c, n = given.constants, given.n
    T = given.count("steps", steps) or max(1, n // 4)
    query = GaussianQuery("gradient", 2 * c.lipschitz / n, T)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, slope=c.lipschitz)


@pda_dpmd_plan.run
def pda_dpmd(objective, plan, mechanism, metric=None, mean_gradient=None):
    """Mirror steps on ``(R, d)``; returns the average of w_1..w_T. Without noise the step is 1/(L sqrt T)."""
    metric, mean_gradient = metric or PublicMetric(objective), mean_gradient or objective.mean_gradient
    w, s = objective.start, mechanism.scales["gradient"]
    step = 1 / (sqrt(plan.steps) * (s * sqrt(w.shape[-1]) or plan.slope))

    def moved(w, t):
        return metric.project(w - step * mechanism.release("gradient", mean_gradient(w), t) @ metric.inverse, w)

    return average(objective, w, plan.steps, moved)


class PublicMetric:
    """``||w||_Q^2 = w' Q w`` with Q the public Hessian, and projections on the domain in it."""

    def __init__(self, objective: Any) -> None:
        Q = objective.problem.public_hessian
        values = np.linalg.eigvalsh(Q)
        if values[0] < RIDGE * values[-1]:
            Q, values = Q + RIDGE * np.eye(len(Q)), values + RIDGE
        self.domain, self.curvature = objective.domain, float(values[-1])
        self.matrix = objective.xp.asarray(Q, dtype=objective.dtype)
        self.inverse = objective.xp.asarray(np.linalg.inv(Q), dtype=objective.dtype)
        ratio = sqrt(float(values[0] / values[-1]))
        self.momenta = [(1 - ratio) / (1 + ratio)] * INNER_STEPS

    def project(self, u, start):
        """Nearest point of the domain to ``u (R, d)`` in the metric: accelerated steps from ``start``."""
        return accelerated(
            lambda y: self.domain.project(y - (y - u) @ self.matrix / self.curvature), start, self.momenta
        )
