"""Forms of a record's gradient as data: the part of a problem that compiled steps need to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

NO_SLOPE, CONSTANT, SQUARED, LOGISTIC, HUBER, PSEUDO_HUBER = range(6)
"""Slopes ``l'(m, y)`` of the margin m, with parameters (a, b): none; a; ``m - y``; the logistic loss of
``b + a y m`` for labels -1 and 1; ``a (m - y)`` clipped to [-1, 1]; ``t/sqrt(t^2 + a^2)`` of ``t = m - y``."""
READS = (
    *("slope", "gather", "batch_gradient", "mean_gradient"),
    *("range_gradient", "range_gradient_pair", "record_gradients"),
)
"""Attributes that decide the gradients of a problem: a class that changes one of these has another form, or none."""


@dataclass(frozen=True)
class RecordForm:
    """``grad f_i(x) = l'(<a_i, x>, y_i) a_i + h (x - c)``, h and c the same for all records.

    Attributes
    ----------
    slope : int, one of the slopes above
    parameters : tuple, its a and b
    hessian, centre : array (d,), h and c; empty if h = 0
    """

    slope: int = NO_SLOPE
    parameters: tuple[float, float] = (1.0, 0.0)
    hessian: np.ndarray = field(default_factory=lambda: np.empty(0))
    centre: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Kinds:
    """Records of few kinds: compiled steps look kinds up, and no record is written out.

    Attributes
    ----------
    features, labels : array (K, d) and array (K,) or None, of each kind
    kinds : array (S R, n) of integers, the kind of each record of every row
        Of shape (S R, 1) where all records of a row are of one kind.
    """

    features: np.ndarray
    labels: np.ndarray | None
    kinds: np.ndarray


@dataclass(frozen=True)
class Levels:
    """Records with two values: entry j of record i is ``scale`` where ``levels[r, i, j] > ranks[s]``, else ``-scale``.

    Attributes
    ----------
    levels : array (R, n, d) of uint8
    ranks : array (S,) of uint8, one for each signal
    scale : float
    """

    levels: np.ndarray
    ranks: np.ndarray
    scale: float


@dataclass(frozen=True)
class Signs:
    """Records about the mean of their row: entry j of record i is ``means[s R + r, j] + scale signs[r, i, j]``.

    Attributes
    ----------
    means : array (S R, d)
    signs : array (R, n, d) of int8, -1 or 1
    scale : float
    """

    means: np.ndarray
    signs: np.ndarray
    scale: float


Listed = Kinds | Levels | Signs
"""Records that compiled steps look up."""

LISTS = ("gather", "form_records", "form_range")
"""Attributes that decide the records of a problem: a class that changes one of these lists its own."""


def kinds_of(problem: Any, data: Any, drawn: bool) -> Listed | None:
    """Ask a problem for its records in batches (``drawn``) or consecutive ones; None if it describes neither.

    None also if a subclass has changed the records since.
    """
    mro = type(problem).__mro__
    declared = next(i for i, cls in enumerate(mro) if "form_kinds" in vars(cls))
    changed = (i for i, cls in enumerate(mro) if any(name in vars(cls) for name in LISTS))
    return problem.form_kinds(data, drawn) if declared <= next(changed, len(mro)) else None


def two_valued(levels: np.ndarray, ranks: np.ndarray, scale: float) -> Kinds | Levels:
    """Turn the arguments of `Levels` into kinds where a byte has room for all signs of a record."""
    d = levels.shape[-1]
    if d > 8:
        return Levels(levels, ranks, scale)
    patterns = (np.arange(1 << d)[:, None] >> np.arange(d)) & 1
    kinds = [np.packbits(levels > rank, axis=-1, bitorder="little")[..., 0] for rank in ranks]
    return Kinds(scale * (2.0 * patterns - 1.0), None, np.concatenate(kinds))


def axis_kinds(places: np.ndarray, minus: np.ndarray, features: np.ndarray, labels: np.ndarray | None) -> Kinds | None:
    """Kinds of records of one coordinate each and two values; None if a byte has no room for them.

    Parameters
    ----------
    places : array (R, n), the coordinates
    minus : array (S, R, n) of bool, whether a record has the second value
    features, labels : array (2 d, d) and (2 d,), by coordinate, of the first value and then of the second
    """
    d = features.shape[1]
    if 2 * d > 256:
        return None
    kinds = places.astype(np.uint8) + np.uint8(d) * minus
    return Kinds(features, labels, np.ascontiguousarray(kinds).reshape(-1, kinds.shape[-1]))


def form_of(problem: Any) -> RecordForm | None:
    """Find the form that a problem declares; None without one, or if a subclass has changed the gradients since."""
    mro = type(problem).__mro__
    declared = next(i for i, cls in enumerate(mro) if "record_form" in vars(cls))
    changed = (i for i, cls in enumerate(mro) if any(name in vars(cls) for name in READS))
    return problem.record_form if declared <= next(changed, len(mro)) else None


def logistic_form(problem: Any) -> tuple[float, float] | None:
    """Sign a and offset b of a problem whose losses are ``log(1 + exp(b + a y m))`` and no more; None for any other."""
    form = form_of(problem)
    if form is None or form.slope != LOGISTIC or form.hessian.size:
        return None
    sign, offset = form.parameters
    return float(sign), float(offset)
