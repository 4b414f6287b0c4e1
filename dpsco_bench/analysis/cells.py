"""Verdicts that look at every cell by itself: kinds `explicit`, `band`, `law`, `lower_bound` and `shown`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError

STANDARD_ERRORS = 2.0
"""Half-width, in standard errors, of what counts as sampling error of a cell."""
_NO_ERROR = "a single random replicate has no standard error"


def explicit_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    parameter: str = "",
    trivial: ArrayLike | None = None,
    slack: float = 0.0,
) -> Verdict:
    """Whether (mean + 2 s.e.) / bound <= 1 in every cell, for a bound with its constants.

    Parameters
    ----------
    values, mean, stderr, bound : array_like
        Shape ``(cells,)``.
    parameter : str
        Name of the swept parameter.
    trivial : array_like, optional
        Risk of the trivial solution; cells whose bound exceeds it are noted as vacuous.
    slack : float
        Relative margin for numerical error (quadrature).

    Returns
    -------
    Verdict
        ``holds`` or ``violated``, with the worst ratio and the value of its cell; ``inconclusive`` where a cell has
        no standard error.
    """
    columns = _columns(values, mean, stderr, bound)
    x, m, s, b = columns
    ratios = ratios_to(m + STANDARD_ERRORS * np.nan_to_num(s), b)
    worst = int(np.argmax(ratios))
    word = "holds" if ratios[worst] <= 1 + slack else "violated"
    reason = f"(mean + 2 s.e.) / bound is at most {ratios[worst]:.3g}"
    largest = float(ratios_to(m, b).max())
    if word == "violated" and largest <= 1 + slack:
        reason += f"; no mean exceeds the bound: mean / bound is at most {largest:.3g}"
    if np.isnan(s).any():
        word, reason = "inconclusive", _NO_ERROR
    notes = []
    if trivial is not None:
        vacuous = int((b > same_length("trivial", trivial, len(x))).sum())
        notes = [f"vacuous: the bound exceeds the trivial risk in {vacuous} of {len(x)} cells"] if vacuous else []
    return _verdict("explicit", word, reason, parameter, columns, ratios, worst, tuple(notes))


def lower_bound_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    parameter: str = "",
    has_constants: bool = True,
) -> Verdict:
    """Whether mean - 2 s.e. lies above a lower bound in every cell of every accounted method.

    Parameters
    ----------
    values, mean, stderr, bound : array_like
        Shape ``(cells,)``; the cells of all methods, one after the other.
    parameter : str
        Name of the swept parameter.
    has_constants : bool
        Whether the bound has its constants; one without is shown, not judged.

    Returns
    -------
    Verdict
        ``holds``, ``violated`` or ``shown``, with the smallest ratio (mean - 2 s.e.) / bound; ``inconclusive`` where
        a cell has no standard error.
    """
    columns = _columns(values, mean, stderr, bound)
    _, m, s, b = columns
    ratios = ratios_to(m - STANDARD_ERRORS * np.nan_to_num(s), b)
    worst = int(np.argmin(ratios))
    word = "holds" if ratios[worst] > 1 else "violated"
    reason = f"(mean - 2 s.e.) / bound is at least {ratios[worst]:.3g}"
    if np.isnan(s).any():
        word, reason = "inconclusive", _NO_ERROR
    if not has_constants:
        word, reason = "shown", "a bound without constants is shown, not judged"
    return _verdict("lower_bound", word, reason, parameter, columns, ratios, worst)


def band_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    reference: ArrayLike,
    low: float,
    high: float,
    *,
    parameter: str = "",
    reference_stderr: ArrayLike = 0.0,
) -> Verdict:
    """Whether mean / reference stays in a band.

    Parameters
    ----------
    values, mean, stderr, reference : array_like
        Shape ``(cells,)``; the reference > 0.
    low, high : float
        Ends of the band, 0 <= low < high.
    parameter : str
        Name of the swept parameter.
    reference_stderr : array_like
        Standard errors of a measured reference, shape ``(cells,)`` or a number.

    Returns
    -------
    Verdict
        ``holds`` if every ratio is inside, ``violated`` if one is outside by more than 2 s.e., else
        ``inconclusive``; with the ratio nearest to leaving (or farthest out of) the band.
    """
    if not 0 <= low < high:
        raise InputError("band", [low, high], "two numbers 0 <= low < high")
    columns = _columns(values, mean, stderr, reference)
    _, m, s, r = columns
    if not (r > 0).all():
        raise InputError("reference", r.tolist(), "numbers > 0")
    outside = np.maximum(low * r - m, m - high * r)
    ratios = ratios_to(m, r)
    s = np.hypot(s, ratios * np.asarray(reference_stderr, dtype=np.float64))  # of the ratio, in units of the mean
    worst = int(np.argmax(outside / r))
    reason = f"ratio {ratios[worst]:.3g} is the extreme one; band [{low:g}, {high:g}]"
    return _verdict("band", _three_way(outside, s), reason, parameter, columns, ratios, worst)


def law_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    law: ArrayLike,
    tolerance: float,
    *,
    parameter: str = "",
    standard_errors: float = 0.0,
) -> Verdict:
    """Whether a measured curve equals a computed one within a stated error.

    Parameters
    ----------
    values, mean, stderr, law : array_like
        Shape ``(cells,)``.
    tolerance : float
        Stated relative error, >= 0.
    parameter : str
        Name of the swept parameter.
    standard_errors : float
        Stated number of standard errors allowed besides.

    Returns
    -------
    Verdict
        ``holds`` if every cell is within the stated error, ``violated`` if one is beyond it by more than sampling
        error (2 s.e., or the stated number if larger), else ``inconclusive``; with the ratio farthest from 1.
    """
    if not (tolerance >= 0 and standard_errors >= 0):
        raise InputError("law tolerance, standard errors", [tolerance, standard_errors], "numbers >= 0")
    columns = _columns(values, mean, stderr, law)
    _, m, s, target = columns
    ratios = ratios_to(m, target)
    beyond = np.abs(m - target) - tolerance * np.abs(target) - standard_errors * np.nan_to_num(s)
    more = max(0.0, STANDARD_ERRORS - standard_errors)
    worst = int(np.argmax(np.abs(ratios - 1)))
    reason = f"measured / computed is {ratios[worst]:.4g} at the most distant cell"
    word = _three_way(beyond, s, more)
    return _verdict("law", word, reason, parameter, columns, ratios, worst)


def shown_verdict(
    values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, bound: ArrayLike | None = None, *, parameter: str = ""
) -> Verdict:
    """Measured values without a verdict: nothing definite is claimed.

    Parameters
    ----------
    values, mean, stderr : array_like
        Shape ``(cells,)``.
    bound : array_like, optional
        A formula that stands beside them, shape ``(cells,)``.
    parameter : str
        Name of the swept parameter.

    Returns
    -------
    Verdict
        ``shown``.
    """
    x, m, s, b = _columns(values, mean, stderr, mean if bound is None else bound)
    return Verdict(
        "shown",
        "shown",
        "no expectation: measured values without a verdict",
        parameter=parameter,
        values=tuple(x.tolist()),
        mean=tuple(m.tolist()),
        stderr=tuple(s.tolist()),
        bound=() if bound is None else tuple(b.tolist()),
    )


def same_length(name: str, values: ArrayLike, length: int) -> FloatArray:
    """A float64 vector of a given length.

    Parameters
    ----------
    name : str
        Named in the error.
    values : array_like
        A number or a vector.
    length : int
        Required length.

    Returns
    -------
    ndarray
        Shape ``(length,)``.

    Raises
    ------
    InputError
        For another length.
    """
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if array.shape != (length,) or not length:
        raise InputError(f"shape of {name}", array.shape, f"({length},), not empty")
    return array


def _columns(*columns: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    length = np.atleast_1d(np.asarray(columns[0])).size
    names = ("values", "mean", "stderr", "bound")
    x, m, s, b = (same_length(name, column, length) for name, column in zip(names, columns, strict=True))
    if np.isnan(m).any() or np.isnan(b).any():
        raise InputError("mean, bound", "NaN", "numbers in every cell")
    return x, m, s, b


def ratios_to(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """Ratios of numbers or arrays; a bound that is not positive is met only by what is not positive either."""
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    positive = below > 0
    return np.where(positive, above / np.where(positive, below, 1.0), np.where(above > 0, np.inf, 0.0))


def _three_way(outside: FloatArray, stderr: FloatArray, standard_errors: float = STANDARD_ERRORS) -> str:
    """Word for distances beyond a limit (negative inside)."""
    if np.isnan(stderr).any():
        return "inconclusive"
    if (outside <= 0).all():
        return "holds"
    return "violated" if (outside > standard_errors * stderr).any() else "inconclusive"


def _verdict(
    kind: str,
    word: str,
    reason: str,
    parameter: str,
    columns: tuple[FloatArray, ...],
    ratios: NDArray[np.float64],
    worst: int,
    notes: tuple[str, ...] = (),
) -> Verdict:
    values, mean, stderr, bound = (tuple(column.tolist()) for column in columns)
    return Verdict(
        word,
        kind,
        reason,
        parameter=parameter,
        values=values,
        mean=mean,
        stderr=stderr,
        bound=bound,
        notes=notes,
        worst_ratio=float(ratios[worst]),
        worst_cell=worst,
        worst_value=values[worst],
    )
