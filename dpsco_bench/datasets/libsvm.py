"""LIBSVM's text format, lines ``label index:value index:value ...``, read without a loop over lines.

Counts over the whole text are enough: content is known, or `tables` has held each line to the form.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

FORM = "lines are not of the form 'label index:value ...'"


@dataclass(frozen=True)
class Lines:
    """`labels (r,)` of lines; line from 0, index as written, value: `rows`, `indices` and `values (k,)`, in order."""

    labels: np.ndarray
    rows: np.ndarray
    indices: np.ndarray
    values: np.ndarray


def parse(text: bytes) -> Lines:
    """Read whole lines, none of them empty. Raises ValueError for text of another form."""
    characters = np.frombuffer(text, dtype=np.uint8)
    line_ends = np.append(np.flatnonzero(characters == ord("\n")), len(text))
    pairs = np.diff(np.searchsorted(np.flatnonzero(characters == ord(":")), line_ends), prepend=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # older NumPy releases only warn about what is no number
        try:
            numbers = np.fromstring(text.replace(b":", b" "), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning) as error:
            raise ValueError(FORM) from error
    starts = np.cumsum(1 + 2 * pairs) - (1 + 2 * pairs)
    if len(numbers) != len(pairs) + 2 * int(pairs.sum()):
        raise ValueError(FORM)
    indices, values = np.delete(numbers, starts).reshape(-1, 2).T
    if not np.array_equal(indices, np.trunc(indices)):
        raise ValueError(FORM)
    return Lines(numbers[starts], np.repeat(np.arange(len(pairs)), pairs), indices.astype(np.int64), values)


def dense(lines: Lines, columns: int) -> np.ndarray:
    """Convert the values to a float64 array, shape ``(r, columns)``; column j holds index j + 1."""
    features = np.zeros((len(lines.labels), columns))
    features[lines.rows, lines.indices - 1] = lines.values
    return features
