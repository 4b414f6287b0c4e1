"""A user's own table of records: CSV, Parquet or LIBSVM to numeric features and a label column."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from dpsco_bench.datasets import libsvm
from dpsco_bench.datasets.store import sha256_of_file
from dpsco_bench.errors import InputError

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm"}
COMPRESSED = (".gz", ".bz2")
_HEAD = 1 << 20
LARGEST = 1e100
"""Largest magnitude of a number."""
MOST_NUMBERS = 1 << 33
"""Most entries of a dense table, 64 GiB."""


@dataclass(frozen=True)
class Records:
    """Content of a file.

    Attributes
    ----------
    features : ndarray of float64, shape (n, k), finite numbers
    labels : ndarray, shape (n,), finite float64, or text where the label column is no number
    """

    features: np.ndarray
    labels: np.ndarray
    names: tuple[str, ...]
    label: str


def find(path: Any, root: Path) -> Path:
    """The file of that name: relative paths start at the working directory, or else at the data root.

    Raises InputError if there is none.
    """
    if isinstance(path, str) and path:
        for found in (Path(path), root / path):
            if found.is_file():
                return found
    raise InputError("path", path, "an existing CSV, Parquet or LIBSVM file")


def digest(path: Path) -> str:
    """Sha256 of a file, computed once per process while the file stays as it is."""
    status = os.stat(path)
    return _digest(path.resolve(), status.st_mtime_ns, status.st_size)


@cache
def _digest(path: Path, mtime: int, size: int) -> str:
    return sha256_of_file(path)


def read(path: Path, label: str | int | None = None, header: bool | None = None, form: str | None = None) -> Records:
    """Read a file; what was read last is kept while the file stays as it is.

    Raises InputError for an unknown label or ending, text or gaps among the features, or a damaged file.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv`` (tab-separated), ``.parquet``, ``.pq``, ``.libsvm`` or ``.svm``; text also compressed as
        ``.gz`` or ``.bz2``.
    label : str or int, optional
        Name or position of the label column (negative: from the end). Needed unless the format is LIBSVM, where every
        line begins with its label.
    header : bool, optional
        Whether the first line of a CSV names the columns; by default it does if none of its fields is a number.
    form : str, optional, ``csv``, ``parquet`` or ``libsvm`` where the name does not end as above
    """
    status = os.stat(path)
    return _read(path, status.st_mtime_ns, status.st_size, label, header, form)


@lru_cache(maxsize=2)
def _read(path: Path, mtime: int, size: int, label: str | int | None, header: bool | None, form: str | None) -> Records:
    form = format_of(path, form)
    if header is not None and (form != "csv" or not isinstance(header, bool)):
        raise InputError("header", header, "true, false or null, and for a CSV only")
    try:
        if form == "libsvm":
            return _libsvm(path, label)
        table = _csv(path, header) if form == "csv" else pyarrow.parquet.ParquetFile(path).read(use_threads=False)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).split(". ")[0].splitlines() or [type(error).__name__]
        raise InputError("path", str(path), f"a readable {form} file", reason[0]) from error
    return _select(table, path, label)


def format_of(path: Path, form: str | None = None) -> str:
    """The format that is given, or that the name's ending says. Raises InputError for another one."""
    if form is not None:
        if form not in FORMATS.values():
            raise InputError("format", form, "one of " + ", ".join(dict.fromkeys(FORMATS.values())))
        return form
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSED] or [""]
    if suffixes[-1] not in FORMATS:
        raise InputError("path", str(path), "a file ending in " + ", ".join(FORMATS) + ", or have format= given")
    return FORMATS[suffixes[-1]]


