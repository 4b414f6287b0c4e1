"""Share the columns, ratios and words of verdicts on single cells, and judge bands."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsco_bench.analysis.bootstrap import FloatArray, simultaneous_quantile
from dpsco_bench.analysis.looks import EARLY, FIXED, Look, would_decide
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

NO_ERROR = "a single random replicate has no standard error"
SAYS_SOMETHING = 0.5
"""Predicted power from which on an audit that refutes nothing is worth telling."""
HOLDS, REVERSED, OPEN = "holds", "reversed", "inconclusive"
"""Words of the comparison of two methods."""


def compared(low: float, high: float, equal: float = 1.0) -> str:
    """Word of one comparison by the interval of a ratio, the claimed method's over the other's; equal at 0 in logs."""
    return HOLDS if high < equal else REVERSED if low > equal else OPEN


def band_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    reference: ArrayLike,
    low: float,
    high: float,
    *,
    reference_stderr: ArrayLike = 0.0,
    dof: ArrayLike = np.inf,
    look: Look = FIXED,
) -> Verdict:
    """Judge whether mean / reference stays in a band.

    Returns ``holds`` if every ratio is inside, ``violated`` if an interval is outside (for all cells together), else
    ``inconclusive``; with the ratio nearest to leaving (or farthest out of) the band. Before the last look every
    interval has to be inside. A measured reference has standard errors of its own.
    """
    columns = columns_of(values, mean, stderr, reference)
    _, m, s, r = columns
    if not (r > 0).all():
        raise InputError("reference", r.tolist(), "numbers > 0")
    outside = np.maximum(low * r - m, m - high * r)
    ratios = ratios_to(m, r)
    s = np.hypot(s, ratios * np.asarray(reference_stderr, dtype=np.float64))  # of the ratio, in units of the mean
    worst = int(np.argmax(outside / r))
    reason = f"ratio {ratios[worst]:.3g} is the extreme one; band [{low:g}, {high:g}]"
    half = s * simultaneous_quantile(len(m), dof, look.confidence(EARLY))
    word, across = three_way(outside, half, look), (outside <= 0.0) & (outside > -half)
    if word == "holds" and across.any():
        reason += f"; in {across.sum()} of {len(m)} cells its interval crosses an end"
    return cell_verdict(word, reason + undecided(word, outside, half), columns, ratios, worst)


def columns_of(*columns: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Values, means, standard errors and what they are compared with, as vectors of one length.

    Raises InputError for a NaN among means or what they are compared with.
    """
    x, m, s, b = (np.asarray(column, dtype=np.float64) for column in columns)
    if np.isnan(m).any() or np.isnan(b).any():
        raise InputError("mean, bound", "NaN", "numbers in every cell")
    return x, m, s, b


def ratios_to(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """Ratios of numbers or arrays; a bound that is not positive is met only by what is not positive either."""
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    positive = below > 0
    return np.where(positive, above / np.where(positive, below, 1.0), np.where(above > 0, np.inf, 0.0))


def three_way(outside: FloatArray, half: FloatArray, look: Look = FIXED) -> str:
    """Word for distances beyond a limit (negative inside) by the half-widths of their intervals.

    Before the last look whole intervals have to be inside, and nothing is contradicted.
    """
    if np.isnan(half).any():
        return "inconclusive"
    if (outside + (0.0 if look.last else half) <= 0).all():
        return "holds"
    return "violated" if look.last and (outside > half).any() else "inconclusive"


def undecided(word: str, outside: FloatArray, half: FloatArray) -> str:
    """Estimate what would decide an inconclusive `three_way`, as the end of a reason; empty for other words."""
    across = outside > 0
    if word != "inconclusive" or np.isnan(half).any() or not across.any():
        return ""
    return f"; {would_decide(zip(half[across], outside[across], strict=True))}"


def cell_verdict(
    word: str,
    reason: str,
    columns: tuple[FloatArray, ...],
    ratios: NDArray[np.float64],
    worst: int,
    notes: tuple[str, ...] = (),
) -> Verdict:
    """Verdict on cells by themselves: the extreme ratio is that of cell ``worst``, shapes ``(cells,)``."""
    found = measured(*columns)
    extreme: Plain = {"worst_ratio": float(ratios[worst]), "worst_cell": worst, "worst_value": found["values"][worst]}
    return Verdict(word, reason=reason, notes=notes, **found, **extreme)


def measured(*columns: FloatArray) -> Plain:
    """Fields of a verdict for values, means, standard errors and what they are compared with."""
    names = ("values", "mean", "stderr", "bound")
    return {name: tuple(column.tolist()) for name, column in zip(names, columns, strict=True)}
