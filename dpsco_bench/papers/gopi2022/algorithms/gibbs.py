"""The regularised exponential mechanism of linear losses on l_p balls, by Gibbs chains."""

from __future__ import annotations

import numpy as np

from dpsco_bench.papers.gopi2022.algorithms.chains import ChainWatch
from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.gibbs import sample_gibbs
from dpsco_bench.papers.gopi2022.samplers.gibbs_device import sample_gibbs_there, takes
from dpsco_bench.samplers.draws import KeyedDraws


def gibbs(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """Run one chain per replicate, coordinate by coordinate with a move along the ray, for any p in [1, inf].

    For linear losses on an l_p ball.
    """
    watch, r = ChainWatch(target, sweeps), target.regulariser
    assert r is not None
    slope, c = k * target.mean_slope(), k * mu * r.coefficient
    law, xp = (draws, slope, c, r.q, target.ball.p, target.ball.radius, sweeps, watch), target.objective.xp
    x = sample_gibbs_there(xp, *law) if takes(xp, r.q, target.ball.p) else sample_gibbs(*law)
    watch.note_evidence()
    return x


plan = mechanism(gibbs, f"{PAPER}, Corollaries 2 to 4")
