"""Bound formulas by name ``paper.formula``; the paper names the module."""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
from collections.abc import Callable
from functools import wraps
from numbers import Real
from pathlib import Path

from dpsco_bench.claims.bounds.context import Bound, BoundContext
from dpsco_bench.errors import DpscoError, InputError

Formula = Callable[[BoundContext], float]
_USER_BOUNDS: dict[str, Bound] = {}
_FOLDER = Path(__file__).parent
_NO_PAPERS = ("context", "registry")


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
        For a name of another form, or one of a built-in bound.
    """
    if not isinstance(name, str) or name.count(".") != 1:
        raise InputError("bound name", name, "of the form paper.formula")
    if any(known.name == name for known in _of_paper(name.split(".", 1)[0])):
        raise InputError("bound name", name, "one that no other bound has")

    def register(value: Formula) -> Formula:
        try:
            inspect.signature(value).bind(None)
        except (TypeError, ValueError) as error:
            raise InputError(f"bound {name}", value, f"a function of one BoundContext ({error})") from None
        _USER_BOUNDS[name] = Bound(name, text, _checked(name, value), extras=extras)
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
    known = _of_paper(name.split(".", 1)[0])
    for bound in known:
        if bound.name == name:
            return bound
    raise InputError("bound", name, _allowed(name, [b.name for b in known]))


def _of_paper(paper: str) -> tuple[Bound, ...]:
    """Built-in bounds of a paper; none if it has no module."""
    if paper not in _papers():
        return ()
    return tuple(getattr(importlib.import_module(f"dpsco_bench.claims.bounds.{paper}"), "BOUNDS", ()))


def _papers() -> list[str]:
    found = (path.stem for path in sorted(_FOLDER.glob("*.py")) if not path.stem.startswith("_"))
    return [name for name in found if name not in _NO_PAPERS]


def _allowed(name: str, of_paper: list[str]) -> str:
    """The nearest bound, and those of the same paper and one's own, or else the papers that have some."""
    own = sorted(_USER_BOUNDS)
    close = difflib.get_close_matches(name, [*own, *(b.name for paper in _papers() for b in _of_paper(paper))], 1)
    hint = f"did you mean {close[0]}? " if close else ""
    known = ", ".join(dict.fromkeys([*own, *of_paper])) or "the bounds of " + ", ".join(
        paper for paper in _papers() if _of_paper(paper)
    )
    return f"a known bound; {hint}known: {known}" + ("" if own else "; no plugin registers one with @bound")


def _checked(name: str, value: Formula) -> Formula:
    """A user's formula, whose values must be finite numbers > 0.

    Raises
    ------
    InputError
        For another value, naming the bound and the cell.
    DpscoError
        In place of an exception within the formula.
    """

    @wraps(value)
    def checked(context: BoundContext) -> float:
        where = f"bound {name} (n = {context.n}, d = {context.d}, epsilon = {context.epsilon:g})"
        try:
            found = value(context)
        except DpscoError:
            raise
        except Exception as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise DpscoError(f"{where}: its formula failed with {what}") from error
        if not isinstance(found, Real) or isinstance(found, bool) or not (math.isfinite(found) and found > 0):
            shown = (
                found if isinstance(found, Real | str) or found is None else f"a value of type {type(found).__name__}"
            )
            raise InputError(where, shown, "a finite number > 0")
        return float(found)

    return checked
