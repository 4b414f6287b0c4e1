"""The regularised exponential mechanism of linear losses along an axis, 1 < p <= 2, drawn exactly."""

from __future__ import annotations

import numpy as np

from dpsco_bench.errors import Refusal
from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.axis import sample_axis, towards
from dpsco_bench.samplers.draws import KeyedDraws


def axis_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """exp(kap x_1 - c ||x||_p^2) by rejection under cells in (x_1, ||x_2..d||_p).

    Exact for every data set if all records lie on the first axis, or p = 2 (turned; quadratic losses on an l_2 ball
    too). Other linear losses with p < 2 have ``gopi2022.lp_exact``. For an l_p ball with 1 < p <= 2.
    """
    slope, radius = target.mean_slope(), target.ball.radius
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


plan = mechanism(axis_exact, f"{PAPER}, Corollary 2")
