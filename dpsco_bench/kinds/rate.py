"""Kind `rate`: the slope of the excess risk against that of a formula.

"Better" means that the risk decays faster as the parameter grows, hence a smaller slope: more negative for n and
epsilon, less steep for d or a condition number. Regimes towards 0 (a gradient noise, a distance) ask for a larger
slope and say so with ``better="larger"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.cells import measured
from dpsco_bench.analysis.evidence import MeasuredCell, replicates_of
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import FIXED, LEVEL, TOO_NEAR, Look, within
from dpsco_bench.analysis.rates import HARDLY_MOVED, MOVED, TINY, Regime, lack_of_fit, local_slopes, span
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.analysis.slopes import RateFit, bound_slope, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart, Part
from dpsco_bench.errors import InputError
from dpsco_bench.kinds import SlopeKind
from dpsco_bench.plain import Plain
from dpsco_bench.problems.registry import problem_class

LARGEST_TOLERANCE, OF_THE_EXPONENT, ALWAYS_ALLOWED = 0.25, 0.25, 0.08
"""A tolerance is at most the first, and at most this share of the exponent unless that is below the last."""
SCHEDULE_SHARE = 0.5
"""From this share of the risk on, what is there without noise makes the risk one of the schedule."""
EXPLAINED = 0.5
"""Least share of a difference of slopes that a bound's other terms have to make, to be told."""
ROUNDING = 1e-9
LEAST_SPAN = 2.0
"""Over a smaller factor of the parameter local slopes are not said to agree."""


@dataclass(frozen=True, kw_only=True)
class RatePart(MeasuredPart):
    """Fields of a rate's part.

    Attributes
    ----------
    better : str
        Which slopes decay faster than claimed: ``smaller`` ones, or ``larger`` ones where the parameter goes to 0.
    noise_off : bool, false where the algorithm has no limit without noise to be run as a companion
    law, law_limit : str and float
        A part of kind law on the same cells, and the limit of its ratio to the formula (``inf``: unbounded); where the
        law holds, it decides the exponent.
    sampling : str, the sampling error that has the exponent, where noise plays no part in it
    loose : str, the term in which the bound is loose, where a faster decay contradicts nothing that it states
    """

    bound: str
    tolerance: float
    tolerances: Mapping[str, float] = field(default_factory=dict)
    exponent: float | None = None
    axis: str = ""
    better: Literal["smaller", "larger"] = "smaller"
    quantity: str = RISK
    noise_off: bool = True
    law: str = ""
    law_limit: float | None = None
    loose: str = ""
    sampling: str = ""


@kind("rate")
class Rate(SlopeKind):
    """How fast the risk falls, as a slope on log-log axes."""

    title = "rate"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the interval of measured less formula slope lies within the tolerance",
            "{what} {moves} as the bound says",
        ),
        "faster": Word(
            "better",
            "the whole interval lies beyond the tolerance on the better side",
            "{what} {moves} {better} than the bound",
        ),
        "fails": Word(
            "contradicts",
            "the whole interval lies beyond the tolerance on the worse side",
            "{what} {moves} {worse} than the bound",
        ),
        "inconclusive": Word(
            "open", "the interval reaches across the tolerance", "{what} against the bound: undecided"
        ),
        "inconclusive (bent)": Word(
            "open",
            "the means follow no power law: they bend in another way than the formula",
            "{what} {follows} no power law",
        ),
        "inconclusive (edge)": Word(
            "open",
            "a largest risk stands at the edge of a signal grid that could be extended",
            "the largest risk is at the edge of the signals",
        ),
        "not_observable": Word(
            "open",
            "too few sizes where the runs leave the starting point and the claimed term is half of the bound",
            "no rate shows at these sizes",
        ),
        "not_observable (frozen)": Word(
            "open", "the part's own test says that the runs hardly move", "the runs hardly move"
        ),
    }
    part = RatePart
    of_the_law = has_interval = True
    early = ("match", "faster", "fails")
    fields = ("fitted", "local_slopes", "noise_off_share")

    def check(self, part: RatePart, where: str) -> None:
        """Check that the tolerance is small beside its exponent."""
        limit = largest_tolerance(part.exponent)
        for tolerance in (part.tolerance, *part.tolerances.values()):
            if tolerance > limit:
                raise InputError(f"{where}: tolerance", tolerance, f"at most {limit:g} for exponent {part.exponent}")

    def needs_slope(self, part: RatePart) -> bool:
        return True

    def judge(self, case: PartCells) -> Verdict:
        """By `SweepRisks.verdict`, with what a reader must know beside it."""
        verdict = sweep_of(case).verdict()
        return replace(verdict, claimed_exponent=case.part.exponent, notes=(*verdict.notes, *_notes(case)))


