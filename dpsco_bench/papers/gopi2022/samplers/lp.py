"""Exact draws of ``exp(<v, x> - c ||x||_q^2)`` on the unit l_p ball, 1 <= p < 2, for any tilt: products by rejection.

``u^(2/q)`` is convex, so that a tangent in ``u = ||x||_q^q`` bounds the density by a product of one-dimensional
log-concave ones, and the ball is kept by a multiplier of ``||x||_p^p - 1``, which is at most 0 inside. There are two
such products, and each row takes the one that should accept more:

- all coordinates come from the product;
- the coordinate of the largest tilt comes last, from an exponential law cut to the room ``T = (1 - w)^(1/p)`` that the
  others leave, w the sum of their p-th powers. T is concave in w, so that its tangent leaves a product again. Its
  acceptance does not fall with the tilt, where the law lies close to the sphere.

Source: Gopi, Lee, Liu, Shen, Tian 2022, Corollaries 2 and 3, for the law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.gopi2022.laws.quadrature import DEPTH, ends, gauss_legendre
from dpsco_bench.papers.gopi2022.samplers.truncated import (
    tangent_ends,
    tangent_masses,
    truncated_exponential,
    truncated_normal,
)
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
_COUNT, _NODES, _BISECTIONS = 1025, 96, 60
FAR, FARTHEST = 30.0, 1e12
"""Largest mode and largest -t of the table, which is constant beyond."""


@dataclass(frozen=True)
class HalfLine:
    """``L(t) = log int_0^inf exp(t y - y^q) dy`` and ``L'(t)``, the mean of y, for q in (1, 2].

    Their excess over ``max_y t y - y^q`` and its derivative is smooth, and tabulated. They only choose the parameters
    of proposals, so that their accuracy, about 1e-5, is a matter of speed alone.
    """

    q: float

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """L, L' and the mean of ``y^q`` at ``t``, any shape."""
        nodes, logs, means = self._table
        t = np.minimum(t, self._highest)
        at = np.arcsinh(t)
        mode = self._mode(t)
        mean = np.exp(np.interp(at, nodes, means)) + mode
        # by parts, but for t far below 0, where that cancels and y is nearly exponential
        power = np.where(t < -FAR, math.gamma(self.q + 1.0) * mean**self.q, (1.0 + t * mean) / self.q)
        return np.interp(at, nodes, logs) + (self.q - 1.0) * mode**self.q, mean, power

    @property
    def _highest(self) -> float:
        return float(self.q * FARTHEST ** (self.q - 1.0))

    def _mode(self, t: Array) -> Array:
        return (np.maximum(t, 0.0) / self.q) ** (1.0 / (self.q - 1.0))

    @cached_property
    def _table(self) -> tuple[Array, Array, Array]:
        """``asinh t``, and there L and ``log L'`` without the mode's part."""
        nodes = np.linspace(-np.arcsinh(FARTHEST), np.arcsinh(self._highest), _COUNT)
        t = np.sinh(nodes)
        mode = self._mode(t)
        # y = mode + s: the exponent over that at the mode, without cancellation for small s
        low, high = self._ends(t, mode)
        u, weights = gauss_legendre(_NODES)
        s = low[:, None] + (high - low)[:, None] * u
        mass = weights * np.exp(self._exponent(t[:, None], mode[:, None], s)) * (high - low)[:, None]
        total = mass.sum(axis=1)
        return nodes, np.log(total), np.log(np.maximum((mass * s).sum(axis=1) / total, 1.0 / FARTHEST))

    def _exponent(self, t: Array, mode: Array, s: Array) -> Array:
        """``t y - y^q`` at ``y = mode + s`` over that at the mode."""
        safe = np.where(mode > 0.0, mode, 1.0)
        ratio = np.maximum(s / safe, -1.0)
        with np.errstate(divide="ignore", over="ignore"):
            bend = np.expm1(self.q * np.log1p(ratio)) - self.q * ratio
        return np.where(mode > 0.0, -(safe**self.q) * bend, t * s - np.abs(s) ** self.q)

    def _ends(self, t: Array, mode: Array) -> tuple[Array, Array]:
        """Find where s is worth while: the density is above ``exp(-DEPTH)`` of its maximum."""
        far = 2.0 * mode + DEPTH + 1.0  # there the exponent is below -DEPTH for every q > 1 and t <= 0, and for t > 0
        far = np.where(t > 0.0, far * DEPTH, np.minimum(far, DEPTH / np.maximum(-t, 1e-9)))
        holds: Callable[[Array], Array] = lambda s: self._exponent(t, mode, s) > -DEPTH  # noqa: E731
        _, below = ends(lambda s: holds(-s), 0.0 * mode, mode, _BISECTIONS)
        _, above = ends(holds, 0.0 * mode, far, _BISECTIONS)
        return -below, above


