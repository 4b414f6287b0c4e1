"""LIBSVM files of a user: each line is held to the form, and what is wrong is named by its line.

`libsvm` counts over the whole text, which is enough for files whose content is known.
"""

from __future__ import annotations

import numpy as np

from dpsco_bench.datasets import libsvm


class Malformed(ValueError):
    """Text of another form.

    Attributes
    ----------
    record : int, number of the line, from 1
    place : str, what is wrong there: ``label``, ``index``, ``entry``, or the index of a value as it is written
    shown : str, what stands there
    """

    def __init__(self, record: int, place: str, shown: str) -> None:
        super().__init__(libsvm.FORM)
        self.record, self.place, self.shown = record, place, shown


def parse(text: bytes) -> libsvm.Lines:
    """Read whole lines, none of them empty. Raises Malformed for text of another form."""
    if not _in_pairs(text):
        raise _first_wrong(text)
    try:
        return libsvm.parse(text)
    except ValueError as error:
        raise _first_wrong(text) from error


def _in_pairs(text: bytes) -> bool:
    """Whether every line is a field without a colon and then fields with one, inside them."""
    characters = np.frombuffer(text, dtype=np.uint8)
    line_ends = np.append(np.flatnonzero(characters == ord("\n")), len(text))
    colons = np.flatnonzero(characters == ord(":"))
    space = np.append(characters <= ord(" "), True)
    if space[colons - 1].any() or space[colons + 1].any() or (np.diff(colons) == 1).any():  # -1 is the end, a space
        return False
    fields = np.flatnonzero(~space[:-1] & np.concatenate([[True], space[:-2]]))
    inside = np.diff(np.searchsorted(colons, np.append(fields, len(characters))))
    lines = np.searchsorted(line_ends, fields)
    leads = np.diff(lines, prepend=-1) == 1
    return int(leads.sum()) == len(line_ends) and np.array_equal(inside, np.where(leads, 0, 1))


def _first_wrong(text: bytes) -> ValueError:
    """The first field that is none of this format."""
    for record, line in enumerate(text.decode("utf-8", "replace").split("\n"), start=1):
        fields = line.split() or [""]
        if not _is_number(fields[0]):
            return Malformed(record, "label", fields[0])
        for field in fields[1:]:
            index, colon, value = field.partition(":")
            if not (index and colon and value) or ":" in value:
                return Malformed(record, "entry", field)
            if not (_is_number(index) and float(index).is_integer()):
                return Malformed(record, "index", field)
            if not _is_number(value):
                return Malformed(record, index, value)
    return ValueError(libsvm.FORM)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
