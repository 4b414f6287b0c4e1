"""Slopes on log-log axes: weighted fits with bootstrap intervals, and bounds fitted with the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsco_bench.analysis.bootstrap import (
    RESAMPLES,
    CellSummary,
    FloatArray,
    as_cell,
    bootstrap_rng,
    percentile_interval,
    resampled_means,
    student_factor,
    summarise,
)
from dpsco_bench.errors import InputError

LOG_ERROR_FLOOR = 1e-3
"""Standard errors of log mean below this weigh alike: then the law's curvature matters, not the noise."""
WEIGHT_RATIO = 25.0
"""No cell weighs more than this many times another; else two precise cells would make the slope alone."""
PRIOR_DOF = 30.0
"""Degrees of freedom of the prior to which the variances of the cells are moderated before weighting."""
_RESAMPLE_FLOOR = 1e-3


@dataclass(frozen=True)
class RateFit:
    """Fit of log(mean risk) on log(parameter).

    Attributes
    ----------
    slope, intercept : float, ``log(mean) = intercept + slope * log(value)``; NaN where a mean is not positive
    ci_low, ci_high : float, 95 % bootstrap interval of the slope; NaN where a cell has a single random replicate
    values, mean, stderr : tuple of float, parameter values, mean risks and standard errors of the means, per cell
    weights : tuple of float, weights of the fit, summing to 1
    nonpositive : tuple of int, cells whose mean risk is not positive: they have no logarithm, and no slope is given
    no_error : tuple of int, cells whose standard error is unknown (one random replicate)
    edge : tuple of int, cells whose maximum over the signal grid lies at an end of the grid
    floored : float
        Largest share, over the cells, of resamples whose mean fell below a thousandth of the cell's mean and
        was raised to it; the interval is then wide rather than undefined.
    """

    slope: float
    intercept: float
    ci_low: float
    ci_high: float
    values: tuple[float, ...]
    mean: tuple[float, ...]
    stderr: tuple[float, ...]
    weights: tuple[float, ...]
    nonpositive: tuple[int, ...] = ()
    no_error: tuple[int, ...] = ()
    edge: tuple[int, ...] = ()
    floored: float = 0.0

    @property
    def half_width(self) -> float:
        return (self.ci_high - self.ci_low) / 2

    def places(self, cells: Sequence[int], parameter: str) -> str:
        """Where some cells lie, such as ``n = 128, 256``."""
        return f"{parameter or 'value'} = " + ", ".join(f"{self.values[i]:g}" for i in cells)

    def notes(self, parameter: str) -> tuple[str, ...]:
        """What a reader must know of the fit."""
        notes = []
        if self.edge:
            notes.append(f"largest risk at the edge of the signal grid at {self.places(self.edge, parameter)}")
        if self.floored:
            notes.append(f"up to {self.floored:.1%} of the resampled means of a cell were near or below 0")
        return tuple(notes)


def log_weights(log_errors: ArrayLike, dof: ArrayLike | None = None) -> FloatArray:
    """Weights of a log-log fit from the standard errors of log mean.

    Inverse variances after three steps. (1) Errors are raised to `LOG_ERROR_FLOOR`: exact cells, whose error is
    0 or their numerical error, weigh alike. (2) Each variance is moderated, ``(dof v + PRIOR_DOF centre) /
    (dof + PRIOR_DOF)``, towards the cells' geometric mean (as in Smyth 2004): weights from a few replicates
    would follow the noise, and the interval, which takes them as given, would be too short. (3) Variances are
    raised to 1 / `WEIGHT_RATIO` of the largest. A cell of unknown error counts with the largest known one.

    Parameters
    ----------
    log_errors : array_like, standard errors of log mean, >= 0 or NaN (unknown), shape ``(cells,)``
    dof : array_like, optional
        Degrees of freedom behind each error, >= 0 or infinite; infinite (no moderation) if left out.
    """
    errors = np.asarray(log_errors, dtype=np.float64)
    known = np.isfinite(errors)
    largest = max(LOG_ERROR_FLOOR, float(errors[known].max())) if known.any() else LOG_ERROR_FLOOR
    errors = np.maximum(np.where(known, errors, largest), LOG_ERROR_FLOOR)
    centre = float(np.exp(np.log(errors).mean()))
    prior = PRIOR_DOF / (PRIOR_DOF + np.asarray(np.inf if dof is None else dof, dtype=np.float64))
    variances = (1 - prior) * errors**2 + prior * centre**2
    weights = 1 / np.maximum(variances, variances.max() / WEIGHT_RATIO)
    return weights / weights.sum()


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
    risks_by_cell: Sequence[ArrayLike],
    names: Sequence[str],
    *,
    numerical_errors: Sequence[float | None] | None = None,
    shared_data_sets: bool = False,
    resamples: int = RESAMPLES,
) -> RateFit:
    """Weighted log-log fit of the mean excess risk on a parameter, with a bootstrap interval.

    The bootstrap keeps the weights, resamples data sets and replicates within them, and is expanded for small
    samples: deviations of log means by `CellSummary.expansion`, the percentile interval by the Student factor
    at Welch-Satterthwaite degrees of freedom. Exact cells are perturbed by their numerical error. Raises InputError if
    values are not positive or all equal, lengths differ, or shared data sets differ in number.

    Parameters
    ----------
    values : array_like, parameter values, > 0, at least two different ones, shape ``(cells,)``
    risks_by_cell : sequence of array_like
        Per cell, risks of shape ``(replicates,)``, ``(data_sets, replicates)`` or ``(signals, data_sets,
        replicates)``; with signals, the largest mean over them is fitted.
    numerical_errors : sequence of float or None, optional
        Absolute numerical error of each exactly computed cell, None for random ones.
    shared_data_sets : bool
        Whether data set j is the same in all cells (sweeps at fixed n and d): they are resampled together.
    """
    errors = [None] * len(risks_by_cell) if numerical_errors is None else list(numerical_errors)
    sizes = (np.size(values), len(risks_by_cell), len(errors))
    if len(set(sizes)) > 1:
        raise InputError("numbers of values, risks, numerical errors", sizes, "equal")
    cells = [summarise(risks, error) for risks, error in zip(risks_by_cell, errors, strict=True)]
    fit = _point_fit(np.asarray(values, dtype=np.float64), cells)
    if fit.nonpositive or fit.no_error:
        return fit
    rng = bootstrap_rng(*names)
    drawn = _shared_data_sets(risks_by_cell, rng, resamples) if shared_data_sets else None
    means = [
        resampled_means(risks, rng, resamples, drawn) if error is None else _perturbed(cell, rng, resamples)
        for cell, risks, error in zip(cells, risks_by_cell, errors, strict=True)
    ]
    return _with_interval(fit, cells, np.array(means))


