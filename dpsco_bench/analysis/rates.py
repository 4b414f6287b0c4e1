"""The asymptotic cells of a sweep, what would show a rate that they do not, and how far means are from a power law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
COUNTS, LEAST_COUNT = ("n", "d"), 1.0
"""Parameters of which there is no smaller value."""
NO_SMALLER = "no {} is smaller, and larger ones would not show it by the formula"
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
        """Cells that hardly leave the starting point."""
        return self.shares > self.limits

    @property
    def hidden(self) -> np.ndarray:
        """Cells where another term of the bound is larger."""
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
        """Where cells stand still by a test of their own, and where they would move, in one clause."""
        still = np.asarray(frozen, dtype=bool)
        at = ", ".join(_exact(value) for value in np.unique(self.swept[still]))
        end = self._end(still, np.full(len(still), np.nan), self._decline)
        if end.seen:
            where = f"from {_exact(end.edge)} on they do" if end.upwards else f"up to {_exact(end.edge)} they do"
        elif not np.isfinite(self._decline):
            where = f"no {parameter} that was run moves them, and the formula does not tell which would"
        elif not self._decline > 0:
            where = f"it takes {parameter} beyond {_exact(self.swept.max())}, the largest that was run"
        elif self.swept.min() <= _floor(parameter):
            where = NO_SMALLER.format(parameter)
        else:
            where = f"it takes {parameter} below {_exact(self.swept.min())}, the smallest that was run"
        return f"the runs hardly move at {parameter} = {at}; {where}"

    def _would_show(self, least: int, factor: float, parameter: str) -> str:
        """Between which values of the parameter a sweep would show the rate, or beyond which that were run."""
        ends = []
        if self.saturated.any():
            with np.errstate(invalid="ignore", divide="ignore"):
                excess = np.log(self.shares / self.limits)
            ends.append(self._end(self.saturated, excess, self._decline, measured=True))
        if self.hidden.any():
            others = np.log(np.maximum(self.full - self.named, 1e-300) / self.named)
            ends.append(self._end(self.hidden, others, _slope_of(self.swept, others)))
        if any(end.flat for end in ends):
            return f"no {parameter} would show it: by the formulas the share does not depend on it"
        if all(end.seen for end in ends):
            return self._among_those_run(ends, least, factor, parameter)
        if parameter in GROWING and any(not end.upwards and not end.seen for end in ends):
            return f"by the formula no {parameter} beyond {_exact(self.swept.max())} would show it"
        low, high = _window(ends)
        if np.isfinite(low) and high < low * factor * (1 - _ROUNDING):
            return f"no {parameter} would show it: it takes at least {_size(low)} and at most {_size(high)}"
        if vague := [end for end in ends if end.at_the_least]:
            return self._at_the_least(vague[0], parameter)
        low, high = (low, low * factor) if np.isfinite(low) else (high / factor, high)
        reached = self.swept.min() / FARTHEST < low and high / factor < self.swept.max() * FARTHEST
        if not reached or low < _floor(parameter):
            return f"no {parameter} within a factor {FARTHEST:,.0f} would show it by the formula"
        return f"by the formula it takes {parameter} from {self._outside(low)} to {self._outside(high)}"

    def _among_those_run(self, ends: Sequence[_End], least: int, factor: float, parameter: str) -> str:
        """Say which sizes are lacking, if those that were run show where the rate holds.

        Beyond them only on a side where none is out.
        """
        low, high = _window(ends)
        run, below, above = np.unique(self.swept), np.isfinite(low), np.isfinite(high)
        first, last = max(low, float(run[0])), min(high, float(run[-1]))
        more = f"it takes {max(1, least - len(np.unique(self.swept[self.fitted])))} more"
        spanned = last / first >= factor * (1 - _ROUNDING)
        under, over = run[run < first].max(initial=0.0), run[run > last].min(initial=np.inf)
        if below and above and over <= under * factor * (1 + _ROUNDING):
            small = f"up to {_exact(under)} {self._why(run[run <= under])}"
            return f"no {parameter} would show it: {small}, from {_exact(over)} on {self._why(run[run >= over])}"
        if below and above:
            return f"{more} between {_exact(under)} and {_exact(over)}"
        if above and parameter in GROWING:
            return f"no {parameter} from {_exact(over)} on would show it: {self._why(run[run >= over])}" + (
                f"; {more} from {_exact(first)} to {_exact(last)}" if spanned else ""
            )
        if spanned:
            return f"{more} from {_exact(first)} " + ("on" if below else f"to {_exact(last)}")
        if not above:
            return f"it takes {parameter} from {_exact(first)} to {_exact(first * factor)}"
        if last / factor < _floor(parameter):
            return f"no {parameter} is small enough, and from {_exact(over)} on {self._why(run[run >= over])}"
        return f"it takes {parameter} from {_exact(last / factor)} to {_exact(last)}"

    def _why(self, values: FloatArray) -> str:
        """Why sizes are not fitted."""
        own = np.isin(self.swept, values)
        said = ["the runs hardly leave the start"] * bool((self.saturated & own).any())
        return " and ".join(said + ["other terms of the bound are larger"] * bool((self.hidden & own).any()))

    def _at_the_least(self, end: _End, parameter: str) -> str:
        """Where nothing tells a size but the formula, from the last cell on, whose share may be at its cap."""
        if not end.upwards and self.swept.min() <= _floor(parameter):
            return NO_SMALLER.format(parameter)
        farthest = self.swept.max() * FARTHEST if end.upwards else self.swept.min() / FARTHEST
        if (end.edge > farthest) == end.upwards:
            return f"no {parameter} within a factor {FARTHEST:,.0f} would show it by the formula"
        where = "beyond" if end.upwards else "below"
        return f"it takes {parameter} {where} {self._outside(end.edge)} at the least, by the formula"

    def _outside(self, value: float) -> str:
        """Format a size that was not run, in the fewest digits (at least two) that keep it beyond the others."""
        for digits in range(2, 10):
            rounded = float(f"{value:.{digits}g}")
            between = (self.swept >= min(value, rounded)) & (self.swept <= max(value, rounded))
            if not between.any():
                return _exact(rounded)
        return _exact(value)

    @property
    def _decline(self) -> float:
        """Slope of the formula over that of the starting point's risk."""
        return _slope_of(self.swept, np.log(self.named)) - _slope_of(self.swept, np.log(self.starts))

    def _end(self, out: np.ndarray, excess: FloatArray, slope: float, measured: bool = False) -> _End:
        """Where cells that are out come in: between those that were run, or by extrapolation.

        Parameters
        ----------
        out : which cells are out, at least one
        excess : logarithm that must not be positive
        slope : of that logarithm by the formula
        measured : whether it comes from runs, whose own fall then has to follow the formula: near its cap a share is
            flat, and says nothing of the distance
        """
        if not out.all():
            inside, outside = self.swept[~out], self.swept[out]
            if outside.max() < inside.min():
                return _End(float(inside.min()), True, seen=True)
            if outside.min() > inside.max():
                return _End(float(inside.max()), False, seen=True)
            if slope <= -FLAT and inside.max() > outside.max():
                return _End(float(inside[inside > outside.max()].min()), True, seen=True)
            if slope >= FLAT and inside.min() < outside.min():
                return _End(float(inside[inside < outside.min()].max()), False, seen=True)
        known = np.flatnonzero(np.isfinite(excess))
        if not np.isfinite(slope) or not len(known):
            return _End(np.inf, True)
        if abs(slope) < FLAT:
            return _End(np.inf, True, flat=True)
        upwards = slope < 0
        ordered = known[np.argsort(self.swept[known] if upwards else -self.swept[known], kind="stable")]
        last = ordered[-1]
        own = _slope_of(self.swept[ordered[-2:]], excess[ordered[-2:]])  # of the last two cells
        vague = measured and not own / slope >= FOLLOWING
        with np.errstate(over="ignore"):
            edge = float(np.exp(np.log(self.swept[last]) - excess[last] / slope))
        return _End(edge, upwards, at_the_least=vague)


