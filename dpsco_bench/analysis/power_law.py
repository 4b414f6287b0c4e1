"""Whether means follow a formula's power law at all: chi-squared lack of fit, and local slopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.joint import Replicates, residual_noise
from dpsco_bench.analysis.slopes import LOG_ERROR_FLOOR, RateFit, bounded_errors

SIGNIFICANCE, LARGEST_RESIDUAL = 1e-3, 0.15
"""A sweep is bent if its lack of fit has a smaller p-value and its largest residual exceeds this share of the fit."""


@dataclass(frozen=True)
class LackOfFit:
    """How far measured means are from a constant times the formula times a power of the parameter.

    Attributes
    ----------
    p_value : float
        Of the chi-squared statistic with cells - 2 degrees of freedom; where the standard errors are estimates, of its
        F form, since a chi-squared law would take few replicates for certain. Where cells have random numbers in
        common, of the same statistic with the joint covariance of its residuals (`residual_noise`). 1 for fewer than 3
        cells.
    largest : float, largest relative residual, >= 0
    """

    p_value: float
    largest: float

    @property
    def bent(self) -> bool:
        return self.p_value < SIGNIFICANCE and self.largest > LARGEST_RESIDUAL


def lack_of_fit(fit: RateFit, formula: ArrayLike, replicates: Replicates | None = None) -> LackOfFit:
    """Lack of fit of a sweep, with the formula's own bend taken out.

    Parameters
    ----------
    formula : array_like, its values > 0, shape ``(cells,)``
    replicates : Replicates, optional
        Behind the means: random numbers that cells have in common cancel in the residuals. None in common if left out.
    """
    x, mean = np.log(fit.values), np.array(fit.mean)
    y = np.log(mean) - np.log(np.asarray(formula, dtype=np.float64))
    raw = np.array(fit.stderr) / mean
    errors = bounded_errors(raw, fit.dof)
    errors *= max(
        1.0, float(np.sqrt((raw**2).mean() / (errors**2).mean()))
    )  # a geometric mean of estimates is too small
    design = np.stack([np.ones(len(x)), x], axis=1) / errors[:, None]
    solution = np.linalg.lstsq(design, y / errors, rcond=None)[0]
    residuals = y - solution[0] - solution[1] * x
    largest, free = float(np.abs(np.expm1(residuals)).max()), len(x) - 2
    if free < 1:
        return LackOfFit(1.0, largest)
    statistic, behind = float(((residuals / errors) ** 2).sum()), float(np.sum(fit.dof))
    if replicates and replicates.groups():
        operator = (np.eye(len(x)) - design @ np.linalg.pinv(design)) / errors
        noise, rank, known = residual_noise(replicates, operator, errors, fit.dof, LOG_ERROR_FLOOR)
        return LackOfFit(float(fdtrc(rank, known, statistic / noise)), largest)
    p_value = chdtrc(free, statistic) if np.isinf(behind) else fdtrc(free, behind, statistic / free)
    return LackOfFit(float(p_value), largest)


def local_slopes(values: ArrayLike, means: ArrayLike) -> FloatArray:
    """Slopes between neighbouring cells on log-log axes, in increasing order of the parameter, shape ``(cells - 1,)``.

    NaN where a mean is not positive.
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(means, dtype=np.float64)
    order = np.argsort(x, kind="stable")
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes: FloatArray = np.diff(np.log(y[order])) / np.diff(np.log(x[order]))
    return slopes
