"""Rounds of the online-to-batch conversion (Zhang, Tran, Cutkosky 2022) turned into the sides of its inequalities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.run import RoundObserver, round_observer
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.data import like
from dpsco_bench.problems.objective import Objective

Array = np.ndarray
ROUNDING = 1e-14
"""Largest rounding error of a sum, relative to the sum of the absolute values of its terms (about 50 units)."""
SUMS = ("regret", "_left", "_size", "_linear", "_squares", "_penalty_sum", "_penalty_difference", "largest_loss")
"""Sums that `Rounds` keeps.

``<g + gamma, w - x*>``; ``<beta grad L(x) - g - gamma, w - x*>``; the absolute values of both together;
``<loss, w - x*>``; ``beta ||w - x*||^2``; for regularisers with a value its sum and its difference between w and x*;
and the largest loss over its bound, which is no sum.
"""


VECTORS = "x", "gradient_sum", "released", "loss"
"""Arrays ``(R, d)`` of a round."""
PLACES: dict[str, tuple[str, Callable[[int], int]]] = {
    "quarter": ("floor(n/4)", lambda n: n // 4),
    "half": ("floor(n/2)", lambda n: n // 2),
    "last": ("n - 1", lambda n: n - 1),
}
"""Rounds at which moments are kept."""


@round_observer("zhang2022")
class Rounds(RoundObserver):
    """Knows the population's gradient and optimum x*, and notes per replicate (sums over the rounds that were run).

    With ``g_t`` the exact sum, ``g_t + gamma_t`` the released one and r_t the regulariser's part of the loss:

    ``learner_regret``, ``learner_bound``
        Regret against x* of the losses that the learner has seen, and what the learner declares for them: linear
        losses, or the strongly convex ones of Lemma 7.
    ``regret``, ``regularised_regret``
        ``sum <g_t + gamma_t, w_t - x*>``, and the same plus ``sum r_t(w_t) - r_t(x*)``.
    ``regret_over_weights``
        ``regret/bsum_n``.
    ``excess``, ``theorem1``, ``lemma7``
        ``bsum_n (L(x_n) - L(x*))`` and the right sides of Theorem 1 and Lemma 7 (only where round n was run, the
        latter only for strongly convex losses), both with the room that rounding needs.
    ``moment_*``, ``statistical_*``, ``noise_*``, ``loss_*``
        Squared dual norms of ``g_t + gamma_t``, ``beta_t grad L(x_t) - g_t``, ``gamma_t`` and of the regularised loss's
        gradient at t = n/4, n/2, n - 1.
    ``theorem10``, ``largest_loss``
        Of `zhang2022.parameter_free` alone: Reg plus ``sum r_t(w_t) + r_t(x*)``, and the largest ratio of a loss's norm
        to the Lip formula at t.
    ``moved``
        ``||x_n - x_1||`` over ``||x* - x_1||``.

    Problems without a known population gradient are not observed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, Any] = {}
        self._best: Array | None = None

    def __call__(self, objective: Objective, **state: Any) -> None:
        """See a round as the reduction tells it: its number, weight, points, sums, loss, learner and regularisers."""
        if not self._knows_the_optimum(objective):
            return
        beta, t, self._last = state["weight"], state["t"], state
        w, *vectors = (to_numpy(state[name]) for name in ("w", *VECTORS))
        x, _, released, loss = vectors
        away = w - self._best
        plain, left = _inner(released, away), _inner(beta * _population_gradient(objective, x) - released, away)
        linear = plain if state["loss"] is state["released"] else _inner(loss, away)
        terms = plain, left, np.abs(plain) + np.abs(left), linear, beta * _inner(away, away)
        for name, term in zip(SUMS, terms, strict=False):
            self._add(name, term)
        self._keep_moments(objective, t, beta, vectors)
        for regulariser in state["regularisers"]:
            if hasattr(regulariser, "value"):
                self._add_values(regulariser, t, state)

    def reference(self, objective: Objective) -> tuple[Array, Array, Array] | None:
        """x*, and ``m (R, d)`` and ``h (d,)`` of the population's gradient ``m + h x``; None if nothing is observed.

        For the loops that compute `SUMS` as they go.
        """
        problem: Any = objective.problem
        if not self._knows_the_optimum(objective):
            return None
        mean = _population_gradient(objective, np.zeros_like(self._best))
        return np.ascontiguousarray(self._best), np.ascontiguousarray(mean), problem.record_form.hessian

    def _knows_the_optimum(self, objective: Objective) -> bool:
        problem: Any = objective.problem
        if self._best is None and hasattr(problem, "population_gradient"):
            self._best = problem.optimum(objective.host_data)
        return self._best is not None

    @staticmethod
    def stops(n: int, ends: int) -> list[int]:
        """List the rounds, up to the last one, ``ends``, whose states are to be shown (`summed`)."""
        moments = {moment(n) for _, moment in PLACES.values()}
        return sorted({ends, *(t for t in moments if 1 <= t < ends)})

    def summed(self, objective: Objective, sums: Array, weight: float, **state: Any) -> None:
        """See the first of `SUMS`, ``(R, 5 or 8)``, over the rounds so far, and the state of the last one without w."""
        self.noted.update(zip(SUMS, to_numpy(sums).T.copy(), strict=False))
        self._last = {name: value.copy() if name in VECTORS else value for name, value in state.items()}
        self._keep_moments(objective, state["t"], weight, [to_numpy(self._last[name]) for name in VECTORS])

    def finish(self, objective: Objective, output: Any) -> Mapping[str, Any]:
        if self._best is None:
            return {}
        found = {name: values for name, values in self.noted.items() if not name.startswith("_")}
        return {**found, **self._sides(objective, to_numpy(output).astype(np.float64))}

    def _add(self, name: str, term: Array) -> None:
        self.noted[name] = self.noted.get(name, 0.0) + term

    def _keep_moments(self, objective: Objective, t: int, beta: float, vectors: Sequence[Array]) -> None:
        x, total, released, loss = vectors
        here = [name for name, (_, moment) in PLACES.items() if t == moment(objective.n)]
        if not here:
            return
        gradient = beta * _population_gradient(objective, x)
        q = dual_exponent(objective.problem.constants.norm)
        kept = dict(moment=released, loss=loss, statistical=gradient - total, noise=released - total)
        for name in here:
            self.noted |= {f"{key}_{name}": np.linalg.norm(v, ord=q, axis=-1) ** 2 for key, v in kept.items()}

    def _add_values(self, regulariser: Any, t: int, state: Any) -> None:
        """Add what is noted of a regulariser with a value and a Lip formula (``value``, ``terms.loss_bound``)."""
        here, there = (to_numpy(regulariser.value(t, v)) for v in (state["w"], like(self._best, state["w"])))
        self._add("_penalty_sum", here + there)
        self._add("_penalty_difference", here - there)
        size = np.linalg.norm(to_numpy(state["loss"]), axis=-1) / regulariser.terms.loss_bound(t)
        self.noted["largest_loss"] = np.maximum(self.noted.get("largest_loss", 0.0), size)

    def _sides(self, objective: Objective, output: Array) -> dict[str, Any]:
        sums, learner, n, c = self.noted, self._last["learner"], objective.n, objective.problem.constants
        total_weight = float(np.sum(np.arange(1, n + 1, dtype=np.float64) ** learner.setting.k))
        scale = total_weight * c.lipschitz * c.diameter
        room = ROUNDING * (sums["_size"] + scale) + remembered_rounding(n, learner.setting.k) * scale
        start = to_numpy(objective.start)
        found = {"moved": np.linalg.norm(output - start, axis=-1) / np.linalg.norm(self._best - start, axis=-1)}
        strongly_convex = learner.regulariser == "strongly_convex"
        regularised = sums["_linear"]
        if strongly_convex:  # f(w) - f(u) of a quadratic with modulus beta mu/2, from its gradient at w
            regularised = regularised - 0.25 * learner.setting.strong_convexity * sums["_squares"]
        elif "_penalty_sum" in sums:
            regularised = sums["regret"] + sums["_penalty_difference"]
            found["theorem10"] = sums["regret"] + sums["_penalty_sum"]
        found["regularised_regret"] = regularised
        bound = learner.regret_bound()
        if bound is not None:
            found["learner_regret"] = regularised if strongly_convex else sums["_linear"]
            found["learner_bound"] = to_numpy(bound)[:, 0] + room
        if self._last["t"] < n:
            return found
        found["regret_over_weights"] = sums["regret"] / total_weight
        found["excess"] = total_weight * objective.excess_risk(self._last["x"])
        found["theorem1"] = sums["regret"] + sums["_left"] + room
        if strongly_convex:
            gain = 0.125 * learner.setting.strong_convexity * sums["_squares"]
            found["lemma7"] = regularised + sums["_left"] - gain + room
        return found


