"""Kind `rate`: the slope of the excess risk against that of a formula.

"Better" means that the risk decays faster as the parameter grows, hence a smaller slope: more negative for n and
epsilon, less steep for d or a condition number. Regimes towards 0 (a gradient noise, a distance) ask for a larger
slope and say so with ``better="larger"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.evidence import SEVERITY, CellEvidence
from dpsco_bench.analysis.judge import Case, means
from dpsco_bench.analysis.slopes import RateFit, bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import RISK, Part
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import problem_class

SATURATION = 0.9
"""A mean risk above this share of the starting point's risk says nothing about a rate."""
DOMINANCE = 0.5
"""A named term below this share of the full bound cannot be observed."""


@kind("rate")
class Rate(Kind):
    """How fast the risk falls, as a slope on log-log axes."""

    title = "rate"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "measured and formula slope agree within the tolerance, and the interval is narrow enough to tell",
        ),
        "faster": Word("better", "the whole interval lies beyond the tolerance on the better side"),
        "fails": Word("contradicts", "the whole interval lies beyond the tolerance on the worse side"),
        "inconclusive": Word("open", "the interval is too wide for a decision"),
        "not_observable": Word(
            "open", "the runs hardly leave the starting point, or the claimed term is hidden behind another"
        ),
        "not_observable (frozen)": Word("open", "the part's own test says that the runs hardly move"),
    }
    bounded = companion = tolerant = of_the_law = has_interval = measures_slope = True
    tolerance = None
    shape = "slopes"

    def needs_slope(self, part: Part) -> bool:
        return True

    def judge(self, case: Case) -> Verdict:
        """With the slope of the companion without noise, and what makes a match one for a wrong reason."""
        part, cells = case.part, case.cells
        fit = case.fit()
        off = fit if case.calibration == "none" else case.fit(case.silent_cells, "none") if case.silent_cells else None
        named = case.bound.named_term or case.bound.value
        verdict = rate_verdict(
            fit,
            [named(cell.context) for cell in cells],
            part.tolerance,
            parameter=case.parameter,
            claimed_exponent=part.exponent,
            full_bound=[case.bound.value(cell.context) for cell in cells],
            start_risks=[cell.start_risk for cell in cells] if part.quantity == RISK else None,
            noise_off_slope=np.nan if case.calibration == "none" or off is None else off.slope,
            better=part.better,
            blocked=frozen(part, cells),
        )
        status = max((cell.calibrated.privacy_status for cell in cells), key=SEVERITY.index)
        real = float(np.fmax.reduce([cell.calibrated.epsilon_real for cell in cells]))
        reservations = wrong_reasons(verdict, status, real, cells[0].calibrated.epsilon_real_kind)
        notes = verdict.notes
        if off is not None and np.isnan(off.slope):
            notes += ("noise off: the excess risk is at rounding level and has no slope",)
        problems = {case.court.claim.part(source).problem for source, _ in case.sources}
        if part.quantity == RISK and any(problem_class(name).cell_dependent for name in problems):
            notes += _family_notes(cells, case.silent_cells)
        notes += tuple(sorted({text for cell in cells for text in cell.certificates}))
        return replace(verdict, reservations=reservations, notes=notes + saturation_notes(part, cells))


def rate_verdict(
    fit: RateFit,
    formula: ArrayLike,
    tolerance: float,
    *,
    parameter: str = "",
    claimed_exponent: float | None = None,
    full_bound: ArrayLike | None = None,
    start_risks: ArrayLike | None = None,
    noise_off_slope: float = np.nan,
    better: str = "smaller",
    blocked: str = "",
) -> Verdict:
    """Compare a fitted slope with the slope of a formula.

    Parameters
    ----------
    claimed_exponent : float, optional, the paper's bare exponent, shown beside the formula's slope
    full_bound : array_like, optional, the full bound where `formula` is one of its terms, shape ``(cells,)``
    start_risks : array_like, optional, risk of the starting point, shape ``(cells,)``; NaN where unknown
    better : {"smaller", "larger"}, which slopes mean a faster decay than claimed
    blocked : str, a reason that makes the part not observable whatever the numbers are, such as ``frozen``

    Returns
    -------
    Verdict, ``not_observable`` (tested first), ``match``, ``faster``, ``fails`` or ``inconclusive``
    """
    if better not in ("smaller", "larger"):
        raise InputError("better", better, "smaller or larger")
    if not tolerance > 0:
        raise InputError("tolerance", tolerance, "a number > 0")
    formula = same_length("formula", formula, len(fit.values))
    b = bound_slope(fit.values, formula, fit.weights)
    reason = _unobservable(fit, formula, full_bound, start_risks, parameter)
    if blocked:
        word, reason = f"not_observable ({blocked})", blocked
    elif reason:
        word = "not_observable"
    else:
        word, reason = _rate_word(fit, b, tolerance, 1.0 if better == "smaller" else -1.0)
    return Verdict(
        word,
        "rate",
        reason,
        parameter=parameter,
        values=fit.values,
        mean=fit.mean,
        stderr=fit.stderr,
        bound=tuple(formula.tolist()),
        slope=fit.slope,
        ci=(fit.ci_low, fit.ci_high),
        bound_slope=b,
        claimed_exponent=claimed_exponent,
        noise_off_slope=noise_off_slope,
        tolerance=tolerance,
        notes=fit.notes(parameter),
    )


