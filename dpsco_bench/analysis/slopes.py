"""Slopes on log-log axes: weighted fits with bootstrap intervals, and bounds fitted with the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsco_bench.analysis.bootstrap import (
    CONFIDENCE,
    RESAMPLES,
    FloatArray,
    bootstrap_rng,
    corrected_interval,
    resampled_means,
    satterthwaite,
    simultaneous_quantile,
    student_factor,
    variance_of_mean,
)
from dpsco_bench.analysis.looks import EARLY, LEVEL
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

LOG_ERROR_FLOOR = 1e-3
"""Standard errors of log mean below this weigh alike: then the law's curvature matters, not the noise."""
LEAST_ERROR = 0.2
"""A cell's standard error counts as at least this share of the median one: else precise cells make the slope alone."""
PRIOR_DOF = 30.0
"""Degrees of freedom of the prior to which the variances of the cells are moderated before weighting."""
_RESAMPLE_FLOOR = 1e-3
FAR = 0.01
"""An interval that misses more seldom than this is as long as the far tail of the resampled slopes asks for."""


@dataclass(frozen=True)
class RateFit:
    """Fit of log(mean risk) on log(parameter); the slope is NaN where a mean is not positive.

    Attributes
    ----------
    weights : tuple of float, weights of the fit, summing to 1
    nonpositive : tuple of int, cells whose mean risk is not positive: they have no logarithm, and no slope is given
    no_error : tuple of int, cells whose standard error is unknown (one random replicate)
    floored : float
        Largest share, over the cells, of resamples whose mean fell below a thousandth of the cell's mean and
        was raised to it; the interval is then wide rather than undefined.
    """

    slope: float
    ci_low: float
    ci_high: float
    values: tuple[float, ...]
    mean: tuple[float, ...]
    stderr: tuple[float, ...]
    weights: tuple[float, ...]
    dof: tuple[float, ...] = ()
    nonpositive: tuple[int, ...] = ()
    no_error: tuple[int, ...] = ()
    floored: float = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        said = f"up to {self.floored:.1%} of the resampled means of a cell were near or below 0"
        return (said,) if self.floored else ()


def bounded_errors(log_errors: ArrayLike, dof: ArrayLike | None = None) -> FloatArray:
    """Compute standard errors of log mean as fits use them, shape ``(..., cells)``; NaN where unknown.

    Three steps. (1) Errors are raised to `LOG_ERROR_FLOOR`: exact cells, whose error is 0 or their numerical error,
    weigh alike. (2) Each variance is moderated, ``(dof v + PRIOR_DOF centre) / (dof + PRIOR_DOF)``, towards the cells'
    geometric mean (as in Smyth 2004): weights from a few replicates would follow the noise, and the interval, which
    takes them as given, would be too short. (3) Errors are raised to `LEAST_ERROR` of their median. A cell of unknown
    error counts with the largest known one. Without ``dof`` they are infinite.
    """
    errors = np.asarray(log_errors, dtype=np.float64)
    known = np.where(np.isfinite(errors), errors, LOG_ERROR_FLOOR)
    errors = np.where(np.isfinite(errors), errors, known.max(axis=-1, keepdims=True))
    errors = np.maximum(errors, LOG_ERROR_FLOOR)
    centre = np.exp(np.log(errors).mean(axis=-1, keepdims=True))
    prior = PRIOR_DOF / (PRIOR_DOF + np.asarray(np.inf if dof is None else dof, dtype=np.float64))
    moderated = np.sqrt((1 - prior) * errors**2 + prior * centre**2)
    bounded: FloatArray = np.maximum(moderated, LEAST_ERROR * np.median(moderated, axis=-1, keepdims=True))
    return bounded


