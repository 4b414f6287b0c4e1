"""The asymptotic cells of a sweep, what would show a rate that they do not, and how far means are from a power law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.sharing import Replicates, residual_noise
from dpsco_bench.analysis.slopes import LOG_ERROR_FLOOR, RateFit, bound_slope, bounded_errors

MOVED, HARDLY_MOVED = 0.5, 0.9
"""Largest share of the starting point's risk; the second while a signal can still be made stronger."""
DOMINANCE = 0.5
"""Least share of the full bound that the term with the claimed exponent must have."""
LEAST: Mapping[str, tuple[int, float]] = {"smoke": (3, 4.0), "ci": (3, 4.0), "full": (4, 8.0)}
"""By profile, how many asymptotic cells a rate needs, and over which factor of the parameter."""
FARTHEST = 1e3
"""Extrapolations beyond the sweep by more than this factor are not told."""
FOLLOWING = 0.5
"""Least slope of a measured share over the formula's for which a size is extrapolated."""
FLAT = 0.02
"""Slope of a share below which no size changes it: over a factor of `FARTHEST` by a fifth at most."""
COUNTS = ("n", "d")
"""Parameters of which there is no value below 1."""
GROWING = ("n",)
"""Parameters whose rates are about large values: smaller ones than were run are not told."""
_ROUNDING = 1e-9
SIGNIFICANCE, LARGEST_RESIDUAL = 1e-3, 0.15
"""A sweep is bent if its lack of fit has a smaller p-value and its largest residual exceeds this share of the fit."""
TINY = 1e-300


@dataclass(frozen=True)
class Regime:
    """Risks, bounds and limits that decide whether the cells of a sweep are asymptotic; arrays ``(cells,)``.

    Attributes
    ----------
    swept, means : the swept parameter, and the mean risks
    named, full : the claimed term of the bound, and the whole bound
    starts : risks of the starting point, NaN where there are none
    limits : largest share of the start's risk that counts as having left it (`MOVED` or `HARDLY_MOVED`)
    """

    swept: FloatArray
    means: FloatArray
    named: FloatArray
    full: FloatArray
    starts: FloatArray
    limits: FloatArray

    @classmethod
    def of(cls, swept: ArrayLike, means: ArrayLike, named: ArrayLike, **more: ArrayLike) -> Regime:
        """With what is left out filled in: no further terms, nothing known of the start."""
        cells = np.size(swept)
        usual = {"full": named, "starts": np.full(cells, np.nan), "limits": np.full(cells, MOVED)}
        columns = {"swept": swept, "means": means, "named": named, **usual, **more}
        return cls(**{name: np.asarray(column, dtype=np.float64) for name, column in columns.items()})

    @property
    def shares(self) -> FloatArray:
        """Risk over the starting point's, NaN where that is unknown."""
        return self.means / self.starts

    @property
    def saturated(self) -> np.ndarray:
        return self.shares > self.limits

    @property
    def hidden(self) -> np.ndarray:
        return self.named < DOMINANCE * self.full

    @property
    def fitted(self) -> np.ndarray:
        """Asymptotic cells; the others are drawn hollow."""
        return ~(self.saturated | self.hidden)

    def lacking(self, profile: str, parameter: str) -> str:
        """Why the sweep cannot show a rate, and where one could, in one clause; empty where it can."""
        fitted = self.fitted
        least, factor = LEAST[profile]
        values = np.unique(self.swept[fitted])
        reach = float(values[-1] / values[0]) if len(values) else 1.0
        if len(values) >= least and reach >= factor * (1 - _ROUNDING):
            return ""
        said, out, hidden = [], self.saturated, self.hidden
        if out.any():
            where = "at these sizes" if out.all() else f"in {out.sum()} of {len(out)} cells"
            said.append(f"{where} the risk is {span(self.shares[out])} of the start")
        if hidden.any():
            share = span((self.named / self.full)[hidden])
            said.append(f"the claimed term is {share} of the bound in {hidden.sum()} cells")
        if 0 < len(values) < least:
            said.append(f"{len(values)} of {len(fitted)} sizes can be fitted, {least} are needed")
        elif len(values):
            said.append(f"the sizes that can be fitted span a factor {reach:.3g}, {factor:g} is needed")
        return "; ".join([*said, self._would_show(least, factor, parameter)])

    def moving(self, frozen: ArrayLike, parameter: str) -> str:
        """Where cells stand still by a test of their own, and whether others move, in one clause."""
        still = np.asarray(frozen, dtype=bool)
        at = ", ".join(_exact(value) for value in np.unique(self.swept[still]))
        other = "at the others they do"
        if still.all():
            other = f"no {parameter} that was run moves them, and the formula does not tell which would"
        return f"the runs hardly move at {parameter} = {at}; {other}"

    def _would_show(self, least: int, factor: float, parameter: str) -> str:
        """Between which values of the parameter a sweep would show the rate, or beyond which that were run."""
        inside, outside = self.swept[self.fitted], self.swept[self.saturated]
        if self.hidden.any():
            return "it takes sizes at which the claimed term is half of the bound"
        if not len(inside):
            return self._beyond(factor, parameter)
        first, last = float(inside.min()), float(inside.max())
        more = f"it takes {max(1, least - len(np.unique(inside)))} more"
        spanned, smaller = last / first >= factor * (1 - _ROUNDING), bool((outside > last).any())
        if (outside < last).any() and (outside > first).any():
            return f"{more} at which the runs leave the start"
        if smaller and parameter in GROWING:
            why = f"no {parameter} from {_exact(outside.min())} on would show it: the runs hardly leave the start"
            return why + f"; {more} from {_exact(first)} to {_exact(last)}" * spanned
        if spanned:
            return f"{more} from {_exact(first)} " + (f"to {_exact(last)}" if smaller or not len(outside) else "on")
        low = last / factor if smaller else first
        if low < (1 if parameter in COUNTS else 0):
            return f"no {parameter} is small enough"
        return f"it takes {parameter} from {_exact(low)} to {_exact(low * factor)}"

    def _beyond(self, factor: float, parameter: str) -> str:
        """Extrapolate to where cells leave the start, from the last one on, of which none does.

        Near its cap a share is flat: where the last two do not fall as the formula says, the distance is the least one.
        """
        with np.errstate(divide="ignore"):
            slope = _slope_of(self.swept, np.log(self.named)) - _slope_of(self.swept, np.log(self.starts))
        upwards = not slope > 0
        if abs(slope) < FLAT:
            return f"no {parameter} would show it: by the formulas the share does not depend on it"
        if parameter in GROWING and not upwards:
            return f"by the formula no {parameter} beyond {_exact(self.swept.max())} would show it"
        with np.errstate(all="ignore"):
            excess = np.log(self.shares / self.limits)
            order = np.argsort(self.swept if upwards else -self.swept, kind="stable")[-2:]
            edge = float(np.exp(np.log(self.swept[order[-1]]) - excess[order[-1]] / slope))
            vague = not _slope_of(self.swept[order], excess[order]) / slope >= FOLLOWING
        low = edge if upwards or vague else edge / factor
        near = edge < self.swept.max() * FARTHEST if upwards else low > self.swept.min() / FARTHEST
        if not near or low < (1 if parameter in COUNTS else 0):
            return f"no {parameter} within a factor {FARTHEST:,.0f} would show it by the formula"
        if vague:
            where = "beyond" if upwards else "below"
            return f"it takes {parameter} {where} {self._outside(edge)} at the least, by the formula"
        high = edge * factor if upwards else edge
        return f"by the formula it takes {parameter} from {self._outside(low)} to {self._outside(high)}"

    def _outside(self, value: float) -> str:
        """Format a size that was not run, in the fewest digits (at least two) that keep it beyond the others."""
        for digits in range(2, 10):
            rounded = float(f"{value:.{digits}g}")
            between = (self.swept >= min(value, rounded)) & (self.swept <= max(value, rounded))
            if not between.any():
                break
        return _exact(rounded)


