"""A user's own table of records: CSV, TSV, Parquet or LIBSVM to numeric features and a label column."""

from __future__ import annotations

import csv
import io
import lzma
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from dpsco_bench.datasets import libsvm
from dpsco_bench.datasets.columns import (
    InRecord,
    check_columns,
    check_reading,
    check_square,
    dropped,
    labels_of,
    numbers_of,
    numeric_text,
    places_of,
    refuse_gap,
    refuse_huge,
    shown_entry,
    told_together,
)
from dpsco_bench.datasets.store import sha256_of_file
from dpsco_bench.errors import InputError

FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm"}
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}
_CONTENTS = {
    b"\x1f\x8b": ("gzip", "call it {}.gz"),
    b"BZh": ("bz2", "call it {}.bz2"),
    b"\x28\xb5\x2f\xfd": ("zstd", "call it {}.zst"),
    b"\xfd7zXZ": ("xz", "call it {}.xz"),
    b"PAR1": ("parquet", "give format=parquet"),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "unpack it, or save it as a CSV"),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet", "save it as a CSV"),
    b"\xff\xfe": ("UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("UTF-16", "save it as UTF-8"),
}
"""First bytes of a file, what they tell that it is, and what to do where its name tells otherwise."""
_MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8 at the beginning of a text."""
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
"""Other signs between fields, in words."""
LABEL = "y"
"""Name of the labels that are given as an array."""
_HEAD, _MOST_HEAD = 1 << 20, 1 << 28
"""Bytes of text by which a header is told; a line may be as long as a block of what is read at once."""
_LINES = 64
"""Lines of a block, as far as it holds them: each column of a block takes memory of its own."""


@dataclass(frozen=True)
class Records:
    """Finite numbers `features (n, k)` and `labels (n,)`, or text where the label column is no number."""

    features: np.ndarray
    labels: np.ndarray
    names: tuple[str, ...]
    label: str

    def __post_init__(self) -> None:  # they are shared by everything in the process that reads the file
        self.features.flags.writeable = self.labels.flags.writeable = False


def write_records(features: Any, labels: Any, folder: Path) -> Path:
    """Write arrays or data frames ``(n, k)`` and labels ``(n,)`` as a Parquet file, which is then read as any other."""
    found, values = np.asarray(features), np.asarray(labels)
    if found.ndim != 2 or values.shape not in ((len(found),), (len(found), 1)):
        raise InputError("shapes of X and y", f"{found.shape}, {values.shape}", "(n, d) and (n,), dense")
    names = [str(name) for name in getattr(features, "columns", (f"f{place}" for place in range(found.shape[1])))]
    columns = [_array(column.tolist()) for column in (*found.T, values.ravel())]
    path = folder / "X.parquet"
    pyarrow.parquet.write_table(pa.Table.from_arrays(columns, [*names, LABEL]), path)
    return path


def _array(values: list[Any]) -> pa.Array:
    with suppress(pa.ArrowException):
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values])


def find(path: Any, root: Path) -> Path:
    """Find a file by name: relative paths start at the working directory, or else at the data root."""
    if isinstance(path, str) and path:
        for found in (Path(path), root / path):
            if found.is_file():
                return found
    raise InputError("path", path, "an existing CSV, TSV, Parquet or LIBSVM file")


def read(path: Path, *columns: Any, **options: Any) -> Records:
    """Read a file as `_read` does; what was read last is kept for as long as the content is the same."""
    return _read(sha256_of_file(path), path, *columns, **options)


@lru_cache(maxsize=2)
def _read(
    digest: str,
    path: Path,
    label: str | int | None = None,
    header: bool | None = None,
    form: str | None = None,
    drop: tuple[str, ...] = (),
    ids: bool = False,
    square: bool = False,
) -> Records:
    """Read a file.

    Raises InputError, naming columns and records, for a content of another format than the name, an unknown label, two
    columns of one name, text, gaps or record numbers among the features, more columns than the memory holds, or damage.

    Parameters
    ----------
    label : str or int, optional
        Name of the label column, or where none has it the position (negative: from the end). LIBSVM has none.
    header : bool, optional
        Whether the first line of a CSV names the columns; by default it does where its fields do not fit the columns.
    form : str, optional, ``csv``, ``parquet`` or ``libsvm`` where the name ends as none of `FORMATS`
    drop : tuple of str, names or positions of columns that are left out; LIBSVM has none
    ids : bool, whether columns that look like record numbers are taken
    square : bool, whether matrices of columns x columns must fit into the memory too
    """
    _check_content(path, form)
    form = format_of(path, form)
    if drop and form == "libsvm":
        raise InputError("drop", "+".join(drop), "left out for LIBSVM, whose columns have no names")
    if header is not None and (form != "csv" or not isinstance(header, bool)):
        raise InputError("header", header, "true, false or null, and for a CSV only")
    spared = 1 + len(drop) if square else None
    try:
        if form == "libsvm":
            return _libsvm(path, label)
        table = _csv(path, header, label, spared) if form == "csv" else _parquet(path, spared)
    except (pa.ArrowException, csv.Error, lzma.LZMAError, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).split(". ")[0].splitlines() or [type(error).__name__]
        text = "it is not UTF-8: save it as UTF-8" if "utf" in reason[0].lower() else reason[0]
        raise InputError("path", str(path), f"a readable {form} file", text) from error
    return _select(table, path, label, drop, ids)


def _check_content(path: Path, form: str | None) -> None:
    """Refuse a file whose first bytes are of another format than its name."""
    found, advice = _content(path)
    ending = path.suffix.lower()
    expected = COMPRESSED.get(ending, "parquet" if "parquet" in (form, FORMATS.get(ending)) else "text")
    if found != expected:
        if ending and ending not in {*FORMATS, *COMPRESSED}:
            raise InputError("path", str(path), f"a table; it is {found}: {advice.format(path.name)}")
        cure = advice.format(path.name) or f"call it {path.stem}, or give format="
        raise InputError("path", str(path), f"{expected}, as its name says; its content is {found}: {cure}")


def _content(path: Path) -> tuple[str, str]:
    """Tell by its first bytes what a file is, and what to do about it."""
    with open(path, "rb") as stream:
        first = stream.read(8)
    return next((told for magic, told in _CONTENTS.items() if first.startswith(magic)), ("text", ""))


def format_of(path: Path, form: str | None = None) -> str:
    """Return the given format, or that of the name's ending. Raises InputError for another one."""
    if form is not None:
        if form not in FORMATS.values():
            raise InputError("format", form, "one of " + ", ".join(dict.fromkeys(FORMATS.values())))
        return form
    suffixes = [suffix for suffix in _suffixes(path) if suffix not in COMPRESSED] or [""]
    if suffixes[-1] not in FORMATS:
        raise InputError(
            "path",
            str(path),
            "a file ending in "
            + ", ".join(FORMATS)
            + ", or have format= given: csv, parquet or libsvm (with tabs: .tsv)",
        )
    return FORMATS[suffixes[-1]]


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes]


