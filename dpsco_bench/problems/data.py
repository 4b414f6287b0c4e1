"""Data sets, batches, and the keyed random numbers from which data are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, take_rows, take_values
from dpsco_bench.rng.streams import Stream

Array = Any
StreamFactory = Callable[[str], Stream]


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
        return Data(data.n, take_rows(data.features, indices), take_values(data.labels, indices))
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
    replicate's numbers not on how replicates are split between runs.

    Attributes
    ----------
    streams : callable, stream by name
    """

    streams: StreamFactory
    first_replicate: int
    replicates: int

    def stream(self, name: str) -> Stream:
        """Open the stream of that name, in the namespace of the run."""
        return self.streams(name)

    def box(self, first: int, count: int, dim: int) -> tuple[int, int, int, int, int]:
        """Address of ``count`` records from ``first`` on, as the methods of a `rng.streams.Stream` take it.

        The draw has shape ``(count, R, dim)``.
        """
        return first, count, self.first_replicate, self.replicates, dim