def _csv(path: Path, header: bool | None) -> pa.Table:
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    with pa.input_stream(str(path)) as stream:
        first = stream.read(_HEAD).decode("utf-8-sig").split("\n", 1)[0]
    fields = next(csv.reader([first], delimiter=delimiter), [])
    if len(fields) == 1 and ";" in first:
        raise InputError("path", str(path), "a CSV with commas between the fields; this one has semicolons")
    if header is None:
        header = not any(_is_number(field) for field in fields)
    return pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=not header),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _libsvm(path: Path, label: str | int | None) -> Records:
    if label is not None:
        raise InputError("label", label, "left out for LIBSVM, where every line begins with its label")
    with pa.input_stream(str(path)) as stream:
        text = b"\n".join(line for line in stream.read().splitlines() if line.strip())
    try:
        with np.errstate(invalid="ignore"):  # an index beyond 2^63 becomes the least integer, and is refused below
            lines = libsvm.parse(text) if text else None
    except ValueError as error:
        raise InputError("path", str(path), "a LIBSVM file", str(error)) from error
    if lines is None or not len(lines.values):
        raise InputError("path", str(path), "a file with records")
    least = int(lines.indices.min())
    if least < 1:
        shown = "beyond 2^63" if least == np.iinfo(np.int64).min else least
        raise InputError(f"index in {path.name}", shown, "an integer >= 1")
    columns, records = int(lines.indices.max()), len(lines.labels)
    if columns * records > MOST_NUMBERS:
        allowed = f"at most {MOST_NUMBERS // records} with {records} records: features are kept as a dense table"
        raise InputError(f"index in {path.name}", columns, allowed)
    places = np.unique(lines.rows * columns + lines.indices)
    if len(places) < len(lines.indices):
        order = np.sort(lines.rows * columns + lines.indices)
        twice = int(order[np.flatnonzero(np.diff(order) == 0)[0]]) - 1
        raise InputError(f"index in {path.name}", twice % columns + 1, f"given once in record {twice // columns + 1}")
    features = libsvm.dense(lines, columns)
    names = tuple(str(1 + column) for column in range(features.shape[1]))
    for name, values in (("features", features), ("labels", lines.labels)):
        _refuse_gap(~np.isfinite(values.reshape(len(values), -1)).all(axis=1), name, path)
        _refuse_huge(values.reshape(len(values), -1), name, path)
    return _frozen(Records(features, lines.labels, names, "label"))


def _select(table: pa.Table, path: Path, label: str | int | None) -> Records:
    names = list(table.column_names)
    if table.num_rows < 1 or len(names) < 2:
        raise InputError("path", str(path), f"a table with records; it has {table.num_rows} of {len(names)} columns")
    position = _position(names, label, path)
    columns = [_numbers(table.column(i), names[i], path) for i in range(len(names)) if i != position]
    labels = _labels(table.column(position), names[position], path)
    rest = tuple(name for i, name in enumerate(names) if i != position)
    return _frozen(Records(np.column_stack(columns), labels, rest, names[position]))


def _position(names: list[str], label: str | int | None, path: Path) -> int:
    if isinstance(label, int) and not isinstance(label, bool) and -len(names) <= label < len(names):
        return label % len(names)
    if isinstance(label, str) and names.count(label) == 1:
        return names.index(label)
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    allowed = f"one of the columns of {path.name}: {shown}; or a position from {-len(names)} to {len(names) - 1}"
    raise InputError("label", "missing" if label is None else label, allowed)


def _labels(column: pa.ChunkedArray, name: str, path: Path) -> np.ndarray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return _numbers(column, name, path)
    _refuse_gap(column.is_null().to_numpy(), name, path)
    return np.array(column.to_pylist(), dtype=np.str_)


def _numbers(column: pa.ChunkedArray, name: str, path: Path) -> np.ndarray:
    """A column as finite float64."""
    kind = column.type
    if pa.types.is_null(kind):
        raise InputError(f"column {name} of {path.name}", "empty", "a finite number in every record")
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        value = next((v for v in map(str, column.drop_null().to_pylist()) if not _is_number(v)), "a number as text")
        allowed = f"a number in every record, but it is of type {kind}: encode the column as numbers, or take it out"
        raise InputError(f"column {name} of {path.name}", value, allowed)
    _refuse_gap(column.is_null().to_numpy(), name, path)
    values = column.to_numpy().astype(np.float64)
    _refuse_gap(~np.isfinite(values), name, path)
    _refuse_huge(values[:, None], name, path)
    return values


def _refuse_huge(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse numbers whose squares overflow, ``values (records, columns)``."""
    worst = np.abs(values).max(axis=1)
    if (worst > LARGEST).any():
        record = int(np.argmax(worst > LARGEST))
        allowed = f"at most {LARGEST:g} in magnitude"
        raise InputError(f"column {name} of {path.name}", f"{worst[record]:g} in record {record + 1}", allowed)


def _refuse_gap(gaps: np.ndarray, name: str, path: Path) -> None:
    if gaps.any():
        record = int(np.argmax(gaps)) + 1
        raise InputError(f"column {name} of {path.name}", f"no number in record {record}", "given in every record")


def _frozen(records: Records) -> Records:
    """Records are shared by everything in the process that reads the file."""
    records.features.flags.writeable = False
    records.labels.flags.writeable = False
    return records
