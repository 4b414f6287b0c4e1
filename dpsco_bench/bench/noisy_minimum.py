"""The lazy report-noisy-max against drawing a Laplace variate for every score, here and in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from dpsco_bench.bench.measure import AT_LEAST, Case, Pair, goal
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, make_plan

SIZES = ((256, 64), (256, 256), (64, 1024), (256, 1024))
"""Replicates, dimension: there are 2d scores. The first size is too small to be lazy about."""
RANGE = 0.9
"""Of the scores, in noise scales; at epsilon = 1 Frank-Wolfe has 0.2 to 0.9."""
STEPS = 8


@goal("noisy_max", "report noisy max from few draws against all noise")
def cases() -> Iterator[Case]:
    """Shown without goals."""
    for replicates, d in SIZES:
        for peer, build in (("eager", _eager), ("NumPy", _numpy)):
            yield Case(
                id="noisy_max",
                case=f"noisy max, {peer}, R/d = {replicates}/{d}",
                peer="all 2d Laplace variates",
                unit="score",
                sense=AT_LEAST,
                goal=None,
                build=partial(_pair, replicates, d, build),
            )


def _pair(replicates: int, d: int, peer: Callable[[np.ndarray], None]) -> Pair:
    scores = RANGE * np.random.default_rng(0).random((replicates, 2 * d))
    work = STEPS * scores.size
    return Pair(lambda: _released(scores, True), lambda: peer(scores), work, work)


def _released(scores: np.ndarray, lazy: bool) -> None:
    """Release the same scores in all steps of a fresh mechanism."""
    query = NoisyMinimumQuery("vertex", 1.0, STEPS, lazy=lazy)
    mechanism = Mechanism(make_plan(query, gradient_evaluations=0), {"vertex": 1.0}, "bench", 0, 0, len(scores))
    for step in range(STEPS):
        mechanism.release("vertex", scores, step)


def _eager(scores: np.ndarray) -> None:
    _released(scores, False)


def _numpy(scores: np.ndarray) -> None:
    generator = np.random.default_rng(0)
    for _ in range(STEPS):
        np.argmin(scores + generator.laplace(size=scores.shape), axis=-1)
