"""A user's own table of records: CSV, TSV, Parquet or LIBSVM to numeric features and a label column."""

from __future__ import annotations

import codecs
import csv
import os
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from dpsco_bench.datasets import libsvm, libsvm_lines
from dpsco_bench.datasets.columns import (
    check_columns,
    dropped,
    in_words,
    number_in,
    numbers_of,
    refuse,
    refuse_gap,
    refuse_huge,
    shown_entry,
)
from dpsco_bench.datasets.memory import check_memory, check_reading, check_square
from dpsco_bench.datasets.store import sha256_of_file
from dpsco_bench.errors import InputError

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
_HEAD, _MOST_HEAD = 1 << 20, 1 << 28
"""Bytes in which a first line is looked for; a line may be as long as a block of what is read at once."""
_LINES = 64
"""Lines of a block, as far as it holds them: each column of a block takes memory of its own."""


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
    raise InputError("path", path, "an existing CSV, TSV, Parquet or LIBSVM file")


def digest(path: Path) -> str:
    """Sha256 of a file, computed once per process while the file stays as it is."""
    status = os.stat(path)
    return _digest(path.resolve(), status.st_mtime_ns, status.st_size)


@cache
def _digest(path: Path, mtime: int, size: int) -> str:
    return sha256_of_file(path)


def read(
    path: Path,
    label: str | int | None = None,
    header: bool | None = None,
    form: str | None = None,
    drop: tuple[str, ...] = (),
    ids: bool = False,
    square: bool = False,
) -> Records:
    """Read a file; what was read last is kept while the file stays as it is.

    Raises InputError, naming column and record, for an unknown label or ending, two columns of one name, text, gaps or
    record numbers among the features, more columns than the memory holds, or a damaged file.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv`` (tab-separated), ``.parquet``, ``.pq``, ``.libsvm`` or ``.svm``; text also compressed as
        ``.gz``, ``.bz2`` or ``.zst``.
    label : str or int, optional
        Name or position of the label column (negative: from the end); an integer that may be either is refused. Needed
        unless the format is LIBSVM, where every line begins with its label.
    header : bool, optional
        Whether the first line of a CSV names the columns; by default it does if none of its fields is a number.
    form : str, optional, ``csv``, ``parquet`` or ``libsvm`` where the name does not end as above
    drop : tuple of str
        Names or positions of columns that are left out; a name with a + may stand as its parts. Of LIBSVM none can be.
    ids : bool, whether columns that look like record numbers are taken
    square : bool, whether matrices of columns x columns must fit into the memory too
    """
    status = os.stat(path)
    return _read(path, status.st_mtime_ns, status.st_size, label, header, form, drop, ids, square)


@lru_cache(maxsize=2)
def _read(
    path: Path,
    mtime: int,
    size: int,
    label: str | int | None,
    header: bool | None,
    form: str | None,
    drop: tuple[str, ...],
    ids: bool,
    square: bool,
) -> Records:
    form = format_of(path, form)
    if drop and form == "libsvm":
        raise InputError("drop", "+".join(drop), "left out for LIBSVM, whose columns have no names")
    if header is not None and (form != "csv" or not isinstance(header, bool)):
        raise InputError("header", header, "true, false or null, and for a CSV only")
    spared = 1 + len(drop) if square else None
    try:
        if form == "libsvm":
            return _libsvm(path, label)
        table = _csv(path, header, spared) if form == "csv" else _parquet(path, spared)
    except (pa.ArrowException, csv.Error, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).split(". ")[0].splitlines() or [type(error).__name__]
        raise InputError("path", str(path), f"a readable {form} file", reason[0]) from error
    try:
        return _select(table, path, label, drop, ids)
    except InputError as error:
        first = str(error.value).endswith(" in record 1") or (error.key == "label" and isinstance(label, str))
        if form == "csv" and header is None and first and _is_bare(table):
            hint = f"{error.allowed}; header=true, where the first line names the columns"
            raise InputError(error.key, error.value, hint, error.source) from None
        raise


def _is_bare(table: pa.Table) -> bool:
    """Whether the first line of a CSV was taken to be a record."""
    return list(table.column_names) == [f"f{number}" for number in range(table.num_columns)]


def format_of(path: Path, form: str | None = None) -> str:
    """The format that is given, or that the name's ending says. Raises InputError for another one."""
    if form is not None:
        if form not in FORMATS.values():
            raise InputError("format", form, "one of " + ", ".join(dict.fromkeys(FORMATS.values())))
        return form
    suffixes = [suffix for suffix in _suffixes(path) if suffix not in COMPRESSED] or [""]
    if suffixes[-1] not in FORMATS:
        raise InputError("path", str(path), "a file ending in " + ", ".join(FORMATS) + ", or have format= given")
    return FORMATS[suffixes[-1]]


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes]