half_line = lru_cache(maxsize=16)(HalfLine)
Function = Callable[[Array], Array]
_HALVINGS, _ROUNDS = 3, 60
LEAST, _TINY = 1e-15, 1e-300


class Product(NamedTuple):
    """A product of densities ``exp(v_j x_j - lam |x_j|^q - eta |x_j|^p)`` for each of N rows, ``(N,)`` each.

    Attributes
    ----------
    rate, pivot : of the exponential law of the coordinate that comes last, 0 where none does, and which one it is
    log_bound : of the density over the product's, valid whatever the other numbers are
    log_mass : about that of the bound, which decides between two of them
    """

    lam: Array
    eta: Array
    rate: Array
    pivot: Array
    log_bound: Array
    log_mass: Array


@dataclass(frozen=True)
class LpEnvelope:
    """The law of N rows of tilts ``v (N, d)``, and the products that bound it; c > 0, q and p as for `sample_lp`.

    Their parameters come from means to a few digits.
    """

    v: Array
    c: float
    q: float
    p: float

    @cached_property
    def size(self) -> Array:
        return np.abs(self.v)

    @cached_property
    def product(self) -> Product:
        """Choose the one of smaller mass in each row."""
        one, other = self.whole(), self.with_last()
        better = other.log_mass < one.log_mass
        return Product(*(np.where(better, theirs, own) for own, theirs in zip(one, other, strict=True)))

    @cached_property
    def factors(self) -> Factors:
        return Factors(self.v, self.product.lam, self.product.eta, self.q, self.p)

    def finish(self, rows: Array, x: Array, u: Array) -> tuple[Array, Array]:
        """Points of the products ``(m, d)`` of rows ``(m,)`` and uniform numbers ``(m, 2)`` -> points, accepted."""
        product, everyone = self.product, np.arange(len(rows))
        last = product.rate[rows] > 0.0
        pivot = product.pivot[rows]
        size = np.abs(x)
        size[everyone[last], pivot[last]] = 0.0
        powers, filled = np.sum(size**self.q, axis=1), np.sum(size**self.p, axis=1)
        log_ratio = product.lam[rows] * powers + product.eta[rows] * filled - product.log_bound[rows]
        inside = filled <= 1.0
        if last.any():
            rate = np.where(last, product.rate[rows], 1.0)
            room = np.maximum(1.0 - filled, 0.0) ** (1.0 / self.p)
            at = truncated_exponential(u[:, 0], rate, room)
            tilt = self.v[rows, pivot]
            x[everyone[last], pivot[last]] = (np.where(tilt < 0.0, -at, at))[last]
            powers = np.where(last, powers + np.abs(at) ** self.q, powers)
            with np.errstate(divide="ignore"):
                log_share = (
                    np.log(-np.expm1(-2.0 * rate * room)) + rate * (room - at) - np.log(rate) + np.abs(tilt) * at
                )
            log_ratio = np.where(last, log_ratio + log_share, log_ratio)
        log_ratio = log_ratio - self.c * powers ** (2.0 / self.q)
        return x, inside & (np.log(u[:, 1]) <= log_ratio)

    def whole(self) -> Product:
        """Propose all coordinates from the product; the tangent touches at its mean of ``||x||_q^q``."""
        largest = self.size.max(axis=1)

        def multiplier(lam: Array) -> Array:
            """Eta for which the mean of ``||x||_p^p`` is 1, or 0."""
            return _beside(
                largest, lambda eta: self._moments(lam, eta)[2].sum(axis=1), np.ones_like, self._most, self._close
            )

        def mean(at: Array) -> Array:
            lam = self._tangent(at)[0]
            eta = np.zeros_like(lam) if self.q == self.p else multiplier(lam)
            return np.asarray(self._moments(lam, eta)[1].sum(axis=1))

        at = _positive(mean, lambda at: at, np.ones(len(self.size)), self._close)
        lam, most = self._tangent(at)
        eta = multiplier(lam)
        mass = self._moments(lam, eta)[0].sum(axis=1) + most + eta
        return Product(lam, eta, np.zeros_like(lam), np.zeros(len(lam), dtype=int), most + eta, mass)

    def with_last(self) -> Product:
        """Put the largest tilt last, tangents touching at x and T; of infinite mass where it is not drawn outwards."""
        pivot = np.argmax(self.size, axis=1)
        tilt = np.maximum(self.size[np.arange(len(pivot)), pivot], LEAST)
        others = np.arange(self.size.shape[1]) != pivot[:, None]

        def rest(lam: Array, eta: Array) -> list[Array]:
            return [np.where(others, value, 0.0).sum(axis=1) for value in self._moments(lam, eta)]

        lam, room, x, extra = self._touching(tilt, np.where(others, self.size, 0.0).max(axis=1), rest)
        # max_u lam u - c u^(2/q)
        most = self.c * (2.0 / self.q - 1.0) * (0.5 * lam * self.q / self.c) ** (2.0 / (2.0 - self.q))
        rate = tilt - lam * self.q * x ** (self.q - 1.0)
        outwards = rate > 0.0
        rate = np.where(outwards, rate, 1.0)
        slope = rate * room ** (1.0 - self.p) / self.p  # of rate T in w
        bound = most + lam * (self.q - 1.0) * x**self.q + rate * room + slope * (1.0 - room**self.p) + extra
        bound = bound - np.log(rate)
        mass = np.where(outwards, rest(lam, slope + extra)[0] + bound, np.inf)
        return Product(lam, slope + extra, rate, pivot, bound, mass)

    def _touching(
        self, tilt: Array, second: Array, rest: Callable[[Array, Array], list[Array]]
    ) -> tuple[Array, Array, Array, Array]:
        """lam, T, x and a further multiplier of ``w - 1``, for which the tangents touch at the product's means."""
        one, zero = np.ones_like(tilt), np.zeros_like(tilt)
        if self.p > 1.0:  # then q = p, and lam + eta is tilt T^(1 - p)/p whatever lam is
            lam = self._tangent(one)[0]
            room = _positive(
                lambda T: 1.0 - T**self.p,
                lambda T: rest(zero, tilt * T ** (1.0 - self.p) / self.p)[2],
                (1.0 - LEAST) * one,
                self._close,
            )
            return lam, room, room, zero

        def rate(lam: Array, x: Array) -> Array:
            return np.maximum(tilt - lam * self.q * x ** (self.q - 1.0), 0.0)

        def last(lam: Array) -> tuple[Array, Array]:
            """x, at the mean of T, and the multiplier, at least the one for which the mean of w is 1."""
            most = (1.0 - 1.0 / self.size.shape[1]) * one
            x = 1.0 - _positive(lambda w: rest(lam, rate(lam, 1.0 - w))[2], lambda w: w, most, self._close)
            eta = _beside(second, lambda eta: rest(lam, eta)[2], lambda eta: one, self._most, self._close)
            return x, np.maximum(rate(lam, x), eta)

        def mean(at: Array) -> Array:
            lam = self._tangent(at)[0]
            x, eta = last(lam)
            return np.asarray(rest(lam, eta)[1] + x**self.q)

        lam = self._tangent(_positive(mean, lambda at: at, one, self._close))[0]
        x, eta = last(lam)
        return lam, one, x, eta - rate(lam, x)

    @property
    def _close(self) -> float:
        """Compute how equal means have to be: roots in roots need only the accuracy of a tangent of curvature c."""
        return 1e-9 if self.q == self.p else min(1e-3, 0.03 / math.sqrt(self.c))

    @property
    def _most(self) -> Array:
        """More than any multiplier need be."""
        return np.asarray(1e3 * (self.size.sum(axis=1) + self.size.shape[1]))

    def _tangent(self, at: Array) -> tuple[Array, Array]:
        """Slope lam of the tangent of ``c u^(2/q)`` at u, and ``max_u lam u - c u^(2/q)``."""
        power = 2.0 / self.q
        return self.c * power * at ** (power - 1.0), self.c * (power - 1.0) * at**power

    def _moments(self, lam: Array, eta: Array) -> tuple[Array, Array, Array]:
        """Log normalisers, ``E |x_j|^q`` and ``E |x_j|^p`` of coordinates, ``(N, d)`` each, without the cut at +-1."""
        if self.q == self.p:
            lam, eta = lam + eta, 0.0 * eta
        scale = lam[:, None] ** (-1.0 / self.q)
        t, z = self.size * scale, eta[:, None] * scale
        (up, rise, most), (down, fall, least) = half_line(self.q)(t - z), half_line(self.q)(-t - z)
        share = 1.0 / (1.0 + np.exp(np.clip(down - up, -700.0, 700.0)))  # of the side towards which the tilt points
        power = (share * most + (1.0 - share) * least) / lam[:, None]
        mean = power if self.q == self.p else scale * (share * rise + (1.0 - share) * fall)
        return np.logaddexp(up, down) + np.log(scale), power, mean


