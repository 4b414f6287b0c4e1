"""Objective perturbation: upper bounds on epsilon from the two factors of the minimiser's density.

Let ``x`` minimise ``sum_i f_i + data-free terms + <b, x>``. The noise is ``b = -(sum_i grad f_i(x) + ...)``,
so the density of ``x`` is that of ``b`` times a Jacobian determinant, the Hessian's. Between replace-one neighbours

- ``b`` moves by at most ``s``, the sensitivity of the gradient sum (2G for G-Lipschitz records);
- the determinant changes by a factor of at most ``exp(log_jacobian)``.

Normal ``b`` of standard deviation ``sigma`` and generalised linear records with features ``a``, ``a'``: the move is
``c a - c' a'`` with ``|c| ||a|| + |c'| ||a'|| <= s`` for every ``x``. Outside an event of probability ``delta`` both
``|<b, a>| <= t sigma ||a||`` and ``|<b, a'>| <= t sigma ||a'||``, with ``t = Phi^{-1}(1 - delta/4)``: two fixed
directions, each with a two-sided tail of ``delta/2``. There the density ratio of ``b`` is at most ``exp(t r + r^2/2)``,
where ``r = s/sigma``.

Normal ``b`` and any move of norm at most ``s``: the ratio is at most ``exp(t r + r^2/2)`` outside an event of
probability ``delta`` in which the norm of ``b``'s projection exceeds ``t sigma``, on the space in which the move stays
for every ``x``. That norm over sigma is chi-distributed with as many degrees of freedom as the space has dimensions: 2
for generalised linear records (then ``t = sqrt(2 ln(1/delta))``), d if nothing is known of the move.

``b`` of density proportional to ``exp(-||b||/scale)``: the ratio is at most ``exp(s/scale)``, and delta is 0.
"""

from __future__ import annotations

import math

from scipy.special import chdtri, ndtri

from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.accountants.solve import require

NAME = "objective perturbation, density ratio"


def rank_one_log_jacobian(hessian: float, weight: float) -> float:
    """``ln(1 + hessian/weight)``: determinants with one rank-one term replaced by another.

    ``det(A + h a a') / det(A + h' a' a'')`` is at most ``1 + h ||a||^2 / weight`` where ``A >= weight I``.
    """
    return math.log1p(hessian / weight)


def two_rank_log_jacobian(hessian: float, weight: float) -> float:
    """``ln(1 + 2x + x^2)`` with ``x = hessian/weight``: the bound of Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9."""
    return 2.0 * math.log1p(hessian / weight)


def tail_epsilon(ratio: float, log_jacobian: float, tail: float) -> float:
    """Bound epsilon by ``t r + r^2/2 + log_jacobian``: normal b, ``r = s/sigma``, t of `plane_tail` or `chi_tail`."""
    require(ratio=ratio, log_jacobian=log_jacobian)
    return tail * ratio + 0.5 * ratio * ratio + log_jacobian


def tail_ratio(epsilon: float, log_jacobian: float, tail: float) -> float:
    """Find the ratio ``s/sigma`` at which `tail_epsilon` is ``epsilon``."""
    rest = gamma_ratio(epsilon, log_jacobian)
    return 2.0 * rest / (tail + math.sqrt(tail * tail + 2.0 * rest))


def plane_tail(delta: float) -> float:
    """Compute the two-sided quantile of either of two normals at ``delta/2``: for generalised linear records."""
    require(delta=delta)
    return -float(ndtri(0.25 * delta))


def chi_tail(delta: float, dimension: int) -> float:
    """Compute the ``1 - delta`` quantile of the norm of ``dimension`` independent standard normals."""
    require(delta=delta, dimension=dimension)
    return math.sqrt(float(chdtri(dimension, delta)))


def gamma_epsilon(ratio: float, log_jacobian: float) -> float:
    """Upper bound on the pure epsilon for ``b`` of density proportional to ``exp(-||b||/scale)``; ratio ``s/scale``."""
    require(ratio=ratio, log_jacobian=log_jacobian)
    return ratio + log_jacobian


def gamma_ratio(epsilon: float, log_jacobian: float) -> float:
    """Find the ratio ``s/scale`` at which `gamma_epsilon` is ``epsilon``; Refusal if the Jacobian alone uses it up."""
    if log_jacobian >= epsilon:
        raise Refusal("objective perturbation", f"the Jacobian alone costs epsilon {log_jacobian:.4g} of {epsilon:.4g}")
    return epsilon - log_jacobian
