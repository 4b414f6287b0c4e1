"""The word of a rate: every step from the axis to the reservations, in one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from dpsco_bench.analysis.asymptotic import LEAST, Regime, span
from dpsco_bench.analysis.bootstrap import FloatArray, summarise
from dpsco_bench.analysis.joint import Replicates, residual_noise
from dpsco_bench.analysis.looks import FIXED, LEVEL, Look
from dpsco_bench.analysis.replicates_needed import TOO_NEAR, within
from dpsco_bench.analysis.sharing import Sharing
from dpsco_bench.analysis.slopes import LOG_ERROR_FLOOR, RateFit, bound_slope, bounded_errors, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError

SIGNIFICANCE, LARGEST_RESIDUAL = 1e-3, 0.15
"""A sweep is bent if its lack of fit has a smaller p-value and its largest residual exceeds this share of the fit."""
SCHEDULE_SHARE = 0.5
"""From this share of the risk on, what is there without noise makes the risk one of the schedule."""
EXPLAINED = 0.5
"""Least share of a difference of slopes that a bound's other terms have to make, to be told."""
ROUNDING = 1e-9
LEAST_REPLICATES = 2
"""So few have a standard error; how wide intervals of few replicates are is in docs/error_rates.md."""
LEAST_SPAN = 2.0
"""Over a smaller factor of the parameter local slopes are not said to agree."""
_TINY = 1e-300


@dataclass(frozen=True)
class SweepRisks:
    """Data behind the verdict on a rate; sequences and arrays have one entry per cell.

    Attributes
    ----------
    axis : the variable of the regression, that which the claimed exponent is about
    risks : arrays ``([[signals,] data_sets,] replicates)``
    regime : which cells are asymptotic
    numerical_errors : of exactly computed cells, None for random ones
    sharing : which cells have random numbers in common
    edges : whether the largest risk stands at an edge of the signal grid that could be extended
    next_signals : for cells at such an edge the next signal of the grid's own ratio
    frozen : whether the part's own test finds that the runs of a cell hardly move
    noise_off, noise_off_errors : the same sweep without noise, empty where there is none
    """

    axis: ArrayLike
    risks: Sequence[ArrayLike]
    regime: Regime
    numerical_errors: Sequence[float | None] = ()
    sharing: Sharing | None = None
    edges: tuple[bool, ...] = ()
    next_signals: tuple[float, ...] = ()
    frozen: tuple[bool, ...] = ()
    noise_off: Sequence[ArrayLike] = ()
    noise_off_errors: Sequence[float | None] = ()
    cells: int = field(init=False)

    def __post_init__(self) -> None:
        cells = len(self.regime.swept)
        given = {
            "axis": np.size(self.axis),
            "risks": len(self.risks),
            "numerical errors": len(self.numerical_errors) or cells,
            "edges": len(self.edges) or cells,
            "next signals": len(self.next_signals) or cells,
            "frozen": len(self.frozen) or cells,
            "noise_off": len(self.noise_off) or cells,
        }
        for name, count in given.items():
            if count != cells:
                raise InputError(f"number of {name}", count, f"{cells}, one for each cell")
        object.__setattr__(self, "cells", cells)

    def fit(
        self, names: Sequence[str], chosen: np.ndarray, noise_off: bool = False, alpha: float = LEVEL
    ) -> RateFit | None:
        """Slope over the chosen cells; None where they have fewer than two different values."""
        numbers = np.flatnonzero(chosen).tolist()
        values = np.asarray(self.axis, dtype=np.float64)[numbers]
        if len(np.unique(values)) < 2:
            return None
        own = self.replicates(chosen, noise_off)
        errors, sharing = own.numerical_errors, own.sharing
        return fit_rate(values, own.risks, names, numerical_errors=errors, sharing=sharing, alpha=alpha)

    def replicates(self, chosen: np.ndarray, noise_off: bool = False) -> Replicates:
        """Replicates behind the means of the chosen cells."""
        numbers = np.flatnonzero(chosen).tolist()
        risks = self.noise_off if noise_off else self.risks
        errors = self.noise_off_errors if noise_off else self.numerical_errors
        sharing = self.sharing or Sharing.nothing(self.cells)
        labels = (tuple(own[i] for i in numbers) for own in (sharing.data_sets, sharing.replicates))
        known = [errors[i] if len(errors) else None for i in numbers]
        return Replicates([risks[i] for i in numbers], known, Sharing(*labels))


