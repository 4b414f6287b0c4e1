"""Verdicts that are not about curves: kind `privacy`, skipped parts, and notes beside verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import CONFIDENCE
from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError

EPSILON_SLACK = 1e-3
"""Relative excess over the claimed epsilon that still holds (accountants' discretisation)."""


def privacy_verdict(
    epsilon_real: ArrayLike, kinds: Sequence[str], epsilon_claimed: ArrayLike, *, unproven: str = ""
) -> Verdict:
    """Judge the real epsilon of every cell against its claim; the cell of largest real / claimed decides.

    Parameters
    ----------
    epsilon_real : array_like
        Accountant's values, shape ``(cells,)``; NaN where no accountant covers a cell, infinite for none at all.
    kinds : sequence of str
        ``upper``, ``exact``, ``lower``, or empty with NaN.
    epsilon_claimed : array_like
        Claimed values, > 0, shape ``(cells,)``.
    unproven : str
        A reason that withholds any proof whatever the accountant says (nominal constants, an unchecked formula,
        ``target_law_only``).

    Returns
    -------
    Verdict
        ``holds``, ``fails (real eps X)`` or ``unproven (...)``.
    """
    claimed = np.atleast_1d(np.asarray(epsilon_claimed, dtype=np.float64))
    real = same_length("epsilon_real", epsilon_real, len(claimed))
    if len(kinds) != len(claimed) or not len(claimed) or not (claimed > 0).all():
        raise InputError("claimed epsilons", claimed.tolist(), "numbers > 0, one for each kind")
    words = [_privacy_word(*cell, unproven) for cell in zip(real.tolist(), kinds, claimed.tolist(), strict=True)]
    severity = np.array([("holds", "unproven", "fails").index(word.split(" ")[0]) for word in words])
    deciding = np.flatnonzero(severity == severity.max())
    cell = int(deciding[np.argmax(np.nan_to_num(real[deciding] / claimed[deciding], nan=-1.0, posinf=np.inf))])
    return Verdict(
        words[cell],
        "privacy",
        unproven or f"{len(deciding)} of {len(words)} cells alike",
        epsilon_real=float(real[cell]),
        epsilon_real_kind=kinds[cell],
        epsilon_claimed=float(claimed[cell]),
    )


def _privacy_word(real: float, kind: str, claimed: float, unproven: str) -> str:
    if np.isnan(real):
        return "unproven (no accountant covers it)"
    if kind not in ("upper", "exact", "lower"):
        raise InputError("epsilon_real_kind", kind, "upper, exact or lower")
    within = real <= claimed * (1 + EPSILON_SLACK)
    if unproven:
        return f"unproven ({kind + ' bound' if kind != 'exact' else 'value'} {real:.3g})"
    if within and kind in ("upper", "exact"):
        return "holds"
    if not within and kind in ("exact", "lower"):
        return f"fails (real eps {real:.3g})"
    return f"unproven ({kind} bound {real:.3g})"


def skipped_verdict(kind: str, reason: str) -> Verdict:
    """Verdict on a part that could not run; never counted as a change.

    Parameters
    ----------
    kind : str
        Kind of the part.
    reason : str
        Such as ``data absent``, with the command that helps.

    Returns
    -------
    Verdict
        ``skipped: <reason>``.
    """
    return Verdict(f"skipped: {reason}", kind, reason)


def wrong_reason_notes(
    verdict: Verdict, privacy_status: str, epsilon_real: float = np.nan, epsilon_real_kind: str = ""
) -> tuple[str, ...]:
    """What makes a ``match`` one for a wrong reason.

    Parameters
    ----------
    verdict : Verdict
        A rate verdict with `noise_off_slope` filled in.
    privacy_status : str
        The ledger's status of the calibration: ``proven``, ``exceeds_claim``, ``unproven``, ``target_law_only`` or
        ``none``; the worst of the cells.
    epsilon_real, epsilon_real_kind : float, str
        The accountant's value and its kind, shown where the claim is exceeded.

    Returns
    -------
    tuple of str
        Empty for any other word than ``match``, and for a match for the right reason.
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


def expected_chance_deviations(intervals: int, confidence: float = CONFIDENCE) -> float:
    """Number of intervals expected to miss the truth by chance alone.

    Parameters
    ----------
    intervals : int
        Number of intervals, >= 0.
    confidence : float
        Their level.

    Returns
    -------
    float
        ``intervals * (1 - confidence)``; it needs no independence.
    """
    if intervals < 0:
        raise InputError("intervals", intervals, "a number >= 0")
    return intervals * (1 - confidence)