def largest_tolerance(exponent: float | None) -> float:
    """Compute the largest tolerance of a rate with some exponent; without one the largest of all."""
    if exponent is None:
        return LARGEST_TOLERANCE
    return min(LARGEST_TOLERANCE, max(ALWAYS_ALLOWED, OF_THE_EXPONENT * abs(exponent)))


def limited(tolerance: float, axis: ArrayLike, named: ArrayLike) -> float:
    """Limit a tolerance without a printed exponent to that of the formula's own slope."""
    return min(tolerance, largest_tolerance(bound_slope(axis, named))) if len(np.unique(axis)) > 1 else tolerance


def sweep_of(case: PartCells) -> SweepRisks:
    part, cells = case.part, case.cells
    named = case.bound.named_term or case.bound.value
    regime = Regime.of(
        [cell.value for cell in cells],
        case.replicates.mean,
        [named(cell.context) for cell in cells],
        starts=[cell.start_risk if part.quantity == RISK else np.nan for cell in cells],
        limits=[HARDLY_MOVED if cell.can_be_stronger else MOVED for cell in cells],
        full=[case.bound.value(cell.context) for cell in cells],
    )
    off = case.silent_cells if case.calibration != "none" else []
    return SweepRisks(
        case.values,
        case.replicates,
        regime,
        part.tolerance if part.exponent is not None else limited(part.tolerance, case.values, regime.named),
        case.names,
        profile=case.profile,
        parameter=str(cells[0].entry.parameter),
        better=part.better,
        others=case.bound.others if case.bound.named_term else "",
        look=case.look,
        next_signals=tuple(cell.next_signal for cell in cells),
        frozen=tuple(_frozen(part, cell) for cell in cells) if part.requires else (),
        noise_off=replicates_of(off) if off else None,
    )


def _notes(case: PartCells) -> list[str]:
    """Tell where a slope says little: no risk without noise, other starting gaps."""
    part, cells, notes = case.part, case.cells, list[str]()
    silent = case.silent_cells
    if case.calibration != "none" and silent and (replicates_of(silent).mean <= 0).any():
        notes.append("noise off: the excess risk is at rounding level and has no slope")
    problems = {case.whole.claim.part(source).problem for source, _ in case.sources}
    if part.quantity == RISK and any(problem_class(name).cell_dependent for name in problems):
        each = ", each at its own worst signal" if any(cell.grid for cell in (*cells, *silent)) else ""
        off = f"; with noise off {_shares(silent)}{each}" if silent else ""
        notes.append(f"gap over the starting gap: {_shares(cells)}{off}")
    notes += sorted({text for cell in cells for text in cell.certificates})
    return notes


def _shares(cells: Sequence[MeasuredCell]) -> str:
    ratios = replicates_of(cells).mean / [cell.start_risk for cell in cells]
    return f"{ratios.min():.2g} to {ratios.max():.2g}"


def _frozen(part: Part, cell: MeasuredCell) -> bool:
    """Check whether a required extra is below its least value, at the largest signal of a cell."""
    strongest = cell.grid[-1] if cell.grid else cell
    return any(strongest.extras[name].mean() < least for name, least in part.requires.items())


