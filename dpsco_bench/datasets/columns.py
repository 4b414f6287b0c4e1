"""Columns of a user's table as finite numbers; what cannot be one is refused in a line that names column and record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.errors import InputError

LARGEST = 1e100
"""Largest magnitude of a number."""
LONGEST = 30
"""Characters of an entry that a message shows."""
LEAST_IDS = 20
"""Fewer records do not tell record numbers from other integers."""
GIVEN = "given in every record, as a finite number"
BEYOND = "what is too large for a double, such as 1e400, is read as inf"
_ID_WORDS = frozenset(
    ("id", "ids", "uuid", "guid", "key", "index", "idx", "row", "record", "nr", "no", "num", "number", "code", "serial")
    + ("account", "acct", "client", "cust", "customer", "employee", "invoice", "member", "order", "patient", "user")
    + ("phone", "ssn")
)
_GLUED = re.compile(
    r"(account|acct|client|cust|customer|employee|item|member|order|patient|record|row|user)(id|key|nr|no)"
)
_COUNTED = frozenset({"age", "year"})
"""Quantities of which every value may occur once, from any start: those of a table of years or of ages."""
_PLAIN = re.compile(r"\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE)
"""A number as every reader of tables takes it."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def number_in(text: str) -> float | None:
    """The number that a field says; None for other text."""
    try:
        return float(text)
    except ValueError:
        return None


def shown_entry(value: Any) -> str:
    """An entry as a message shows it, on one line: an open quote makes one of the rest of a file."""
    text = str(value)
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return "".join(one if one.isprintable() else " " if one.isspace() else ascii(one)[1:-1] for one in short)


def is_plain(text: str) -> bool:
    """Whether a field is a number as every reader of tables takes it: Python's ``float`` also takes ``1_0``."""
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


def dropped(names: Sequence[str], parts: Sequence[str], label: int, path: Path) -> set[int]:
    """Positions of columns that are named, or given by position where no column has that name.

    Raises InputError for the label, and for what is no column or may be read in two ways.

    Parameters
    ----------
    parts : sequence of str
        What was joined by +, which may stand in a name too.
    label : int
        Position of the label.
    """
    found, known = set[int](), set(names)
    start, asked, most = 0, "+".join(parts), 1 + max(name.count("+") for name in names)
    while start < len(parts):
        ends = [
            end for end in range(start + 1, min(len(parts), start + most) + 1) if "+".join(parts[start:end]) in known
        ]
        if len(ends) > 1:
            raise InputError("drop", asked, f"columns of {path.name} in one reading: by position, from 0, there is one")
        if ends:
            name = "+".join(parts[start : ends[0]])
            found |= {i for i, other in enumerate(names) if other == name}
        else:
            found.add(_place(names, parts[start], path))
        start = ends[0] if ends else start + 1
        if label in found:
            raise InputError("drop", asked, f"columns of {path.name} other than its label")
    return found


def _place(names: Sequence[str], text: str, path: Path) -> int:
    """A position as it is written, negative ones from the end."""
    if re.fullmatch(r"-?\d{1,18}", text) and -len(names) <= int(text) < len(names):
        return int(text) % len(names)
    places = f"or positions from {-len(names)} to {len(names) - 1}"
    raise InputError("drop", text, f"columns of {path.name} other than its label, joined by +: names {places}")


def in_words(names: Sequence[str], place: int) -> tuple[str, str]:
    """What a column is called, and what drops it: its position where its name is empty, or not read as one."""
    name = names[place]
    return name or f"{place + 1} (without a name)", str(place) if not name or set("+,=") & set(name) else name


def numbers_of(column: pa.ChunkedArray, name: str, drop: str, path: Path, ids: bool) -> np.ndarray:
    """A column as finite float64, ``(n,)``. Raises InputError for text, gaps, infinities and (without ``ids``) ids.

    Parameters
    ----------
    name, drop : str
        As `in_words` gives them.
    """
    kind = column.type
    if pa.types.is_null(kind):
        refuse(name, path, "no number", 0, GIVEN)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        _refuse_text(column.to_pylist(), name, drop, path, kind)
    values = column.to_numpy().astype(np.float64)
    refuse_gap(values, name, path)
    refuse_huge(values[:, None], name, path)
    if not ids and looks_like_id(values, name):
        shown = ", ".join(f"{value:g}" for value in values[:3])
        allowed = f"no record numbers: left out with drop={drop}, or taken as it is with ids=true"
        raise InputError(f"column {name} of {path.name}", f"{shown}, ... from record 1 on", allowed)
    return values


def looks_like_id(values: np.ndarray, name: str) -> bool:
    """Whether numbers ``(n,)`` are distinct integers that are called an id, or that leave none between them out.

    A name is judged by its last word, ``CustomerID`` as ``customer_id``: an ``account_balance`` is none. Years and ages
    may begin at any number but 0 and 1 and leave none out.
    """
    if len(values) < LEAST_IDS or not np.array_equal(values, np.trunc(values)) or len(np.unique(values)) < len(values):
        return False
    last = ([word.lower() for word in _WORD.findall(name)] or [""])[-1]
    if last in _ID_WORDS or _GLUED.fullmatch(last):
        return True
    start, consecutive = values.min(), values.max() - values.min() == len(values) - 1
    return bool(consecutive and (start in (0.0, 1.0) or last not in _COUNTED))


def _refuse_text(values: Sequence[Any], name: str, drop: str, path: Path, kind: Any) -> None:
    numbers = [v is None or number_in(str(v)) is not None for v in values]
    odd = numbers if False in numbers else [v is None or is_plain(str(v)) for v in values]
    record = odd.index(False) if False in odd else None  # Python reads 1_000 and digits of all scripts
    shown = "a number as text" if record is None else str(values[record])
    if sum(odd) > len(values) / 2 and record is not None:
        advice = f"nearly all others are numbers: mend it, or drop={drop}"
    elif number_in(shown.replace(",", ".")) is not None:
        advice = f"a decimal comma is a point here: mend it, or drop={drop}"
    elif len(set(map(str, values))) == len(values) >= LEAST_IDS:
        advice = f"an id has no meaning for a model: drop={drop}"
    else:
        advice = f"encode it as numbers, or drop={drop}"
    refuse(name, path, shown, record or 0, f"a number in every record, but it is of type {kind}: {advice}")


def refuse_gap(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse NaN and infinities among numbers ``(n,)``."""
    bad = ~np.isfinite(values)
    if bad.any():
        record = int(np.argmax(bad))
        if np.isnan(values[record]):
            refuse(name, path, "no number", record, GIVEN)
        refuse(name, path, f"{values[record]:g}", record, f"{GIVEN} ({BEYOND})")


def refuse_huge(values: np.ndarray, name: str, path: Path) -> None:
    """Refuse numbers whose squares overflow, ``values (records, columns)``."""
    worst = np.abs(values).max(axis=1)
    if (worst > LARGEST).any():
        record = int(np.argmax(worst > LARGEST))
        refuse(name, path, f"{worst[record]:g}", record, f"at most {LARGEST:g} in magnitude")


def refuse(name: str, path: Path, shown: str, record: int, allowed: str) -> None:
    """Raise the InputError of an entry."""
    raise InputError(f"column {name} of {path.name}", f"{shown_entry(shown)} in record {record + 1}", allowed)
