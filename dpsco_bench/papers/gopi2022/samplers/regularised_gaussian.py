"""Gaussians times ``exp(-c ||x||_q^2)`` on an l_p ball, p < 2, exactly: what the alternating sampler asks for there."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpsco_bench.geometry.norms import dual_exponent, square_gradient
from dpsco_bench.papers.gopi2022.samplers.truncated import quantile_of_log
from dpsco_bench.samplers.draws import KeyedDraws

Array = np.ndarray
TINY = 1e-300


def regularised_gaussian(
    draws: KeyedDraws,
    name: str,
    step: int,
    mean: Array,
    sd: float,
    c: float,
    q: float,
    p: float,
    radius: float,
    cap: int,
    rows: Array,
) -> tuple[Array, Array]:
    """Points of density ``~ exp(-||x - mean||_2^2/(2 sd^2) - c ||x||_q^2)`` on an l_p ball, by rejection.

    The square of a norm lies above its tangent at any z, ``||z||_q^2 + <g, x - z>``, so that a Gaussian about
    ``mean - sd^2 c g`` proposes, cut to a half-space that holds the ball and touches it in the direction of its mean.

    Parameters
    ----------
    mean : array (m, d)
    sd, radius : float, > 0
    c, q : float, curvature >= 0 and its norm, in (1, 2]
    p : float, the ball, >= 1
    cap : int, most attempts
    rows : array (m,), the rows of ``draws`` that ask

    Returns
    -------
    points : array (m, d), in the ball
    capped : array (m,) of bool
        Rows for which every attempt failed: their point is the last attempt, shrunk into the ball.
    """
    slope = square_gradient(mean, q, 2.0 * c)
    level = c * np.linalg.norm(mean, ord=q, axis=1) ** 2  # of the tangent at the mean
    middle = mean - sd**2 * slope
    normal = square_gradient(middle, p, 1.0) if p > 1.0 else np.sign(middle)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), TINY)
    reach = radius * np.linalg.norm(normal, ord=dual_exponent(p), axis=1)  # largest <normal, x> on the ball
    room = log_ndtr((reach - np.sum(normal * middle, axis=1)) / sd)
    points, todo, length = np.empty_like(mean), np.arange(len(mean)), np.ones(len(mean))
    for attempt in range(cap):
        u = draws.uniform(f"{name}/{attempt}", step, mean.shape[1] + 2)[rows[todo]]
        z, along = ndtri(u[:, :-2]), normal[todo]
        inwards = quantile_of_log(room[todo] + np.log(u[:, -2])) - np.sum(along * z, axis=1)
        at = middle[todo] + sd * (z + inwards[:, None] * along)
        above = c * np.linalg.norm(at, ord=q, axis=1) ** 2 - level[todo]
        above = above - np.sum(slope[todo] * (at - mean[todo]), axis=1)
        points[todo], length[todo] = at, np.linalg.norm(at, ord=p, axis=1)
        todo = todo[(length[todo] > radius) | (np.log(u[:, -1]) > -above)]
        if not todo.size:
            break
    capped = np.zeros(len(mean), dtype=bool)
    capped[todo] = True
    points[todo] *= np.minimum(1.0, radius / length[todo])[:, None]
    return points, capped