def _positive(falls: Function, rises: Function, most: Array, close: float) -> Array:
    """Find a positive number, at most ``most (N,)``, at which a falling and a rising function are equal."""
    high = np.log(most)
    return np.exp(_root(lambda y: falls(np.exp(y)), lambda y: rises(np.exp(y)), high + math.log(LEAST), high, close))


def _beside(centre: Array, falls: Function, rises: Function, most: Array, close: float) -> Array:
    """Find a multiplier in [0, most] about whose value ``centre (N,)`` the functions may change quickly."""
    low, high = np.arcsinh(-centre), np.arcsinh(most)

    def at(y: Array) -> Array:
        return np.maximum(centre + np.sinh(y), 0.0)

    return at(_root(lambda y: falls(at(y)), lambda y: rises(at(y)), low, high, close))


def _root(falls: Function, rises: Function, low: Array, high: Array, close: float) -> Array:
    """Find where a falling and a rising positive function are equal up to ``1 + close``, or the closer end.

    By halving, then the Illinois rule (Dowell and Jarratt 1971) on logarithms; each row stays where it has arrived.
    """

    def value(y: Array) -> Array:
        return np.log(np.maximum(falls(y), _TINY)) - np.log(np.maximum(rises(y), _TINY))

    above, below = value(low), value(high)
    at, todo = np.where(above <= 0.0, low, high), (above > 0.0) & (below < 0.0)
    for number in range(_ROUNDS):
        if not todo.any():
            break
        share = 0.5 if number < _HALVINGS else np.where(todo, above, 0.5) / np.where(todo, above - below, 1.0)
        at = np.where(todo, low + (high - low) * share, at)
        found = value(at)
        right, fading = todo & (found > 0.0), 0.5 if number > _HALVINGS else 1.0
        left = todo & ~right
        above = np.where(right, found, np.where(left, fading * above, above))
        below = np.where(left, found, np.where(right, fading * below, below))
        low, high = np.where(right, at, low), np.where(left, at, high)
        todo = todo & (np.abs(found) > close)
    return at


