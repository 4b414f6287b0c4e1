"""The alternating sampler with compiled steps, for linear losses whose slopes are few.

The laws are those of SciPy's distribution functions to rounding; the quantile of the normal law has the coefficients of
Cephes (S. Moshier, `ndtri`), as SciPy's has.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.fused import tiles
from dpsco_bench.fused.compiled import compiled, exact_piece, piece
from dpsco_bench.fused.pieces import largest_of, lp_length, square_slope
from dpsco_bench.fused.registry import fused
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.gopi2022.algorithms.chains import proximal_sampler
from dpsco_bench.papers.gopi2022.algorithms.mechanism import LINEAR, Target, draw
from dpsco_bench.papers.gopi2022.samplers.chains import MOST_ROUNDS, MOST_TERMS, THRESHOLDS, ProximalSampler
from dpsco_bench.papers.gopi2022.samplers.truncated import LOG_ROOT_2PI, MOST_ATTEMPTS
from dpsco_bench.rng.counters import INTEGER, UNIFORM
from dpsco_bench.samplers.draws import KeyedDraws

with suppress(ImportError):  # without Numba the reference implementations run
    from dpsco_bench.rng.kernels import _integer, _philox, _uniform

ROOT2, ROOT_2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)
MIDDLE = math.exp(-2.0)
"""Probabilities at least so far from 0 and 1 have the quantile's middle approximation."""
TAIL = -20.0
"""Below it ``log Phi`` is its asymptotic series."""
LEAST_LOG = -690.0
"""A probability with a smaller logarithm is too near the least number."""
NEWTON, SERIES = 8, 8
MOST_SLOPES = 1 << 20
"""Most numbers of the losses' slopes: they are asked for at once, and lie in a cache."""
FEW = 16
"""Rounds and attempts whose streams are known at first."""
WIDTH = MOST_TERMS * (MOST_TERMS + 1) // 2
DONE, MORE_ROUNDS, MORE_ATTEMPTS, FAILED = range(4)


