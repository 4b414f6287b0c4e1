"""The alternating sampler with compiled steps, for linear losses whose slopes are few."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.fused.compiled import called, compiled, exact_piece
from dpsco_bench.fused.pieces import largest_of, lp_length, square_slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.algorithms.proximal_sampler import MOST_ATTEMPTS, proximal_sampler
from dpsco_bench.papers.gopi2022.algorithms.setting import LINEAR, drawn_by
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.fused.laws import (
    fill_integers,
    fill_uniform,
    log_below,
    quantile_of_log,
    standard_normal,
    truncated_normal,
)
from dpsco_bench.papers.gopi2022.fused.runs import run_sweeps, words
from dpsco_bench.papers.gopi2022.samplers.proximal import MOST_ROUNDS, MOST_TERMS, THRESHOLDS
from dpsco_bench.samplers.draws import KeyedDraws

MOST_SLOPES = 1 << 20
"""Most numbers of the losses' slopes: they are asked for at once, and lie in a cache."""
FEW = 16
"""Rounds and attempts whose streams are known at first."""
WIDTH = MOST_TERMS * (MOST_TERMS + 1) // 2
CUBE, BALL, CUT = range(3)
"""Ways to draw a Gaussian on the ball: inverted, rejected, or cut to a half-space and rejected."""
DONE, MORE_ROUNDS, MORE_ATTEMPTS, FAILED = range(4)


@exact_piece
def on_the_cube(point, mean, sd, radius, u, key, step, replicate):
    """Draw as `samplers.truncated.gaussian_on_ball` does for infinite p, to point."""
    fill_uniform(u, 0, point.size, key, step, replicate)
    for j in range(point.size):
        point[j] = truncated_normal(u[j], mean[j], sd, radius)


@called
def on_a_ball(point, mean, sd, p, radius, u, keys, step, replicate):
    """Draw as `samplers.truncated.gaussian_on_ball` does for finite p, to point; is it capped, -1 for want of keys."""
    for attempt in range(MOST_ATTEMPTS):
        if attempt == len(keys):
            return -1
        fill_uniform(u, 0, point.size, keys[attempt], step, replicate)
        for j in range(point.size):
            point[j] = mean[j] + sd * standard_normal(u[j])
        if lp_length(point, p) <= radius:
            return 0
    length = lp_length(point, p)
    for j in range(point.size):
        point[j] *= radius / length
    return 1


@called
def tangent(mean, sd, law, work):
    """Compute the part that all attempts of `under_a_tangent` at one mean share: rows slope, middle and normal.

    Returns the level of the tangent and the logarithm of the half-space's probability.
    """
    p, radius, dual, c, q = law
    slope, middle, normal = work[0], work[1], work[2]
    square_slope(slope, mean, q, 2.0 * c)
    level = c * lp_length(mean, q) ** 2
    for j in range(mean.size):
        middle[j] = mean[j] - sd * sd * slope[j]
        normal[j] = float(np.sign(middle[j]))
    if p > 1.0:
        square_slope(normal, middle, p, 1.0)
    size = max(lp_length(normal, 2.0), 1e-300)
    along = 0.0
    for j in range(mean.size):
        normal[j] /= size
        along += normal[j] * middle[j]
    reach = radius * (largest_of(normal) if dual == math.inf else lp_length(normal, dual))
    return level, log_below((reach - along) / sd)


@called
def under_a_tangent(point, mean, sd, law, level, room, work, u, keys, step, replicate):
    """Draw as `samplers.regularised_gaussian` does, to point; is it capped, -1 for want of keys."""
    p, radius, _, c, q = law
    slope, middle, normal, d = work[0], work[1], work[2], mean.size
    for attempt in range(MOST_ATTEMPTS):
        if attempt == len(keys):
            return -1
        fill_uniform(u, 0, d + 2, keys[attempt], step, replicate)
        along, above = 0.0, 0.0
        for j in range(d):
            point[j] = standard_normal(u[j])
            along += normal[j] * point[j]
        inwards = quantile_of_log(room + math.log(u[d])) - along
        for j in range(d):
            point[j] = middle[j] + sd * (point[j] + inwards * normal[j])
            above += slope[j] * (point[j] - mean[j])
        excess = c * lp_length(point, q) ** 2 - level - above
        if lp_length(point, p) <= radius and math.log(u[d + 1]) <= -excess:
            return 0
    shrink = min(1.0, radius / lp_length(point, p))
    for j in range(d):
        point[j] *= shrink
    return 1