def remembered_rounding(n: int, k: float) -> float:
    """Largest error of x_n by rounding, in units of the diameter D of a centred ball.

    With u half a unit in the last place, ``x_t = x_{t-1} + c_t (w_t - x_{t-1})``, ``c_t = beta_t/bsum_t``, adds at most
    ``u ||x_t|| + 3 u c_t D``, and ``||x_t|| <= D/2``. Later steps shrink an error by ``bsum_t/bsum_n``; the sum of that
    over t is at most ``n/(k + 2) + 1``, and the sum of ``c_t bsum_t/bsum_n`` is 1. Where sums of weights are not all
    integers below 2^53, their rounding changes the share of ``w_i`` by up to ``(n - i) u``, on average ``n u/(k + 2)``.
    """
    u, remembered = 0.5 * float(np.finfo(np.float64).eps), n / (k + 2.0) + 1.0
    exact = float(k).is_integer() and float(n + 1) ** (k + 1.0) / (k + 1.0) < 2.0**53
    return u * (0.5 * remembered + 3.0 + (0.0 if exact else remembered))


def _population_gradient(objective: Objective, x: Array) -> Array:
    problem: Any = objective.problem
    return problem.population_gradient(x, objective.host_data)


def _inner(a: Array, b: Array) -> Array:
    return np.einsum("rd,rd->r", a, b)
