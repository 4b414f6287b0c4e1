"""A user's own table of records: CSV, TSV, Parquet or LIBSVM to numeric features and a label column.

What cannot be a finite number is refused in a line that names column and record; a table that does not fit into the
memory is refused before it is read, in a line that says how many columns would.
"""

from __future__ import annotations

import csv
import io
import lzma
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from dpsco_bench.datasets.store import sha256_of_file
from dpsco_bench.datasets.texts import (
    SHEET,
    InRecord,
    content_of,
    is_plain,
    open_text,
    parse_libsvm,
    shown_entry,
    text_of,
)
from dpsco_bench.errors import InputError, InputErrors

COPIES = 3
"""Copies of a dense table in memory while a file is read and run."""
COLUMN_BYTES = 10_000.0
"""Bytes that a column takes besides its numbers while a file is read."""
CHUNK_BYTES = 8.0
"""Bytes that a number takes besides: a file is read in blocks of records, and each column of a block is an array."""
SQUARES = 8
"""Matrices of columns x columns in memory while a minimum is computed."""
MEMINFO = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Files with the limit and the use of a control group, version 2 and version 1."""
LARGEST = 1e100
"""Largest magnitude of a number."""
MOST = 12
"""Columns that a message shows."""
LEAST_IDS = 20
"""Fewer records do not tell record numbers from other integers."""
GIVEN = "a number in every record (an empty entry, NA and nan are none)"
BEYOND = "what is too large for a double, such as 1e400, is read as inf"
_ID_WORD = re.compile(
    "(?=.)(account|acct|client|cust|customer|employee|invoice|member|order|patient|record|row|user)?(id|key|nr|no)?"
    "|item(id|key|nr|no)|ids|uuid|guid|index|idx|num|number|code|serial|phone|ssn"
)
_INDEX = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__|level_\d+|row[._]?names?|\.\.\.1", re.IGNORECASE)
"""A name that pandas or R gives to the numbers of records."""
_COUNTED = frozenset({"age", "year"})
"""Quantities whose values may each occur once, from any start: a table may have a row for every year or age."""
_CODE = r"^\s*[-+]?(0\d|\d{16,}\s*$)"
"""A label that another one would become equal to as a double: 01 is not 1."""
_HINTS = {
    r"[-+]?[\d.,]+\s*%": "a percent sign: write 12% as 0.12",
    r"[^\d\s]?\d{1,3}([,'_ \u00a0\u2009\u202f]\d{3})+(\.\d+)?": "signs between thousands: write 645,100 as 645100",
    r".*[\u00a0\u2007\u2009\u202f].*": "a no-break space: take it out",
    r"[-+.\d\s]*[;|\t][-+.,;|\d\s]*": "no comma between two fields: write commas",
    r"[-+]?[\d.]*,\d+": "a decimal comma: write a point",
    r"\d{1,4}[-/:.]\d\d?([-/:.]\d+)*([ T].*)?": "a time: write how many days or hours after a public one it is",
    r"[-+]?\d[\d.]*\s*([^\W\d]\S*|[^\w\s])|[^\w\s.+-]\s*\d[\d.,]*": "a unit: write the number alone",
}
"""Advice for entries that are nearly numbers."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm"}
COMPRESSED = (".gz", ".bz2", ".zst", ".xz")
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
"""Other signs between fields, in words."""
LABEL = "y"
"""Name of the labels that are given as an array."""
_HEAD, _MOST_HEAD = 1 << 20, 1 << 28
"""Bytes of text in which a header is looked for, and bytes up to which a block holds `_LINES` lines."""
_LINES = 64
"""Lines of a block, as far as it holds them: each column of a block takes memory of its own."""