def _text(path: Path) -> Any:
    """Open the file's text as a stream of bytes, whatever case its ending is in."""
    if path.suffix.lower() == ".xz":
        return lzma.open(path)
    file = path.open("rb")  # opened here: pyarrow takes no name that the locale cannot write
    return pa.input_stream(file, compression=COMPRESSED.get(path.suffix.lower()))


def _parquet(path: Path, spared: int | None) -> pa.Table:
    with path.open("rb") as source:
        file = pyarrow.parquet.ParquetFile(source)
        _check_size(file.metadata.num_rows, file.metadata.num_columns, path, spared)
        return file.read(use_threads=False)


def _check_size(records: float, columns: int, path: Path, spared: int | None) -> None:
    """Refuse what is too large to be read or, all columns but some ``spared``, to be worked with as a matrix."""
    check_reading(records, columns, path)
    if spared is not None:
        check_square(columns - spared, path.name)


def _csv(path: Path, header: bool | None, label: str | int | None, spared: int | None) -> pa.Table:
    delimiter = "\t" if ".tsv" in _suffixes(path) else ","
    lines = _head(path)
    first = lines[0] if lines else ""
    fields = next(csv.reader([first], delimiter=delimiter), [])
    following = len(next(csv.reader(lines[1:2], delimiter=delimiter), fields))
    if len(fields) == 1 and (other := next((sign for sign in _OTHERS if sign in first.strip()), "")):
        allowed = f"a CSV with commas between the fields; this one has {_OTHERS[other]}"
        raise InputError("path", str(path), allowed + ", call it .tsv" * (other == "\t"))
    if following != len(fields):
        told = f"a header or a record: it has {len(fields)} fields, and the next line {following}"
        raise InputError(f"first line of {path.name}", shown_entry(first.strip()), told)
    each = sum(map(len, lines[1:])) / max(1, len(lines) - 1)
    _check_size((path.stat().st_size - len(first)) / each if each else 0.0, len(fields), path, spared)
    names = fields if header is None and _names_columns(lines, fields, delimiter, path) or header else None
    line = len(first.encode())
    block = max(_HEAD, 4 * line, min(_LINES * line, _MOST_HEAD))
    called = names or [f"f{number}" for number in range(len(fields))]
    texts = {called[place]: pa.string() for place in places_of(called, str(label))}  # labels may be codes such as 01
    with _text(path) as stream:
        table = _parsed(stream, delimiter, names is not None, block, texts)
    for i in (i for i, name in enumerate(table.column_names) if name in texts):
        table = table.set_column(i, table.column_names[i], numeric_text(table.column(i)))
    return table