def _text(path: Path) -> pa.NativeFile:
    """The file's text as a stream, whatever case its ending is in."""
    return pa.input_stream(str(path), compression=COMPRESSED.get(path.suffix.lower()))


def _parquet(path: Path, spared: int | None) -> pa.Table:
    file = pyarrow.parquet.ParquetFile(path)
    check_memory(file.metadata.num_rows, file.metadata.num_columns, path)
    _check_size(file.metadata.num_rows, file.metadata.num_columns, path, spared)
    return file.read(use_threads=False)


def _check_size(records: float, columns: int, path: Path, spared: int | None) -> None:
    """Refuse what is too large to be read or, all columns but some ``spared``, to be worked with as a matrix."""
    check_reading(records, columns, path)
    if spared is not None:
        check_square(columns - spared, path.name)


def _csv(path: Path, header: bool | None, spared: int | None) -> pa.Table:
    delimiter = "\t" if ".tsv" in _suffixes(path) else ","
    first, records = _first_line(path)
    fields = next(csv.reader([first], delimiter=delimiter), [])
    if len(fields) == 1 and (other := next((sign for sign in _OTHERS if sign in first), "")):
        allowed = f"a CSV with commas between the fields; this one has {_OTHERS[other]}"
        raise InputError("path", str(path), allowed + ", give it as .tsv" * (other == "\t"))
    if header is None:
        header = not any(number_in(field) is not None for field in fields)
    _check_size(records, len(fields), path, spared)
    line = len(first.encode())
    block = max(_HEAD, 4 * line, min(_LINES * line, _MOST_HEAD))
    with _text(path) as stream:
        return pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                autogenerate_column_names=not header, block_size=block, use_threads=False
            ),  # one thread alone knows the row of what it cannot read
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
            convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
        )


def _first_line(path: Path) -> tuple[str, float]:
    """The first line of a text file, whatever ends it, and how many lines of the length of those after it may follow.

    A compressed file has more lines than its size says.
    """
    parts: list[str] = []
    decoder, ends = codecs.getincrementaldecoder("utf-8-sig")(), 0  # a block may end within a letter
    with _text(path) as stream:
        while _HEAD * len(parts) < _MOST_HEAD and ends < 2 and (block := stream.read(_HEAD)):
            parts.append(decoder.decode(block))
            ends += len(re.findall("\r\n?|\n", parts[-1]))
    first, *others = re.split("\r\n?|\n", "".join(parts))
    whole = others[:-1] or others
    each = sum(map(len, whole)) / max(1, len(whole)) + 1
    return first, (path.stat().st_size - len(first)) / each if whole else 0.0


def _libsvm(path: Path, label: str | int | None) -> Records:
    if label is not None:
        raise InputError("label", label, "left out for LIBSVM, where every line begins with its label")
    with _text(path) as stream:
        text = stream.read()
    if b"#" in text:
        text = re.sub(rb"#[^\r\n]*", b"", text)
    text = b"\n".join(line for line in text.splitlines() if line.strip())
    try:
        with np.errstate(invalid="ignore"):  # an index beyond 2^63 becomes the least integer, and is refused below
            lines = libsvm_lines.parse(text) if text else None
    except libsvm_lines.Malformed as error:
        raise _malformed(error, path) from error
    except ValueError as error:
        raise InputError("path", str(path), "a LIBSVM file", str(error)) from error
    if lines is None or not len(lines.values):
        raise InputError("path", str(path), "a file with records")
    least = int(lines.indices.min())
    if least < 1:
        shown = "beyond 2^63" if least == np.iinfo(np.int64).min else least
        where = f"in record {int(lines.rows[lines.indices.argmin()]) + 1}"
        raise InputError(f"index in {path.name}", f"{shown} {where}", "an integer from 1 to 2^63 - 1")
    columns, records = int(lines.indices.max()), len(lines.labels)
    check_memory(records, columns, path, f" in record {1 + int(lines.rows[int(lines.indices.argmax())])}")
    places = np.unique(lines.rows * columns + lines.indices)
    if len(places) < len(lines.indices):
        order = np.sort(lines.rows * columns + lines.indices)
        twice = int(order[np.flatnonzero(np.diff(order) == 0)[0]]) - 1
        raise InputError(f"index in {path.name}", twice % columns + 1, f"given once in record {twice // columns + 1}")
    features = libsvm.dense(lines, columns)
    names = tuple(str(1 + column) for column in range(features.shape[1]))
    for column in lines.indices[~np.isfinite(lines.values)][:1]:
        refuse_gap(features[:, column - 1], str(column), path)
    refuse_gap(lines.labels, "label", path)
    for name, values in (("features", features), ("label", lines.labels)):
        refuse_huge(values.reshape(len(values), -1), name, path)
    return _frozen(Records(features, lines.labels, names, "label"))


