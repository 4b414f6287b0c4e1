"""Bound formulas by name ``paper.formula``; the paper names the module."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from dpsco_bench.claims.bounds.context import Bound, BoundContext
from dpsco_bench.errors import InputError

Formula = Callable[[BoundContext], float]
_USER_BOUNDS: dict[str, Bound] = {}


def bound(name: str, text: str, extras: tuple[str, ...] = ()) -> Callable[[Formula], Formula]:
    """Register one's own bound for claims (decorator of a function of a `BoundContext`).

    Parameters
    ----------
    name : str
        ``paper.formula``.
    text : str
        The formula as a reader writes it.
    extras : tuple of str
        Measured quantities that it asks for.

    Raises
    ------
    InputError
        For a name of another form.
    """
    if name.count(".") != 1:
        raise InputError("bound name", name, "of the form paper.formula")

    def register(value: Formula) -> Formula:
        _USER_BOUNDS[name] = Bound(name, text, value, extras=extras)
        return value

    return register


def get_bound(name: str) -> Bound:
    """Return a bound by name.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name in _USER_BOUNDS:
        return _USER_BOUNDS[name]
    paper = name.split(".", 1)[0]
    path = Path(__file__).with_name(f"{paper}.py")
    known = importlib.import_module(f"dpsco_bench.claims.bounds.{paper}").BOUNDS if path.is_file() else ()
    for bound in known:
        if bound.name == name:
            return bound
    raise InputError("bound", name, "one of " + ", ".join(b.name for b in known) if known else "a paper with bounds")
