"""The regularised exponential mechanism of any convex losses, by hit-and-run chains."""

from __future__ import annotations

import numpy as np

from dpsco_bench.papers.gopi2022.algorithms.chains import ChainWatch
from dpsco_bench.papers.gopi2022.algorithms.mechanism import mechanism
from dpsco_bench.papers.gopi2022.algorithms.setting import EVALUATED, PAPER
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.samplers.hit_and_run import sample_hit_and_run
from dpsco_bench.samplers.draws import KeyedDraws


def hit_and_run(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """Run one chain per replicate from the centre along random lines, on any l_p or Schatten ball.

    Each density costs n value queries, none for linear losses. For losses that can be evaluated.
    """
    watch = ChainWatch(target, sweeps)
    outer, start = 0.5 * target.ball.euclidean_diameter(target.d), np.zeros((target.rows, target.d))
    x = sample_hit_and_run(draws, target.log_density(k, mu), start, outer, sweeps, watch)
    watch.note_evidence()
    return x


plan = mechanism(hit_and_run, f"{PAPER}, Corollaries 2 to 5", EVALUATED)
