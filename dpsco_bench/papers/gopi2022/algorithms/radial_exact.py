"""The regularised exponential mechanism of the loss G||x||, drawn exactly."""

from __future__ import annotations

import numpy as np

from dpsco_bench.errors import Refusal
from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.cone import cone_lp
from dpsco_bench.papers.gopi2022.samplers.radial import sample_radius
from dpsco_bench.samplers.draws import KeyedDraws

MOST_ROUNDS = 1000
"""Most rounds of proposals, where the regulariser is in another norm."""


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
    points, todo = np.empty((draws.rows, target.d)), np.ones(draws.rows, dtype=bool)
    for attempt in range(MOST_ROUNDS):
        x = _radial(target, draws, f"{attempt}/", A, weight * least)
        spare = weight * (regulariser.norm(x) ** 2 - least * ball.norm(x)[:, 0] ** 2)
        accepted = todo & (np.log(draws.uniform(f"{attempt}/norm", 0, 1)[:, 0]) <= -spare)
        points[accepted], todo = x[accepted], todo & ~accepted
        if not todo.any():
            return points
    raise Refusal(f"radial_exact at k = {k:g}", f"r is in another norm: nothing accepted in {MOST_ROUNDS} rounds")


def _radial(target: Target, draws: KeyedDraws, prefix: str, A: float, B: float) -> np.ndarray:
    named = KeyedDraws(lambda name: draws.stream(prefix + name), draws.first_replicate, draws.replicates, draws.copies)
    rho = sample_radius(named, target.d, A, B, target.ball.radius)
    return rho[:, None] * cone_lp(named, "cone", 0, target.ball.p, target.d)


plan = mechanism(radial_exact, f"{PAPER}, Corollaries 2 to 4")