def available_memory() -> float:
    """Bytes that a process may take, by its control group or the machine; infinite where neither says."""
    found = [float("inf"), *_of_groups()]
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()
        found.append(1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    return min(found)


def _of_groups() -> Iterator[float]:
    """Yield the memory that is left by the limits of this process's control groups and of their parents."""
    with suppress(OSError):
        for line in GROUPS.read_text().splitlines():
            _, names, path = line.split(":", 2)
            if names and "memory" not in names.split(","):
                continue
            root = MOUNT / "memory" if names else MOUNT
            inner = root / path.lstrip("/")
            for folder in [inner, *inner.parents]:
                if folder.is_relative_to(root):
                    yield from _of_group(folder)


def _of_group(folder: Path) -> Iterator[float]:
    """Yield the limit less the use, without cached files, which go when the memory is needed."""
    for limit, used in _FILES:
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            said = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            cached = int(said.get("total_inactive_file", said.get("inactive_file", 0)))
            yield max(float(most - now + cached), 0.0)


def check_reading(records: float, columns: int, path: Path, shown: str = "") -> None:
    """Refuse a table before it is read if about ``records`` of all columns need too much; say how many columns fit."""
    free, about = available_memory(), max(1, round(records))
    each = COLUMN_BYTES + (8.0 * COPIES + CHUNK_BYTES) * about
    if columns * each > free:
        allowed = (
            f"at most {int(free / each)} with about {about} records: reading takes about "
            f"{columns * each / 1e9:.3g} GB, and {free / 1e9:.3g} GB of memory are free"
        )
        raise InputError(f"columns of {path.name}", shown or columns, allowed)


def check_square(columns: int, file: str) -> None:
    """Refuse columns of which no matrix of columns x columns fits. Raises InputError naming how many would."""
    free = available_memory()
    if 8.0 * SQUARES * columns**2 > free:
        most = int((free / (8.0 * SQUARES)) ** 0.5)
        allowed = (
            f"at most {most}: the minimum needs {SQUARES} matrices of columns x columns, "
            f"{8.0 * SQUARES * columns**2 / 1e9:.3g} GB, and {free / 1e9:.3g} GB of memory are free"
        )
        raise InputError(f"columns of {file}", columns, allowed)


def check_columns(names: Sequence[str], used: Sequence[int], path: Path) -> None:
    """Refuse two columns of one name. Raises InputError with their positions."""
    times = Counter(names[i] for i in used)
    for i in used:
        if times[names[i]] > 1:
            same = [j for j in used if names[j] == names[i]]
            places = " and ".join(str(j + 1) for j in sorted(same)[:2])
            allowed = f"one column: two of one name are one too many; drop={max(same)} leaves one out"
            raise InputError(f"column {names[i]} of {path.name}", f"columns {places}", allowed)


def places_of(names: Sequence[str], text: str) -> list[int]:
    """Find the columns of a name, or the one at a position where no column has that name."""
    places = [i for i, name in enumerate(names) if name == text]
    if not places and re.fullmatch(r"-?\d{1,9}", text) and -len(names) <= int(text) < len(names):
        places = [int(text) % len(names)]
    return places


def dropped(names: Sequence[str], parts: Sequence[str], label: int, path: Path) -> set[int]:
    """Find columns by name or position. Raises InputError for the label or none."""
    found = set[int]()
    for part in parts:
        places = places_of(names, part)
        if not places or label in places:
            allowed = f"columns of {path.name} other than its label, joined by +: names or positions from "
            raise InputError("drop", part, f"{allowed}{-len(names)} to {len(names) - 1}")
        found.update(places)
    return found


def numbers_of(column: pa.ChunkedArray, names: Sequence[str], place: int, path: Path, ids: bool) -> np.ndarray:
    """Take a column as finite float64 ``(n,)``, no record numbers unless ``ids``. InputError says how to drop it."""
    name = names[place]
    drop = f"drop={place if not name or set('+,=') & set(name) else name}"
    try:
        values = _finite(column, _called(names, place), path)
    except InputError as slip:
        cure = "" if pa.types.is_nested(column.type) else f", or {drop}"
        raise InputError(slip.key, slip.value, slip.allowed + cure) from None
    if not ids and looks_like_id(column, values, name):
        first = ", ".join(f"{value:g}" for value in values[:3])
        allowed = f"no record numbers: left out with {drop}, or taken as it is with ids=true"
        raise InputError(f"column {_called(names, place)} of {path.name}", f"{first}, ... from record 1 on", allowed)
    return values


def labels_of(column: pa.ChunkedArray, names: Sequence[str], place: int, path: Path) -> np.ndarray:
    """Take a column as labels ``(n,)``: finite float64, or text where it is no number or doubles would merge some."""
    name = _called(names, place)
    if column.null_count:
        gap = column.is_null().index(True).as_py()
        found = sorted({str(value) for value in column.to_pylist() if value is not None})
        others = f": the others are {' and '.join(map(repr, found))}" if 1 <= len(found) <= 2 else ""
        refuse(name, path, "", gap, f"given in every record{others}")
    doubles = column.cast(pa.float64(), safe=False) if _is_number(column.type) else None
    if doubles is not None and pc.count_distinct(doubles).as_py() == pc.count_distinct(column).as_py():
        return _finite(column, name, path)
    try:
        return np.array(column.cast(pa.string()).to_pylist(), dtype=np.str_)
    except pa.ArrowException:
        refuse(name, path, str(column[0].as_py()), 0, f"a number or text, but it is of type {column.type}")


def numeric_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast labels that were read as text to the numbers or truths that they say; codes such as 01 stay text."""
    if not pc.any(pc.match_substring_regex(column, _CODE)).as_py():
        for kind in (pa.float64(), pa.bool_()):
            with suppress(pa.ArrowInvalid):
                return pc.utf8_trim_whitespace(column).cast(kind)
    return column


def _called(names: Sequence[str], place: int) -> str:
    return names[place] or f"{place + 1} (without a name)"


def _is_number(kind: pa.DataType) -> bool:
    is_a = pa.types
    return is_a.is_integer(kind) or is_a.is_floating(kind) or is_a.is_boolean(kind) or is_a.is_decimal(kind)


def _finite(column: pa.ChunkedArray, name: str, path: Path) -> np.ndarray:
    if column.null_count and (_is_number(column.type) or pa.types.is_null(column.type)):
        refuse(name, path, "", column.is_null().index(True).as_py(), GIVEN)
    if not _is_number(column.type):
        _refuse_text(column.to_pylist(), name, path, column.type)
    values = column.cast(pa.float64(), safe=False).to_numpy()
    refuse_odd(values, name, path)
    return values


def looks_like_id(column: pa.ChunkedArray, values: np.ndarray, name: str) -> bool:
    """Tell whether a column has distinct integers that are called an id, or that leave none between them out.

    A name is judged by its last word, ``CustomerID`` as ``customer_id``: an ``account_balance`` is none. Years and ages
    may begin at any number but 0 and 1 and leave none out. The names that pandas and R write tell enough.
    """
    if not np.array_equal(values, np.trunc(values)):
        return False
    if _INDEX.fullmatch(name):
        return True
    if len(values) < LEAST_IDS or pc.count_distinct(column).as_py() < len(values):
        return False
    last = ([word.lower() for word in _WORD.findall(name)] or [""])[-1]
    if not name or _ID_WORD.fullmatch(last):
        return True
    start, consecutive = values.min(), values.max() - values.min() == len(values) - 1
    return bool(consecutive and (start in (0.0, 1.0) or last not in _COUNTED))


def _refuse_text(values: Sequence[Any], name: str, path: Path, kind: Any) -> None:
    odd = [value is not None and not is_plain(str(value)) for value in values]
    record = odd.index(True) if True in odd else 0
    shown = str(values[record])
    hint = next((cure for form, cure in _HINTS.items() if re.fullmatch(form, shown.strip(" "))), "")
    if pa.types.is_nested(kind):
        hint = f"a list of {len(values[record])}: give each of its numbers a column"
    elif True not in odd:
        hint = f"it is text, of type {kind}"
    elif not hint and sum(odd) < len(values) / 2:
        hint = "nearly all others are numbers: mend it"
    elif not hint and len(set(map(str, values))) == len(values) >= LEAST_IDS:
        hint = "an id has no meaning for a model"
    refuse(name, path, shown, record, f"a number in every record ({hint or 'encode it as numbers'})")


def refuse_odd(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse NaN, infinities, and numbers whose squares overflow, among numbers ``(n,)``."""
    odd = ~(np.abs(values) <= LARGEST)
    if odd.any():
        record = int(np.argmax(odd))
        value = float(values[record])
        if math.isnan(value):
            refuse(name, path, "", record, GIVEN)
        infinite = f"a finite number in every record ({BEYOND})"
        allowed = infinite if math.isinf(value) else f"at most {LARGEST:g} in magnitude"
        refuse(name, path, f"{value:g}", record, allowed)


def refuse(name: str, path: Path, shown: str, record: int, allowed: str) -> NoReturn:
    """Raise the InputError of an entry, which is missing where nothing is shown."""
    if not shown:
        raise InputError(f"record {record + 1} of column {name} of {path.name}", "missing", allowed)
    raise InputError(f"column {name} of {path.name}", InRecord(shown, record + 1), allowed)


def told_together(slips: Sequence[InputError]) -> InputError:
    """Make one error of those of some columns, a line each."""
    if len(slips) > MOST:
        last = slips[MOST - 1]
        more = f"{last.allowed}; and so on, {len(slips) - MOST} more columns"
        slips = [*slips[: MOST - 1], InputError(last.key, last.value, more)]
    return InputErrors(slips, "\n  ") if len(slips) > 1 else slips[0]


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
) -> Records:
    """Read a file.

    Raises InputError, naming columns and records, for an unknown label, two columns of one name, text, gaps or record
    numbers among the features, more columns than the memory holds, or damage.

    Parameters
    ----------
    label : str or int, optional
        Name of the label column, or where none has it the position (negative: from the end). LIBSVM has none.
    header : bool, optional
        Whether the first line of a CSV names the columns; by default it does where its fields do not fit the columns.
    form : str, optional, ``csv``, ``parquet`` or ``libsvm`` where the name ends as none of `FORMATS`
    drop : tuple of str, names or positions of columns that are left out; LIBSVM has none
    ids : bool, whether columns that look like record numbers are taken
    """
    content = content_of(path)
    if content == SHEET:
        raise InputError("path", str(path), f"a table; it is {SHEET}: unpack it, or save it as a CSV")
    form = "parquet" if content == "parquet" else format_of(path, form)
    if form == "parquet" and content != "parquet":
        allowed = f"a parquet file; its content is {content}: call it .csv, or give format=csv"
        raise InputError("path", str(path), allowed)
    if drop and form == "libsvm":
        raise InputError("drop", "+".join(drop), "left out for LIBSVM, whose columns have no names")
    if header is not None and (form != "csv" or not isinstance(header, bool)):
        raise InputError("header", header, "true, false or null, and for a CSV only")
    try:
        if form == "libsvm":
            return _libsvm(path, label)
        table = _csv(path, header, label, len(drop)) if form == "csv" else _parquet(path, len(drop))
    except (pa.ArrowException, csv.Error, lzma.LZMAError, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).split(". ")[0].splitlines() or [type(error).__name__]
        text = "it is not UTF-8: save it as UTF-8" if "utf" in reason[0].lower() else reason[0]
        raise InputError("path", str(path), f"a readable {form} file", text) from error
    return _select(table, path, label, drop, ids)


