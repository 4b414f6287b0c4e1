"""Figures that go to a place of the user's: they are marked, so that a new one replaces no other file."""

from __future__ import annotations

import os
from pathlib import Path

from dpsco_bench.errors import InputError

MARK = "<!-- made by dpsco -->\n"
"""Last line of such a figure."""


def check_figure(key: str, path: Path) -> None:
    """Refuse a place that is taken by anything but an earlier figure with the mark.

    Raises InputError under the name ``key``.
    """
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file() or not path.read_bytes().endswith(MARK.encode()):
        allowed = "the place of a new figure, or of one that this program made; this is another file"
        raise InputError(key, str(path), allowed)