@exact_piece
def estimate(count, x, z, k, slopes, indices):
    """Estimate as `samplers.proximal.estimate` does, from differences of linear losses at z and x."""
    total, first = 1.0, 0
    for a in range(1, count + 1):
        product = 1.0
        for i in range(first, first + a):
            difference = 0.0
            for j in range(x.size):
                difference += slopes[indices[i], j] * (z[j] - x[j])
            product *= k * difference
        total += product
        first += a
    return total


@called
def gaussian(kind, point, mean, sd, law, tangent_at, work, u, keys, step, replicate):
    """Draw one of the kinds above, to point; is it capped, -1 for want of keys."""
    if kind == CUBE:
        on_the_cube(point, mean, sd, law[1], u, keys[0], step, replicate)
        return 0
    if kind == BALL:
        return on_a_ball(point, mean, sd, law[0], law[1], u, keys, step, replicate)
    return under_a_tangent(point, mean, sd, law, tangent_at[0], tangent_at[1], work, u, keys, step, replicate)


@compiled
def proximal_steps(states, x, queries, capped, slopes, kind, law, oracle, thresholds, first, addresses, keys):
    """Make steps ``first ..`` of all chains, to ``states (steps, rows, d)``, from ``x (rows, d)``, which stays.

    Parameters
    ----------
    queries, capped : array (rows,), values asked for, added to, and whether a Gaussian was capped
    slopes : array (n, d), of the losses
    kind, law : how Gaussians are drawn; p, radius, dual exponent of p, curvature and its norm
    oracle : tuple, k, eta and the shrinkage of means
    thresholds : array, see `samplers.proximal`
    addresses : tuple, first replicate and their number
    keys : tuple, of forward steps; arrays (A, B, 2) of x and of z, (A, 2) of coins and of records

    Returns
    -------
    status, step : int, one of the words above, and where
    """
    rows, d = x.shape
    k, eta, shrink = oracle
    forward, x_keys, z_keys, coin_keys, record_keys = keys
    sd, u, coins = math.sqrt(eta * shrink), np.empty(d + 3), np.empty(2)
    indices, work = np.empty(WIDTH + 1, np.int64), np.empty((3, d))
    mean, first_point, second_point = np.empty(d), np.empty(d), np.empty(d)
    for row in range(rows):
        replicate = addresses[0] + row % addresses[1]
        for s in range(len(states)):
            step = first + s
            fill_uniform(u, 0, d, forward, step, replicate)
            for j in range(d):
                before = x[row, j] if s == 0 else states[s - 1, row, j]
                mean[j] = shrink * (before + math.sqrt(eta) * standard_normal(u[j]))
            at = tangent(mean, sd, law, work) if kind == CUT else (0.0, 0.0)
            for attempt in range(MOST_ROUNDS):
                if attempt == len(coin_keys):
                    return MORE_ROUNDS, step
                a = gaussian(kind, first_point, mean, sd, law, at, work, u, x_keys[attempt], step, replicate)
                b = gaussian(kind, second_point, mean, sd, law, at, work, u, z_keys[attempt], step, replicate)
                if a < 0 or b < 0:
                    return MORE_ATTEMPTS, step
                fill_uniform(coins, 0, 2, coin_keys[attempt], step, replicate)
                count = 0
                while count < len(thresholds) and coins[0] <= thresholds[count]:
                    count += 1
                fill_integers(indices, count * (count + 1) // 2, len(slopes), record_keys[attempt], step, replicate)
                rho = estimate(count, first_point, second_point, k, slopes, indices)
                queries[row] += count * (count + 1)
                capped[row] |= a + b > 0
                if coins[1] <= 0.5 * min(max(rho, 0.0), 2.0):
                    break
            else:
                return FAILED, step
            for j in range(d):
                states[s, row, j] = first_point[j]
    return DONE, 0


class CompiledChains:
    """`ProximalSampler` for linear losses, compiled: the same words, queries and mask.

    Parameters
    ----------
    target, curvature_of_r : whose chains; k mu times the regulariser's coefficient
    draws, gaussian, differences, n, k, curvature, eta
        As of `ProximalSampler`; ``gaussian`` is looked at in its compiled form.
    """

    def __init__(
        self,
        target: Target,
        mu: float,
        draws: KeyedDraws,
        gaussian: Callable[..., Any],
        differences: Callable[..., np.ndarray],
        n: int,
        k: float,
        curvature: float,
        eta: float,
    ) -> None:
        r, ball, d = target.regulariser, target.ball, target.d
        assert r is not None
        points, records = np.eye(d), np.tile(np.arange(n), (d, 1))
        found = differences(points, np.zeros_like(points), records, np.arange(d))
        self._draws, self._slopes = draws, np.ascontiguousarray(found.T)
        self._kind = CUT if r.q < 2.0 else CUBE if math.isinf(ball.p) else BALL
        self._law = (float(ball.p), float(ball.radius), dual_exponent(ball.p), k * mu * r.coefficient, float(r.q))
        self._oracle = (float(k), float(eta), 1.0 / (1.0 + eta * curvature))
        self._rounds, self._attempts = FEW, 1 if self._kind == CUBE else FEW
        self._place = (draws.first_replicate, draws.replicates)
        self.queries, self.calls = np.zeros(draws.rows), np.zeros(draws.rows)
        self.capped = np.zeros(draws.rows, dtype=bool)

    def run(self, start: np.ndarray, steps: int, observe: Any) -> np.ndarray:
        """States ``(rows, d)`` after so many steps from ``start``."""
        self._x = np.array(start)
        self._keys = self._streams()
        self.calls += steps
        return run_sweeps(observe, self._x, steps, self._advance)

    def _advance(self, first: int, states: np.ndarray) -> None:
        while True:
            queries, capped = np.zeros(len(self._x)), np.zeros(len(self._x), dtype=bool)
            told = (self._slopes, self._kind, self._law, self._oracle, THRESHOLDS, first, self._place, self._keys)
            status, step = proximal_steps(states, self._x, queries, capped, *told)
            if status == DONE:
                break
            if status == FAILED:
                raise NumericalFailure(f"proximal_sampler: nothing accepted in {MOST_ROUNDS} rounds of step {step}")
            if status == MORE_ROUNDS:
                self._rounds = min(2 * self._rounds, MOST_ROUNDS)
            else:
                self._attempts = min(2 * self._attempts, MOST_ATTEMPTS)
            self._keys = self._streams()
        self.queries += queries
        self.capped |= capped
        self._x[:] = states[-1]

    def _streams(self) -> tuple[Any, ...]:
        """Keys of all streams that the loop may read."""
        rounds, attempts = range(self._rounds), range(self._attempts)

        def listed(name: str) -> np.ndarray:
            return np.array([words(self._draws, f"{name}/{a}") for a in rounds], dtype=np.int64)

        def nested(name: str) -> np.ndarray:
            found = [[words(self._draws, f"{name}/{a}/{b}") for b in attempts] for a in rounds]
            return np.array(found, dtype=np.int64)

        return words(self._draws, "forward"), nested("x"), nested("z"), listed("coins"), listed("records")


def compiled_sampler(target: Target, k: float, mu: float, draws: KeyedDraws, **options: Any) -> np.ndarray:
    """Run the sampler `proximal_sampler`, compiled."""
    return proximal_sampler(target, k, mu, draws, chains=partial(CompiledChains, target, mu), **options)


def _few_slopes(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check that the losses are linear and the same for all rows, and their slopes few."""
    problem = objective.problem
    shared = not problem.draws_per_replicate and not problem.signal_option
    d = problem.dimension
    return plan.losses in LINEAR and shared and objective.n * d * d <= MOST_SLOPES


@fused("gopi2022.proximal_sampler", supports=_few_slopes, form=False)
def run(objective: Any, plan: Any, mechanism: Any) -> Any:
    """Run the listing, compiled."""
    return drawn_by(compiled_sampler, objective, plan, mechanism)