def rate_verdict(
    sweep: SweepRisks,
    tolerance: float,
    names: Sequence[str],
    *,
    profile: str = "ci",
    parameter: str = "the parameter",
    claimed_exponent: float | None = None,
    better: str = "smaller",
    others: str = "",
    look: Look = FIXED,
) -> Verdict:
    """Compare a measured slope with the slope of a formula: the only function that judges a rate.

    In this order: too few asymptotic cells; a signal grid that ends too early; no power law; the interval of the
    difference of the slopes against the tolerance, at the look's level (95 % where all is run at once). Returns
    ``match``, ``faster``, ``fails``, ``inconclusive``, also ``(edge)`` or ``(bent)``, or ``not_observable``.

    Parameters
    ----------
    names : sequence of str, (claim, part, calibration), seeds the bootstrap
    profile : {"smoke", "ci", "full"}, decides how many asymptotic cells there must be
    claimed_exponent : float, optional, the paper's bare exponent, shown beside the formula's slope
    better : {"smaller", "larger"}, which slopes mean a faster decay than claimed
    others : str, what the bound has beside the claimed term, as a noun
    """
    if better not in ("smaller", "larger"):
        raise InputError("better", better, "smaller or larger")
    if not tolerance > 0:
        raise InputError("tolerance", tolerance, "a number > 0")
    if profile not in LEAST:
        raise InputError("profile", profile, "one of " + ", ".join(LEAST))
    regime, fitted = sweep.regime, sweep.regime.fitted
    fit = sweep.fit(names, fitted, alpha=look.alpha)
    b = bound_slope(fit.values, regime.named[fitted], fit.weights) if fit else np.nan
    word, reason = _word(sweep, fit, b, tolerance, (profile, parameter, better))
    if fit and others and word in ("faster", "fails"):
        reason += explained(regime, fit, b, others)
    silent = sweep.fit((*names[:2], "none"), fitted, noise_off=True) if len(sweep.noise_off) else None
    share = noise_off_share(sweep)
    times = f"{share:.2g} of it" if share < 1.05 else f"{share:.2g} times as large"
    reserved = (f"schedule: without noise the risk is {times}",) if share >= SCHEDULE_SHARE else ()
    summaries = [summarise(risks, error) for risks, error in zip(sweep.risks, _errors(sweep), strict=True)]
    return Verdict(
        word,
        reason=reason,
        values=tuple(np.asarray(sweep.axis, dtype=np.float64).tolist()),
        mean=tuple(cell.mean for cell in summaries),
        stderr=tuple(cell.stderr for cell in summaries),
        bound=tuple(regime.named.tolist()),
        slope=fit.slope if fit else np.nan,
        ci=(fit.ci_low, fit.ci_high) if fit else (np.nan, np.nan),
        bound_slope=b,
        claimed_exponent=claimed_exponent,
        noise_off_slope=silent.slope if silent else np.nan,
        tolerance=tolerance,
        reservations=reserved,
        fitted=tuple(fitted.tolist()),
        local_slopes=tuple(local_slopes(fit.values, fit.mean).tolist()) if fit else (),
        **_ratio_ends(fit, regime.named[fitted], tolerance, better) if fit else {},
        noise_off_share=share,
        notes=fit.notes if fit else (),
    )


def _ratio_ends(fit: RateFit, named: FloatArray, tolerance: float, better: str) -> dict[str, Any]:
    """Measure risk over formula at both ends, the last local slope, and whether the ratio grows throughout.

    It grows where it is least at the end that the formula is not about, largest at the other, and the last local slope
    is still beyond the tolerance.
    """
    values, cells = np.unique(fit.values, return_inverse=True)
    means = np.log(np.maximum(fit.mean, _TINY))
    risk, ratio = (
        np.array([column[cells == i].mean() for i in range(len(values))]) for column in (means, means - np.log(named))
    )
    sign = 1 if better == "smaller" else -1
    axis, risk, ratio = np.log(values)[::sign], risk[::sign], ratio[::sign]
    last, own = ((column[-1] - column[-2]) / (axis[-1] - axis[-2]) for column in (ratio, risk))
    whole = ratio[0] == ratio.min() and ratio[-1] == ratio.max()
    return {
        "ratio_ends": (float(np.exp(ratio[0])), float(np.exp(ratio[-1]))),
        "last_local_slope": float(own),
        "grows": bool(whole and sign * last > tolerance),
    }


def _word(
    sweep: SweepRisks, fit: RateFit | None, b: float, tolerance: float, told: tuple[str, str, str]
) -> tuple[str, str]:
    """Decide the word and its reason, step by step."""
    profile, parameter, better = told
    regime = sweep.regime
    if any(sweep.frozen):
        return "not_observable (frozen)", f"by the part's own test {regime.moving(sweep.frozen, parameter)}"
    if fit and fit.nonpositive:
        return "not_observable", f"mean excess risk is not positive at {fit.places(fit.nonpositive, parameter)}"
    lacking = regime.lacking(profile, parameter)
    if lacking or fit is None:
        return "not_observable", lacking
    edges = [i for i, edge in enumerate(sweep.edges) if edge and regime.fitted[i]]
    if edges:
        return "inconclusive (edge)", _edge_said(sweep, edges, parameter)
    if fit.no_error:
        return "inconclusive", f"a single random replicate gives no interval; it takes at least {LEAST_REPLICATES}"
    lack = lack_of_fit(fit, regime.named[regime.fitted], sweep.replicates(regime.fitted))
    if lack.bent:
        bends = ", ".join(f"{slope:.2f}" for slope in local_slopes(fit.values, fit.mean))
        found = f"residuals up to {lack.largest:.0%} from a power law; local slopes {bends}"
        return "inconclusive (bent)", f"{found}; {_straight(sweep, tolerance, parameter)}"
    word, reason = equivalence(fit, b, tolerance, better)
    return word, f"{reason}; {_farther(sweep, parameter, better)}" if reason.endswith(TOO_NEAR) else reason