def _slope_of(values: FloatArray, logs: FloatArray) -> float:
    good = np.isfinite(logs)
    if len(np.unique(values[good])) < 2:
        return np.nan
    return bound_slope(values[good], np.exp(logs[good]))


def span(shares: FloatArray) -> str:
    """Format the least and the largest of some shares, once if they look alike."""
    low, high = f"{shares.min():.2g}", f"{shares.max():.2g}"
    return low if low == high else f"{low} to {high}"


def _exact(value: float) -> str:
    return f"{value:,.10g}"


@dataclass(frozen=True)
class LackOfFit:
    """How far measured means are from a constant times the formula times a power of the parameter.

    The p-value is that of the chi-squared statistic with cells - 2 degrees of freedom; where the standard errors are
    estimates, of its F form, since a chi-squared law would take few replicates for certain. Where cells have random
    numbers in common, of the same statistic with the joint covariance of its residuals (`residual_noise`). ``largest``
    is the largest relative residual.
    """

    p_value: float
    largest: float

    @property
    def bent(self) -> bool:
        return self.p_value < SIGNIFICANCE and self.largest > LARGEST_RESIDUAL


def lack_of_fit(fit: RateFit, formula: ArrayLike, replicates: Replicates | None = None) -> LackOfFit:
    """Lack of fit of a sweep of three cells or more, with the formula's own bend taken out."""
    x, mean = np.log(fit.values), np.array(fit.mean)
    y = np.log(mean) - np.log(np.asarray(formula, dtype=np.float64))
    raw = np.array(fit.stderr) / mean
    errors = bounded_errors(raw, fit.dof)
    longer = float(np.sqrt((raw**2).mean() / (errors**2).mean()))
    errors *= max(1.0, longer)  # a geometric mean of estimates is too small
    design = np.stack([np.ones(len(x)), x], axis=1) / errors[:, None]
    solution = np.linalg.lstsq(design, y / errors, rcond=None)[0]
    residuals = y - solution[0] - solution[1] * x
    largest, free = float(np.abs(np.expm1(residuals)).max()), len(x) - 2
    statistic, behind = float(((residuals / errors) ** 2).sum()), float(np.sum(fit.dof))
    if replicates and replicates.groups():
        operator = (np.eye(len(x)) - design @ np.linalg.pinv(design)) / errors
        noise, rank, known = residual_noise(replicates, operator, errors, fit.dof, LOG_ERROR_FLOOR)
        return LackOfFit(float(fdtrc(rank, known, statistic / noise)), largest)
    p_value = chdtrc(free, statistic) if np.isinf(behind) else fdtrc(free, behind, statistic / free)
    return LackOfFit(float(p_value), largest)


def local_slopes(values: ArrayLike, means: ArrayLike) -> FloatArray:
    """Slopes ``(cells - 1,)`` between neighbours on log-log axes, by parameter; NaN where a mean is not positive."""
    x, y = np.asarray(values, dtype=np.float64), np.asarray(means, dtype=np.float64)
    order = np.argsort(x, kind="stable")
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes: FloatArray = np.diff(np.log(y[order])) / np.diff(np.log(x[order]))
    return slopes
