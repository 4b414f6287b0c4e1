"""Text of files: what they are by their first bytes, entries that are numbers, and LIBSVM's format."""

from __future__ import annotations

import lzma
import re
from array import array
from codecs import BOM_UTF8
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
    for line in text.removeprefix(BOM_UTF8).splitlines():
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
            label, *pairs = (field.decode("utf-8", "replace") for field in line.partition(b"#")[0].split())
            wrong = (pair for pair in pairs if pair.count(":") != 1 or not all(map(is_plain, pair.split(":"))))
            shown = next(wrong, label) if is_plain(label) else label
            allowed = "a line of numbers, label index:value index:value ..."
            raise InputError(f"record {len(counts) + 1} of {name}", shown[:LONGEST], allowed) from None
        counts.append(len(fields) - 1)
    rows, places = np.repeat(np.arange(len(counts)), counts), np.array(indices)
    odd = np.flatnonzero((places != np.trunc(places)) | (places < first) | ~(places < 2.0**53))
    if len(odd):
        key = f"index in record {int(rows[odd[0]]) + 1} of {name}"
        raise InputError(key, f"{places[odd[0]]:g}", f"an integer from {first} to 2^53")
    return Lines(np.array(labels), rows, places.astype(np.int64) - first, np.array(values))