def log_weights(log_errors: ArrayLike, dof: ArrayLike | None = None) -> FloatArray:
    """Weights of a log-log fit, which sum to 1: inverse squares of `bounded_errors`."""
    weights = 1 / bounded_errors(log_errors, dof) ** 2
    shares: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def bound_slope(values: ArrayLike, bounds: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Slope of a bound on log-log axes, fitted with the weights of the data (equal if left out).

    For at least two different values > 0 and bounds > 0, shape ``(cells,)``.
    """
    x = _log_positive("parameter values", values)
    y = _log_positive("bounds", bounds)
    w = np.full(len(x), 1 / len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    return float(_slope_coefficients(x, w) @ y)


def fit_rate(
    values: ArrayLike,
    replicates: Replicates,
    names: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    alpha: float = LEVEL,
) -> RateFit:
    """Weighted log-log fit of the mean excess risk on a parameter, with a bootstrap interval.

    The bootstrap resamples data sets and replicates within them, jointly over the cells that share them, and takes the
    largest signal and the weights anew. The interval stands about the slope less its bias (`corrected_interval`), while
    the slope is that of the means. It is widened for small samples: by what resampling lacks of the slope's variance,
    and by the Student factor at Welch-Satterthwaite degrees of freedom, fewer where tails are heavy (`variance_dof`).
    It misses the truth in a share ``alpha``. Exact cells are perturbed by their numerical error. Raises InputError if
    values are not positive or all equal, or cells that share data sets or replicates have different numbers of them.
    """
    fit = _point_fit(np.asarray(values, dtype=np.float64), replicates)
    if fit.nonpositive or fit.no_error:
        return fit
    resampled = _resampled(replicates, bootstrap_rng(*names), resamples)
    return _with_interval(fit, replicates, *resampled, alpha)


def _point_fit(values: FloatArray, replicates: Replicates) -> RateFit:
    x, mean, stderr, dof = _log_positive("parameter values", values), replicates.mean, replicates.stderr, replicates.dof
    log_errors = np.divide(stderr, mean, out=np.full(len(x), np.nan), where=mean > 0)
    weights = log_weights(log_errors, dof)
    coefficients = _slope_coefficients(x, weights)  # refuses values that are all equal
    slope = float(coefficients @ np.log(mean)) if (mean > 0).all() else np.nan
    columns: Plain = {"values": values, "mean": mean, "stderr": stderr, "weights": weights, "dof": dof}
    cells: Plain = {"nonpositive": np.flatnonzero(mean <= 0), "no_error": np.flatnonzero(np.isnan(stderr))}
    told: Plain = {name: tuple(column.tolist()) for name, column in {**columns, **cells}.items()}
    return RateFit(slope, np.nan, np.nan, **told)


def _resampled(replicates: Replicates, rng: np.random.Generator, resamples: int) -> tuple[FloatArray, FloatArray]:
    """Bootstrap means and their variances, ``(cells, resamples)``: what cells share is drawn once for all of them."""
    risks, data_sets, runs = replicates.risks, replicates.data_sets, replicates.runs
    means, variances = np.empty((2, len(risks), resamples))
    drawn: dict[int, NDArray[np.int64]] = {}
    for label in dict.fromkeys(runs):
        group = [cell for cell, own in enumerate(runs) if own == label]
        random = [cell for cell in group if replicates.errors[cell] is None]
        for cell in (cell for cell in group if cell not in random):
            exact = replicates.summaries[cell]
            means[cell] = exact.mean + exact.stderr * rng.standard_normal(resamples)
            variances[cell] = exact.stderr**2
        if not random:
            continue
        data, count = data_sets[random[0]], risks[random[0]].shape[1]
        if data_sets.count(data) > 1 and data not in drawn:
            drawn[data] = rng.integers(count, size=(resamples, count))
        if data in drawn and drawn[data].shape[1] != count:
            raise InputError("data sets per cell", [drawn[data].shape[1], count], "equal where cells share their data")
        chosen = [risks[cell] for cell in random]
        means[random], variances[random] = resampled_means(chosen, rng, resamples, drawn.get(data))
    return means, variances


def _precision(fit: RateFit, replicates: Replicates) -> tuple[float, float]:
    """By how much a bootstrap's spread of the slope is too small, and the degrees of freedom of its variance."""
    coefficients = _slope_coefficients(np.log(fit.values), np.array(fit.weights)) / np.array(fit.mean)
    groups: dict[int, dict[int, FloatArray]] = {}
    known = 0.0
    for number, cell in enumerate(replicates.summaries):
        if replicates.errors[number] is not None:
            known += float(coefficients[number] * cell.stderr) ** 2
            continue
        own = groups.setdefault(replicates.data_sets[number], {})
        label, share = replicates.runs[number], replicates.risks[number][cell.signal]
        own[label] = own.get(label, 0.0) + coefficients[number] * share
    estimates = [variance_of_mean(list(own.values()), tails=True) for own in groups.values()]
    variances, dofs, shown = (np.array(column) for column in zip((known, np.inf, known), *estimates, strict=True))
    expansion = float(np.sqrt(variances.sum() / shown.sum())) if shown.sum() > 0 else 1.0
    return expansion, satterthwaite(variances, dofs)


def _with_interval(
    fit: RateFit, replicates: Replicates, means: FloatArray, variances: FloatArray, alpha: float
) -> RateFit:
    """Interval of the slope from resampled means and their variances, shape (cells, resamples).

    A cell whose tail is missing from a resample has a low mean and a small error, hence a large weight: with weights
    kept, the slope would seem more certain than it is. The weights of a resample act on its deviations alone, so that
    a bend of the sweep counts as no noise.
    """
    ratios = (means / np.array(fit.mean)[:, None]).T
    floored = float((ratios < _RESAMPLE_FLOOR).mean(axis=0).max())
    kept = np.maximum(ratios, _RESAMPLE_FLOOR)
    weights = log_weights(np.sqrt(variances).T / (kept * np.array(fit.mean)), fit.dof)
    coefficients = _slope_coefficients(np.log(fit.values), weights)
    expansion, dof = _precision(fit, replicates)
    biases = 2.0 if any(len(risks) > 1 for risks in replicates.risks) else 1.0
    deviations = np.sum(coefficients * np.log(kept), axis=1)

    def interval(confidence: float) -> tuple[float, float]:
        factor = student_factor(dof, confidence)
        others = np.sum(coefficients * _opposite(kept, weights, replicates.labels, expansion * factor), axis=1)
        return corrected_interval(fit.slope, deviations, others, expansion, factor, confidence, biases)

    low, high = interval(CONFIDENCE)
    if alpha != LEVEL:
        shown = (CONFIDENCE, EARLY) if alpha < FAR else (CONFIDENCE,)
        centre, arm = (low + high) / 2, max(_stretched(interval(level), level, alpha, dof) for level in shown)
        low, high = centre - arm, centre + arm
    return replace(fit, ci_low=low, ci_high=high, floored=floored)


def _stretched(ends: tuple[float, float], confidence: float, alpha: float, dof: float) -> float:
    """Half an interval of a confidence, as long as one that misses in a share ``alpha``."""
    wanted, own = (float(simultaneous_quantile(1, dof, level)) for level in (1.0 - alpha, confidence))
    return (ends[1] - ends[0]) / 2 * wanted / own


def _opposite(ratios: FloatArray, weights: FloatArray, labels: Sequence[tuple[str, int]], widened: float) -> FloatArray:
    """Logarithms ``(resamples, cells)`` of means that deviate to the other side; what cells share is turned apart."""
    turned = np.empty_like(ratios)
    for label in dict.fromkeys(labels):
        group = [cell for cell, own in enumerate(labels) if own == label]
        own, kept = weights[:, group], ratios[:, group]
        common = np.sum(own * kept, axis=1, keepdims=True) / own.sum(axis=1, keepdims=True)
        parts = (np.maximum(1 - widened * (part - 1), _RESAMPLE_FLOOR) for part in (common, kept / common))
        turned[:, group] = sum(np.log(part) for part in parts)
    return turned


def _log_positive(name: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not (np.isfinite(array) & (array > 0)).all():
        raise InputError(name, array.tolist(), "a list of finite numbers > 0")
    return np.log(array)


def _slope_coefficients(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Coefficients c with slope = c @ y in weighted least squares, for weights of shape ``(..., cells)``."""
    if len(x) < 2 or np.ptp(x) == 0:
        raise InputError("parameter values", np.exp(x).tolist(), "at least two different values")
    shares = weights / weights.sum(axis=-1, keepdims=True)
    centred = x - (shares @ x)[..., None]
    coefficients: FloatArray = shares * centred / np.sum(shares * centred**2, axis=-1, keepdims=True)
    return coefficients
