"""Markov chains: Gibbs on l_p balls, on the host and on a GPU, hit-and-run on any bounded convex set, alternating ones.

The alternating sampler has a stochastic restricted Gaussian oracle: value queries to single losses only. Its target is
``exp(-k F - psi)`` with F a mean of n losses. The oracle accepts with an unbiased estimate of a density ratio, made
from a random number of products of loss differences at random records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.geometry.norms import dual_exponent, square_gradient
from dpsco_bench.papers.gopi2022.samplers.truncated import (
    first_accepted,
    quantile_of_log,
    truncated_exponential,
    truncated_normal,
)
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
SHRINKS = 32
"""Most candidates of a scale move; then the interval has shrunk to the present point, which is kept."""


def sample_gibbs(
    draws: KeyedDraws, start: Array, v: Array, c: float, q: float, p: float, radius: float, sweeps: int, observe: Any
) -> Array:
    """Last states ``(rows, d)`` of chains, one per row. Source: Chapter gopi2022, section 2.4.

    Tilts are ``v (rows, d)``, c > 0 the curvature, q in (1, 2] its norm, and p in [1, inf] that of the ball.
    """
    d, x = v.shape[1], np.array(start)
    for sweep in range(sweeps):
        u = draws.uniform("gibbs", sweep, 2 * d + 1)
        _sweep(x, u[:, :d], -np.log(u[:, d : 2 * d]) / c, v, c, q, p, radius)
        x *= _scales(draws, sweep, x, np.log(u[:, 2 * d]), v, c, q, p, radius)[:, None]
        observe(x)
    return x


def _sweep(x: Array, u: Array, slack: Array, v: Array, c: float, q: float, p: float, radius: float) -> None:
    """Draw every coordinate from its conditional law, in place; ``slack`` sets the slice on the regulariser."""
    ball = _PowerSum(x, p)
    norm = _PowerSum(x, q) if q != 2.0 else None
    for j in range(x.shape[1]):
        reach = ball.room(j, radius)
        if norm is None:
            x[:, j] = truncated_normal(u[:, j], v[:, j] / (2.0 * c), math.sqrt(0.5 / c), reach)
        else:
            level = np.sqrt((norm.total ** (1.0 / q)) ** 2 + slack[:, j])
            x[:, j] = truncated_exponential(u[:, j], v[:, j], np.minimum(reach, norm.room(j, level)))
            norm.replace(j, x[:, j])
        ball.replace(j, x[:, j])


class _PowerSum:
    """``sum_j |x_j|^p`` of each row, kept up to date; for infinite p there is nothing to keep."""

    def __init__(self, x: Array, p: float) -> None:
        self.p = p
        self.powers = np.abs(x) ** p if np.isfinite(p) else np.zeros_like(x)
        self.total = self.powers.sum(axis=1)

    def room(self, j: int, radius: Array | float) -> Array:
        """Largest ``|x_j|`` for a norm of at most ``radius``, the other coordinates given."""
        if not np.isfinite(self.p):
            return np.full(len(self.total), radius)
        left = radius**self.p - (self.total - self.powers[:, j])
        return np.maximum(left, 0.0) ** (1.0 / self.p)

    def replace(self, j: int, values: Array) -> None:
        if np.isfinite(self.p):
            new = np.abs(values) ** self.p
            self.total = np.maximum(self.total - self.powers[:, j], 0.0) + new
            self.powers[:, j] = new


def _scales(
    draws: KeyedDraws, sweep: int, x: Array, log_u: Array, v: Array, c: float, q: float, p: float, radius: float
) -> Array:
    """Factors ``(rows,)`` of the move ``x <- s x``, by slice sampling with shrinkage from s = 1."""
    slope, curvature = np.sum(v * x, axis=1), c * np.linalg.norm(x, ord=q, axis=1) ** 2
    length = np.linalg.norm(x, ord=p, axis=1)
    low, high = np.zeros(len(x)), radius / np.where(length > 0, length, 1.0)
    scale, todo = np.ones(len(x)), length > 0
    level = slope - curvature + log_u
    u = draws.uniform("scale", sweep, SHRINKS)
    for attempt in range(SHRINKS):
        candidate = low + (high - low) * u[:, attempt]
        value = (x.shape[1] - 1) * np.log(candidate) + candidate * slope - candidate**2 * curvature
        accepted = todo & (value >= level)
        scale = np.where(accepted, candidate, scale)
        todo &= ~accepted
        if not todo.any():
            break
        low, high = np.where(candidate < 1.0, candidate, low), np.where(candidate < 1.0, high, candidate)
    return np.minimum(scale, radius / np.where(length > 0, length, 1.0))


KERNELS = Path(__file__).with_name("gibbs.cu")
THREADS = 32
STATES = 1 << 22
"""Most numbers of the states that one launch leaves."""


def gibbs_chains(
    xp: Any, draws: KeyedDraws, v: Array, c: float, q: float, p: float, radius: float, sweeps: int, observe: Any
) -> Array:
    """Draw as `sample_gibbs` does from the origin, on the host; on a device for a CuPy ``xp`` where the kernel can."""
    if not (xp.__name__ == "cupy" and q < 2.0 and math.isfinite(p)):  # its conditionals are truncated exponentials
        return sample_gibbs(draws, np.zeros_like(v), v, c, q, p, radius, sweeps, observe)
    from dpsco_bench.backend.device import kernel, launch  # which a run on a core does not load
    from dpsco_bench.rng.cuda import key_words

    rows, d = v.shape
    x, tilts, powers = xp.zeros((rows, d)), xp.asarray(v), xp.empty((rows, 2, d))
    keys = (*key_words(draws.stream("gibbs").key), *key_words(draws.stream("scale").key))
    most, state = max(1, STATES // (rows * d)), np.zeros((rows, d))
    for first in range(0, sweeps, most):
        states = xp.empty((min(most, sweeps - first), rows, d))
        sizes = (rows, d, first, len(states), float(c), float(q), float(p), float(radius))
        told = (x, states, powers, tilts, *sizes, *keys, draws.first_replicate, draws.replicates)
        launch(kernel(KERNELS, "gibbs_sweeps"), -(-rows // THREADS), THREADS, *told)
        for state in states.get():
            observe(state)
    return np.array(state)


AT_ONCE, MOST_SHRINKS = 16, 1024


def sample_hit_and_run(
    draws: KeyedDraws, log_density: Any, start: Array, outer_radius: float, steps: int, observe: Any
) -> Array:
    """Last states ``(rows, d)`` of chains from ``start``, inside the set. Source: Chapter gopi2022, section 2.5.

    A direction is uniform on the sphere and a level lies an exponential variate below the present log density. The part
    of the line above the level is an interval, so that uniform candidates, which cut the line off where they fail, end
    with an exactly uniform point of it. ``log_density`` maps points ``(m, d)`` and their rows to numbers, -inf outside.
    """
    x, everyone = np.array(start), np.arange(len(start))
    value = log_density(x, everyone)
    for t in range(steps):
        z = ndtri(draws.uniform("direction", t, x.shape[1]))
        direction = z / np.linalg.norm(z, axis=1, keepdims=True)
        level = value + np.log(draws.uniform("level", t, 1)[:, 0])
        low, high = np.full(len(x), -2.0 * outer_radius), np.full(len(x), 2.0 * outer_radius)
        todo, new = everyone, np.array(x)
        for attempt in range(MOST_SHRINKS):
            if attempt % AT_ONCE == 0:
                u = draws.uniform("candidate", t, attempt + AT_ONCE)
            at = low[todo] + (high[todo] - low[todo]) * u[todo, attempt]
            candidates = x[todo] + at[:, None] * direction[todo]
            found = log_density(candidates, todo)
            accepted = found >= level[todo]
            new[todo[accepted]], value[todo[accepted]] = candidates[accepted], found[accepted]
            todo, at = todo[~accepted], at[~accepted]
            if not todo.size:
                break
            low[todo], high[todo] = np.where(at < 0, at, low[todo]), np.where(at < 0, high[todo], at)
        else:
            raise NumericalFailure(f"hit_and_run: no point of the slice in {MOST_SHRINKS} candidates at step {t}")
        x = new
        observe(x)
    return x


MOST_TERMS = 18
"""18! > 2^54: no uniform number of 54 bits asks for more terms."""
MOST_ROUNDS = 512
MOST_STEPS = 1 << 32
"""Steps that the random streams can tell apart."""
LARGEST_CLIP = 0.05
"""The clip's error bound holds for a delta_in of at most this."""
THRESHOLDS = 1.0 / np.array([math.factorial(a) for a in range(1, MOST_TERMS + 1)], dtype=np.float64)