def _point_fit(values: FloatArray, cells: Sequence[CellSummary]) -> RateFit:
    x = _log_positive("parameter values", values)
    mean = np.array([cell.mean for cell in cells])
    stderr = np.array([cell.stderr for cell in cells])
    log_errors = np.divide(stderr, mean, out=np.full(len(x), np.nan), where=mean > 0)
    weights = log_weights(log_errors, [cell.dof for cell in cells])
    coefficients = _slope_coefficients(x, weights)
    slope = intercept = np.nan
    if (mean > 0).all():
        y = np.log(mean)
        slope = float(coefficients @ y)
        intercept = float(weights @ (y - slope * x))
    return RateFit(
        slope,
        intercept,
        np.nan,
        np.nan,
        values=tuple(values.tolist()),
        mean=tuple(mean.tolist()),
        stderr=tuple(stderr.tolist()),
        weights=tuple(weights.tolist()),
        nonpositive=tuple(np.flatnonzero(mean <= 0).tolist()),
        no_error=tuple(np.flatnonzero(np.isnan(stderr)).tolist()),
        edge=tuple(i for i, cell in enumerate(cells) if cell.at_edge),
    )


def _with_interval(fit: RateFit, cells: Sequence[CellSummary], means: FloatArray) -> RateFit:
    """Interval of the slope from resampled means, shape (cells, resamples)."""
    mean = np.array(fit.mean)[:, None]
    ratios = means / mean
    floored = float((ratios < _RESAMPLE_FLOOR).mean(axis=1).max())
    expansions = np.array([cell.expansion for cell in cells])[:, None]
    deviations = expansions * np.log(np.maximum(ratios, _RESAMPLE_FLOOR))
    coefficients = _slope_coefficients(np.log(fit.values), np.array(fit.weights))
    log_errors = np.array(fit.stderr) / mean[:, 0]
    dof = _satterthwaite((coefficients * log_errors) ** 2, np.array([cell.dof for cell in cells]))
    resampled = fit.slope + coefficients @ deviations
    low, high = percentile_interval(fit.slope, resampled, student_factor(dof))
    return replace(fit, ci_low=low, ci_high=high, floored=floored)


def _log_positive(name: str, values: ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not (np.isfinite(array) & (array > 0)).all():
        raise InputError(name, array.tolist(), "a list of finite numbers > 0")
    return np.log(array)


def _slope_coefficients(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Coefficients c with slope = c @ y in weighted least squares."""
    if len(x) < 2 or np.ptp(x) == 0:
        raise InputError("parameter values", np.exp(x).tolist(), "at least two different values")
    shares = weights / weights.sum()
    centred = x - shares @ x
    return shares * centred / (shares @ centred**2)


def _satterthwaite(variances: FloatArray, dof: FloatArray) -> float:
    """Degrees of freedom of a sum of independent variance estimates (Welch 1947)."""
    spread = float(np.sum(variances**2 / dof))
    return float(np.sum(variances) ** 2 / spread) if spread > 0 else np.inf


def _perturbed(cell: CellSummary, rng: np.random.Generator, resamples: int) -> FloatArray:
    return cell.mean + cell.stderr * rng.standard_normal(resamples)


def _shared_data_sets(
    risks_by_cell: Sequence[ArrayLike], rng: np.random.Generator, resamples: int
) -> NDArray[np.int64]:
    counts = {as_cell(risks).shape[1] for risks in risks_by_cell}
    if len(counts) != 1:
        raise InputError("data sets per cell", sorted(counts), "equal where cells share their data")
    count = counts.pop()
    return rng.integers(count, size=(resamples, count))
