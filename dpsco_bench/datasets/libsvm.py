"""LIBSVM's text format, lines ``label index:value index:value ...``, read without a loop over lines.

Of files whose content is known counts over the whole text are enough; each line of a user's file is held to the form,
and what is wrong is named by its line.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpsco_bench.datasets.columns import InRecord
from dpsco_bench.errors import InputError

FORM = "lines are not of the form 'label index:value ...'"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:inf|infinity|nan)"
_VALUE = re.compile(rf"(?:{_NUMBER})", re.IGNORECASE | re.ASCII)
_INDEX = re.compile(r"[-+]?\d+(?:\.0*)?(?:e\+?\d+)?", re.IGNORECASE | re.ASCII)
_PAIR = re.compile(r"(?!qid:)[^:]+:[^:]+")
_BLANK = r"[ \t\r\f\v]"
_LINES = re.compile(
    rf"(?:{_BLANK}*+(?:{_NUMBER})(?:{_BLANK}++{_INDEX.pattern}:(?:{_NUMBER})(?=\s|\Z))*+{_BLANK}*+(?:\n|\Z))*+".encode(),
    re.IGNORECASE,
)


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


def parse_lines(text: bytes, path: Path) -> Lines:
    """Read whole lines, none of them empty. Raises InputError for the first field of another form."""
    found = _LINES.match(text)
    end = found.end() if found else 0
    if end == len(text):
        return parse(text)
    label, *fields = text[end:].partition(b"\n")[0].decode("utf-8", "replace").split()
    record = text.count(b"\n", 0, end) + 1

    def hold(form: re.Pattern[str], text: str, key: str, shown: str, allowed: str) -> None:
        if not form.fullmatch(text):
            raise InputError(f"{key} {path.name}", InRecord(shown, record), allowed)

    hold(_VALUE, label, "column label of", label, "a number, the label first in every line")
    for field in fields:
        index, _, value = field.partition(":")
        ranked = "index:value; no loss uses the groups of a ranking" if index == "qid" else ""
        hold(_PAIR, field, "entry of", field, ranked or "index:value, with one colon and no space")
        hold(_INDEX, index, "index in", field, "an integer >= 1")
        hold(_VALUE, value, f"column {index} of", value, "a number")
    raise InputError("path", str(path), "a LIBSVM file")