@exact_piece
def fill_uniform(out, count, key, step, replicate):
    """Fill with numbers of a step and a replicate, those of `Stream.uniform`; there is room for one more."""
    kind, k0, k1 = np.uint32(UNIFORM), np.uint32(key[0]), np.uint32(key[1])
    for i in range((count + 1) // 2):
        w0, w1, w2, w3 = _philox(np.uint32(i), np.uint32(step), np.uint32(replicate), kind, k0, k1)
        out[2 * i], out[2 * i + 1] = _uniform(w0, w1), _uniform(w2, w3)


@exact_piece
def fill_integers(out, count, high, key, step, replicate):
    """Fill as `fill_uniform` does, with the first integers in [0, high): those of `Stream.integers`."""
    kind, k0, k1 = np.uint32(INTEGER), np.uint32(key[0]), np.uint32(key[1])
    for i in range((count + 1) // 2):
        w0, w1, w2, w3 = _philox(np.uint32(i), np.uint32(step), np.uint32(replicate), kind, k0, k1)
        out[2 * i], out[2 * i + 1] = _integer(w0, w1, np.uint64(high)), _integer(w2, w3, np.uint64(high))


@piece
def lower_quantile(p):
    """``Phi^-1(p)`` for p in (0, 1 - e^-2]."""
    if p > MIDDLE:
        y = p - 0.5
        z = y * y
        top = -5.99633501014107895267e1 * z + 9.80010754185999661536e1
        top = (top * z - 5.66762857469070293439e1) * z + 1.39312609387279679503e1
        top = top * z - 1.23916583867381258016e0
        low = (z + 1.95448858338141759834e0) * z + 4.67627912898881538453e0
        low = (low * z + 8.63602421390890590575e1) * z - 2.25462687854119370527e2
        low = (low * z + 2.00260212380060660359e2) * z - 8.20372256168333339912e1
        low = (low * z + 1.59056225126211695515e1) * z - 1.18331621121330003142e0
        return (y + y * (z * top / low)) * ROOT_2PI
    x = math.sqrt(-2.0 * math.log(p))
    z = 1.0 / x
    if x < 8.0:
        top = 4.05544892305962419923e0 * z + 3.15251094599893866154e1
        top = (top * z + 5.71628192246421288162e1) * z + 4.40805073893200834700e1
        top = (top * z + 1.46849561928858024014e1) * z + 2.18663306850790267539e0
        top = (top * z - 1.40256079171354495875e-1) * z - 3.50424626827848203418e-2
        top = top * z - 8.57456785154685413611e-4
        low = (z + 1.57799883256466749731e1) * z + 4.53907635128879210584e1
        low = (low * z + 4.13172038254672030440e1) * z + 1.50425385692907503408e1
        low = (low * z + 2.50464946208309415979e0) * z - 1.42182922854787788574e-1
        low = (low * z - 3.80806407691578277194e-2) * z - 9.33259480895457427372e-4
    else:
        top = 3.23774891776946035970e0 * z + 6.91522889068984211695e0
        top = (top * z + 3.93881025292474443415e0) * z + 1.33303460815807542389e0
        top = (top * z + 2.01485389549179081538e-1) * z + 1.23716634817820021358e-2
        top = (top * z + 3.01581553508235416007e-4) * z + 2.65806974686737550832e-6
        top = top * z + 6.23974539184983293730e-9
        low = (z + 6.02427039364742014255e0) * z + 3.67983563856160859403e0
        low = (low * z + 1.37702099489081330271e0) * z + 2.16236993594496635890e-1
        low = (low * z + 1.34204006088543189037e-2) * z + 3.28014464682127739104e-4
        low = (low * z + 2.89247864745380683936e-6) * z + 6.79019408009981274425e-9
    return z * top / low - (x - math.log(x) / x)


@exact_piece
def quantile(p, rest):
    """``Phi^-1(p)``, ``rest = 1 - p``."""
    return lower_quantile(p) if p <= 1.0 - MIDDLE else -lower_quantile(rest)


@exact_piece
def standard_normal(u):
    """Turn a uniform number in (0, 1) into a normal variate."""
    return quantile(u, 1.0 - u)


@exact_piece
def below(x):
    """``Phi(x)``."""
    return 0.5 * math.erfc(-x / ROOT2)


@piece
def log_below(x):
    """``log Phi(x)`` at any x."""
    if x > 0.0:
        return math.log1p(-below(-x))
    if x > TAIL:
        return math.log(below(x))
    term, total, square = 1.0, 1.0, x * x
    for i in range(SERIES):
        term *= -(2 * i + 1) / square
        total += term
    return -0.5 * square - LOG_ROOT_2PI - math.log(-x) + math.log(total)


@piece
def quantile_of_log(level):
    """``Phi^-1(exp(level))`` for level < 0."""
    if level > LEAST_LOG:
        return quantile(math.exp(level), -math.expm1(level))
    z = -math.sqrt(-2.0 * level - 2.0 * LOG_ROOT_2PI - math.log(-2.0 * level))
    for _ in range(NEWTON):
        found = log_below(z)
        z -= (found - level) * math.exp(found + 0.5 * z * z + LOG_ROOT_2PI)
    return z


@piece
def truncated_normal(u, mean, sd, high):
    """Draw a normal variate conditioned on ``[-high, high]``, no end of which lies far out in a tail, by inversion."""
    centre = abs(mean)
    low, top = (-high - centre) / sd, (high - centre) / sd
    z = quantile(below(low) * (1.0 - u) + below(top) * u, below(-low) * (1.0 - u) + below(-top) * u)
    x = min(max(centre + sd * z, -high), high)
    return -x if mean < 0.0 else x


@exact_piece
def on_the_cube(point, mean, sd, radius, u, key, step, replicate):
    """Draw as `samplers.truncated.gaussian_on_ball` does for infinite p, to point."""
    fill_uniform(u, point.size, key, step, replicate)
    for j in range(point.size):
        point[j] = truncated_normal(u[j], mean[j], sd, radius)


@piece
def tangent(mean, sd, law, work):
    """Compute slope, middle and normal of the tangent at a mean; returns its level and the log chance of the cut."""
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


@piece
def under_a_tangent(point, mean, sd, law, level, room, work, u, keys, step, replicate):
    """Draw as `samplers.chains.regularised_gaussian` does, to point; is it capped, -1 for want of keys."""
    p, radius, _, c, q = law
    slope, middle, normal, d = work[0], work[1], work[2], mean.size
    for attempt in range(MOST_ATTEMPTS):
        if attempt == len(keys):
            return -1
        fill_uniform(u, d + 2, keys[attempt], step, replicate)
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
    """Estimate as `samplers.chains.estimate` does, from differences of linear losses at z and x."""
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


@piece
def gaussian(cuts, point, mean, sd, law, tangent_at, work, u, keys, step, replicate):
    """Draw in one of both ways, to point; is it capped, -1 for want of keys."""
    if cuts:
        return under_a_tangent(point, mean, sd, law, tangent_at[0], tangent_at[1], work, u, keys, step, replicate)
    on_the_cube(point, mean, sd, law[1], u, keys[0], step, replicate)
    return 0


@compiled
def proximal_steps(states, x, queries, capped, slopes, cuts, law, oracle, thresholds, first, addresses, keys):
    """Make steps ``first ..`` of all chains, to ``states (steps, rows, d)``, from ``x (rows, d)``, which stays.

    Parameters
    ----------
    queries, capped : array (rows,), values asked for, added to, and whether a Gaussian was capped
    slopes : array (n, d), of the losses
    cuts : bool, whether Gaussians are cut to a half-space and rejected, or inverted on the cube
    law : tuple, p, radius, dual exponent of p, curvature and its norm
    oracle : tuple, k, eta and the shrinkage of means
    thresholds : array, see `samplers.chains`
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
            fill_uniform(u, d, forward, step, replicate)
            for j in range(d):
                before = x[row, j] if s == 0 else states[s - 1, row, j]
                mean[j] = shrink * (before + math.sqrt(eta) * standard_normal(u[j]))
            at = tangent(mean, sd, law, work) if cuts else (0.0, 0.0)
            for attempt in range(MOST_ROUNDS):
                if attempt == len(coin_keys):
                    return MORE_ROUNDS, step
                a = gaussian(cuts, first_point, mean, sd, law, at, work, u, x_keys[attempt], step, replicate)
                b = gaussian(cuts, second_point, mean, sd, law, at, work, u, z_keys[attempt], step, replicate)
                if a < 0 or b < 0:
                    return MORE_ATTEMPTS, step
                fill_uniform(coins, 2, coin_keys[attempt], step, replicate)
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


class CompiledChains(ProximalSampler):
    """`ProximalSampler` for linear losses of a target and mu, compiled: the same words, queries and mask."""

    def __init__(self, target: Target, mu: float, *known: Any) -> None:
        super().__init__(*known)
        r, ball, d = target.regulariser, target.ball, target.d
        points, records = np.eye(d), np.tile(np.arange(self.n), (d, 1))
        found = self.differences(points, np.zeros_like(points), records, np.arange(d))
        self._slopes = np.ascontiguousarray(found.T)
        self._cuts = r.q < 2.0
        self._law = (float(ball.p), float(ball.radius), dual_exponent(ball.p), self.k * mu * r.coefficient, float(r.q))
        self._oracle = (float(self.k), float(self.eta), self._shrink)

    def run(self, start: np.ndarray, steps: int, observe: Any = lambda x: None) -> np.ndarray:
        """States ``(rows, d)`` after so many steps from ``start``; each is shown to ``observe``, which keeps few."""
        rounds, attempts = FEW, FEW if self._cuts else 1
        x, keys, first = np.array(start), self._streams(rounds, attempts), 0
        self.calls += steps
        place = self.draws.first_replicate, self.draws.replicates
        while first < steps:
            states = np.empty((min(max(1, tiles.NUMBERS // start.size), steps - first), *start.shape))
            queries, capped = np.zeros(len(x)), np.zeros(len(x), dtype=bool)
            told = (self._slopes, self._cuts, self._law, self._oracle, THRESHOLDS, first, place, keys)
            status, step = proximal_steps(states, x, queries, capped, *told)
            if status == FAILED:
                raise NumericalFailure(f"proximal_sampler: nothing accepted in {MOST_ROUNDS} rounds of step {step}")
            if status != DONE:
                rounds = min(2 * rounds, MOST_ROUNDS) if status == MORE_ROUNDS else rounds
                attempts = min(2 * attempts, MOST_ATTEMPTS) if status == MORE_ATTEMPTS else attempts
                keys = self._streams(rounds, attempts)
                continue
            self.queries += queries
            self.capped |= capped
            x[:], first = states[-1], first + len(states)
            for state in states:
                observe(state)
        return x

    def _streams(self, rounds: int, attempts: int) -> tuple[Any, ...]:
        """Keys of all streams that so many rounds and attempts read."""

        def words(name: str) -> tuple[int, int]:
            first, second = self.draws.stream(name).key
            return int(first), int(second)

        tried = [[f"{a}/{b}" for b in range(attempts)] for a in range(rounds)]
        points = [np.array([[words(f"{name}/{at}") for at in row] for row in tried]) for name in "xz"]
        others = [np.array([words(f"{name}/{a}") for a in range(rounds)]) for name in ("coins", "records")]
        return words("forward"), *points, *others


def _few_slopes(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Check for linear losses of few slopes, the same for all rows, on the cube or an l_p ball with p < 2."""
    problem, d = objective.problem, objective.problem.dimension
    shared = not problem.draws_per_replicate and not problem.signal_option
    known = plan.losses in LINEAR and (plan.q < 2.0 or math.isinf(plan.p))
    return known and shared and objective.n * d * d <= MOST_SLOPES


@fused("gopi2022.proximal_sampler", supports=_few_slopes, form=False)
def run(objective: Any, plan: Any, mechanism: Any) -> Any:
    """Run the sampler `proximal_sampler`, compiled."""

    def compiled_sampler(target: Target, k: float, mu: float, draws: KeyedDraws, **options: Any) -> np.ndarray:
        return proximal_sampler(target, k, mu, draws, chains=partial(CompiledChains, target, mu), **options)

    return draw(objective, plan, mechanism, compiled_sampler)
