"""From integer columns to records of norm at most 1, and their columns of one class (Wang, Ye, Xu 2017, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_bench.datasets.formats import CONTINUOUS


@dataclass(frozen=True)
class Sample:
    """A scaled sample.

    Attributes
    ----------
    features : ndarray of float64, shape (n, 54), rows of Euclidean norm at most 1, the largest being 1
    labels : ndarray of float64, shape (n,), +1 for class 2, else -1
    indices : ndarray of int64, shape (n,), row numbers in the full data set
    scale : float, the largest row norm, by which all rows were divided
    """

    features: np.ndarray
    labels: np.ndarray
    indices: np.ndarray
    scale: float


@dataclass(frozen=True)
class OneClassColumns:
    """Columns along which the logistic loss has no minimiser.

    Attributes
    ----------
    columns : ndarray of int64, shape (k,), column numbers, in the order in which they were found
    labels : ndarray of float64, shape (k,)
        The only label (+1 or -1) in the rows of each column; for a column of negative values, its negative.
    rows : ndarray of bool, shape (n,)
        Rows with a non-zero entry in one of them: their loss tends to 0, so the infimum is the others'.
    """

    columns: np.ndarray
    labels: np.ndarray
    rows: np.ndarray


def one_class_columns(features: np.ndarray, labels: np.ndarray) -> OneClassColumns:
    """Find the columns whose non-zero rows all have one class.

    If ``labels[i] * features[i, j]`` has one sign over all rows, the unregularised logistic loss falls along
    coordinate j without end; the rows concerned contribute nothing to the infimum. Without them further
    columns can turn one-class (their coefficients run to infinity more slowly), so the search repeats until
    it finds none.
    """
    signed = features * labels[:, None]
    found, sides = [], []
    rows = np.zeros(len(labels), dtype=bool)
    while True:
        rest = signed[~rows]
        positive, negative = (rest > 0).any(axis=0), (rest < 0).any(axis=0)
        new = np.flatnonzero(positive ^ negative)
        if not len(new):
            break
        found.append(new)
        sides.append(np.where(positive[new], 1.0, -1.0))
        rows |= (features[:, new] != 0).any(axis=1)
    columns = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return OneClassColumns(columns, np.concatenate(sides) if sides else np.zeros(0), rows)


def scale_rows(integers: np.ndarray) -> tuple[np.ndarray, float]:
    """Min-max scale the 10 measurements within the sample and divide all rows by the largest row norm.

    Parameters
    ----------
    integers : ndarray, shape (n, 54), measurements, then the one-hot columns

    Returns
    -------
    features : ndarray of float64, shape (n, 54), a constant measurement becomes 0
    scale : float, the largest row norm before the division
    """
    features = integers.astype(np.float64)
    measured = features[:, :CONTINUOUS]
    least, span = measured.min(axis=0), np.ptp(measured, axis=0)
    measured -= least
    measured /= np.where(span > 0, span, 1.0)
    scale = float(np.sqrt(np.einsum("ij,ij->i", features, features).max()))
    features /= scale
    return features, scale


def sample_from(integers: np.ndarray, is_class_2: np.ndarray, indices: np.ndarray) -> Sample:
    """Scale selected records into a `Sample`; `is_class_2` holds 0 and 1."""
    features, scale = scale_rows(integers)
    return Sample(features, np.where(is_class_2 == 1, 1.0, -1.0), indices, scale)
