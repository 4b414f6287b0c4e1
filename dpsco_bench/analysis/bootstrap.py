"""Means of cells, their standard errors, and seeded two-level bootstrap resampling.

A cell's risks form an array ``(signals, data_sets, replicates)``. Its mean risk is the largest replicate mean
over the signals (minimax style; one signal where the instance has no free strength). Replicates share their
random numbers across signals, so one resample serves all signals of a cell.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from dpsco_bench.errors import InputError

FloatArray = NDArray[np.float64]
RESAMPLES = 2_000
CONFIDENCE = 0.95
NORMAL_95 = 1.959964
_DRAWS_PER_BLOCK = 2_000_000
"""Random words drawn at once: the stream of more than one data set depends on it."""
_INDICES_PER_BLOCK = 8_192
"""Indices handed on at once: larger arrays are mapped anew each time."""


@dataclass(frozen=True)
class CellSummary:
    """Mean risk of a cell, how well it is known, and the index of the signal that attains the maximum."""

    mean: float
    stderr: float
    dof: float
    signal: int

    @property
    def half(self) -> float:
        """Half the 95 % interval of the mean, by Student's quantile; NaN for a single random replicate."""
        return NORMAL_95 * student_factor(self.dof) * self.stderr if self.dof > 0 else math.nan

    @property
    def ci(self) -> tuple[float, float]:
        return self.mean - self.half, self.mean + self.half


def bootstrap_rng(*names: str) -> np.random.Generator:
    """Random generator that belongs to a name, such as (claim, part, calibration); the order of its parts matters.

    Seeded by `SeedSequence` over the SHA-256 of the names, hence the same on every machine.
    """
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(np.frombuffer(digest, dtype="<u4").tolist()))