def _farther(sweep: SweepRisks, parameter: str, better: str) -> str:
    """Sizes at which a slope shows that lies at the limit: those towards which the formula is claimed."""
    fitted = sweep.regime.swept[sweep.regime.fitted]
    if better == "smaller":
        return f"it takes sizes beyond {parameter} = {fitted.max():,.10g}"
    return f"it takes sizes below {parameter} = {fitted.min():,.10g}"


def _edge_said(sweep: SweepRisks, cells: Sequence[int], parameter: str) -> str:
    """At which cells the signal grid ends too early, and which signals it lacks."""
    where = ", ".join(f"{sweep.regime.swept[i]:g}" for i in cells)
    said = f"the largest risk is at the edge of the signal grid at {parameter} = {where}"
    if not sweep.next_signals:
        return said
    signals = dict.fromkeys(f"{sweep.next_signals[i]:g}" for i in cells)
    return f"{said}; it takes a next signal, {', '.join(signals)}"


def _straight(sweep: SweepRisks, tolerance: float, parameter: str) -> str:
    """From which end the local slopes of fitted cells agree with the formula's, and which sizes that leaves to add."""
    regime, fitted = sweep.regime, sweep.regime.fitted
    values, cells = np.unique(regime.swept[fitted], return_inverse=True)
    columns = (np.asarray(sweep.axis, dtype=np.float64), np.maximum(regime.means, _TINY), regime.named)
    axis, means, named = (
        np.array([np.log(column[fitted][cells == i]).mean() for i in range(len(values))]) for column in columns
    )
    agree = np.abs(np.diff(means - named) / np.diff(axis)) <= tolerance
    above, below = (int(np.argmin([*own, False])) for own in (agree[::-1], agree))
    above *= bool(values[-1] >= LEAST_SPAN * values[-1 - above])
    below *= bool(values[below] >= LEAST_SPAN * values[0])
    if above:
        kept = f"from {parameter} = {values[-1 - above]:,.10g} on they agree with the formula"
        return f"{kept}; it takes sizes beyond {values[-1]:,.10g}, with the smaller ones left out"
    if below:
        kept = f"up to {parameter} = {values[below]:,.10g} they agree with the formula"
        smaller = f"below {values[0]:,.10g}, or " if regime.swept.min() >= values[0] else ""
        return f"{kept}; it takes sizes {smaller}beyond {values[-1]:,.10g} to show what follows"
    return f"at neither end they agree with the formula; it takes sizes beyond {parameter} = {values[-1]:,.10g}"


def equivalence(fit: RateFit, b: float, tolerance: float, better: str = "smaller") -> tuple[str, str]:
    """Word for the interval of measured less formula slope, and the reason: nothing else decides."""
    shown = f"slope {fit.slope:.3g} [{fit.ci_low:.3g}, {fit.ci_high:.3g}] against {b:.3g}, allowed {tolerance:g}"
    side = 1.0 if better == "smaller" else -1.0
    low, high = sorted((side * (fit.ci_low - b), side * (fit.ci_high - b)))
    if max(-low, high) <= tolerance * (1 + ROUNDING):
        return "match", shown
    if high < -tolerance:
        return "faster", shown
    if low > tolerance:
        return "fails", shown
    return "inconclusive", f"{shown}; {within(fit.slope, fit.ci_low, fit.ci_high, b, tolerance)}"


def explained(regime: Regime, fit: RateFit, b: float, others: str) -> str:
    """Explain by a bound's other terms a slope that is not the claimed term's; empty below half of it.

    They are below half of the bound in every fitted cell, and bend it all the same. The word stays: it is about the
    claimed term.
    """
    fitted = regime.fitted
    whole = bound_slope(fit.values, regime.full[fitted], fit.weights)
    if not abs(fit.slope - whole) <= (1.0 - EXPLAINED) * abs(fit.slope - b):
        return ""
    return f"; {others} is {span(1.0 - (regime.named / regime.full)[fitted])} of the bound, which has slope {whole:.3g}"


def noise_off_share(sweep: SweepRisks) -> float:
    """Risk without noise over the risk, geometric mean over the fitted cells; NaN where there are none."""
    chosen = np.flatnonzero(sweep.regime.fitted).tolist()
    if not len(sweep.noise_off) or not len(chosen):
        return np.nan
    off = np.array([summarise(sweep.noise_off[i]).mean for i in chosen])
    ratios: FloatArray = np.maximum(off / sweep.regime.means[chosen], _TINY)
    return float(np.exp(np.log(ratios).mean()))


def _errors(sweep: SweepRisks) -> Sequence[float | None]:
    return sweep.numerical_errors or [None] * sweep.cells


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
