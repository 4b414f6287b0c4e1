"""LIBSVM files of a user: each line is held to the form, and what is wrong is named by its line.

`libsvm` counts over the whole text, which is enough for files whose content is known.
"""

from __future__ import annotations

import re
from pathlib import Path

from dpsco_bench.datasets import libsvm
from dpsco_bench.datasets.columns import InRecord
from dpsco_bench.errors import InputError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:inf|infinity|nan)"
_VALUE = re.compile(rf"(?:{_NUMBER})", re.IGNORECASE | re.ASCII)
_INDEX = re.compile(r"[-+]?\d+(?:\.0*)?(?:e\+?\d+)?", re.IGNORECASE | re.ASCII)
_PAIR = re.compile(r"(?!qid:)[^:]+:[^:]+")
_BLANK = r"[ \t\r\f\v]"
_LINES = re.compile(
    rf"(?:{_BLANK}*+(?:{_NUMBER})(?:{_BLANK}++{_INDEX.pattern}:(?:{_NUMBER})(?=\s|\Z))*+{_BLANK}*+(?:\n|\Z))*+".encode(),
    re.IGNORECASE,
)


def parse(text: bytes, path: Path) -> libsvm.Lines:
    """Read whole lines, none of them empty. Raises InputError for the first field of another form."""
    found = _LINES.match(text)
    end = found.end() if found else 0
    if end == len(text):
        return libsvm.parse(text)
    label, *fields = text[end:].partition(b"\n")[0].decode("utf-8", "replace").split()
    record = text.count(b"\n", 0, end) + 1

    def hold(form: re.Pattern[str], text: str, key: str, shown: str, allowed: str) -> None:
        if not form.fullmatch(text):
            raise InputError(f"{key} {path.name}", InRecord(shown, record), allowed)

    hold(_VALUE, label, "column label of", label, "a number, the label first in every line")
    for field in fields:
        index, _, value = field.partition(":")
        ranked = "index:value; no loss uses the groups of a ranking" if index == "qid" else ""
        hold(_PAIR, field, "entry of", field, ranked or "index:value, with one colon and no space")
        hold(_INDEX, index, "index in", field, "an integer >= 1")
        hold(_VALUE, value, f"column {index} of", value, "a number")
    raise InputError("path", str(path), "a LIBSVM file")
