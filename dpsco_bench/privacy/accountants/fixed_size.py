"""Upper bounds on epsilon for batches of a fixed size, drawn anew for every release: privacy-loss distributions.

A record is drawn k times into a batch with probability ``p_k``, and a release is ``(k s)``-GDP between batches that
differ in k records. With ``q = 1 - p_0``, ``v_k = p_k/q``, H the hockey-stick divergence and
``h_k(a) = H_a(N(k s, 1) || N(0, 1))``, one release satisfies under replace-one, whatever the other records are,

    H_a' <= q sum over k of  v_k (l_k h_k(a'/l_k) + (1 - l_k) h_k(a_k)),    a' = 1 + q (a - 1) >= 1,

for all shares ``l_k`` in [0, 1] and all orders with ``sum_k v_k (1 - l_k) a_k = a - a'``. The proof, the best orders
and what subsets attain are in docs/accounting.md; such bounds compose like dominating pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.pld import (
    LEAST_MULTIPLIER,
    MULTIPLIER_TOLERANCE,
    SAFE,
    TAIL_SHARE,
    VERSION,
    Floats,
    GaussianPair,
    LossMasses,
    connect_the_dots,
    converged_epsilon,
    swept,
)
from dpsco_bench.privacy.accountants.solve import least_noise, require, require_target

NAME = f"PLD of fixed-size batches, {VERSION}"
# Numbers of copies with a share of their own that are tried besides all; Newton steps; losses tried for the range.
_SHARED, _NEWTON_STEPS, _RANGE_POINTS = 3, 8, 400
# Losses above it count as infinite: their exponentials overflow.
_LARGEST_LOSS = 600.0
# Points of the first grid on the composed loss.
_FIRST_POINTS = 2**14


@lru_cache(maxsize=4096)
def batch_epsilon(
    shift: float, population: int, size: int, steps: int, delta: float, replacement: bool = False, gdp_mu: float = 0.0
) -> float:
    """Replace-one upper bound on epsilon of releases that are ``(k shift)``-GDP for a record drawn k times.

    ``shift`` >= 0 is the full replace-one sensitivity of a record drawn once, *twice* the norm of a contribution, over
    the noise; with ``replacement`` it can be drawn again. ``gdp_mu`` is that of everything else that is released.
    """
    require(shift=shift, gdp_mu=gdp_mu, delta=delta)
    _require(population, size, steps, replacement)
    copies = _certain_copies(population, size, replacement)
    if shift in (0.0, math.inf) or copies:
        full = shift * max(1, copies) * math.sqrt(steps)
        return gaussian.gdp_epsilon(math.hypot(gdp_mu, full), delta)
    if not replacement or size == 1:
        pair = GaussianPair(shift, size / population, False)
        first = None if size == 1 else _FIRST_POINTS
        return converged_epsilon(
            lambda h, t: [[pessimistic_subset_losses(pair, h, t)]], [(pair, steps)], delta, gdp_mu, first
        )
    bound = CopiesBound.of(shift, population, size, TAIL_SHARE * delta / steps)
    return converged_epsilon(
        lambda h, t: [[pessimistic_copies_losses(bound, h, t)]], [(bound, steps)], delta, gdp_mu, _FIRST_POINTS
    )


@lru_cache(maxsize=1024)
def least_scale(
    epsilon: float, delta: float, population: int, size: int, steps: int, replacement: bool = False
) -> float:
    """Least noise (>= 0.01, to 0.1 % above) of a replace-one change of one with `batch_epsilon` <= ``epsilon``."""
    require_target(epsilon, delta)
    _require(population, size, steps, replacement)
    budget = gaussian.gdp_mu(epsilon, delta)
    if copies := _certain_copies(population, size, replacement):
        return copies * math.sqrt(steps) / budget * (1.0 + 1e-12)

    def epsilon_of(scale: float) -> float:
        return batch_epsilon(1.0 / scale, population, size, steps, delta, replacement)

    # The central limit of the remove-one pair, q sqrt(N (e^(1/z^2) - 1)).
    start = math.log1p((budget * population / size) ** 2 / steps) ** -0.5
    return least_noise(epsilon_of, epsilon * SAFE, max(LEAST_MULTIPLIER, start), MULTIPLIER_TOLERANCE, LEAST_MULTIPLIER)


def _certain_copies(population: int, size: int, replacement: bool) -> int:
    """Count how often every batch has the record; 0 where that is random."""
    if replacement:
        return size if population == 1 else 0
    return int(size == population)


def pessimistic_subset_losses(pair: GaussianPair, spacing: float, tail: float) -> LossMasses:
    """Discretised loss that dominates one release without replacement, whatever the other records contribute.

    Its divergence is that of the remove-one pair for epsilon >= 0, continued to negative values by
    ``h(e) = 1 - e^e + e^e h(-e)``: the cells of positive losses, their mirror images, and everything else at loss zero.
    """
    last = math.ceil(pair.loss_range(tail)[1] / spacing)
    upper, lower = pair.masses(spacing * np.arange(last + 1))
    masses = np.zeros(2 * last + 1)
    masses[last:] += connect_the_dots(spacing, 0, upper[1:-1], lower[1:-1])
    masses[: last + 1] += connect_the_dots(spacing, -last, lower[-2:0:-1], upper[-2:0:-1])
    masses[0] += lower[-1]
    masses[last] += 1.0 - upper[1:].sum() - lower[1:].sum()
    return swept(spacing, -last, masses, float(upper[-1]))


@dataclass(frozen=True)
class CopiesBound:
    """Bound on the divergence of one release on a batch that is drawn with replacement.

    `shift` > 0 is the Gaussian-DP parameter of one copy, `rate` in (0, 1) the probability that the batch has the record
    at all, `weights` those of 1, 2, ... copies if it has, `rest` that of more copies, counted as infinite loss.
    """

    shift: float
    rate: float
    weights: tuple[float, ...]
    rest: float

    @classmethod
    def of(cls, shift: float, population: int, size: int, rest: float) -> CopiesBound:
        """Make the law of a batch, with so many numbers of copies that at most ``rest`` is left out."""
        from scipy.stats import binom  # as in `solve.root`

        law, rate, most = binom(size, 1.0 / population), -math.expm1(size * math.log1p(-1.0 / population)), 1
        while law.sf(most) > rest:
            most += 1
        weights = law.pmf(np.arange(1, most + 1)) / rate
        return cls(shift, rate, tuple(weights[weights > 0.0].tolist()), float(law.sf(most)))

    def loss_range(self, tail: float) -> tuple[float, float]:
        most = len(self.weights) * self.shift
        losses = np.geomspace(self.rate * self.shift, 1.0 + most * (most - 2.0 * float(ndtri(tail))), _RANGE_POINTS)
        beyond = self.divergence(losses) <= tail + self.rest
        return math.log1p(-self.rate), float(losses[np.argmax(beyond)] if beyond.any() else losses[-1])

    def moments(self, tail: float) -> tuple[float, float]:
        return GaussianPair(self.shift, self.rate, False).moments(tail)

    def divergence(self, epsilon: Floats) -> Floats:
        """Bound it at every ``epsilon`` >= 0: the least over shares of ``a'/a`` up to some k, none beyond."""
        small = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / self.rate)
        large = epsilon - math.log(self.rate) + np.log1p((self.rate - 1.0) * np.exp(-np.maximum(epsilon, 1.0)))
        log_a = np.where(epsilon < 1.0, small, large)
        share, copies = np.exp(epsilon - log_a), len(self.weights)
        bounds = [self._shared(log_a, share, copies)]
        for k in range(min(_SHARED, copies)):
            bounds.append(np.where(share < 1.0 - 1e-9, self._shared(log_a, np.minimum(share, 1.0 - 1e-9), k), np.inf))
        return self.rest + self.rate * np.minimum(np.min(bounds, axis=0), 1.0)

    def _shared(self, log_a: Floats, share: Floats, most: int) -> Floats:
        """Bound it with a share of its own for up to so many copies."""
        shifts, logs = self.shift * np.arange(1, len(self.weights) + 1)[:, None], np.log(self.weights)[:, None]
        known = sum(self.weights[k] * _gaussian_divergence(log_a, (k + 1) * self.shift) for k in range(most))
        with np.errstate(divide="ignore"):
            rest = np.log1p(-share)
        if most == len(self.weights):
            return np.exp(rest) * _mixture_divergence(log_a, logs, shifts) + share * known
        left = np.where(np.arange(len(logs))[:, None] < most, logs, logs - rest)
        return np.exp(rest) * _mixture_divergence(log_a, left, shifts) + share * known


