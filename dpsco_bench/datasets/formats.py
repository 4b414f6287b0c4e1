"""Parsers of the formats in which Covertype is distributed; each gives the same columns and labels.

Nothing is trusted here beyond the form: whether the content is Covertype is decided by its digest
(`dpsco_bench.datasets.covertype`).
"""

from __future__ import annotations

import bz2
import gzip
import io
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from dpsco_bench.datasets import libsvm
from dpsco_bench.datasets.store import DataCorrupt
from dpsco_bench.errors import InputError

CONTINUOUS, WILDERNESS, SOIL = 10, 4, 40
COLUMNS = CONTINUOUS + WILDERNESS + SOIL
_BLOCK = 1 << 24
_LIBSVM_SCALED = "those of the unscaled file covtype.libsvm.binary, which are integers"
_BROKEN = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile, DeprecationWarning)

Block = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Parsed:
    """Content of a source file.

    Attributes
    ----------
    features : ndarray of int16, shape (n, 54), 10 measurements, 4 wilderness areas one-hot, 40 soil types one-hot
    labels : tuple of ndarray of uint8, each of shape (n,)
        Readings of the label column as 1 = class 2, likeliest first; several where the format does not say.
    """

    features: np.ndarray
    labels: tuple[np.ndarray, ...]


def one_hot_columns(numeric: np.ndarray, wilderness: np.ndarray, soil: np.ndarray) -> np.ndarray:
    """Expand the compact form to the 54 columns of the original file. Raises ValueError if shapes or types do not fit.

    Returns int16, shape (n, 54), C order.

    Parameters
    ----------
    numeric : ndarray, shape (10, n), measurements, one per row
    wilderness, soil : ndarray of int, shape (n,), types, 1..4 and 1..40
    """
    n = numeric.shape[-1]
    if numeric.shape != (CONTINUOUS, n) or wilderness.shape != (n,) or soil.shape != (n,):
        raise ValueError(f"arrays of shapes {numeric.shape}, {wilderness.shape}, {soil.shape}")
    dense = np.zeros((n, COLUMNS), dtype="<i2")
    dense[:, :CONTINUOUS] = numeric.T
    for types, count, offset in ((wilderness, WILDERNESS, CONTINUOUS), (soil, SOIL, CONTINUOUS + WILDERNESS)):
        index = types.astype(np.int64)
        if n and not (index.min() >= 1 and index.max() <= count):
            raise ValueError(f"a type outside 1..{count}")
        dense[np.arange(n), offset - 1 + index] = 1
    return dense


def parse(path: Path, rows: int) -> Parsed:
    """Parse a source file; the format follows from the name's ending.

    Raises DataCorrupt if the file is damaged or has another form or another number of rows. Raises InputError for
    LIBSVM's scaled file.

    Parameters
    ----------
    path : Path, ``*.npz``, ``*.data``, ``*.data.gz``, or LIBSVM's file, plain or ``*.bz2``
    """
    reader: Callable[[Path, int], Parsed]
    if path.name.endswith(".npz"):
        reader = _parse_npz
    elif path.name.endswith((".data", ".data.gz")):
        reader = _parse_uci
    else:
        reader = _parse_libsvm
    try:
        with warnings.catch_warnings():
            # Some NumPy releases only warn about text that is not a number of the wanted kind.
            warnings.filterwarnings("error", "string or file could not be read|loadtxt", DeprecationWarning)
            return reader(path, rows)
    except (DataCorrupt, InputError):
        raise
    except _BROKEN as error:
        raise DataCorrupt(path, f"damaged: {str(error) or type(error).__name__}") from error


def _parse_npz(path: Path, rows: int) -> Parsed:
    with np.load(path, allow_pickle=False) as arrays:
        numeric, wilderness, soil, label = (
            arrays[name] for name in ("numeric", "wilderness_area", "soil_type", "is_class_2")
        )
    dense = one_hot_columns(numeric, wilderness, soil)
    if label.shape != (rows,) or len(dense) != rows:
        raise DataCorrupt(path, f"{len(dense)} rows and {label.size} labels, expected {rows}")
    return Parsed(dense, (label.astype(np.uint8),))


def _parse_uci(path: Path, rows: int) -> Parsed:
    dense, cover_type = _assemble(path, rows, _uci_block)
    return Parsed(dense, ((cover_type == 2).astype(np.uint8),))


def _parse_libsvm(path: Path, rows: int) -> Parsed:
    dense, label = _assemble(path, rows, _libsvm_block)
    values = np.unique(label)
    if len(values) != 2:
        raise DataCorrupt(path, f"labels take {len(values)} values, expected 2")
    # The labels are 1 and 2 with 2 for class 2 in the copies known; the label digest decides.
    return Parsed(dense, tuple((label == value).astype(np.uint8) for value in values[::-1]))


def _assemble(path: Path, rows: int, read_block: Callable[[bytes, Path], Block]) -> Block:
    """Fill the dense array block by block, so that the text is never in memory as a whole."""
    dense, label = np.zeros((rows, COLUMNS), dtype="<i2"), np.zeros(rows, dtype=np.int16)
    filled = 0
    for text in _blocks(path):
        features, values = read_block(text, path)
        end = filled + len(values)
        if end > rows:
            raise DataCorrupt(path, f"more than the expected {rows} rows")
        dense[filled:end], label[filled:end] = features, values
        filled = end
    if filled != rows:
        raise DataCorrupt(path, f"{filled} rows, expected {rows}")
    return dense, label


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield pieces of about 16 MB that end with a line, without empty lines at their ends."""
    with _open(path) as stream:
        rest = b""
        while piece := stream.read(_BLOCK):
            head, newline, tail = (rest + piece).rpartition(b"\n")
            rest = tail
            if newline and head.strip():
                yield head.strip()
        if rest.strip():
            yield rest.strip()


def _open(path: Path) -> IO[bytes]:
    # By content rather than by name: a browser may have unpacked the file without renaming it.
    with open(path, "rb") as probe:
        magic = probe.read(3)
    opener: Any = gzip.open if magic[:2] == b"\x1f\x8b" else bz2.open if magic == b"BZh" else open
    return opener(path, "rb")


def _uci_block(text: bytes, path: Path) -> Block:
    values = np.loadtxt(io.BytesIO(text), dtype=np.int16, delimiter=",", ndmin=2, comments=None)
    if values.shape[1] != COLUMNS + 1:
        raise DataCorrupt(path, f"{values.shape[1]} columns, expected {COLUMNS + 1}")
    return values[:, :COLUMNS], values[:, COLUMNS]


def _libsvm_block(text: bytes, path: Path) -> Block:
    lines = libsvm.parse(text)
    numbers = np.concatenate([lines.labels, lines.values])
    if not np.array_equal(numbers, np.trunc(numbers)):
        raise InputError(f"values of {path.name}", "scaled", _LIBSVM_SCALED)
    if len(numbers) and np.abs(numbers).max() > np.iinfo(np.int16).max:
        raise DataCorrupt(path, "a value outside 16 bits")
    if len(lines.indices) and not (lines.indices.min() >= 1 and lines.indices.max() <= COLUMNS):
        raise DataCorrupt(path, f"an index outside 1..{COLUMNS}")
    return libsvm.dense(lines, COLUMNS).astype(np.int16), lines.labels.astype(np.int16)