LEVELS = (6.0, 2.5, 1.0, 0.3, 0.05)
"""Tangents touch where the log density is so far below its maximum, on both sides, and at the maximum."""
_STEPS = 52
MOST_ROUNDS = 200
"""A round accepts nine in ten; so many failures are an error of the envelope, not chance."""


@dataclass(frozen=True)
class Factors:
    """Densities ``exp(v_j x_j - lam |x_j|^q - eta |x_j|^p)`` for rows of ``v (N, d)``.

    ``lam, eta (N,)`` are >= 0 and not both 0, q and p in [1, 2]. A tangent of a concave function lies above it
    wherever it touches, on any interval: where tangents touch and pieces end only decides how much is accepted.
    """

    v: Array
    lam: Array
    eta: Array
    q: float
    p: float

    @cached_property
    def _envelope(self) -> tuple[Array, ...]:
        """Touching points, log densities and slopes there, ends and running masses of their pieces, ``(N, d, K)``."""
        tilt, lam, eta = np.abs(self.v)[:, :, None], self.lam[:, None, None], self.eta[:, None, None]

        def log_density(x: Array) -> Array:
            size = np.abs(x)
            return np.asarray(tilt * x - lam * size**self.q - eta * size**self.p)

        def pull(size: Array) -> Array:
            return np.asarray(lam * self.q * size ** (self.q - 1.0) + eta * self.p * size ** (self.p - 1.0))

        one = np.ones_like(tilt)
        mode = ends(lambda x: tilt > pull(x), np.zeros_like(tilt), one, _STEPS)[0]
        top = log_density(mode)

        def reach(side: float, k: float) -> Array:
            return side * ends(lambda x: log_density(side * x) > top - k, side * mode, one, _STEPS)[0]

        left, right = [reach(-1.0, k) for k in LEVELS], [reach(1.0, k) for k in reversed(LEVELS)]
        touch = np.concatenate([*left, mode, *right], axis=2)
        value, slope = log_density(touch), tilt - np.sign(touch) * pull(np.abs(touch))
        cuts = tangent_ends(touch, slope, np.diff(value - slope * touch))
        start, end = np.concatenate([-one, cuts], axis=2), np.concatenate([cuts, one], axis=2)
        return touch, value, slope, start, end, tangent_masses(touch, value, slope, start, end)

    def propose(self, rows: Array, u: Array) -> tuple[Array, Array]:
        """Uniform numbers ``(m, d, 3)`` of rows ``(m,)`` -> points ``(m, d)`` and which of them are accepted."""
        touch, value, slope, start, end, cumulative = self._envelope
        masses = cumulative[rows]
        piece = np.sum(u[:, :, :1] * masses[:, :, -1:] > masses[:, :, :-1], axis=2)
        at = rows[:, None], np.arange(self.v.shape[1]), piece
        half = 0.5 * (end[at] - start[at])
        x = 0.5 * (end[at] + start[at]) + truncated_exponential(u[:, :, 1], slope[at], half)
        envelope = value[at] + slope[at] * (x - touch[at])
        size = np.abs(x)
        penalty = self.lam[rows, None] * size**self.q + self.eta[rows, None] * size**self.p
        accepted = np.log(u[:, :, 2]) <= np.abs(self.v)[rows] * x - penalty - envelope
        return np.where(self.v[rows] < 0.0, -x, x), accepted

    def sample(self, draws: KeyedDraws, name: str, first_step: int, steps: int, asked: Array, rows: Array) -> Array:
        """Draw one point for each step and row, ``(steps, m, d)``; attempt a reads stream ``name/a``.

        ``asked (m,)`` are rows of ``draws``, ``rows (m,)`` the rows of the densities that they draw from.
        """
        d, everyone = self.v.shape[1], np.arange(len(rows))
        x, todo = np.empty((steps, len(rows), d)), np.ones((steps, len(rows), d), dtype=bool)
        for attempt in range(MOST_ROUNDS):
            left = everyone[todo.any(axis=(0, 2))]
            u = draws.uniform_steps(f"{name}/{attempt}", first_step, steps, 3 * d, asked[left])
            at, accepted = self.propose(np.tile(rows[left], steps), u.reshape(-1, d, 3))
            done = todo[:, left] & accepted.reshape(steps, -1, d)
            x[:, left] = np.where(done, at.reshape(steps, -1, d), x[:, left])
            todo[:, left] &= ~done
            if not todo.any():
                return x
        raise NumericalFailure(f"lp_exact: a coordinate without an accepted point after {MOST_ROUNDS} rounds")


