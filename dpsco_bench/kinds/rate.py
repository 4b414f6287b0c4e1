"""Kinds that compare slopes: `rate`, `complexity` (counts of gradients) and `control` (a negative control).

"Better" means that the risk decays faster as the parameter grows, hence a smaller slope: more negative for n and
epsilon, less steep for d or a condition number. Regimes towards 0 (a gradient noise, a distance) ask for a larger
slope and say so with ``better="larger"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.cells import band_verdict, columns_of, measured, same_length
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.judge import Case, means
from dpsco_bench.analysis.looks import within
from dpsco_bench.analysis.rates import HARDLY_MOVED, MOVED, Regime, SweepRisks, rate_verdict
from dpsco_bench.analysis.sharing import sharing_of
from dpsco_bench.analysis.slopes import RateFit, bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import WORST, Kind, Word, check_band, kind
from dpsco_bench.claims.model import RISK, MeasuredPart, Part
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import problem_class

LARGEST_TOLERANCE, OF_THE_EXPONENT, ALWAYS_ALLOWED = 0.25, 0.25, 0.08
"""A tolerance is at most the first, and at most this share of the exponent unless that is below the last."""
COUNT_ERRORS = 3.0
"""Standard errors by which a measured count may exceed its formula."""
TOLERANCE = 0.05


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
class Rate(Kind):
    """How fast the risk falls, as a slope on log-log axes."""

    title = "rate"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the interval of measured less formula slope lies within the tolerance",
            phrase="{what} {moves} as the bound says",
        ),
        "faster": Word(
            "better",
            "the whole interval lies beyond the tolerance on the better side",
            phrase="{what} {moves} {better} than the bound",
        ),
        "fails": Word(
            "contradicts",
            "the whole interval lies beyond the tolerance on the worse side",
            phrase="{what} {moves} {worse} than the bound",
        ),
        "inconclusive": Word(
            "open", "the interval reaches across the tolerance", phrase="{what} against the bound: undecided"
        ),
        "inconclusive (bent)": Word(
            "open",
            "the means follow no power law: they bend in another way than the formula",
            phrase="{what} {follows} no power law",
        ),
        "inconclusive (edge)": Word(
            "open",
            "a largest risk stands at the edge of a signal grid that could be extended",
            phrase="the largest risk is at the edge of the signals",
        ),
        "not_observable": Word(
            "open",
            "too few sizes where the runs leave the starting point and the claimed term is half of the bound",
            phrase="no rate shows at these sizes",
        ),
        "not_observable (frozen)": Word(
            "open", "the part's own test says that the runs hardly move", phrase="the runs hardly move"
        ),
    }
    part = RatePart
    of_the_law = has_interval = measures_slope = True
    early = ("match", "faster", "fails")
    fields = ("fitted", "local_slopes", "noise_off_share")
    shape = "slopes"

    def check(self, part: RatePart, where: str) -> None:
        """Check that the tolerance is small beside its exponent."""
        limit = largest_tolerance(part.exponent)
        for tolerance in (part.tolerance, *part.tolerances.values()):
            if tolerance > limit:
                raise InputError(f"{where}: tolerance", tolerance, f"at most {limit:g} for exponent {part.exponent}")

    def needs_slope(self, part: RatePart) -> bool:
        return True

    def judge(self, case: Case) -> Verdict:
        """By `rate_verdict`, with what a reader must know beside it."""
        part = case.part
        sweep = sweep_of(case)
        verdict = rate_verdict(
            sweep,
            part.tolerance if part.exponent is not None else limited(part.tolerance, sweep),
            case.names,
            profile=case.profile,
            parameter=case.swept_parameter,
            claimed_exponent=part.exponent,
            better=part.better,
            others=case.bound.others if case.bound.named_term else "",
            look=case.look,
        )
        return replace(verdict, notes=(*verdict.notes, *_notes(case)))


def largest_tolerance(exponent: float | None) -> float:
    """Compute the largest tolerance of a rate with some exponent; without one the largest of all."""
    if exponent is None:
        return LARGEST_TOLERANCE
    return min(LARGEST_TOLERANCE, max(ALWAYS_ALLOWED, OF_THE_EXPONENT * abs(exponent)))


def limited(tolerance: float, sweep: SweepRisks) -> float:
    """Limit a tolerance without a printed exponent to that of the formula's own slope."""
    axis, named = np.asarray(sweep.axis, dtype=np.float64), sweep.regime.named
    if len(np.unique(axis)) < 2:
        return tolerance
    return min(tolerance, largest_tolerance(bound_slope(axis, named)))


