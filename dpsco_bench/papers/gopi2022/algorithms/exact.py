"""Exact samplers of the regularised law, each an algorithm of its own."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.errors import Refusal
from dpsco_bench.papers.gopi2022.algorithms.mechanism import Target, mechanism
from dpsco_bench.papers.gopi2022.samplers.axis import sample_axis, towards
from dpsco_bench.papers.gopi2022.samplers.lp import sample_lp
from dpsco_bench.papers.gopi2022.samplers.truncated import cone_lp, first_accepted, sample_radius, truncated_normal
from dpsco_bench.samplers.draws import KeyedDraws


@mechanism("gopi2022.axis_exact", "Corollary 2")
def axis_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """exp(kap x_1 - c ||x||_p^2) by rejection under cells in (x_1, ||x_2..d||_p).

    Exact for every data set if all records lie on the first axis, or p = 2 (turned; quadratic losses on an l_2 ball
    too). Other linear losses with p < 2 have ``gopi2022.lp_exact``. For an l_p ball with 1 < p <= 2.
    """
    slope, radius = target.mean_slope, target.ball.radius
    coefficient = mu * target.regulariser.coefficient if target.regulariser is not None else 0.0
    if target.losses == "quadratic":
        coefficient += 0.5 * target.own.strong_convexity
    c = k * coefficient * radius**2
    if target.ball.p == 2.0:
        along = sample_axis(draws, 2.0, target.d, k * radius * np.linalg.norm(slope, axis=1), c)
        return radius * towards(along, slope)
    if np.any(slope[:, 1:] != 0.0):
        reason = "the mean record does not lie on the first axis"
        raise Refusal(f"axis_exact on {target.objective.problem.name}", reason)
    return radius * sample_axis(draws, target.ball.p, target.d, k * radius * slope[:, 0], c)


@mechanism("gopi2022.cube_exact", "Corollary 4 with p = inf")
def cube_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """Independent truncated normals N(sbar_j/mu, 1/(k mu)) on [-R, R]: exact for every data set.

    Drawn by inversion in the left tail of the distribution function; for linear losses on an l_inf ball.
    """
    u = draws.uniform("cube", 0, target.d)
    return truncated_normal(u, target.mean_slope / mu, 1.0 / math.sqrt(k * mu), target.ball.radius)


@mechanism("gopi2022.lp_exact", "Corollaries 2 and 3")
def lp_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """exp(<v, x> - c ||x||_q^2) by rejection under products of one-dimensional laws: exact for every data set.

    For linear losses on an l_p ball with 1 <= p < 2, whatever their mean record. It accepts between a fiftieth and all
    of its proposals.
    """
    r, radius = target.regulariser, target.ball.radius
    v, c = k * radius * target.mean_slope, k * mu * r.coefficient * radius**2
    return radius * sample_lp(draws, v, c, r.q, target.ball.p)


@mechanism("gopi2022.radial_exact", "Corollaries 2 to 4")
def radial_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """Radius of density rho^(d-1) exp(-A rho - B rho^2), direction of the cone measure.

    It covers the one data set whose records are all the centre of the domain, not its neighbours: it measures risk, and
    proves nothing. Losses are G||x - s|| in the norm of the domain. Where r is in another norm, directions and radii
    are drawn for its least value on the sphere and accepted with the ratio of the densities.
    """
    target.require_centred_data()
    c, regulariser, ball = target.own, target.regulariser, target.ball
    if regulariser is None:
        slope = c.lipschitz - c.strong_convexity * ball.radius
        return _radial(target, draws, "", k * slope, 0.5 * k * c.strong_convexity)
    weight, A = k * mu * regulariser.coefficient, k * c.lipschitz
    if regulariser.q == ball.p:
        return _radial(target, draws, "", A, weight)
    least = min(1.0, target.d ** (2.0 / regulariser.q - 2.0 / ball.p))

    def propose(attempt: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = _radial(target, draws, f"{attempt}/", A, weight * least)[rows]
        spare = weight * (regulariser.norm(x) ** 2 - least * ball.norm(x)[:, 0] ** 2)
        return x, np.log(draws.uniform(f"{attempt}/norm", 0, 1)[rows, 0]) <= -spare

    points, rest = first_accepted(propose, (draws.rows, target.d))
    if rest.size:
        raise Refusal(f"radial_exact at k = {k:g}", "r is in another norm, and too few proposals are accepted")
    return points


def _radial(target: Target, draws: KeyedDraws, prefix: str, A: float, B: float) -> np.ndarray:
    named = KeyedDraws(lambda name: draws.stream(prefix + name), draws.first_replicate, draws.replicates, draws.copies)
    rho = sample_radius(named, target.d, A, B, target.ball.radius)
    return rho[:, None] * cone_lp(named, "cone", 0, target.ball.p, target.d)