ROWS, VALUES = 1024, 1 << 17
"""Rows that are looked at together and coordinates that are proposed at once; no number depends on them."""
MOST_PROPOSALS = 1 << 15
"""Most proposals of a row. One in fifty or more is accepted, so a row without any is an error of the bound."""


def sample_lp(draws: KeyedDraws, v: Array, c: float, q: float, p: float) -> Array:
    """Draw one point of the unit l_p ball per row of ``v (rows, d)``, of density ``~ exp(<v, x> - c ||x||_q^2)``.

    For c > 0 and q = p in (1, 2), or p = 1 and q in (1, 2). Raises NumericalFailure after `MOST_PROPOSALS`.
    """
    d = v.shape[1]
    if d == 1:
        return truncated_normal(draws.uniform("lp", 0, 1), v / (2.0 * c), np.sqrt(0.5 / c), 1.0)
    shared = LpEnvelope(v[:1], c, q, p) if np.all(v == v[0]) else None
    x = np.empty_like(v)
    for first in range(0, len(v), ROWS):
        asked = np.arange(first, min(first + ROWS, len(v)))
        envelope = shared or LpEnvelope(v[asked], c, q, p)
        rows = np.zeros_like(asked) if shared else np.arange(len(asked))
        x[asked] = _accepted(draws, envelope, asked, rows)
    return x


