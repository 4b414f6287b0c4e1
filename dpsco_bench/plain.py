"""Records: dataclasses that are written as JSON objects and read again, by their declared fields alone."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from dpsco_bench.errors import InputError

Plain = Mapping[str, Any]
"""A JSON object at the edge: before a record is made of it, or as one is written."""
Options = Mapping[str, Any]
"""Values of options by name; which there are, a signature says: that of an algorithm's plan, or of a problem."""
Schedule = Mapping[str, Any]
"""A theorem's named quantities: numbers, text, and lists and mappings of these; its plan function names them."""

SHOWN_ROWS = 20
"""Rows that a notebook shows."""
UNWRITTEN, IF_GIVEN = {"written": "never"}, {"written": "unless it is the default"}
"""Metadata of fields that JSON does not have, or has only where they say something."""
Decode = Callable[[Any], Any]


class Record:
    """Base of dataclasses that travel as JSON.

    Lists of JSON become the tuples that fields declare, objects become records, and null is NaN where a number is due.
    A record with another form overrides `to_json` and `from_json`, and whatever holds it follows.
    """

    def to_json(self) -> Plain:
        """Return its fields by name, in their order; `jsonio.to_jsonable` converts what they hold."""
        found = {name: getattr(self, name) for name in _form(type(self)).names}
        for name, usual in _form(type(self)).usual:
            if found[name] == usual:
                del found[name]
        return found

    @classmethod
    def from_json(cls, entry: Plain) -> Self:
        """Build the record from decoded JSON, infinities restored. Raises InputError for missing or unknown keys."""
        made: Self = _form(cls).made(entry)
        return made


class Tabled(ABC):
    """Base of results with a table of rows: a data frame where pandas is, and HTML in a notebook."""

    @property
    @abstractmethod
    def table(self) -> Any:
        """Its rows, a pyarrow.Table."""

    def to_pandas(self) -> Any:
        """Make a data frame of `table`; pandas has to be installed."""
        return self.table.to_pandas()

    def _repr_html_(self) -> str:
        """Show the first rows below what `repr` says."""
        rows = self.table.slice(0, SHOWN_ROWS).to_pylist()
        cells = [[_shown(value) for value in row.values()] for row in rows]
        lines = [
            f"<tr><{tag}>{f'</{tag}><{tag}>'.join(map(escape, line))}</{tag}></tr>"
            for tag, line in (("th", self.table.column_names), *(("td", line) for line in cells))
        ]
        more = self.table.num_rows - len(rows)
        foot = f"<p>and {more} more rows</p>" if more else ""
        return f"<p>{escape(repr(self))}</p><table>{''.join(lines)}</table>{foot}"


def _shown(value: Any) -> str:
    """Shorten a number, and a list to its first entries."""
    if isinstance(value, list):
        return ", ".join(map(_shown, value[:3])) + ", ..." * (len(value) > 3)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def unboxed(values: Options) -> dict[str, Any]:
    """Turn NumPy's scalars into Python's numbers."""
    return {key: value.item() if getattr(value, "shape", None) == () else value for key, value in values.items()}


class _Form:
    """Readers and writers of a dataclass's fields.

    JSON has all ``names`` but for ``usual`` ones, which are left out where they are the default; ``due`` ones must be
    there when it is read. What ``decoders`` do not read is taken as it is.
    """

    def __init__(self, cls: Any) -> None:
        own = [f for f in fields(cls) if f.metadata.get("written") != UNWRITTEN["written"]]
        default = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in own}
        hints = get_type_hints(cls)
        self.cls, self.names = cls, dict.fromkeys(f.name for f in own)
        self.due = frozenset(name for name, value in default.items() if value is MISSING)
        self.usual = [(f.name, default[f.name]) for f in own if f.metadata.get("written") == IF_GIVEN["written"]]
        self.decoders = {name: decode for name in self.names if (decode := _decoder(hints[name]))}

    def fits(self, entry: Plain) -> bool:
        """Tell whether no key is missing or unknown."""
        return self.due <= entry.keys() <= self.names.keys()

    def made(self, entry: Plain) -> Any:
        if not self.fits(entry):
            wrong = sorted((entry.keys() - self.names.keys()) | (self.due - entry.keys()))
            raise InputError(f"keys of {self.cls.__name__}", wrong, "exactly " + ", ".join(self.names))
        read = {name: decode(entry[name]) for name, decode in self.decoders.items() if name in entry}
        return self.cls(**{**entry, **read})


_form: Callable[[Any], _Form] = cache(_Form)


@cache
def _decoder(hint: Any) -> Decode | None:
    """Build the reader of a declared type's JSON values; None if they are taken as they are."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _of_union([option for option in inner if option is not NoneType])
    if hint is float:
        return lambda value: math.nan if value is None else value
    if hint is Path:
        return Path
    if isinstance(hint, type) and is_dataclass(hint):
        return hint.from_json if issubclass(hint, Record) else lambda value: _form(hint).made(value)
    if origin is tuple:
        return _of_tuple(inner)
    item = _decoder(inner[-1]) if origin in (list, dict, Mapping) else None
    if item is None:
        return None
    if origin is list:
        return lambda values: [item(value) for value in values]
    return lambda values: {key: item(value) for key, value in values.items()}


def _of_tuple(inner: Sequence[Any]) -> Decode:
    each = [_decoder(one) or (lambda value: value) for one in inner if one is not Ellipsis]
    if len(each) < len(inner):
        return lambda values: tuple(map(each[0], values))
    return lambda values: tuple(decode(value) for decode, value in zip(each, values, strict=True))


def _of_union(options: Sequence[Any]) -> Decode | None:
    """Choose by the JSON: a list is read as the option that is one, an object as the first whose keys it has."""
    of_list = next((_decoder(one) for one in options if get_origin(one) in (list, tuple)), None)
    mapping = next((_decoder(one) for one in options if get_origin(one) in (dict, Mapping)), None)
    records: list[Any] = [one for one in options if is_dataclass(one)]
    if not (of_list or mapping or records):
        return None

    def read(value: Any) -> Any:
        decode = of_list if isinstance(value, list) else mapping if isinstance(value, dict) else None
        if isinstance(value, dict) and records:
            decode = _decoder(next((one for one in records if _form(one).fits(value)), records[0]))
        return decode(value) if decode else value

    return read
