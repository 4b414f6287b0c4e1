"""Verdicts on slopes: kinds `rate`, `control` and `complexity`.

"Better" means that the risk decays faster as the parameter grows, hence a smaller slope: more negative for n and
epsilon, less steep for d or a condition number. Regimes towards 0 (a gradient noise, a distance) ask for a larger
slope and say so with ``better="larger"``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.slopes import RateFit, bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError

SATURATION = 0.9
"""A mean risk above this share of the starting point's risk says nothing about a rate."""
DOMINANCE = 0.5
"""A named term below this share of the full bound cannot be observed."""
COUNT_ERRORS = 3.0
"""Standard errors by which a measured count may exceed its formula."""
COMPLEXITY_TOLERANCE = 0.05


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
    fit : RateFit
        Fit of the measured means.
    formula : array_like
        The formula that the part names, > 0, shape ``(cells,)``.
    tolerance : float
        Tolerance tau, > 0.
    parameter : str
        Name of the swept parameter.
    claimed_exponent : float, optional
        The paper's bare exponent, shown beside the formula's slope.
    full_bound : array_like, optional
        The full bound where `formula` is one of its terms, shape ``(cells,)``.
    start_risks : array_like, optional
        Risk of the starting point, shape ``(cells,)``; NaN where unknown.
    noise_off_slope : float
        Slope with noise off, shown.
    better : {"smaller", "larger"}
        Which slopes mean a faster decay than claimed.
    blocked : str
        A reason that makes the part not observable whatever the numbers are, such as ``frozen``.

    Returns
    -------
    Verdict
        ``not_observable`` (tested first), ``match``, ``faster``, ``fails`` or ``inconclusive``.
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
        notes=_fit_notes(fit, parameter),
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
        return f"mean excess risk is not positive at {_places(fit, fit.nonpositive, parameter)}: it has no logarithm"
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


def _fit_notes(fit: RateFit, parameter: str) -> tuple[str, ...]:
    notes = []
    if fit.edge:
        notes.append(f"largest risk at the edge of the signal grid at {_places(fit, fit.edge, parameter)}")
    if fit.floored:
        notes.append(f"up to {fit.floored:.1%} of the resampled means of a cell were near or below 0")
    return tuple(notes)


def _places(fit: RateFit, cells: Sequence[int], parameter: str) -> str:
    return f"{parameter or 'value'} = " + ", ".join(f"{fit.values[i]:g}" for i in cells)


def control_verdict(
    fit: RateFit, exponent: float, tolerance: float, *, parameter: str = "", band: Verdict | None = None
) -> Verdict:
    """Whether a negative control has the slope that it is stated to have.

    Parameters
    ----------
    fit : RateFit
        Fit of the measured means.
    exponent : float
        Stated slope.
    tolerance : float
        Largest difference from it, > 0.
    parameter : str
        Name of the swept parameter.
    band : Verdict, optional
        Verdict of kind ``band`` on the same cells, where the control is stated to stay near a value too.

    Returns
    -------
    Verdict
        ``holds`` if slope and half-width of the interval are within the tolerance, ``fails`` if the whole interval lies
        beyond it, else ``inconclusive``; a band has to agree.
    """
    if not tolerance > 0:
        raise InputError("tolerance", tolerance, "a number > 0")
    word, reason = _control_word(fit, exponent, tolerance)
    words = {word} if band is None else {word, {"violated": "fails"}.get(band.word, band.word)}
    word = next(w for w in ("fails", "inconclusive", "holds") if w in words)
    shared = (
        dict(worst_ratio=band.worst_ratio, worst_cell=band.worst_cell, worst_value=band.worst_value) if band else {}
    )
    return Verdict(
        word,
        "control",
        reason + (f"; {band.reason}" if band else ""),
        parameter=parameter,
        values=fit.values,
        mean=fit.mean,
        stderr=fit.stderr,
        bound=band.bound if band else (),
        slope=fit.slope,
        ci=(fit.ci_low, fit.ci_high),
        claimed_exponent=exponent,
        tolerance=tolerance,
        notes=_fit_notes(fit, parameter),
        **shared,  # type: ignore[arg-type]
    )


