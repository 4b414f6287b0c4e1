"""One real score per run: a weighted sum of features, with the weights fixed on runs that are not tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpsco_bench.audit.transcript import BINS, Recorder, Setting, log_ratio
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.privacy.mechanism import Mechanism

Array = np.ndarray
MechanismFactory = Callable[..., Any]
BLOCK_BYTES = 1 << 25
"""Memory for the transcripts of the replicates that run at once."""
RIDGE = 1e-9
STATISTICS = ("transcript", "output")


def run_features(
    setting: Setting,
    statistic: str,
    side: int,
    stream: int,
    runs: int,
    seed: int,
    mechanism: MechanismFactory = Mechanism,
) -> Iterator[Array]:
    """Features of independent runs on one data set of the pair, block by block.

    Raises NumericalFailure on non-finite outputs.

    Parameters
    ----------
    stream : int, runs of different streams, and of the two sides, are independent

    Yields
    ------
    array (R, K)
    """
    what = setting.cell.run_key(2 * stream + side)
    for first, count in _blocks(setting, statistic, runs):
        recorder = Recorder(mechanism(setting.plan, setting.scales, what, seed, first, count))
        output = setting.execute(setting.pair[side], recorder, count)
        if not np.isfinite(output).all():
            raise NumericalFailure(f"non-finite iterates: audit of {setting.cell.algorithm}")
        yield log_ratio(setting, recorder.transcript, output) if statistic == "transcript" else output


def _blocks(setting: Setting, statistic: str, runs: int) -> list[tuple[int, int]]:
    """Split runs into ``(first, count)`` blocks that hold a bounded transcript and a bounded number of margins."""
    releases = sum(getattr(q, "releases", 1) for q in setting.plan.queries)
    dimension = setting.cell.problem_entry.dimension
    values = releases * (dimension + 4) + setting.cell.n + 8 * dimension
    size = max(1, min(runs, BLOCK_BYTES // (8 * values)))
    return [(first, min(size, runs - first)) for first in range(0, runs, size)]


def candidate_weights(statistic: str, features: Array, others: Array) -> list[Array]:
    """Weights to choose from: the plain statistic, and the linear discriminant learned from the features.

    The plain transcript statistic is the log-likelihood ratio of the declared mechanism, the best one if the run draws
    its noise as declared; the plain output statistic is the projection on the difference of means. The discriminant
    takes correlations into account and so finds, e.g., noise that is drawn once and used again.
    """
    difference = features.mean(axis=0) - others.mean(axis=0)
    plain = np.ones(BINS) if statistic == "transcript" else difference
    if not np.isfinite(difference).all():
        return [plain]
    spread = 0.5 * (np.atleast_2d(np.cov(features.T)) + np.atleast_2d(np.cov(others.T)))
    scale = np.trace(spread) / len(spread)
    if scale == 0:
        return [plain]
    return [plain, np.linalg.solve(spread + RIDGE * scale * np.eye(len(spread)), difference)]