def step_size(k: float, lipschitz: float, delta_in: float) -> float:
    """``eta = 1/(16 k^2 G2^2 ln(2/delta_in))``, with G2 the Lipschitz constant in l_2."""
    return 1.0 / (16.0 * (k * lipschitz) ** 2 * math.log(2.0 / delta_in))


@dataclass(frozen=True)
class ProximalRate:
    """Rate at which the chains approach their target in total variation.

    Two errors add up over T steps: the clip's, ``T sqrt(e delta_in)``, and the mixing's, ``sqrt(KL_T/2)``, where the
    Kullback-Leibler divergence contracts by ``(1 + eta k mu2)^(-2)`` a step. Source: Chapter gopi2022, section 2.6; the
    rate is that of Chen, Chewi, Salim, Wibisono 2022, "Improved analysis for a proximal algorithm for sampling".

    Attributes
    ----------
    k, weight : float, inverse temperature, and mu2: strong convexity of ``F + mu r`` in l_2
    divergence : float, KL_0, > 0

    Notes
    -----
    Contraction, of a chain with an exact oracle, for a target pi that is alpha-strongly log-concave on a convex set,
    alpha = k mu2. Let ``pi_t = pi * N(0, t I)``. It is ``alpha/(1 + alpha t)``-strongly log-concave, since
    convolutions keep strong log-concavity, so it has the logarithmic Sobolev inequality of that constant
    (Bakry-Emery). A step is the heat flow over a time eta, under which ``d/dt KL(rho_t || pi_t)`` is
    ``-FI(rho_t || pi_t)/2 <= -alpha/(1 + alpha t) KL``, then the reversed flow, whose drift ``grad log pi_(eta-t)``
    gives the same inequality at time eta - t. Each integrates to a factor ``1/(1 + alpha eta)``. At t = 0, where pi may
    be truncated, lower semicontinuity passes to the limit. Equality holds for shifted Gaussians.

    Clip, at any y. Both draws have density ``exp(-psi - ||. - y||^2/(2 eta))``, 1/eta-strongly log-concave, so that
    ``D = k (f_j(Z) - f_j(X))`` is sub-Gaussian with variance proxy ``s^2 = 2 k^2 G2^2 eta = 1/(8 ln(2/delta_in))`` and
    ``P(|D| > 1/2) <= delta_in``. A round takes ``A(A+1)/2`` of them, e on average. Where none is above 1/2, ``|rho - 1|
    <= sum 2^-a <= 1`` and nothing is clipped. As ``E rho >= 1`` (Jensen), the law of the accepted point moves in total
    variation by at most ``E|rho - clip(rho)| <= E[|rho - 1|; some |D| > 1/2] <= sqrt(E(rho - 1)^2 e delta_in)``, and
    with ``E D^(2a) <= 2 a! (2 s^2)^a`` Minkowski gives ``E(rho - 1)^2 <= 2 (r/(1-r))^2 < 1/4``,
    ``r = (4 ln(2/delta_in))^(-1/2)``, for delta_in <= 0.05.

    Covered are thus the contraction, the clipped oracle (its bound is uniform in y, hence adds up over steps) and, by
    Pinsker's inequality, the step from KL_T to total variation; not a Gaussian on the set that is itself inexact.
    What tau costs of delta, ``(1 + e^eps) tau``, is shown in `privacy.accountants.gaussian`.
    tests/papers/gopi2022/samplers/test_proximal.py checks contraction, clip and `distance` by quadrature.
    """

    k: float
    weight: float
    lipschitz: float
    divergence: float

    def rate(self, delta_in: float) -> float:
        """``ln(1 + eta k mu2)``."""
        return math.log1p(step_size(self.k, self.lipschitz, delta_in) * self.k * self.weight)

    def distance(self, steps: int, delta_in: float) -> float:
        """Bound on the total variation distance after so many steps."""
        mixing = 0.5 * self.divergence * math.exp(-2.0 * steps * self.rate(delta_in))
        return steps * math.sqrt(math.e * delta_in) + math.sqrt(mixing)

    @staticmethod
    def clip(tau: float, steps: int) -> float:
        """Find the delta_in at which so many steps spend half of tau on the clip."""
        return min(LARGEST_CLIP, (0.5 * tau / steps) ** 2 / math.e)

    def steps(self, tau: float) -> int:
        """Find the least T that with its `clip` spends half of tau on either error.

        Raises InputError for tau outside (0, 1), or so small that 2^32 steps do not reach it.
        """
        if not 0.0 < tau < 1.0:
            raise InputError("tau", tau, "in (0, 1)")
        steps, distance = 1, math.log(0.5 * self.divergence) - 2.0 * math.log(0.5 * tau)
        while True:
            delta_in = self.clip(tau, steps)
            rate = self.rate(delta_in) if delta_in > 0 else 0.0
            if distance > 2.0 * rate * MOST_STEPS:
                raise InputError("tau", tau, f"so large that {MOST_STEPS} steps of the alternating sampler reach it")
            needed = max(1, math.ceil(distance / (2.0 * rate)))
            if needed <= steps:
                return steps
            steps = needed


