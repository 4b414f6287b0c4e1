"""Products that bound ``exp(<v, x> - c ||x||_q^2)`` on the unit l_p ball: their parameters and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.papers.gopi2022.samplers.half_line import half_line

Array = np.ndarray
Function = Callable[[Array], Array]
_HALVINGS, _ROUNDS = 3, 60
LEAST, _TINY = 1e-15, 1e-300


@dataclass(frozen=True)
class Product:
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
class LpProducts:
    """Both products for tilts ``v (N, d)``, >= 0. Their parameters come from means that need not be exact."""

    v: Array
    c: float
    q: float
    p: float

    def best(self) -> Product:
        """Choose the one of smaller mass in each row."""
        one, other = self.whole(), self.with_last()
        better = other.log_mass < one.log_mass
        return Product(**{key: np.where(better, getattr(other, key), value) for key, value in vars(one).items()})

    def whole(self) -> Product:
        """Propose all coordinates from the product; the tangent touches at its mean of ``||x||_q^q``."""
        largest = self.v.max(axis=1)

        def multiplier(lam: Array) -> Array:
            """Eta for which the mean of ``||x||_p^p`` is 1, or 0."""
            return _beside(
                largest, lambda eta: self._moments(lam, eta)[2].sum(axis=1), np.ones_like, self._most, self._close
            )

        def mean(at: Array) -> Array:
            lam = self._tangent(at)[0]
            eta = np.zeros_like(lam) if self.q == self.p else multiplier(lam)
            return np.asarray(self._moments(lam, eta)[1].sum(axis=1))

        at = _positive(mean, lambda at: at, np.ones(len(self.v)), self._close)
        lam, most = self._tangent(at)
        eta = multiplier(lam)
        mass = self._moments(lam, eta)[0].sum(axis=1) + most + eta
        return Product(lam, eta, np.zeros_like(lam), np.zeros(len(lam), dtype=int), most + eta, mass)

    def with_last(self) -> Product:
        """Put the coordinate of the largest tilt last; of infinite mass where it is not drawn outwards.

        Its tangents touch at x for ``|x_j|^q`` and at T for the room.
        """
        pivot = np.argmax(self.v, axis=1)
        tilt = np.maximum(self.v[np.arange(len(pivot)), pivot], LEAST)
        others = np.arange(self.v.shape[1]) != pivot[:, None]

        def rest(lam: Array, eta: Array) -> list[Array]:
            return [np.where(others, value, 0.0).sum(axis=1) for value in self._moments(lam, eta)]

        lam, room, x, extra = self._touching(tilt, np.where(others, self.v, 0.0).max(axis=1), rest)
        most = self._above(lam)
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
        """lam, T, x and a further multiplier of ``w - 1``, for which the tangents touch at the product's means.

        Of tilts, the largest and the second one ``(N,)``, and the moments of the other coordinates.
        """
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
            most = (1.0 - 1.0 / self.v.shape[1]) * one
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
        return np.asarray(1e3 * (self.v.sum(axis=1) + self.v.shape[1]))

    def _tangent(self, at: Array) -> tuple[Array, Array]:
        """Slope lam of the tangent of ``c u^(2/q)`` at u, and ``max_u lam u - c u^(2/q)``."""
        power = 2.0 / self.q
        return self.c * power * at ** (power - 1.0), self.c * (power - 1.0) * at**power

    def _above(self, lam: Array) -> Array:
        """``max_u lam u - c u^(2/q)`` for a slope of a tangent; with q = 2 the function is its own tangent."""
        if self.q == 2.0:
            return np.zeros_like(lam)
        at_power = (0.5 * lam * self.q / self.c) ** (2.0 / (2.0 - self.q))
        return np.asarray(self.c * (2.0 / self.q - 1.0) * at_power)

    def _moments(self, lam: Array, eta: Array) -> tuple[Array, Array, Array]:
        """Log normalisers, ``E |x_j|^q`` and ``E |x_j|^p`` of coordinates, ``(N, d)`` each, without the cut at +-1."""
        if self.q == self.p:
            lam, eta = lam + eta, 0.0 * eta
        scale = lam[:, None] ** (-1.0 / self.q)
        t, z = self.v * scale, eta[:, None] * scale
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

    By halving and then by the Illinois rule on their logarithms. A row stays where it has arrived, so that none depends
    on the others. Source: Dowell and Jarratt 1971.
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