def _malformed(error: libsvm_lines.Malformed, path: Path) -> InputError:
    """The line for an entry that is none, with its record and its column."""
    shown = f"{shown_entry(error.shown)} in record {error.record}"
    if error.shown.startswith("qid:"):
        return InputError(f"entry of {path.name}", shown, "index:value; no loss uses the groups of a ranking")
    if error.place == "entry":
        return InputError(f"entry of {path.name}", shown, "index:value, with one colon and no space")
    if error.place == "index":
        return InputError(f"index in {path.name}", shown, "an integer >= 1")
    allowed = "a number, the label first in every line" if error.place == "label" else "a number"
    return InputError(f"column {error.place} of {path.name}", shown, allowed)


def _select(table: pa.Table, path: Path, label: str | int | None, drop: tuple[str, ...], ids: bool) -> Records:
    names = list(table.column_names)
    if table.num_rows < 1 or len(names) < 2:
        raise InputError("path", str(path), f"a table with records; it has {table.num_rows} of {len(names)} columns")
    position = _position(names, label, path)
    out = dropped(names, drop, position, path)
    kept = [i for i in range(len(names)) if i != position and i not in out]
    if not kept:
        raise InputError("drop", "+".join(drop), "some of the columns, so that features are left")
    check_columns(names, (*kept, position), path)
    check_memory(table.num_rows, len(kept), path)
    columns = [numbers_of(table.column(i), *in_words(names, i), path, ids) for i in kept]
    labels = _labels(table.column(position), *in_words(names, position), path)
    return _frozen(Records(np.column_stack(columns), labels, tuple(names[i] for i in kept), names[position]))


_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What else stands between fields, in words."""


def _position(names: list[str], label: str | int | None, path: Path) -> int:
    if isinstance(label, int) and not isinstance(label, bool):
        named, placed = str(label) in names, -len(names) <= label < len(names)
        if named and placed and names[label] != str(label):
            name, place = names.index(str(label)) + 1, label % len(names) + 1
            allowed = (
                f"one of the name of column {name} and the position of column {place}: label='\"{label}\"' is the name"
            )
            raise InputError("label", label, f"{allowed}, and label={place - 1 - len(names)} the position")
        if placed and not named:
            return label % len(names)
        label = str(label) if named else label
    if isinstance(label, str) and label in names:
        check_columns(names, [i for i, name in enumerate(names) if name == label], path)
        return names.index(label)
    shown = ", ".join(repr(name) if name != name.strip() else name for name in names[:12])
    shown += ", ..." if len(names) > 12 else ""
    allowed = f"one of the columns of {path.name}: {shown}; or a position from {-len(names)} to {len(names) - 1}"
    raise InputError("label", "missing" if label is None else label, allowed)


def _labels(column: pa.ChunkedArray, name: str, drop: str, path: Path) -> np.ndarray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if any(is_number(kind) for is_number in _NUMBERS):
        return numbers_of(column, name, drop, path, ids=True)
    values = column.to_pylist()
    if None in values:
        refuse(name, path, "no label", values.index(None), f"given in every record{_others(values)}")
    for record, value in enumerate(values):
        try:
            values[record] = value.decode() if isinstance(value, bytes) else value
        except UnicodeDecodeError:
            refuse(name, path, repr(value), record, "text, but its bytes are none")
        if not isinstance(values[record], str):
            refuse(name, path, str(value), record, f"a number or text, but it is of type {kind}")
    return np.array(values, dtype=np.str_)


def _others(values: list[Any]) -> str:
    """Labels that there are, in words; empty where they are many."""
    found = sorted({str(value) for value in values if value is not None})
    return f": the others are {' and '.join(map(repr, found))}" if 1 <= len(found) <= 2 else ""


def _frozen(records: Records) -> Records:
    """Records are shared by everything in the process that reads the file."""
    records.features.flags.writeable = False
    records.labels.flags.writeable = False
    return records