def _parsed(source: Any, delimiter: str, header: bool, block: int, types: dict[str, pa.DataType]) -> pa.Table:
    return pyarrow.csv.read_csv(
        source,
        pyarrow.csv.ReadOptions(autogenerate_column_names=not header, block_size=block, use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=delimiter),
        pyarrow.csv.ConvertOptions(strings_can_be_null=True, column_types=types),
    )  # one thread alone knows the row of what it cannot read


def _head(path: Path) -> list[str]:
    """Return the first lines of a text, at least two where it has them."""
    lines, size = list[str](), 0
    with _text(path) as stream:
        for line in io.TextIOWrapper(stream, "utf-8-sig"):
            if line.strip():
                lines.append(line)
                size += len(line)
            if size >= _HEAD and len(lines) > 1:
                break
    return lines


def _names_columns(lines: Sequence[str], fields: Sequence[str], delimiter: str, path: Path) -> bool:
    """Tell whether the first line names the columns, by types with and without it; InputError where it half does."""
    whole, rest = (
        _parsed(pa.py_buffer("".join(part).encode()), delimiter, False, 1 << 30, {})
        for part in (lines, lines[1:] or lines)
    )
    typed = [i for i, kind in enumerate(rest.schema.types) if kind not in (pa.string(), pa.null())]
    names = [i for i in typed if whole[i].type == pa.string()]
    values = [i for i in typed if i not in names and whole[i][0].is_valid]
    if values and names:
        told = ", ".join(shown_entry(fields[i]) for i in values[:3])
        why = f"true or false: {told} in the first line fits its column, {shown_entry(fields[names[0]])} does not"
        raise InputError("header", "missing", f"given for {path.name}, {why}")
    repeated = len(lines) > 1 and any(fields[i] in rest[i].to_pylist() for i in range(len(fields)))
    return bool(names) or not (values or repeated)


def _libsvm(path: Path, label: str | int | None) -> Records:
    if label is not None:
        raise InputError("label", label, "left out for LIBSVM, where every line begins with its label")
    with _text(path) as stream:
        text = stream.read().removeprefix(_MARK)
    if b"#" in text:
        text = re.sub(rb"#[^\r\n]*", b"", text)
    text = b"\n".join(line for line in text.splitlines() if line.strip())
    with np.errstate(invalid="ignore"):  # an index beyond 2^63 becomes the least integer, and is refused below
        lines = libsvm.parse_lines(text, path) if text else None
    if lines is None or not len(lines.values):
        raise InputError("path", str(path), "a file with records")
    least = int(lines.indices.min())
    if least < 1:
        shown = "beyond 2^63" if least == np.iinfo(np.int64).min else least
        record = int(lines.rows[lines.indices.argmin()]) + 1
        raise InputError(f"index in {path.name}", InRecord(shown, record), "an integer from 1 to 2^63 - 1")
    columns, records = int(lines.indices.max()), len(lines.labels)
    check_reading(records, columns, path, InRecord(columns, 1 + int(lines.rows[int(lines.indices.argmax())])))
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
    return Records(features, lines.labels, names, "label")


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
    numbers, slips = list[np.ndarray](), list[InputError]()
    for i in kept:
        try:
            numbers.append(numbers_of(table.column(i), names, i, path, ids, partial(_written, table, path, i)))
        except InputError as slip:
            slips.append(slip)
    try:
        labels = labels_of(table.column(position), names, position, path, partial(_written, table, path, position))
    except InputError as slip:
        slips.append(slip)
    if slips:
        raise told_together(slips)
    return Records(np.column_stack(numbers), labels, tuple(names[i] for i in kept), names[position])


def _written(table: pa.Table, path: Path, place: int, record: int) -> str:
    """Return an entry of a CSV as it stands there; of other formats nothing."""
    if _content(path)[0] == "parquet":
        return ""
    found = deque[str](maxlen=table.num_rows - record)  # from the end: who knows of a header?
    with _text(path) as stream:
        delimiter = "\t" if ".tsv" in _suffixes(path) else ","
        found.extend(
            row[place] for row in csv.reader(io.TextIOWrapper(stream, "utf-8-sig"), delimiter=delimiter) if row
        )
    return found[0].strip()


def _position(names: Sequence[str], label: str | int | None, path: Path) -> int:
    places = [] if label is None or isinstance(label, bool) else places_of(names, str(label))
    if places:
        check_columns(names, places, path)
        return places[0]
    shown = ", ".join(map(shown_entry, names[:12])) + ", ..." * (len(names) > 12)
    allowed = f"one of the columns of {path.name}: {shown}; or a position from {-len(names)} to {len(names) - 1}"
    raise InputError("label", "missing" if label is None else label, allowed)