@dataclass(frozen=True)
class SweepRisks:
    """A sweep as a rate is judged by it; sequences and arrays have one entry per cell."""

    axis: ArrayLike  # the variable of the regression, that which the claimed exponent is about
    replicates: Replicates  # the risks
    regime: Regime  # which cells are asymptotic
    tolerance: float
    names: Sequence[str]  # (claim, part, calibration), seeds the bootstrap
    profile: str = "ci"  # ``smoke``, ``ci`` or ``full``, decides how many asymptotic cells there must be
    parameter: str = "the parameter"
    better: str = "smaller"  # or ``larger``: which slopes mean a faster decay than claimed
    others: str = ""  # what the bound has beside the claimed term, as a noun
    look: Look = FIXED
    next_signals: tuple[float, ...] = ()  # would extend a signal grid at whose edge the risk is largest; NaN elsewhere
    frozen: tuple[bool, ...] = ()  # whether the part's own test finds that the runs of a cell hardly move
    noise_off: Replicates | None = None  # the risks of the same sweep without noise, if there are any

    def verdict(self) -> Verdict:
        """Compare the measured slope with the slope of the formula: the only function that judges a rate.

        In this order: too few asymptotic cells; a signal grid that ends too early; no power law; the interval of the
        difference of the slopes against the tolerance, at the look's level (95 % where all is run at once). Returns
        ``match``, ``faster``, ``fails``, ``inconclusive``, also ``(edge)`` or ``(bent)``, or ``not_observable``.
        """
        named, fitted = self.regime.named, self.regime.fitted
        fit = self._fit(self.replicates, self.names, self.look.alpha)
        b = bound_slope(fit.values, named[fitted], fit.weights) if fit else np.nan
        word, reason = self._word(fit, b)
        if fit and self.others and word in ("faster", "fails"):
            reason += self._explained(fit, b)
        silent = self._fit(self.noise_off, (*self.names[:2], "none")) if self.noise_off else None
        share = self.noise_off_share
        times = f"{share:.2g} of it" if share < 1.05 else f"{share:.2g} times as large"
        return Verdict(
            word,
            reason=reason,
            **measured(self._values, self.replicates.mean, self.replicates.stderr, named),
            bound_slope=b,
            noise_off_slope=silent.slope if silent else np.nan,
            tolerance=self.tolerance,
            reservations=(f"schedule: without noise the risk is {times}",) * (share >= SCHEDULE_SHARE),
            fitted=tuple(fitted.tolist()),
            noise_off_share=share,
            **(self._slopes(fit) if fit else {"local_slopes": ()}),
        )

    @property
    def _values(self) -> FloatArray:
        return np.asarray(self.axis, dtype=np.float64)

    @property
    def _chosen(self) -> list[int]:
        return list(np.flatnonzero(self.regime.fitted).tolist())

    def _fit(self, replicates: Replicates, names: Sequence[str], alpha: float = LEVEL) -> RateFit | None:
        """Fit a slope over the asymptotic cells; None where they have fewer than two different values."""
        values = self._values[self.regime.fitted]
        if len(np.unique(values)) < 2:
            return None
        return fit_rate(values, replicates.take(self._chosen), names, alpha=alpha)

    @property
    def noise_off_share(self) -> float:
        """Risk without noise over the risk, geometric mean over the asymptotic cells; NaN where there are none."""
        if not self.noise_off or not self._chosen:
            return np.nan
        shares = self.noise_off.mean[self._chosen] / self.regime.means[self._chosen]
        return float(np.exp(np.log(np.maximum(shares, TINY)).mean()))

    def _slopes(self, fit: RateFit) -> Plain:
        """Find the slope, risk over formula at both ends, the last local slope, and whether the ratio grows throughout.

        It grows where it is least at the end that the formula is not about, largest at the other, and the last local
        slope is still beyond the tolerance.
        """
        means, named = np.log(np.maximum(fit.mean, TINY)), np.log(self.regime.named[self.regime.fitted])
        values, risk, ratio = by_value(fit.values, means, means - named)
        sign = 1 if self.better == "smaller" else -1
        axis, risk, ratio = np.log(values)[::sign], risk[::sign], ratio[::sign]
        last, own = ((column[-1] - column[-2]) / (axis[-1] - axis[-2]) for column in (ratio, risk))
        whole = ratio[0] == ratio.min() and ratio[-1] == ratio.max()
        return {
            "slope": fit.slope,
            "ci": (fit.ci_low, fit.ci_high),
            "local_slopes": tuple(local_slopes(fit.values, fit.mean).tolist()),
            "ratio_ends": (float(np.exp(ratio[0])), float(np.exp(ratio[-1]))),
            "last_local_slope": float(own),
            "grows": bool(whole and sign * last > self.tolerance),
            "notes": fit.notes,
        }

    def _word(self, fit: RateFit | None, b: float) -> tuple[str, str]:
        regime, parameter = self.regime, self.parameter
        if any(self.frozen):
            return "not_observable (frozen)", f"by the part's own test {regime.moving(self.frozen, parameter)}"
        if fit and fit.nonpositive:
            where = ", ".join(f"{fit.values[i]:g}" for i in fit.nonpositive)
            return "not_observable", f"mean excess risk is not positive at {parameter} = {where}"
        lacking = regime.lacking(self.profile, parameter)
        if lacking or fit is None:
            return "not_observable", lacking
        edges = [i for i, signal in enumerate(self.next_signals) if np.isfinite(signal) and regime.fitted[i]]
        if edges:
            where = ", ".join(f"{regime.swept[i]:g}" for i in edges)
            said = f"the largest risk is at the edge of the signal grid at {parameter} = {where}"
            signals = ", ".join(dict.fromkeys(f"{self.next_signals[i]:g}" for i in edges))
            return "inconclusive (edge)", f"{said}; it takes a next signal, {signals}"
        if fit.no_error:
            return "inconclusive", "a single random replicate gives no interval; it takes at least 2"
        lack = lack_of_fit(fit, regime.named[regime.fitted], self.replicates.take(self._chosen))
        if lack.bent:
            bends = ", ".join(f"{slope:.2f}" for slope in local_slopes(fit.values, fit.mean))
            found = f"residuals up to {lack.largest:.0%} from a power law; local slopes {bends}"
            return "inconclusive (bent)", f"{found}; {self._straight()}"
        word, reason = equivalence(fit, b, self.tolerance, self.better)
        if reason.endswith(TOO_NEAR):  # it shows at sizes towards which the formula is claimed
            sizes = regime.swept[regime.fitted]
            where, end = ("beyond", sizes.max()) if self.better == "smaller" else ("below", sizes.min())
            reason += f"; it takes sizes {where} {parameter} = {end:,.10g}"
        return word, reason

    def _straight(self) -> str:
        """From which end local slopes of fitted cells agree with the formula's, and which sizes that leaves to add."""
        regime, fitted, parameter = self.regime, self.regime.fitted, self.parameter
        columns = (self._values, np.maximum(regime.means, TINY), regime.named)
        values, axis, means, named = by_value(regime.swept[fitted], *(np.log(column[fitted]) for column in columns))
        agree = np.abs(np.diff(means - named) / np.diff(axis)) <= self.tolerance
        above, below = (int(np.argmin([*own, False])) for own in (agree[::-1], agree))
        if above and values[-1] >= LEAST_SPAN * values[-1 - above]:
            kept = f"from {parameter} = {values[-1 - above]:,.10g} on they agree with the formula"
            return f"{kept}; it takes sizes beyond {values[-1]:,.10g}, with the smaller ones left out"
        kept = "at neither end"
        if below and values[below] >= LEAST_SPAN * values[0]:
            kept = f"up to {parameter} = {values[below]:,.10g}"
        return f"{kept} they agree with the formula; it takes sizes beyond {parameter} = {values[-1]:,.10g}"

    def _explained(self, fit: RateFit, b: float) -> str:
        """Tell by the bound's other terms why a slope is not the claimed term's; empty if they make less than half."""
        regime, fitted = self.regime, self.regime.fitted
        whole = bound_slope(fit.values, regime.full[fitted], fit.weights)
        if not abs(fit.slope - whole) <= (1.0 - EXPLAINED) * abs(fit.slope - b):
            return ""
        share = span(1.0 - (regime.named / regime.full)[fitted])
        return f"; {self.others} is {share} of the bound, which has slope {whole:.3g}"


def by_value(values: ArrayLike, *columns: FloatArray) -> list[FloatArray]:
    """Find the different values, sorted, and the means of columns over the cells of each."""
    found, cells = np.unique(values, return_inverse=True)
    return [found, *(np.array([column[cells == i].mean() for i in range(len(found))]) for column in columns)]


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
