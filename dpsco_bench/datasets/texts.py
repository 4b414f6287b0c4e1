"""Read text files: tell a format by its first bytes, tell numbers from other entries, parse LIBSVM."""

from __future__ import annotations

import lzma
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.errors import InputError

LONGEST = 30
"""Characters of an entry that a message shows."""
_PLAIN = re.compile(r"\s*[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+(e[-+]?\d+)?|inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE)
"""A number as every reader of tables takes it."""
SHEET = "a zip archive or a spreadsheet"
_CONTENTS = {
    **{b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz", b"PAR1": "parquet"},
    **{b"PK\x03\x04": SHEET, b"\xd0\xcf\x11\xe0": SHEET},
}
"""First bytes of a file, and what they tell that it is, whatever its name."""
_MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8 at the beginning of a text."""


def content_of(path: Path) -> str:
    """Tell by its first bytes what a file is."""
    with open(path, "rb") as stream:
        first = stream.read(8)
    return next((told for magic, told in _CONTENTS.items() if first.startswith(magic)), "text")


def open_text(path: Path) -> Any:
    """Open the file's text as a stream of bytes."""
    content = content_of(path)
    if content == "xz":
        return lzma.open(path)
    file = path.open("rb")  # opened here: pyarrow takes no name that the locale cannot write
    return pa.input_stream(file, compression=None if content == "text" else content)


def text_of(path: Path) -> bytes:
    """Read the whole text of a file, which may be compressed whatever its name."""
    with open_text(path) as stream:
        return bytes(stream.read())


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


@dataclass(frozen=True)
class Lines:
    """`labels (r,)` of LIBSVM's lines; line, column (both from 0) and value of each entry, ``(k,)``."""

    labels: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def dense(self, width: int) -> np.ndarray:
        """Convert the entries to a float64 array, shape ``(r, width)``."""
        features = np.zeros((len(self.labels), width))
        features[self.rows, self.columns] = self.values
        return features


def parse_libsvm(text: bytes, name: str, first: int = 1) -> Lines:
    """Read lines ``label index:value ... # comment`` with indices from ``first`` on; empty lines are left out.

    Raises InputError, with the name of the file and the record, for the first field of another form.
    """
    labels, counts, indices, values = array("d"), array("q"), array("d"), array("d")
    for line in text.removeprefix(_MARK).splitlines():
        fields = line.partition(b"#")[0].replace(b"_", b"?").split()  # Python takes 1_0 for a number
        if not fields:
            continue
        try:
            labels.append(float(fields[0]))
            for field in fields[1:]:
                index, value = field.split(b":")
                indices.append(float(index))
                values.append(float(value))
        except ValueError:
            raise _wrong_field(line.partition(b"#")[0].split(), name, len(counts) + 1) from None
        counts.append(len(fields) - 1)
    rows, places = np.repeat(np.arange(len(counts)), counts), np.array(indices)
    odd = np.flatnonzero((places != np.trunc(places)) | (places < first) | ~(places < 2.0**53))
    if len(odd):
        shown = InRecord(f"{places[odd[0]]:g}", int(rows[odd[0]]) + 1)
        raise InputError(f"index in {name}", shown, f"an integer from {first} to 2^53")
    return Lines(np.array(labels), rows, places.astype(np.int64) - first, np.array(values))


def _wrong_field(fields: Sequence[bytes], name: str, record: int) -> InputError:
    """Find the first field of a line that is of another form."""
    label, *pairs = (field.decode("utf-8", "replace") for field in fields)
    if not is_plain(label):
        return InputError(f"column label of {name}", InRecord(label, record), "a number, the label first in every line")
    pair = next(pair for pair in pairs if pair.count(":") != 1 or not all(map(is_plain, pair.split(":"))))
    index, _, value = pair.partition(":")
    if index == "qid" or pair.count(":") != 1 or not index or not value:
        ranked = "index:value; no loss uses the groups of a ranking" if index == "qid" else ""
        return InputError(
            f"entry of {name}", InRecord(pair, record), ranked or "index:value, with one colon and no space"
        )
    if not is_plain(index):
        return InputError(f"index in {name}", InRecord(pair, record), "an integer >= 1")
    return InputError(f"column {index} of {name}", InRecord(value, record), "a number")
