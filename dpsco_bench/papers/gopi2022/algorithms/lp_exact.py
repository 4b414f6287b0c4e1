"""The regularised exponential mechanism of linear losses on an l_p ball, 1 <= p < 2, drawn exactly."""

from __future__ import annotations

import numpy as np

from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.lp import sample_lp
from dpsco_bench.samplers.draws import KeyedDraws


def lp_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """exp(<v, x> - c ||x||_q^2) by rejection under products of one-dimensional laws: exact for every data set.

    For linear losses on an l_p ball with 1 <= p < 2, whatever their mean record. It accepts between a fiftieth and all
    of its proposals.
    """
    r, radius = target.regulariser, target.ball.radius
    assert r is not None
    v, c = k * radius * target.mean_slope(), k * mu * r.coefficient * radius**2
    return radius * sample_lp(draws, v, c, r.q, target.ball.p)


plan = mechanism(lp_exact, f"{PAPER}, Corollaries 2 and 3")