def as_cell(risks: ArrayLike) -> FloatArray:
    """Risks ``([[signals,] data_sets,] replicates)`` as a float64 array ``(signals, data_sets, replicates)``.

    Raises InputError for a risk that is not finite.
    """
    array = np.asarray(risks, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError("risks", f"{np.count_nonzero(~np.isfinite(array))} non-finite", "finite numbers")
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


def summarise(risks: ArrayLike, numerical_error: float | None = None) -> CellSummary:
    """Mean of a cell, its standard error and degrees of freedom.

    With several data sets the variance of the mean is the larger of the between-data-set estimate and the pooled
    within-data-set one (analysis of variance, kept from going below what replicates alone show). The absolute numerical
    error of an exactly computed cell is its standard error: it has no sampling error.
    """
    cell = as_cell(risks)
    means = cell.mean(axis=(1, 2))
    signal = int(np.argmax(means))
    mean = float(means[signal])
    if numerical_error is not None:
        return CellSummary(mean, float(numerical_error), np.inf, signal)
    variance, dof, _ = variance_of_mean([cell[signal]])
    return CellSummary(mean, float(np.sqrt(variance)), dof, signal)


def variance_of_mean(groups: Sequence[FloatArray], tails: bool = False) -> tuple[float, float, float]:
    """Variance of the mean of a sum of arrays whose data sets are the same ones, while their replicates differ.

    Returns unbiased variance (NaN for a single random replicate), its degrees of freedom (fewer for heavy ``tails``),
    and the variance that a two-level bootstrap shows. Groups have the shape ``(data_sets, replicates)``.
    """
    data_sets, replicates = groups[0].shape
    within = [float(group.var(axis=1).mean()) / (replicates * data_sets) for group in groups]  # divisor R, as resampled
    means = np.atleast_2d(sum(group.mean(axis=1) for group in groups))
    between = float(means.var()) / data_sets  # divisor D, likewise
    candidates = []
    if data_sets > 1:
        candidates.append((between * data_sets / (data_sets - 1), variance_dof(means, tails)))
    if replicates > 1:
        own = [variance * replicates / (replicates - 1) for variance in within]
        candidates.append((sum(own), satterthwaite(own, [variance_dof(group, tails) for group in groups])))
    if not candidates:
        return np.nan, 0.0, 0.0
    return *max(candidates), between + sum(within)


def variance_dof(samples: FloatArray, tails: bool = True) -> float:
    """Degrees of freedom of the pooled variance of some samples, shape ``(samples, size)``.

    ``samples (size - 1)`` under a normal law. The variance of a variance estimate is ``sigma^4 (k/N + 2/(N -
    samples))`` with the excess kurtosis k and N values in all, so that a positive k leaves ``2/(k/N + 2/(N -
    samples))``. Source: O'Neill, The American Statistician 68, 2014, "Some useful moment results in sampling problems".
    """
    normal, total = float(samples.size - len(samples)), samples.size
    deviations = samples - samples.mean(axis=1, keepdims=True)
    scale = float(np.abs(deviations).max())
    if not tails or not scale > 0:
        return normal
    squares = (deviations / scale) ** 2  # fourth powers of small deviations vanish otherwise
    kurtosis = float((squares**2).mean() / squares.mean() ** 2) - 3.0
    return 2.0 / (max(kurtosis, 0.0) / total + 2.0 / normal)


def satterthwaite(variances: ArrayLike, dof: ArrayLike) -> float:
    """Degrees of freedom of a sum of independent variance estimates. Source: Welch, Biometrika 34, 1947."""
    v, df = np.asarray(variances, dtype=np.float64), np.asarray(dof, dtype=np.float64)
    if not v.max() > 0:
        return float(df.sum())
    if np.count_nonzero(v) == 1:
        return float(df[np.argmax(v)])
    scaled = v / v.max()  # squares of small variances vanish otherwise
    spread = float(np.sum(scaled**2 / df))
    return float(np.sum(scaled) ** 2 / spread) if spread > 0 else np.inf


def resampled_means(
    cells: Sequence[ArrayLike],
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    data_sets: NDArray[np.int64] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Two-level bootstrap of the means of cells whose replicates share random numbers: the same samples serve all.

    Data sets are drawn with replacement (or are given, where further cells share their data), then replicates within
    each. Returns the largest mean over the signals and its variance as `summarise` estimates it from the resample, both
    of shape ``(cells, resamples)``.
    """
    arrays = [as_cell(cell) for cell in cells]
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) != 1:
        raise InputError("data sets and replicates of cells that share them", sorted(shapes), "equal")
    ((count, replicates),) = shapes
    means, variances = [], []
    for drawn, counts in resampled_counts(rng, resamples, count, replicates, data_sets):
        pairs = [_largest(array.reshape(len(array), -1), counts, drawn, count) for array in arrays]
        means.append([pair[0] for pair in pairs])
        variances.append([pair[1] for pair in pairs])
    return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)


def _largest(
    values: FloatArray, counts: NDArray[np.int64], drawn: NDArray[np.int64], data_sets: int
) -> tuple[FloatArray, FloatArray]:
    """Largest resampled mean of risks ``(signals, values)`` over the signals, and its variance, each ``(rows,)``."""
    own = counts @ values.T / values.shape[1]
    signal = np.argmax(own, axis=1)
    samples = values[signal[:, None], drawn].reshape(len(drawn), data_sets, -1)
    replicates, candidates = samples.shape[2], [np.zeros(len(drawn))]
    if data_sets > 1:
        candidates.append(samples.mean(axis=2).var(axis=1, ddof=1) / data_sets)
    if replicates > 1:
        candidates.append(samples.var(axis=2, ddof=1).mean(axis=1) / (replicates * data_sets))
    return np.take_along_axis(own, signal[:, None], axis=1)[:, 0], np.max(candidates, axis=0)


def resampled_counts(
    rng: np.random.Generator, resamples: int, count: int, replicates: int, drawn: NDArray[np.int64] | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Draw as `resampled_indices`; yields its blocks, and how often each of their rows has each index."""
    for indices in resampled_indices(rng, resamples, count, replicates, drawn):
        chosen = indices + indices.shape[1] * np.arange(len(indices))[:, None]
        yield indices, np.bincount(chosen.ravel(), minlength=indices.size).reshape(len(indices), -1)


def resampled_indices(
    rng: np.random.Generator, resamples: int, count: int, replicates: int, drawn: NDArray[np.int64] | None = None
) -> Iterator[NDArray[np.int64]]:
    """Two-level bootstrap samples as flat indices ``data_set * replicates + replicate``, for ``count`` data sets.

    Yields blocks of shape ``(rows, count * replicates)``, `resamples` rows in all: they bound the memory. The data sets
    may be ``drawn`` already.
    """
    rows = max(1, _DRAWS_PER_BLOCK // (count * replicates))
    for first in range(0, resamples, rows):
        size = min(rows, resamples - first)
        outer = rng.integers(count, size=(size, count)) if drawn is None else drawn[first : first + size]
        inner = rng.integers(replicates, size=(size, count, replicates))
        height = max(1, _INDICES_PER_BLOCK // (count * replicates))
        for top in range(0, size, height):
            part = slice(top, top + height)
            yield (outer[part, :, None] * replicates + inner[part]).reshape(-1, count * replicates)


def simultaneous_quantile(cells: int, dof: ArrayLike = np.inf, confidence: ArrayLike = CONFIDENCE) -> FloatArray:
    """Half-widths, in standard errors, of two-sided intervals that hold for several cells together (Bonferroni).

    The normal quantile at ``1 - (1 - confidence)/(2 cells)``, and Student's where few replicates stand behind an error:
    of 5 cells with 4 replicates each the normal one would miss some in up to 41 % of cases.
    """
    level = 1 - (1 - np.asarray(confidence, dtype=np.float64)) / (2 * cells)
    df = np.asarray(dof, dtype=np.float64)
    student = stdtrit(np.where((df > 0) & ~np.isinf(df), df, 1.0), level)
    return np.asarray(np.where(np.isinf(df), ndtri(level), student))


def student_factor(dof: float, confidence: float = CONFIDENCE) -> float:
    """Ratio, at least 1, of the Student to the normal quantile; it expands small-sample percentile intervals.

    For degrees of freedom > 0, which may be infinite. Source: Hesterberg, The American Statistician 69, 2015, "expanded
    percentile interval".
    """
    if np.isinf(dof):
        return 1.0
    upper = (1 + confidence) / 2
    return float(stdtrit(dof, upper) / ndtri(upper))


def percentile_interval(
    estimate: float, resampled: FloatArray, factor: float, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Bootstrap percentile interval, its distances to the estimate multiplied by a factor (see `student_factor`)."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return float(estimate + factor * (low - estimate)), float(estimate + factor * (high - estimate))


def corrected_interval(
    estimate: float,
    deviations: FloatArray,
    opposite: FloatArray,
    spread: float,
    factor: float,
    confidence: float = CONFIDENCE,
    biases: float = 1.0,
) -> tuple[float, float]:
    """Bootstrap interval about the estimate less its bias, both arms as long as the longest one.

    The mean deviation of resampled values is the bias, as of a logarithm (-s^2 / 2 m^2) or a maximum. Of a maximum over
    signals that are alike they show about half, since resampling begins at the largest mean: ``biases`` says how often
    it is taken off. Few values cannot tell which arm has to be longer: the percentile interval is right where they have
    a heavy tail, its mirror image where their spread grows with their mean. A heavy tail that was not drawn leaves the
    means low, and their errors small. So deviations count with the opposite sign too, widened already. ``spread`` is
    the ratio of the estimate's standard deviation to that of resampled values.
    """
    bias = float(deviations.mean())
    arm = max(spread * factor * _longer_arm(deviations, confidence), _longer_arm(opposite, confidence))
    centre = estimate - biases * spread**2 * bias
    return centre - arm, centre + arm


def _longer_arm(deviations: FloatArray, confidence: float) -> float:
    """Measure the longer arm of the percentile interval about the mean."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(deviations, [tail, 1 - tail]) - deviations.mean()
    return float(max(-low, high))
