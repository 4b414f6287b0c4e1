"""Bound formulas by name ``paper.formula``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import wraps
from numbers import Real

from dpsco_bench.claims.bounds.context import Bound, BoundContext
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.registry import Registry

Formula = Callable[[BoundContext], float]
BOUNDS: Registry[Bound] = Registry("bound", "bounds", core="claims.bounds")


def bound(
    name: str,
    text: str,
    extras: tuple[str, ...] = (),
    named_term: Formula | None = None,
    may_vanish: bool = False,
    others: str = Bound.others,
) -> Callable[[Formula], Formula]:
    """Register a bound for claims (decorator of a function of a `BoundContext`).

    Raises InputError for a name of another form, or one of another bound.

    Parameters
    ----------
    text : str
        The formula as a reader writes it; in the notation of `claims.bounds.notation` it can be tested against the
        function, and ``show`` says what its symbols mean (`claims.bounds.glossary`).
    named_term : callable, optional, the term whose rate a part claims, where the bound has several
    may_vanish : bool, whether its value may be 0, which has no slope
    others : str, what the bound has beside the named term, as a noun; for the sentence of a slope that it explains
    """
    if not isinstance(name, str) or name.count(".") != 1:
        raise InputError("bound name", name, "of the form paper.formula")
    for key, words in (("text", text), ("others", others)):
        if not isinstance(words, str):
            raise InputError(f"{key} of bound {name}", words, "a text")
    if named_term is not None and not callable(named_term):
        raise InputError(f"named_term of bound {name}", named_term, "a function of one BoundContext")

    def register(value: Formula) -> Formula:
        try:
            inspect.signature(value).bind(None)
        except (TypeError, ValueError) as error:
            raise InputError(f"bound {name}", value, f"a function of one BoundContext ({error})") from None
        made = Bound(name, text, _checked(name, value, may_vanish), named_term, extras, others)
        BOUNDS.add(name, made, value.__module__)
        return value

    return register


def get_bound(name: str) -> Bound:
    """Return a bound by name. Raises InputError for an unknown name."""
    return BOUNDS.get(name)


def _checked(name: str, value: Formula, may_vanish: bool) -> Formula:
    """A formula whose values must be finite numbers > 0, or >= 0.

    Raises InputError for another value, naming the bound and the cell. Raises DpscoError in place of an exception
    within the formula.
    """

    @wraps(value)
    def checked(context: BoundContext) -> float:
        where = f"bound {name} (n = {context.n}, d = {context.d}, epsilon = {context.epsilon:g})"
        try:
            found = value(context)
        except DpscoError:
            raise
        except (Exception, SystemExit) as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise DpscoError(f"{where}: its formula failed with {what}") from error
        if (
            not isinstance(found, Real)
            or isinstance(found, bool)
            or not (math.isfinite(found) and (found > 0 or (may_vanish and found == 0)))
        ):
            shown = (
                found if isinstance(found, Real | str) or found is None else f"a value of type {type(found).__name__}"
            )
            raise InputError(where, shown, f"a finite number {'>=' if may_vanish else '>'} 0")
        return float(found)

    return checked