@dataclass(frozen=True)
class _End:
    """An end (the lower one: ``upwards``) of the values at which a rate shows.

    It is ``seen`` among the sizes that were run; ``flat`` where no size brings the cells in; ``at_the_least`` where it
    may lie farther out, since the runs do not yet follow the formula.
    """

    edge: float
    upwards: bool
    seen: bool = False
    flat: bool = False
    at_the_least: bool = False


def _window(ends: Sequence[_End]) -> tuple[float, float]:
    """Between which values a rate shows by all ends; infinite where nothing is known to end it."""
    low = max((end.edge for end in ends if end.upwards), default=-np.inf)
    return low, min((end.edge for end in ends if not end.upwards), default=np.inf)


def _floor(parameter: str) -> float:
    """Least value of a parameter, 0 where there is always a smaller one."""
    return LEAST_COUNT if parameter in COUNTS else 0.0


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


def _size(value: float) -> str:
    """Format a size to two digits."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 100 else f"{value:.2g}"


@dataclass(frozen=True)
class LackOfFit:
    """How far measured means are from a constant times the formula times a power of the parameter.

    The p-value is that of the chi-squared statistic with cells - 2 degrees of freedom; where the standard errors are
    estimates, of its F form, since a chi-squared law would take few replicates for certain. Where cells have random
    numbers in common, of the same statistic with the joint covariance of its residuals (`residual_noise`). 1 for fewer
    than 3 cells. ``largest`` is the largest relative residual.
    """

    p_value: float
    largest: float

    @property
    def bent(self) -> bool:
        return self.p_value < SIGNIFICANCE and self.largest > LARGEST_RESIDUAL


def lack_of_fit(fit: RateFit, formula: ArrayLike, replicates: Replicates | None = None) -> LackOfFit:
    """Lack of fit of a sweep, with the formula's own bend taken out; what replicates have in common cancels in it."""
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