def _gaussian_divergence(log_a: Floats, s: float) -> Floats:
    return ndtr(0.5 * s - log_a / s) - np.exp(log_a + log_ndtr(-0.5 * s - log_a / s))


def _mixture_divergence(log_a: Floats, logs: Floats, shifts: Floats) -> Floats:
    """Divergence at orders ``(N,)`` of normals about positive shifts ``(K, 1)``, with weights, from one about zero.

    The density ratio grows with the output, so that the best test is a threshold. Its logarithm is convex: Newton's
    method, begun where one of the densities alone reaches the order, comes down to it.
    """
    base = logs - 0.5 * shifts**2
    x = np.min((log_a - base) / shifts, axis=0)
    for _ in range(_NEWTON_STEPS):
        terms = base + shifts * x
        top = terms.max(axis=0)
        ratios = np.exp(terms - top)
        total = ratios.sum(axis=0)
        x = x - (np.log(total) + top - log_a) * total / (shifts * ratios).sum(axis=0)
    return (np.exp(logs) * ndtr(shifts - x)).sum(axis=0) - np.exp(log_a + log_ndtr(-x))


def pessimistic_copies_losses(bound: CopiesBound, spacing: float, tail: float) -> LossMasses:
    """Discretised loss of the greatest convex function of ``e^epsilon`` below the bound; below zero by duality."""
    from scipy.optimize import isotonic_regression  # as in `solve.root`

    last = math.ceil(min(bound.loss_range(tail)[1], _LARGEST_LOSS) / spacing)
    grid = spacing * np.arange(last + 1)
    divergence = bound.divergence(grid)
    widths = np.diff(np.exp(grid))
    slopes = np.asarray(isotonic_regression(np.diff(divergence) / widths, weights=widths).x)  # of a convex minorant
    lower = np.maximum(np.diff(np.append(slopes, 0.0)), 0.0)
    masses = np.zeros(2 * last + 1)
    masses[last + 1 :] = np.exp(grid[1:]) * lower
    masses[:last] = lower[::-1]
    masses[last] = max(0.0, 1.0 - divergence[-1] - masses.sum())
    return swept(spacing, -last, masses, float(divergence[-1]))


def _require(population: int, size: int, steps: int, replacement: bool) -> None:
    require(population=population, size=size, steps=steps)
    if size > population and not replacement:
        raise InputError("size", size, f"at most {population}, the number of records")
