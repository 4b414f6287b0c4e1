"""Exact draws on an interval, on a ball by rejection, of directions on a sphere, and of radii."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaincinv, log_ndtr, ndtri, ndtri_exp

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = 50.0
"""Standard deviations beyond which a quantile is found by how far it lies below the end of its tail.

There a difference of logarithms of tails has fewer digits than the interval, and `ndtri_exp` loses some of its own.
"""


def truncated_normal(u: Array, mean: Any, sd: Any, high: Any) -> Array:
    """Draw normals conditioned on ``[-high, high]``, by inversion in the left tail. Source: chapter, section 2.3."""
    sign = np.where(np.asarray(mean) < 0, -1.0, 1.0)  # reflected so that the interval lies to the left of the mean
    centre = np.abs(mean)
    low, top = (-high - centre) / sd, (high - centre) / sd
    x = centre + sd * ndtri_exp(np.logaddexp(log_ndtr(low) + np.log1p(-u), log_ndtr(top) + np.log(u)))
    far = top < -FAR
    if np.any(far):
        x = np.where(far, high - sd * _below(u, np.where(far, -top, FAR), 2.0 * high / sd), x)
    return sign * np.clip(x, -high, high)


def _below(u: Array, away: Any, length: Any) -> Array:
    """Compute how far the u-quantile of a normal tail ``[-away - length, -away]`` is below its end; away >= `FAR`."""
    whole = _fall(away, length)
    short = np.log1p(np.expm1(-np.minimum(whole, 1.0)) * (1.0 - u))  # keeps the digits of a tail that hardly falls
    wanted = -np.where(whole < 1.0, short, np.log(u + np.exp(-whole) * (1.0 - u)))
    found = wanted - np.log1p(wanted / away**2)
    found = 2.0 * found / (away + np.sqrt(away**2 + 2.0 * found))
    at = away + found
    return found - (_fall(away, found) - wanted) / (at + (1.0 - 2.0 / at**2) / at)  # a Newton step leaves 1e-13 of it


def _fall(away: Any, length: Any) -> Any:
    """``-log(Phi(-away - length)/Phi(-away))`` to rounding, away >= `FAR`.

    By three terms of ``log(x Phi(-x)/phi(x)) = -1/x^2 + 5/(2 x^4) - 37/(3 x^6) + ...``, each a divided difference.
    """
    end = away + length
    y, z = 1.0 / away**2, 1.0 / end**2
    terms = 1.0 - 2.5 * (y + z) + 37.0 / 3.0 * (y * y + y * z + z * z)
    return length * (away + 0.5 * length) + np.log1p(length / away) - y * (length / end) * (1.0 + away / end) * terms


def quantile_of_log(level: Array) -> Array:
    """``Phi^-1(exp(level))``; a Newton step gives far quantiles the digits that `ndtri_exp` leaves out."""
    z = ndtri_exp(level)
    deep = np.minimum(z, -FAR)
    found = log_ndtr(deep)
    step = (found - level) * np.exp(found + 0.5 * deep**2 + LOG_ROOT_2PI)
    return np.where(z < -FAR, deep - step, z)


def truncated_exponential(u: Array, slope: Any, high: Any) -> Array:
    """Variates of density ``~ exp(slope x)`` on ``[-high, high]``, by inversion; slope 0 is uniform."""
    length = 2.0 * np.abs(slope) * high
    steep = length > 1e-8
    rate = np.where(steep, np.abs(slope), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = -np.log1p(u * np.expm1(-np.where(steep, length, 1.0))) / rate  # distance from the likelier end
    distance = np.where(steep, below, 2.0 * u * high)
    return np.where(np.asarray(slope) < 0, -1.0, 1.0) * np.clip(high - distance, -high, high)


MOST_ATTEMPTS = 1000
"""Most proposals of a row. Where an envelope accepts half of them, so many failures are an error, not chance."""


def first_accepted(
    propose: Callable[[int, Array], tuple[Array, Array]], shape: tuple[int, ...], about: str = ""
) -> tuple[Array, Array]:
    """Draw N rows by ``propose(attempt, rows) -> points, accepted``; returns also the rows ``(m,)`` that got no point.

    With ``about``, such rows raise a NumericalFailure, whose message begins with it.
    """
    points, todo = np.empty(shape), np.arange(shape[0])
    for attempt in range(MOST_ATTEMPTS):
        points[todo], accepted = propose(attempt, todo)
        todo = todo[~accepted]
        if not todo.size:
            break
    if about and todo.size:
        raise NumericalFailure(f"{about}: {len(todo)} of {len(points)} rows not accepted in {MOST_ATTEMPTS} rounds")
    return points, todo


def gaussian_on_ball(
    draws: KeyedDraws, name: str, step: int, mean: Array, sd: float, p: float, radius: float, rows: Array
) -> tuple[Array, Array]:
    """Gaussians ``N(mean, sd^2 I)`` conditioned on the l_p ball, by rejection; on the cube by inversion.

    ``mean (m, d)``, p in [1, inf], ``rows (m,)`` of ``draws`` that ask -> points ``(m, d)``, and the numbers of those
    that were never accepted: the last attempt, shrunk on the sphere.
    """
    if np.isinf(p):
        u = draws.uniform(f"{name}/0", step, mean.shape[1])[rows]
        return truncated_normal(u, mean, sd, radius), np.arange(0)

    def propose(attempt: int, todo: Array) -> tuple[Array, Array]:
        u = draws.uniform(f"{name}/{attempt}", step, mean.shape[1])[rows[todo]]
        points = mean[todo] + sd * ndtri(u)
        return points, np.linalg.norm(points, ord=p, axis=1) <= radius

    points, capped = first_accepted(propose, mean.shape)
    points[capped] *= radius / np.linalg.norm(points[capped], ord=p, axis=1, keepdims=True)
    return points, capped


def cone_lp(draws: KeyedDraws, name: str, step: int, p: float, d: int) -> np.ndarray:
    """Points ``(rows, d)`` of l_p norm 1: the direction of a uniform point of the l_p ball.

    Entries ``+-Gamma(1/p)^(1/p)`` over their l_p norm; for infinite p those of a point of the cube over the largest.
    """
    u = 2.0 * draws.uniform(name, step, d) - 1.0
    if math.isinf(p):
        return u / np.max(np.abs(u), axis=1, keepdims=True)
    quantile = np.abs(u)
    magnitude = -ndtri(0.5 - 0.5 * quantile) if p == 2.0 else gammaincinv(1.0 / p, quantile) ** (1.0 / p)
    length = np.sum(magnitude**p, axis=1, keepdims=True) ** (1.0 / p)
    return np.copysign(magnitude, u) / length


def tangent_ends(touch: Array, slope: Array, rise: Array) -> Array:
    """Find where tangents of a concave function meet, between the points where they touch, along the last axis.

    ``rise`` is by how much their offsets grow from one to the next.
    """
    before, after = slope[..., :-1], slope[..., 1:]
    drop = before - after
    flat = drop <= 1e-12 * (np.abs(before) + np.abs(after))  # equal tangents: any end will do
    crossing, middle = rise / np.where(flat, 1.0, drop), 0.5 * (touch[..., 1:] + touch[..., :-1])
    return np.where(flat, middle, np.clip(crossing, touch[..., :-1], touch[..., 1:]))


def tangent_masses(touch: Array, value: Array, slope: Array, start: Array, end: Array) -> Array:
    """Add up the masses of exponentials of tangents from ``start`` to ``end``, up to a factor of each row."""
    higher = value + np.maximum(slope * (start - touch), slope * (end - touch))  # of the log at the higher end
    fall = np.abs(slope) * (end - start)
    share = np.where(fall > 1e-9, -np.expm1(-fall) / np.where(fall > 0.0, fall, 1.0), 1.0 - 0.5 * fall)
    return np.cumsum(np.exp(higher - value.max(axis=-1, keepdims=True)) * (end - start) * share, axis=-1)


TANGENTS = 33
_DEPTH = 30.0


class TangentEnvelope(RadialLaw):
    """The law of a radius with one curvature, A >= 0, and a piecewise exponential envelope of its density.

    Tangents of a concave function lie above it wherever they touch; where they touch only decides how much is accepted.
    Source: Chapter gopi2022, section 2.3 (radial_exact).
    """

    def slope(self, rho: Array) -> Array:
        return (self.d - 1) / rho - self.A - 2.0 * self.B * rho

    @cached_property
    def _pieces(self) -> tuple[Array, ...]:
        """Touching points of the tangents, log densities and slopes there, ends and running masses of their pieces."""
        touch = self._touching_points()
        value, slope = self.log_density(touch, self.B), self.slope(touch)
        ends = tangent_ends(touch, slope, value[1:] - value[:-1] - slope[1:] * touch[1:] + slope[:-1] * touch[:-1])
        start, end = np.concatenate([[0.0], ends]), np.concatenate([ends, [self.R]])
        return touch, value, slope, start, end, tangent_masses(touch, value, slope, start, end)

    def _touching_points(self) -> Array:
        """Choose points from one place where the density is exp(-30) of its maximum to the other side of the mode."""
        mode = self._mode()
        top, low = self.log_density(mode, self.B), mode
        for _ in range(60):  # halve the distance to the ends until the density there is not negligible
            low = 0.5 * low if self.log_density(low, self.B) > top - _DEPTH else low
        step = self.R - mode
        for _ in range(60):
            step = 0.5 * step if self.log_density(mode + step, self.B) < top - _DEPTH else step
        high = min(self.R, mode + 2.0 * step)
        return np.unique(np.concatenate([np.linspace(low, mode, TANGENTS), np.linspace(mode, high, TANGENTS)]))

    def _mode(self) -> float:
        """Zero of the slope, at most R; a small radius where the density falls from 0 on."""
        root = np.sqrt(self.A * self.A + 8.0 * self.B * (self.d - 1))
        if self.d == 1:
            return min(self.R, 1e-3 / max(self.A, np.sqrt(self.B), 1.0 / self.R))
        return float(min(self.R, 2.0 * (self.d - 1) / (self.A + root) if root > 0 else self.R))

    def propose(self, u: Array) -> tuple[Array, Array]:
        """Uniform numbers ``(N, 3)`` -> radii ``(N,)`` and whether they are accepted."""
        touch, value, slope, start, end, cumulative = self._pieces
        piece = np.searchsorted(cumulative, u[:, 0] * cumulative[-1], side="right")
        piece = np.minimum(piece, cumulative.size - 1)
        rho = 0.5 * (start + end)[piece] + truncated_exponential(u[:, 1], slope[piece], 0.5 * (end - start)[piece])
        rho = np.maximum(rho, np.finfo(float).tiny)
        envelope = value[piece] + slope[piece] * (rho - touch[piece])
        return rho, np.log(u[:, 2]) <= self.log_density(rho, self.B) - envelope


def sample_radius(draws: KeyedDraws, d: int, A: float, B: float, R: float) -> Array:
    """Radii ``(rows,)`` of density ``~ rho^(d-1) exp(-A rho - B rho^2)`` on ``(0, R]``; see `TangentEnvelope`."""
    envelope = TangentEnvelope(d, A, B, R)
    about = f"radial_exact at d = {d}, A = {A:g}, B = {B:g}"
    proposed = lambda t, rows: envelope.propose(draws.uniform("radius", t, 3)[rows])  # noqa: E731
    return first_accepted(proposed, (draws.rows,), about)[0]