def format_of(path: Path, form: str | None) -> str:
    """Return the given format, or that of the name's ending. Raises InputError for another one."""
    if form is not None:
        if form not in FORMATS.values():
            raise InputError("format", form, "one of " + ", ".join(dict.fromkeys(FORMATS.values())))
        return form
    suffixes = [suffix for suffix in Path(path.name.lower()).suffixes if suffix not in COMPRESSED] or [""]
    if suffixes[-1] not in FORMATS:
        given = "or have format= given: csv, parquet or libsvm (with tabs: .tsv)"
        raise InputError("path", str(path), f"a file ending in {', '.join(FORMATS)}, {given}")
    return FORMATS[suffixes[-1]]


def _parquet(path: Path, dropped: int) -> pa.Table:
    with path.open("rb") as source:
        file = pyarrow.parquet.ParquetFile(source)
        check_reading(file.metadata.num_rows, file.metadata.num_columns, path)
        check_square(file.metadata.num_columns - 1 - dropped, path.name)
        return file.read(use_threads=False)


def _csv(path: Path, header: bool | None, label: str | int | None, dropped: int) -> pa.Table:
    delimiter = "\t" if ".tsv" in Path(path.name.lower()).suffixes else ","
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
    check_reading((path.stat().st_size - len(first)) / each if each else 0.0, len(fields), path)
    check_square(len(fields) - 1 - dropped, path.name)
    names = fields if header is None and _names_columns(lines, fields, delimiter, path) or header else None
    line = len(first.encode())
    block = max(_HEAD, 4 * line, min(_LINES * line, _MOST_HEAD))
    called = names or [f"f{number}" for number in range(len(fields))]
    texts = {called[place]: pa.string() for place in places_of(called, str(label))}  # labels may be codes such as 01
    with open_text(path) as stream:
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
    with open_text(path) as stream:
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
    lines = parse_libsvm(text_of(path), path.name)
    if not len(lines.values):
        raise InputError("path", str(path), "a file with records")
    columns, records = int(lines.columns.max()) + 1, len(lines.labels)
    check_reading(records, columns, path, InRecord(columns, 1 + int(lines.rows[lines.columns.argmax()])))
    places = np.sort(lines.rows * columns + lines.columns)
    for twice in places[1:][np.diff(places) == 0][:1].tolist():
        allowed = f"given once in record {twice // columns + 1}"
        raise InputError(f"index in {path.name}", twice % columns + 1, allowed)
    features = lines.dense(columns)
    names = tuple(str(1 + column) for column in range(columns))
    for column in lines.columns[~(np.abs(lines.values) <= LARGEST)][:1]:
        refuse_odd(features[:, column], names[column], path)
    refuse_odd(lines.labels, "label", path)
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
            numbers.append(numbers_of(table.column(i), names, i, path, ids))
        except InputError as slip:
            slips.append(slip)
    try:
        labels = labels_of(table.column(position), names, position, path)
    except InputError as slip:
        slips.append(slip)
    if slips:
        raise told_together(slips)
    return Records(np.column_stack(numbers), labels, tuple(names[i] for i in kept), names[position])


def _position(names: Sequence[str], label: str | int | None, path: Path) -> int:
    places = [] if label is None or isinstance(label, bool) else places_of(names, str(label))
    if places:
        check_columns(names, places, path)
        return places[0]
    shown = ", ".join(map(shown_entry, names[:12])) + ", ..." * (len(names) > 12)
    allowed = f"one of the columns of {path.name}: {shown}; or a position from {-len(names)} to {len(names) - 1}"
    raise InputError("label", "missing" if label is None else label, allowed)