def _accepted(draws: KeyedDraws, envelope: LpEnvelope, asked: Array, rows: Array) -> Array:
    """First accepted proposal ``(m, d)`` of rows ``asked (m,)`` of the draws, ``rows (m,)`` of the envelope."""
    d = envelope.v.shape[1]
    x, todo, proposal, steps = np.empty((len(rows), d)), np.arange(len(rows)), 0, 1
    while len(todo) and proposal < MOST_PROPOSALS:
        at = envelope.factors.sample(draws, "lp", proposal, steps, asked[todo], rows[todo]).reshape(-1, d)
        u = draws.uniform_steps("lp", proposal, steps, 2, asked[todo]).reshape(-1, 2)
        found, accepted = envelope.finish(np.tile(rows[todo], steps), at, u)
        accepted = accepted.reshape(steps, -1)
        done = accepted.any(axis=0)
        first = accepted.argmax(axis=0)[done]
        x[todo[done]] = found.reshape(steps, -1, d)[first, done]
        proposal, todo = proposal + steps, todo[~done]
        steps = max(1, min(4 * steps, VALUES // max(1, d * len(todo)), MOST_PROPOSALS - proposal))
    if len(todo):
        about = f"lp_exact at p = {envelope.p:g}, d = {d}, c = {envelope.c:g}"
        raise NumericalFailure(f"{about}: {len(todo)} of {len(rows)} rows not accepted in {MOST_PROPOSALS} proposals")
    return x
