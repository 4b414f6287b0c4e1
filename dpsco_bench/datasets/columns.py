"""Columns of a user's table as finite numbers, as far as they fit into the memory.

What cannot be one is refused in a line that names column and record; a table that does not fit is refused before it is
read, in a line that says how many columns would.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsco_bench.errors import InputError, InputErrors

COPIES = 3
"""Dense tables that are in memory at once while a file is read and run."""
COLUMN_BYTES = 10_000.0
"""Bytes of a column beside its numbers while a file is read."""
CHUNK_BYTES = 8.0
"""The same of a number: a file is read in blocks of some records, and each column of a block is an array."""
SQUARES = 8
"""Matrices of columns x columns that are in memory at once while a minimum is found."""
MEMINFO = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Limit and use of a control group, of either version."""
Written = Callable[[int], str]
"""Text of a record's entry in a file, empty where none is written."""
LARGEST = 1e100
"""Largest magnitude of a number."""
LONGEST, MOST = 30, 12
"""Characters of an entry, and columns, that a message shows."""
LEAST_IDS = 20
"""Fewer records do not tell record numbers from other integers."""
GIVEN = "a number in every record"
BEYOND = "what is too large for a double, such as 1e400, is read as inf"
_ID_WORDS = frozenset(
    ("id", "ids", "uuid", "guid", "key", "index", "idx", "row", "record", "nr", "no", "num", "number", "code", "serial")
    + ("account", "acct", "client", "cust", "customer", "employee", "invoice", "member", "order", "patient", "user")
    + ("phone", "ssn")
)
_GLUED = re.compile(
    r"(account|acct|client|cust|customer|employee|item|member|order|patient|record|row|user)(id|key|nr|no)"
)
_INDEX = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__|level_\d+|row[._]?names?|\.\.\.1", re.IGNORECASE)
"""A name that pandas or R gives to the numbers of records."""
_COUNTED = frozenset({"age", "year"})
"""Quantities of which every value may occur once, from any start: those of a table of years or of ages."""
_PLAIN = re.compile(r"\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE)
"""A number as every reader of tables takes it."""
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
"""Cures of entries that nearly are numbers."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def available_memory() -> float:
    """Bytes that a process may take, by its control group or the machine; infinite where neither says."""
    found = [float("inf"), *_of_groups()]
    with suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()
        found.append(1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")))
    return min(found)


def _of_groups() -> Iterator[float]:
    """Compute the memory that the limits of this process's groups, and of groups around them, leave."""
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
    """Limit less use, but for files that are kept as long as nobody needs the memory."""
    for limit, used in _FILES:
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            said = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            cached = int(said.get("total_inactive_file", said.get("inactive_file", 0)))
            yield max(float(most - now + cached), 0.0)


def gigabytes(size: float) -> str:
    """Bytes for people."""
    return f"{size / 1e9:.3g} GB"


def check_reading(records: float, columns: int, path: Path, shown: str = "") -> None:
    """Refuse a table before it is read if about ``records`` of all columns need too much; say how many columns fit."""
    free, about = available_memory(), max(1, round(records))
    each = COLUMN_BYTES + (8.0 * COPIES + CHUNK_BYTES) * about
    if columns * each > free:
        allowed = (
            f"at most {int(free / each)} with about {about} records: reading takes about "
            f"{gigabytes(columns * each)}, and {gigabytes(free)} of memory are free"
        )
        raise InputError(f"columns of {path.name}", shown or columns, allowed)


def check_square(columns: int, file: str) -> None:
    """Refuse columns of which no matrix of columns x columns fits. Raises InputError naming how many would."""
    free = available_memory()
    if 8.0 * SQUARES * columns**2 > free:
        most = int((free / (8.0 * SQUARES)) ** 0.5)
        allowed = (
            f"at most {most}: the minimum needs {SQUARES} matrices of columns x columns, "
            f"{gigabytes(8.0 * SQUARES * columns**2)}, and {gigabytes(free)} of memory are free"
        )
        raise InputError(f"columns of {file}", columns, allowed)


def shown_entry(value: Any) -> str:
    """Show an entry as a message does, on one line, in quotes where blanks would not be seen."""
    plain = _printable(str(value))
    return f"'{plain}'" if plain != plain.strip() or not plain else plain


def _printable(text: str) -> str:
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return "".join(one if one.isprintable() else " " if one in "\r\n\t" else ascii(one)[1:-1] for one in short)


class InRecord(str):
    """An entry and its record, counted from 1, which a message shows as they are."""

    def __new__(cls, value: Any, record: int) -> InRecord:
        return super().__new__(cls, f"'{_printable(str(value))}' (record {record})")

    __repr__ = str.__str__


def is_plain(text: str) -> bool:
    """Tell whether a field is a number as every reader of tables takes it: Python's ``float`` also takes ``1_0``."""
    return _PLAIN.fullmatch(text) is not None


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


def numbers_of(
    column: pa.ChunkedArray, names: Sequence[str], place: int, path: Path, ids: bool, written: Written
) -> np.ndarray:
    """Take a column as finite float64 ``(n,)``, no record numbers unless ``ids``. InputError says how to drop it."""
    name = names[place]
    drop = f"drop={place if not name or set('+,=') & set(name) else name}"
    try:
        values = _finite(column, _called(names, place), path, written)
    except InputError as slip:
        cure = "" if pa.types.is_nested(column.type) else f", or {drop}"
        raise InputError(slip.key, slip.value, slip.allowed + cure) from None
    if not ids and looks_like_id(column, values, name):
        first = ", ".join(f"{value:g}" for value in values[:3])
        allowed = f"no record numbers: left out with {drop}, or taken as it is with ids=true"
        raise InputError(f"column {_called(names, place)} of {path.name}", f"{first}, ... from record 1 on", allowed)
    return values


def labels_of(column: pa.ChunkedArray, names: Sequence[str], place: int, path: Path, written: Written) -> np.ndarray:
    """Take a column as labels ``(n,)``: finite float64, or text where it is no number or doubles would merge some."""
    name = _called(names, place)
    if column.null_count:
        gap = column.is_null().index(True).as_py()
        found = sorted({str(value) for value in column.to_pylist() if value is not None})
        others = f": the others are {' and '.join(map(repr, found))}" if 1 <= len(found) <= 2 else ""
        refuse(name, path, written(gap), gap, f"given in every record{others}")
    doubles = column.cast(pa.float64(), safe=False) if _is_number(column.type) else None
    if doubles is not None and pc.count_distinct(doubles).as_py() == pc.count_distinct(column).as_py():
        return _finite(column, name, path, written)
    try:
        return np.array(column.cast(pa.string()).to_pylist(), dtype=np.str_)
    except pa.ArrowException:
        refuse(name, path, str(column[0].as_py()), 0, f"a number or text, but it is of type {column.type}")
        raise


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


def _finite(column: pa.ChunkedArray, name: str, path: Path, written: Written) -> np.ndarray:
    if column.null_count and (_is_number(column.type) or pa.types.is_null(column.type)):
        gap = column.is_null().index(True).as_py()
        refuse(name, path, written(gap), gap, GIVEN)
    if not _is_number(column.type):
        _refuse_text(column.to_pylist(), name, path, column.type)
    values = column.cast(pa.float64(), safe=False).to_numpy()
    refuse_gap(values, name, path)
    refuse_huge(values[:, None], name, path)
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
    if not name or last in _ID_WORDS or _GLUED.fullmatch(last):
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


def refuse_gap(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse NaN and infinities among numbers ``(n,)``."""
    bad = ~np.isfinite(values)
    if bad.any():
        record = int(np.argmax(bad))
        if np.isnan(values[record]):
            refuse(name, path, "", record, GIVEN)
        refuse(name, path, f"{values[record]:g}", record, f"a finite number in every record ({BEYOND})")


def refuse_huge(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse numbers whose squares overflow, ``values (records, columns)``."""
    worst = np.abs(values).max(axis=1)
    if (worst > LARGEST).any():
        record = int(np.argmax(worst > LARGEST))
        refuse(name, path, f"{worst[record]:g}", record, f"at most {LARGEST:g} in magnitude")


def refuse(name: str, path: Path, shown: str, record: int, allowed: str) -> None:
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