def _rate_word(fit: RateFit, b: float, tolerance: float, side: float) -> tuple[str, str]:
    if fit.no_error:
        return "inconclusive", "a single random replicate gives no interval"
    if abs(fit.slope - b) <= tolerance and fit.half_width <= tolerance:
        return "match", f"slope within {tolerance:g} of the formula's"
    low, high = sorted((side * (fit.ci_low - b), side * (fit.ci_high - b)))
    if high < -tolerance:
        return "faster", f"the whole interval lies more than {tolerance:g} on the better side"
    if low > tolerance:
        return "fails", f"the whole interval lies more than {tolerance:g} on the worse side"
    if fit.half_width > tolerance:
        return "inconclusive", f"half-width {fit.half_width:.2g} of the interval exceeds {tolerance:g}"
    return "inconclusive", f"the interval reaches across {tolerance:g} from the formula's slope"


def _unobservable(
    fit: RateFit, formula: FloatArray, full_bound: ArrayLike | None, start_risks: ArrayLike | None, parameter: str
) -> str:
    cells = len(fit.values)
    if fit.nonpositive:
        return f"mean excess risk is not positive at {fit.places(fit.nonpositive, parameter)}: it has no logarithm"
    start = same_length("start_risks", np.full(cells, np.nan) if start_risks is None else start_risks, cells)
    full = formula if full_bound is None else same_length("full_bound", full_bound, cells)
    saturated = np.array(fit.mean) > SATURATION * start
    hidden = formula < DOMINANCE * full
    if 2 * np.count_nonzero(saturated | hidden) < cells:
        return ""
    parts = []
    if saturated.any():
        parts.append(f"risk above {SATURATION:g} of the starting point's in {saturated.sum()} of {cells} cells")
    if hidden.any():
        parts.append(f"named term below half of the full bound in {hidden.sum()} of {cells} cells")
    return "; ".join(parts)


def wrong_reasons(
    verdict: Verdict, privacy_status: str, epsilon_real: float = np.nan, epsilon_real_kind: str = ""
) -> tuple[str, ...]:
    """What makes a ``match`` one for a wrong reason.

    Parameters
    ----------
    privacy_status : str
        The ledger's status of the calibration: ``proven``, ``exceeds_claim``, ``unproven``, ``target_law_only`` or
        ``none``; the worst of the cells.
    """
    if verdict.word != "match":
        return ()
    notes = []
    if abs(verdict.noise_off_slope - verdict.bound_slope) <= verdict.tolerance:
        notes.append(f"schedule alone gives slope {verdict.noise_off_slope:.2f} with noise off")
    if privacy_status == "exceeds_claim":
        at_least = ">= " if epsilon_real_kind == "lower" else ""
        shown = "" if np.isnan(epsilon_real) else f" (real eps {at_least}{epsilon_real:.3g})"
        notes.append(f"calibration not private{shown}")
    elif privacy_status in ("unproven", "target_law_only"):
        notes.append(f"calibration not shown to be private ({privacy_status})")
    return tuple(notes)


def saturation_notes(part: Part, cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """In how many cells the risk is close to the starting point's, and what the part's own test says, if any."""
    close = sum(float(cell.final.mean()) > SATURATION * cell.start_risk for cell in cells) if part.requires else 0
    least = ", ".join(f"{name} >= {value:g}" for name, value in part.requires.items())
    where = f"risk above {SATURATION:g} of the starting point's at the same signal in {close} of {len(cells)} cells"
    own = "fails as well" if frozen(part, cells) else "passes, and by it the rate is observable"
    return (f"{where}; the part's own test, {least} at the largest signal, {own}",) if close else ()


def frozen(part: Part, cells: Sequence[CellEvidence]) -> str:
    """``frozen`` if an extra that the part requires is below its least value, at the largest signal of a cell."""
    for cell in cells:
        strongest = cell.grid[-1] if cell.grid else cell
        if any(strongest.extras[name].mean() < least for name, least in part.requires.items()):
            return "frozen"
    return ""


def _family_notes(cells: Sequence[CellEvidence], silent: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Where the starting gap changes along a sweep, a slope says little and the gap over it more."""

    def shares(cells: Sequence[CellEvidence]) -> str:
        ratios = means(cells)[0] / [cell.start_risk for cell in cells]
        return f"{ratios.min():.2g} to {ratios.max():.2g}"

    off = f"; with noise off {shares(silent)}" if silent else ""
    return (f"gap over the starting gap: {shares(cells)}{off}",)