def terms(u: Array) -> Array:
    """Count the terms a >= 1 with ``u <= 1/a!``, for uniform numbers of any shape."""
    return np.sum(u[..., None] <= THRESHOLDS, axis=-1)


def estimate(count: Array, differences: Array) -> Array:
    """``1 + sum_{a <= count} prod_{i <= a} differences``, each product of its own entries, for ``count (rows,)``.

    Unbiased for ``exp(E difference)`` if ``count`` has the law of `terms`, ``differences (rows, W)`` independent.
    """
    total, first = np.ones(len(count)), 0
    for a in range(1, int(count.max(initial=0)) + 1):
        total += np.where(count >= a, np.prod(differences[:, first : first + a], axis=1), 0.0)
        first += a
    return total


class ProximalSampler:
    """Chains of the alternating sampler, one per row.

    Parameters
    ----------
    gaussian : callable
        (name, step, mean (m, d), sd, rows (m,)) -> points of ``exp(-psi - ||. - y||^2/(2 eta))`` and which are capped,
        in the mean and standard deviation that completing the square gives; y and ``sqrt(eta)`` at curvature 0.
    differences : callable, (z (m, d), x (m, d), indices (m, W), rows (m,)) -> ``f_j(z) - f_j(x)``, (m, W)
    k, curvature, eta : float, inverse temperature; psi is ``(curvature/2) ||x||^2`` on a set, or at curvature 0
        anything that ``gaussian`` includes itself; step size

    Attributes
    ----------
    queries, calls, capped : array (rows,)
        Values of single losses asked for, oracle calls made, and whether some draw of ``gaussian`` was capped.
    """

    def __init__(
        self, draws: KeyedDraws, gaussian: Any, differences: Any, n: int, k: float, curvature: float, eta: float
    ) -> None:
        self.draws, self.gaussian, self.differences = draws, gaussian, differences
        self.n, self.k, self.eta = n, k, eta
        self._shrink = 1.0 / (1.0 + eta * curvature)
        self.queries, self.calls = np.zeros(draws.rows), np.zeros(draws.rows)
        self.capped = np.zeros(draws.rows, dtype=bool)

    def run(self, start: Array, steps: int, observe: Any = lambda x: None) -> Array:
        """States ``(rows, d)`` after so many steps from ``start``."""
        x = start
        for t in range(steps):
            y = x + math.sqrt(self.eta) * ndtri(self.draws.uniform("forward", t, x.shape[1]))
            x = self.oracle(t, y)
            observe(x)
        return x

    def oracle(self, t: int, y: Array) -> Array:
        """Draw from ``exp(-k F - psi - ||. - y||^2/(2 eta))`` but for the clip, per row."""
        mean, sd = self._shrink * y, math.sqrt(self.eta * self._shrink)
        found, rows = np.empty_like(y), np.arange(len(y))
        self.calls += 1
        for attempt in range(MOST_ROUNDS):
            x, capped = self.gaussian(f"x/{attempt}", t, mean[rows], sd, rows)
            z, capped_too = self.gaussian(f"z/{attempt}", t, mean[rows], sd, rows)
            u = self.draws.uniform(f"coins/{attempt}", t, 2)[rows]
            count = terms(u[:, 0])
            width = int(count.max()) * (int(count.max()) + 1) // 2
            indices = self.draws.integers(f"records/{attempt}", t, width, self.n)[rows]
            rho = estimate(count, self.k * self.differences(z, x, indices, rows))
            self.queries[rows] += count * (count + 1)
            self.capped[rows[np.append(capped, capped_too)]] = True
            accepted = u[:, 1] <= 0.5 * np.clip(rho, 0.0, 2.0)
            found[rows[accepted]] = x[accepted]
            rows = rows[~accepted]
            if not rows.size:
                return found
        raise NumericalFailure(f"proximal_sampler: nothing accepted in {MOST_ROUNDS} rounds of step {t}")


