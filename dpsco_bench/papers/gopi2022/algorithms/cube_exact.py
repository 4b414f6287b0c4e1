"""The regularised exponential mechanism of linear losses on a cube, drawn exactly."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.truncated import truncated_normal
from dpsco_bench.samplers.draws import KeyedDraws


def cube_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> np.ndarray:
    """Independent truncated normals N(sbar_j/mu, 1/(k mu)) on [-R, R]: exact for every data set.

    Drawn by inversion in the left tail of the distribution function; for linear losses on an l_inf ball.
    """
    u = draws.uniform("cube", 0, target.d)
    return truncated_normal(u, target.mean_slope() / mu, 1.0 / math.sqrt(k * mu), target.ball.radius)


plan = mechanism(cube_exact, f"{PAPER}, Corollary 4 with p = inf")