def sweep_of(case: Case) -> SweepRisks:
    """Collect what a case is judged by."""
    part, cells = case.part, case.cells
    named = case.bound.named_term or case.bound.value
    starts = [cell.start_risk if part.quantity == RISK else np.nan for cell in cells]
    regime = Regime.of(
        case.swept,
        means(cells)[0],
        [named(cell.context) for cell in cells],
        starts=starts,
        limits=[HARDLY_MOVED if cell.can_be_stronger else MOVED for cell in cells],
        full=[case.bound.value(cell.context) for cell in cells],
    )
    off = case.silent_cells if case.calibration != "none" else []
    return SweepRisks(
        case.values,
        [cell.risks for cell in cells],
        regime,
        numerical_errors=[cell.numerical_error for cell in cells],
        sharing=sharing_of([cell.entry for cell in cells]),
        edges=tuple(cell.at_edge for cell in cells),
        next_signals=tuple(cell.next_signal for cell in cells),
        frozen=tuple(frozen(part, cell) for cell in cells) if part.requires else (),
        noise_off=[cell.risks for cell in off],
        noise_off_errors=[cell.numerical_error for cell in off],
    )


def _notes(case: Case) -> tuple[str, ...]:
    part, cells = case.part, case.cells
    notes: tuple[str, ...] = ()
    off = case.silent_cells if case.calibration != "none" else []
    if off and (means(off)[0] <= 0).any():
        notes += ("noise off: the excess risk is at rounding level and has no slope",)
    problems = {case.court.claim.part(source).problem for source, _ in case.sources}
    if part.quantity == RISK and any(problem_class(name).cell_dependent for name in problems):
        notes += _family_notes(cells, case.silent_cells)
    notes += tuple(sorted({text for cell in cells for text in cell.certificates}))
    return notes + saturation_notes(part, cells)


