"""Compare the risks of two methods: paired bootstrap of the log ratio of median risks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpsco_bench.analysis.bootstrap import (
    CONFIDENCE,
    RESAMPLES,
    FloatArray,
    as_cell,
    bootstrap_rng,
    percentile_interval,
    resampled_indices,
    student_factor,
)
from dpsco_bench.errors import InputError

HOLDS, REVERSED, OPEN = "holds", "reversed", "inconclusive"


def compared(low: float, high: float, equal: float = 1.0) -> str:
    """Word of one comparison by the interval of a ratio, the claimed method's over the other's.

    ``holds`` if the claimed method is lower beyond doubt, ``reversed`` if the other is, else ``inconclusive``. Of a
    logarithm `equal` is 0.
    """
    return HOLDS if high < equal else REVERSED if low > equal else OPEN


@dataclass(frozen=True)
class MedianRatio:
    """Ratio of two methods' median risks."""

    log_ratio: float
    ci_low: float
    ci_high: float

    @property
    def word(self) -> str:
        """See `compared`."""
        return compared(self.ci_low, self.ci_high, equal=0.0)


def compare_medians(
    first: ArrayLike,
    second: ArrayLike,
    names: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> MedianRatio:
    """Paired two-level bootstrap of the log ratio of median risks, ``(replicates,)`` or ``(data_sets, replicates)``.

    The interval is the wider of the percentile and the normal one, expanded for small samples as in `slopes.fit_rate`,
    with as many degrees of freedom as there are resampled units (data sets if several, else replicates) less one. The
    names seed the bootstrap: (claim, part, calibration, comparison).
    """
    a, b = as_cell(first)[0], as_cell(second)[0]
    if a.shape != b.shape:
        raise InputError("shape of the second method's risks", b.shape, f"{a.shape}, as the first's")
    log_ratio = float(_log_median_ratio(a.reshape(1, -1), b.reshape(1, -1))[0])
    units = a.shape[0] if a.shape[0] > 1 else a.shape[1]
    if units == 1 or np.isnan(log_ratio):
        return MedianRatio(log_ratio, np.nan, np.nan)
    blocks = resampled_indices(bootstrap_rng(*names), resamples, *a.shape)
    drawn = np.concatenate([_log_median_ratio(a.ravel()[i], b.ravel()[i]) for i in blocks])
    if np.isnan(drawn).any():  # some resampled medians have no logarithm: nothing can be excluded
        return MedianRatio(log_ratio, -np.inf, np.inf)
    factor = float(np.sqrt(units / (units - 1)) * student_factor(units - 1, confidence))
    low, high = percentile_interval(log_ratio, drawn, factor, confidence)
    # Two or three replicates give a coarse lattice of medians, whose percentiles stop short of the normal ones.
    normal = factor * float(ndtri((1 + confidence) / 2)) * float(drawn.std())
    return MedianRatio(log_ratio, min(low, log_ratio - normal), max(high, log_ratio + normal))


def _log_median_ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    over, under = np.median(a, axis=1), np.median(b, axis=1)
    positive = (over > 0) & (under > 0)
    logs = np.log(np.where(positive, over, 1.0)) - np.log(np.where(positive, under, 1.0))
    return np.where(positive, logs, np.nan)


def risk_at(evaluations: ArrayLike, risks: ArrayLike, budget: float) -> FloatArray:
    """Risk of each run at its last checkpoint that costs at most a budget.

    Checkpoints are the first axis of both; evaluations increase along it.
    """
    values = np.asarray(risks, dtype=np.float64)
    cost = np.asarray(evaluations, dtype=np.float64)
    cost = np.broadcast_to(cost.reshape(cost.shape + (1,) * (values.ndim - cost.ndim)), values.shape)
    last = (cost <= budget).sum(axis=0) - 1
    if (last < 0).any():
        raise InputError("budget", budget, f">= {cost[0].max():g}, the cost of the first checkpoint")
    return np.take_along_axis(values, last[None], axis=0)[0]


def common_budget(*evaluations: ArrayLike) -> float:
    """Largest number of gradient evaluations that every run of every method reaches: the least final cost.

    Per method, evaluations at the checkpoints, increasing along the first axis.
    """
    return float(min(np.asarray(method, dtype=np.float64)[-1].min() for method in evaluations))