def _control_word(fit: RateFit, exponent: float, tolerance: float) -> tuple[str, str]:
    if fit.nonpositive:
        return "inconclusive", "a mean excess risk is not positive: it has no logarithm"
    if fit.no_error:
        return "inconclusive", "a single random replicate gives no interval"
    if abs(fit.slope - exponent) <= tolerance and fit.half_width <= tolerance:
        return "holds", f"slope within {tolerance:g} of the stated {exponent:g}"
    if fit.ci_low > exponent + tolerance or fit.ci_high < exponent - tolerance:
        return "fails", f"the whole interval lies more than {tolerance:g} from the stated {exponent:g}"
    return "inconclusive", f"the interval does not decide whether the slope is within {tolerance:g} of {exponent:g}"


def complexity_verdict(
    values: ArrayLike,
    evaluations: ArrayLike,
    formula: ArrayLike,
    *,
    parameter: str = "",
    claimed_exponent: float | None = None,
    tolerance: float = COMPLEXITY_TOLERANCE,
    exact: bool = False,
) -> Verdict:
    """Compare the slope of planned evaluations with the formula's, or the counts themselves.

    Parameters
    ----------
    values, evaluations, formula : array_like
        Swept values, planned evaluations and the formula's, > 0, shape ``(cells,)``.
    parameter : str
        Name of the swept parameter.
    claimed_exponent : float, optional
        The paper's bare exponent, shown.
    tolerance : float
        Largest difference of slopes.
    exact : bool
        Whether the counts must be equal instead.

    Returns
    -------
    Verdict
        ``match`` or ``fails``.
    """
    x = np.atleast_1d(np.asarray(values, dtype=np.float64))
    counted, claimed = same_length("evaluations", evaluations, len(x)), same_length("formula", formula, len(x))
    several = len(np.unique(x)) > 1
    slope, b = (bound_slope(x, y) if several else np.nan for y in (counted, claimed))
    if exact:
        good, reason = bool((counted == claimed).all()), f"{(counted == claimed).sum()} of {len(x)} counts are equal"
    else:
        good, reason = abs(slope - b) <= tolerance, f"slopes differ by {abs(slope - b):.2g}, allowed {tolerance:g}"
        if not good:
            reason += f": the count grows {'faster' if slope > b else 'more slowly'} than the formula"
    return Verdict(
        "match" if good else "fails",
        "complexity",
        reason,
        parameter=parameter,
        values=tuple(x.tolist()),
        mean=tuple(counted.tolist()),
        stderr=(0.0,) * len(x),
        bound=tuple(claimed.tolist()),
        slope=slope,
        ci=(slope, slope),
        bound_slope=b,
        claimed_exponent=claimed_exponent,
        tolerance=tolerance,
    )


def counted_verdict(
    values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, formula: ArrayLike, *, parameter: str = ""
) -> Verdict:
    """Whether mean measured counts are at most the formula's, within 3 standard errors.

    Parameters
    ----------
    values, mean, stderr, formula : array_like
        Swept values, means of the counts with their standard errors, and the formula's, shape ``(cells,)``.
    parameter : str
        Name of the swept parameter.

    Returns
    -------
    Verdict
        ``match`` or ``fails``.
    """
    x, m = np.atleast_1d(np.asarray(values, dtype=np.float64)), np.asarray(mean, dtype=np.float64)
    s, b = np.asarray(stderr, dtype=np.float64), np.asarray(formula, dtype=np.float64)
    worst = int(np.argmax((m - COUNT_ERRORS * s) / b))
    good = bool(m[worst] - COUNT_ERRORS * s[worst] <= b[worst])
    reason = f"mean count {m[worst]:.4g} +- {s[worst]:.2g}, {'at most' if good else 'above'} {b[worst]:.4g}"
    return Verdict(
        "match" if good else "fails",
        "complexity",
        reason,
        parameter=parameter,
        values=tuple(x.tolist()),
        mean=tuple(m.tolist()),
        stderr=tuple(s.tolist()),
        bound=tuple(b.tolist()),
    )