def saturation_notes(part: Part, cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """In how many cells the risk is close to the starting point's, and what the part's own test says, if any."""
    told = part.requires and part.quantity == RISK
    close = sum(float(cell.final.mean()) > HARDLY_MOVED * cell.start_risk for cell in cells) if told else 0
    least = ", ".join(f"{name} >= {value:g}" for name, value in part.requires.items())
    where = f"risk above {HARDLY_MOVED:g} of the starting point's at the same signal in {close} of {len(cells)} cells"
    own = "fails as well" if any(frozen(part, cell) for cell in cells) else "passes, and by it the rate is observable"
    return (f"{where}; the part's own test, {least} at the largest signal, {own}",) if close else ()


def frozen(part: Part, cell: CellEvidence) -> bool:
    """Check whether a required extra is below its least value, at the largest signal of a cell."""
    strongest = cell.grid[-1] if cell.grid else cell
    return any(strongest.extras[name].mean() < least for name, least in part.requires.items())


def _family_notes(cells: Sequence[CellEvidence], silent: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Where the starting gap changes along a sweep, a slope says little and the gap over it more."""

    def shares(cells: Sequence[CellEvidence]) -> str:
        ratios = means(cells)[0] / [cell.start_risk for cell in cells]
        return f"{ratios.min():.2g} to {ratios.max():.2g}"

    each = ", each at its own worst signal" if any(cell.grid for cell in (*cells, *silent)) else ""
    off = f"; with noise off {shares(silent)}{each}" if silent else ""
    return (f"gap over the starting gap: {shares(cells)}{off}",)


@dataclass(frozen=True, kw_only=True)
class ComplexityPart(MeasuredPart):
    """Fields of an evaluation count's part.

    Attributes
    ----------
    exact : bool
        Whether the counts themselves are compared and not their slopes: planned ones for equality, measured ones for
        being at most the formula's within 3 standard errors.
    quantity : str, name of an extra that the runs noted: the part then runs, and judges what was counted, not the plan
    """

    bound: str
    exponent: float | None = None
    tolerance: float = TOLERANCE
    tolerances: Mapping[str, float] = field(default_factory=dict)
    exact: bool = False
    quantity: str = RISK


@kind("complexity")
class Complexity(Kind):
    """Counts that the plan knows, or that runs noted; a slope of them has no interval."""

    title = "evaluation count"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the count grows like the formula, equals it or is at most it, as the part asks",
            phrase="{counted} are as stated",
        ),
        "fewer": Word(
            "better",
            "the count grows more slowly than the formula, which an O() does not exclude",
            phrase="fewer {counted} than stated",
        ),
        "fails": Word(
            "contradicts",
            "it grows faster, or it is not the stated number",
            phrase="more {counted} than stated",
        ),
    }
    part = ComplexityPart
    counts = measures_slope = True
    charged = False
    shape = "slopes"

    def needs_slope(self, part: ComplexityPart) -> bool:
        """Unless counts themselves are compared."""
        return not part.exact

    def runs(self, part: ComplexityPart) -> bool:
        """Only to measure another count than the plan's."""
        return part.quantity != RISK

    def tolerance_of(self, part: Any) -> Any:
        """None where counts must be equal."""
        return "equal" if part.exact else part.tolerance

    def asks(self, part: ComplexityPart) -> bool:
        """Never: it takes what is there."""
        return False

    def judge(self, case: Case) -> Verdict:
        """Planned counts by their slope or for equality, measured ones also for being at most the formula's."""
        part, cells = case.part, case.cells
        formula, planned = [case.bound.value(cell.context) for cell in cells], part.quantity == RISK
        if part.exact and not planned:
            return counted_verdict(*case.columns, formula)
        return complexity_verdict(
            case.values,
            [cell.calibrated.gradient_evaluations for cell in cells] if planned else means(cells)[0],
            formula,
            claimed_exponent=part.exponent,
            tolerance=part.tolerance,
            exact=part.exact,
        )


def complexity_verdict(
    values: ArrayLike,
    evaluations: ArrayLike,
    formula: ArrayLike,
    *,
    claimed_exponent: float | None = None,
    tolerance: float = TOLERANCE,
    exact: bool = False,
) -> Verdict:
    """``match`` if planned and stated counts differ in slope by at most the tolerance, or (``exact``) not at all.

    ``fewer`` if they grow more slowly, or (``exact``) none is larger than stated and some are smaller; else ``fails``.
    Swept values, planned counts and the formula's are > 0, shape ``(cells,)``; the paper's exponent is only shown.
    """
    x = np.atleast_1d(np.asarray(values, dtype=np.float64))
    counted, claimed = same_length("evaluations", evaluations, len(x)), same_length("formula", formula, len(x))
    several = len(np.unique(x)) > 1
    slope, b = (bound_slope(x, y) if several else np.nan for y in (counted, claimed))
    if exact:
        reason = f"{(counted == claimed).sum()} of {len(x)} counts are equal"
        word = "match" if (counted == claimed).all() else "fewer" if (counted <= claimed).all() else "fails"
    else:
        word = "match" if abs(slope - b) <= tolerance else "fewer" if slope < b else "fails"
        reason = f"the count grows with slope {slope:.3g}, the formula with {b:.3g}, allowed {tolerance:g}"
    return Verdict(
        word,
        reason=reason,
        **measured(x, counted, np.zeros(len(x)), claimed),
        slope=slope,
        ci=(slope, slope),
        bound_slope=b,
        claimed_exponent=claimed_exponent,
        tolerance=tolerance,
    )


def counted_verdict(values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, formula: ArrayLike) -> Verdict:
    """``match`` if mean measured counts ``(cells,)`` are at most the formula's, within 3 standard errors."""
    columns = columns_of(values, mean, stderr, formula)
    _, m, s, b = columns
    worst = int(np.argmax((m - COUNT_ERRORS * s) / b))
    good = bool(m[worst] - COUNT_ERRORS * s[worst] <= b[worst])
    if m[worst] <= b[worst]:
        against = "at most"
    else:
        against = f"{'less' if good else 'more'} than {COUNT_ERRORS:g} standard errors above"
    reason = f"mean count {m[worst]:.4g} +- {s[worst]:.2g}, {against} {b[worst]:.4g}"
    return Verdict("match" if good else "fails", reason=reason, **measured(*columns))


@dataclass(frozen=True, kw_only=True)
class ControlPart(MeasuredPart):
    """Fields of a negative control's part.

    Attributes
    ----------
    exponent : float, the slope that it is stated to have
    band : list of float, where given, the range of risk over bound
    """

    exponent: float
    tolerance: float = 0.15
    tolerances: Mapping[str, float] = field(default_factory=dict)
    bound: str = ""
    axis: str = ""
    band: list[float] = field(default_factory=list)
    quantity: str = RISK


@kind("control")
class Control(Kind):
    """The slope of what is stated not to have the claimed one, and the band that it stays in, if any."""

    title = "negative control"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "the whole interval is within the tolerance of the slope that it is stated to have",
            phrase="the control has the slope that it must have",
        ),
        "fails": Word(
            "contradicts",
            "the whole interval lies beyond the tolerance, on either side",
            phrase="the control has another slope than it must have",
        ),
        "inconclusive": Word(
            "open", "the interval reaches across the tolerance", phrase="the control's slope is undecided"
        ),
    }
    part = ControlPart
    of_the_law = has_interval = measures_slope = True
    early = ("holds", "fails")
    shape = "slopes"
    whose_exponent = "stated"
    answers = False

    def check(self, part: ControlPart, where: str) -> None:
        """Check that a band has its formula."""
        if part.band and not part.bound:
            raise InputError(f"{where}: bound", "missing", "given for kind control with a band")
        if part.band:
            check_band(part.band, where)

    def compared_slope(self, row: Verdict) -> float | None:
        return row.claimed_exponent

    def judge(self, case: Case) -> Verdict:
        part = case.part
        how = {"dof": case.dof, "look": case.look}
        band = band_verdict(*case.columns, case.printed, *part.band, **how) if part.band else None  # type: ignore[arg-type]
        return control_verdict(case.fit(), part.exponent, part.tolerance, band)


