"""Bound formulas by name ``paper.formula``; the paper names the module."""

from __future__ import annotations

import importlib
from pathlib import Path

from dpsco_bench.claims.bounds.context import Bound
from dpsco_bench.errors import InputError


def get_bound(name: str) -> Bound:
    """Return a bound by name.

    Raises
    ------
    InputError
        For an unknown name.
    """
    paper = name.split(".", 1)[0]
    path = Path(__file__).with_name(f"{paper}.py")
    known = importlib.import_module(f"dpsco_bench.claims.bounds.{paper}").BOUNDS if path.is_file() else ()
    for bound in known:
        if bound.name == name:
            return bound
    raise InputError("bound", name, "one of " + ", ".join(b.name for b in known) if known else "a paper with bounds")
