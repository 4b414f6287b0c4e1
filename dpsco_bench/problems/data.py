"""Data sets, batches, the random numbers that data are drawn from, and the form of a record's gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, take
from dpsco_bench.rng.streams import Stream

Array = Any
StreamFactory = Callable[[str], Stream]
NO_SLOPE, CONSTANT, SQUARED, LOGISTIC, HUBER, PSEUDO_HUBER = range(6)
"""Slopes ``l'(m, y)`` of the margin m, with parameters (a, b): none; a; ``m - y``; the logistic loss of
``b + a y m`` for labels -1 and 1; ``a (m - y)`` clipped to [-1, 1]; ``t/sqrt(t^2 + a^2)`` of ``t = m - y``."""
READS = (
    *("slope", "gather", "batch_gradient", "mean_gradient"),
    *("range_gradient", "range_gradient_pair", "record_gradients"),
)
"""Attributes that decide the gradients of a problem: a class that changes one of these has another form, or none."""
LISTS = ("gather", "form_records", "form_range")
"""Attributes that decide the records of a problem: a class that changes one of these lists its own."""


@dataclass(frozen=True)
class Data:
    """Records: ``features (n, d)`` and ``labels (n,)``, or only a count for oracles.

    Shared by all replicates, unless the arrays have them as a leading axis: ``features (R, n, d)``, ``labels (R, n)``.
    """

    n: int
    features: Array = None
    labels: Array = None

    def to(self, xp: Any, dtype: str) -> Data:
        """Move the arrays to namespace ``xp`` with a floating dtype."""
        if self.features is None:
            return self
        kind = getattr(xp, dtype)
        return Data(self.n, xp.asarray(self.features, dtype=kind), xp.asarray(self.labels, dtype=kind))


def like(values: Any, x: Array) -> Array:
    """Turn values into an array of the namespace and dtype of ``x``."""
    return array_namespace(x).asarray(values, dtype=x.dtype)


def opposite(row: np.ndarray, distance: float, order: float) -> Data | None:
    """Return records ``+-row``, ``row (d,)``, if they are as far apart in l_order as asked for; None if not."""
    apart = 2.0 * float(np.linalg.norm(row, ord=order))
    return Data(2, np.stack([row, -row]), np.zeros(2)) if abs(distance / apart - 1.0) <= 1e-9 else None


def axes_first(rows: np.ndarray, *, in_pairs: bool = False) -> np.ndarray:
    """Put axis vectors of both signs at the head of rows ``(M, d)``, in place: at most half of the rows.

    All of one sign before those of the other, or, in pairs, each beside its opposite.
    """
    count, d = rows.shape
    axes = np.stack([np.eye(d), -np.eye(d)], axis=int(in_pairs)).reshape(2 * d, d)
    head = axes[: (count + 1) // 2 if in_pairs else count // 2]
    rows[: len(head)] = head
    return rows


@dataclass(frozen=True)
class Batch:
    """One batch of records per replicate, padded to a common width.

    Attributes
    ----------
    indices : array (R, W) of int64, record indices; 0 where padded
    mask : array (R, W), 1 for selected records, 0 where padded, in the state's dtype
    sizes : array (R,) of float64, number of selected records
    expected_size : float
        b, the divisor of batch means. Dividing by the drawn size would not be what the accountant charges.
    """

    indices: Array
    mask: Array
    sizes: Array
    expected_size: float


def gathered(data: Data, indices: Array) -> Data:
    """Gather records ``indices (R, W)`` of each replicate: ``features (R, W, d)``, ``labels (R, W)``; oracles as is."""
    if data.features is None:
        return data
    if data.features.ndim == 2:
        return Data(data.n, take(data.features, indices), take(data.labels, indices))
    xp = array_namespace(data.features)
    wide = xp.broadcast_to(indices[:, :, None], (*indices.shape, data.features.shape[2]))
    rows = xp.take_along_axis(data.features, wide, axis=1)
    return Data(data.n, rows, xp.take_along_axis(data.labels, indices, axis=1))


def sliced(data: Data, first: int, count: int) -> Data:
    """Take records ``first .. first + count - 1``."""
    if data.features is None:
        return Data(count)
    rows = slice(first, first + count)
    if data.features.ndim == 2:
        return Data(count, data.features[rows, :], data.labels[rows])
    return Data(count, data.features[:, rows, :], data.labels[:, rows])


def single_records(data: Data, replicates: int) -> Data:
    """Return every replicate's records as batches of one: ``features (R n, 1, d)``, ``labels (R n, 1)``."""
    if data.features is None:
        return data
    xp, d = array_namespace(data.features), data.features.shape[-1]
    rows = xp.broadcast_to(data.features, (replicates, data.n, d))
    labels = xp.broadcast_to(data.labels, (replicates, data.n))
    return Data(data.n, xp.reshape(rows, (-1, 1, d)), xp.reshape(labels, (-1, 1)))


