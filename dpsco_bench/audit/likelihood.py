"""Log densities of what queries release, each up to a constant that both data sets of a pair share.

Where a density has no closed form (a mean of generalised Gaussians, the determinant of a minimiser's change of
variables, the far side of a set that is no l2 ball) the nearest one that has stands in for it. A bound on epsilon from
such a score is valid all the same: any function of what is released gives one. It has less power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import binom

from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy.plan import NoisyMinimumQuery, ObjectiveQuery, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, WithReplacement

Array = np.ndarray

NODES = 12  # points of the quadrature of a noisy minimum, on either side of 0
COPIES = 12  # most copies of a record in a batch drawn with replacement that are told apart
INSIDE = 1.0 - 1e-7  # part of a ball's radius up to which a minimiser counts as an inner point


def normal(z: Array, scale: float) -> Array:
    """Compute the log density ratio of normal noise ``z (R, k)``; shape ``(R,)``, as below."""
    return -np.sum(z * z, axis=-1) / (2.0 * scale * scale)


def generalised_gaussian(z: Array, scale: float, r: float) -> Array:
    """Compute it for noise of density ``~ exp(-||z||_r^2/(2 scale^2))``."""
    return -(lp_norm(z, r)[:, 0] ** 2) / (2.0 * scale * scale)


def mean_deviation(d: int, r: float, draws: int) -> float:
    """Compute the standard deviation of a coordinate of a mean of ``draws`` vectors ``~ exp(-||z||_r^2/2)``."""
    log_variance = math.log(d) + gammaln(3 / r) + gammaln(d / r) - gammaln(1 / r) - gammaln((d + 2) / r)
    return math.exp(0.5 * float(log_variance)) / math.sqrt(draws)


LAWS: dict[str, Callable[..., Array]] = {  # by the law of a query's noise
    "normal": normal,
    "generalised_gaussian": generalised_gaussian,
    "generalised_gaussian_mean": lambda z, scale, *law: normal(z, scale * mean_deviation(z.shape[-1], *law)),
    "gamma_norm": lambda z, scale, q=2.0: -lp_norm(z, q)[:, 0] / scale,
}


def supports(plan: Plan) -> bool:
    """Tell whether every query of a plan has a density here."""
    return all(map(_known, plan.queries))


def _known(query: Query) -> bool:
    if isinstance(query, NoisyMinimumQuery | ObjectiveQuery | DrawQuery):
        return not query.records.sampled
    own = type(query).answer is Query.answer and type(query).exposed is Query.exposed
    return own and query.law in LAWS


def factor(query: Query, step: int) -> float:
    """Factor of a query's own on the scale of one release."""
    factors = query.factors(step, 1)
    return 1.0 if factors is None else float(np.asarray(factors)[0])


def log_density(query: Query, scale: float, step: int, exposed: Array, released: Array) -> Array:
    """Log density ``(R,)`` of what a query with noise of its own released; -inf for what noise 0 cannot give.

    ``exposed`` is `Query.exposed` on one data set: the value ``(R, k)``, or the scores ``(R, K)`` of a noisy minimum.
    ``released`` are ``(R, k)``, or indices ``(R,)``. The query's own factors are applied to the ``scale`` here.
    """
    scale = scale * factor(query, step)
    if isinstance(query, NoisyMinimumQuery):
        return noisy_minimum(np.asarray(exposed, dtype=np.float64), np.asarray(released), scale)
    z = np.asarray(released, dtype=np.float64) - exposed
    if scale == 0.0:
        return np.where(np.any(z != 0.0, axis=-1), -np.inf, 0.0)
    return LAWS[query.law](z, scale, *query.law_parameters)


def noisy_minimum(scores: Array, chosen: Array, scale: float) -> Array:
    """Log probability that ``chosen (R,)`` is the index of the least of ``scores (R, K)`` plus noise, by quadrature."""
    rows = np.arange(len(scores))
    if scale == 0.0:
        return np.where(np.argmin(scores, axis=-1) == chosen, 0.0, -np.inf)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    below = 0.25 * (nodes + 1.0)  # of the distribution function, in (0, 1/2)
    noise = np.concatenate([np.log(2.0 * below), -np.log(2.0 * below)])
    log_weights = np.log(np.tile(0.25 * weights, 2))
    gap = (scores - scores[rows, chosen][:, None]) / scale
    total = np.tile(log_weights, (len(scores), 1))
    for k in range(scores.shape[-1]):
        here = noise[None, :] - gap[:, k, None]  # the other one's noise has to be above
        tail = np.where(here < 0.0, np.log1p(-0.5 * np.exp(np.minimum(here, 0.0))), -here - math.log(2.0))
        total += np.where((chosen == k)[:, None], 0.0, tail)
    return np.asarray(logsumexp(total, axis=-1))


def minimiser(
    query: ObjectiveQuery, scale: float, data_part: Array, x: Array, weight: float, domain: Any, n: int
) -> Array:
    """Log density of a perturbed minimiser ``x (R, d)``, without determinants, which canaries do not have.

    The linear term is ``b = -(sum of the records' gradients) - n weight x`` inside the domain, with the ``weight`` of
    all public quadratic terms. On the sphere of a ball it is that less any multiple of x, over which the density is
    integrated.
    """
    inside = data_part + n * weight * x
    if scale == 0.0:
        return np.where(np.abs(inside).max(axis=-1) > 1e-6, -np.inf, 0.0)
    found = LAWS[query.law](inside, scale, *query.law_parameters)
    if domain is None or query.law != "normal":
        return found
    length = np.maximum(np.linalg.norm(x, axis=-1), 1e-300)
    along = np.sum(inside * x, axis=-1) / (scale * length)
    on_sphere = found + 0.5 * along * along + log_ndtr(-along)
    return np.where(domain.norm(x)[:, 0] < INSIDE * domain.radius, found, on_sphere)


def mixed(query: Query, scale: float, step: int, sides: tuple[Array, Array], released: Array) -> Array:
    """Log density of a sampled release: a mixture over how often the record, in the second of ``sides``, was drawn."""
    records: Any = query.records
    out, once = sides
    if isinstance(records, WithReplacement):
        copies = np.arange(min(records.size, COPIES) + 1)
        chance = binom.logpmf(copies, records.size, 1.0 / records.population)
        terms = [log_density(query, scale, step, out + k * (once - out), released) for k in copies]
        return np.asarray(logsumexp(np.stack(terms) + chance[:, None], axis=0))
    rate = records.rate if isinstance(records, Poisson) else getattr(records, "size", 1.0) / records.population
    rest = math.log1p(-rate) if rate < 1.0 else -math.inf
    without, drawn = (log_density(query, scale, step, side, released) for side in sides)
    return np.logaddexp(rest + without, math.log(rate) + drawn)


def allocated(records: RandomAllocation, without: Array, drawn: Array) -> Array:
    """Log density ``(R,)`` of all releases of a shuffled pass, with the record in one of them at random, or in none.

    Of each release ``without`` and ``drawn (T, R)`` are log densities without the record, and with it.
    """
    chance = records.size / records.population
    terms = [math.log(chance) + drawn - without]
    left = 1.0 - chance * len(without)
    if left > 1e-12:
        terms.append(np.full((1, without.shape[1]), math.log(left)))
    return without.sum(axis=0) + np.asarray(logsumexp(np.concatenate(terms), axis=0))