def regularised_gaussian(
    draws: KeyedDraws, name: str, step: int, mean: Array, sd: float, c: float, q: float, p: float, R: float, rows: Array
) -> tuple[Array, Array]:
    """Points of density ``~ exp(-||x - mean||_2^2/(2 sd^2) - c ||x||_q^2)`` on an l_p ball, by rejection.

    The square of a norm lies above its tangent at any z, ``||z||_q^2 + <g, x - z>``, so that a Gaussian about
    ``mean - sd^2 c g`` proposes, cut to a half-space that holds the ball and touches it in the direction of its mean.

    Parameters and returns are those of `gaussian_on_ball`, R the radius; c, q: curvature >= 0 and its norm, in (1, 2].
    """
    slope = square_gradient(mean, q, 2.0 * c)
    level = c * np.linalg.norm(mean, ord=q, axis=1) ** 2  # of the tangent at the mean
    middle = mean - sd**2 * slope
    normal = square_gradient(middle, p, 1.0) if p > 1.0 else np.sign(middle)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    reach = R * np.linalg.norm(normal, ord=dual_exponent(p), axis=1)  # largest <normal, x> on the ball
    room = log_ndtr((reach - np.sum(normal * middle, axis=1)) / sd)

    def propose(attempt: int, todo: Array) -> tuple[Array, Array]:
        u = draws.uniform(f"{name}/{attempt}", step, mean.shape[1] + 2)[rows[todo]]
        z, along = ndtri(u[:, :-2]), normal[todo]
        inwards = quantile_of_log(room[todo] + np.log(u[:, -2])) - np.sum(along * z, axis=1)
        at = middle[todo] + sd * (z + inwards[:, None] * along)
        above = c * np.linalg.norm(at, ord=q, axis=1) ** 2 - level[todo]
        above = above - np.sum(slope[todo] * (at - mean[todo]), axis=1)
        return at, (np.linalg.norm(at, ord=p, axis=1) <= R) & (np.log(u[:, -1]) <= -above)

    points, capped = first_accepted(propose, mean.shape)
    points[capped] *= np.minimum(1.0, R / np.linalg.norm(points[capped], ord=p, axis=1))[:, None]
    return points, capped