def control_verdict(fit: RateFit, exponent: float, tolerance: float, band: Verdict | None = None) -> Verdict:
    """Judge whether a negative control has its stated slope; a verdict on the band that it stays in has to agree.

    Returns ``holds`` if the interval is within the tolerance of the stated slope, ``fails`` if it lies wholly beyond,
    else ``inconclusive``.
    """
    word, reason = _control_word(fit, exponent, tolerance)
    words = {word} if band is None else {word, {"violated": "fails"}.get(band.word, band.word)}
    word = next(w for w in ("fails", "inconclusive", "holds") if w in words)
    shared = {name: getattr(band, name) for name in WORST} if band else {}
    return Verdict(
        word,
        reason=reason + (f"; {band.reason}" if band else ""),
        values=fit.values,
        mean=fit.mean,
        stderr=fit.stderr,
        bound=band.bound if band else (),
        slope=fit.slope,
        ci=(fit.ci_low, fit.ci_high),
        claimed_exponent=exponent,
        tolerance=tolerance,
        notes=fit.notes,
        **shared,
    )


def _control_word(fit: RateFit, exponent: float, tolerance: float) -> tuple[str, str]:
    if fit.nonpositive:
        return "inconclusive", "a mean excess risk is not positive: it has no logarithm"
    if fit.no_error:
        return "inconclusive", "a single random replicate gives no interval; it takes at least 2"
    shown = f"slope {fit.slope:.3g} [{fit.ci_low:.3g}, {fit.ci_high:.3g}], stated {exponent:g}, allowed {tolerance:g}"
    if exponent - tolerance <= fit.ci_low and fit.ci_high <= exponent + tolerance:
        return "holds", shown
    if fit.ci_low > exponent + tolerance or fit.ci_high < exponent - tolerance:
        return "fails", shown
    return "inconclusive", f"{shown}; {within(fit.slope, fit.ci_low, fit.ci_high, exponent, tolerance)}"
