"""The word of a rate, step by step: the asymptotic cells of a sweep, its slope, and the reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from dpsco_bench.analysis.bootstrap import FloatArray, summarise
from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.looks import FIXED, LEVEL, TOO_NEAR, Look, within
from dpsco_bench.analysis.sharing import Replicates, Sharing, residual_noise
from dpsco_bench.analysis.slopes import LOG_ERROR_FLOOR, RateFit, bound_slope, bounded_errors, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError

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
GROWING = ("n",)
"""Parameters whose rates are about large values: smaller ones than were run are not told."""
_ROUNDING = 1e-9
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
class Regime:
    """Risks, bounds and limits that decide whether the cells of a sweep are asymptotic; arrays ``(cells,)``.

    Attributes
    ----------
    limits : largest share of it that counts (`MOVED` or `HARDLY_MOVED`)
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
        return cls(**{name: same_length(name, column, cells) for name, column in columns.items()})

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
        said, out = [], self.saturated
        if out.any():
            where = "at these sizes" if out.all() else f"in {out.sum()} of {len(out)} cells"
            said.append(f"{where} the risk is {span(self.shares[out])} of the start")
        if self.hidden.any():
            share = (self.named / self.full)[self.hidden]
            said.append(f"the claimed term is {span(share)} of the bound in {self.hidden.sum()} cells")
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
        elif np.isfinite(self._decline):
            where = _beyond(not self._decline > 0, parameter, self.swept)
        else:
            where = f"no {parameter} that was run moves them, and the formula does not tell which would"
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
        if not end.upwards and parameter in COUNTS and self.swept.min() <= LEAST_COUNT:
            return f"no {parameter} is smaller, and larger ones would not show it by the formula"
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
    return LEAST_COUNT if parameter in COUNTS else 0.0


def _beyond(upwards: bool, parameter: str, swept: FloatArray) -> str:
    where = ("beyond", swept.max(), "largest") if upwards else ("below", swept.min(), "smallest")
    if not upwards and parameter in COUNTS and swept.min() <= LEAST_COUNT:
        return f"no {parameter} is smaller, and larger ones would not show it by the formula"
    return f"it takes {parameter} {where[0]} {_exact(where[1])}, the {where[2]} that was run"


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