@dataclass(frozen=True)
class Draws:
    """The keyed random numbers from which the samples of some replicates are drawn.

    In these streams the step is the index of a record (or of the first one of a range), the replicate is the replicate
    and the coordinate is the feature. They depend neither on the algorithm nor on privacy, calibration or signal, and a
    replicate's numbers not on how replicates are split between runs. `stream` opens one by its name.
    """

    stream: StreamFactory
    first_replicate: int
    replicates: int

    def box(self, first: int, count: int, dim: int) -> tuple[int, int, int, int, int]:
        """Address of ``count`` records from ``first`` on in a `rng.streams.Stream`: a draw ``(count, R, dim)``."""
        return first, count, self.first_replicate, self.replicates, dim


@dataclass(frozen=True)
class RecordForm:
    """``grad f_i(x) = l'(<a_i, x>, y_i) a_i + h (x - c)``, h and c the same for all records.

    `slope` is one of those above, `parameters` are its a and b; `hessian` and `centre (d,)` h and c or empty.
    """

    slope: int = NO_SLOPE
    parameters: tuple[float, float] = (1.0, 0.0)
    hessian: np.ndarray = field(default_factory=lambda: np.empty(0))
    centre: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Kinds:
    """Records of few kinds: compiled steps look kinds up, and no record is written out.

    `features (K, d)` and `labels (K,)`, or None, are those of each kind; `kinds (S R, n)` has the kind of each record
    of every row.
    """

    features: np.ndarray
    labels: np.ndarray | None
    kinds: np.ndarray


@dataclass(frozen=True)
class Levels:
    """Records with two values: entry j of record i is ``scale`` where ``levels[r, i, j] > ranks[s]``, else ``-scale``.

    `levels (R, n, d)` and `ranks (S,)`, one for each signal, are of uint8.
    """

    levels: np.ndarray
    ranks: np.ndarray
    scale: float


@dataclass(frozen=True)
class Signs:
    """Records about the mean of their row: entry j of record i is ``means[s R + r, j] + scale signs[r, i, j]``.

    `means (S R, d)` are of float64, `signs (R, n, d)` of int8, -1 or 1.
    """

    means: np.ndarray
    signs: np.ndarray
    scale: float


Listed = Kinds | Levels | Signs
"""Records that compiled steps look up."""


def kinds_of(problem: Any, data: Any, drawn: bool) -> Listed | None:
    """Ask for a problem's records, ``drawn`` or consecutive; None without, or where a subclass has changed them."""
    return problem.form_kinds(data, drawn) if _declares(problem, "form_kinds", LISTS) else None


def axis_kinds(places: np.ndarray, minus: np.ndarray, features: np.ndarray, labels: np.ndarray | None) -> Kinds | None:
    """Kinds of records of one coordinate each and two values; None if a byte has no room for them.

    ``places (R, n)`` are coordinates, ``minus (S, R, n)`` tells the second value, by which features come second.
    """
    d = features.shape[1]
    if 2 * d > 256:
        return None
    kinds = places.astype(np.uint8) + np.uint8(d) * minus
    return Kinds(features, labels, np.ascontiguousarray(kinds).reshape(-1, kinds.shape[-1]))


def form_of(problem: Any) -> RecordForm | None:
    """Find the form that a problem declares; None without one, or if a subclass has changed the gradients since."""
    return problem.record_form if _declares(problem, "record_form", READS) else None


def _declares(problem: Any, name: str, others: tuple[str, ...]) -> bool:
    """Tell whether no class has changed one of ``others`` below the one that defines the attribute."""
    return next(name in vars(cls) for cls in type(problem).__mro__ if not vars(cls).keys().isdisjoint((name, *others)))


def logistic_form(problem: Any) -> tuple[float, float] | None:
    """Sign a and offset b of a problem whose losses are ``log(1 + exp(b + a y m))`` and no more; None for any other."""
    form = form_of(problem)
    if form is None or form.slope != LOGISTIC or form.hessian.size:
        return None
    sign, offset = form.parameters
    return float(sign), float(offset)
