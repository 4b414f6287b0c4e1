"""Axes of slopes: what an exponent is about, as a formula in the symbols of the part's bound."""

from __future__ import annotations

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.notation import read
from dpsco_bench.claims.bounds.registry import alphabetical, evaluate, glossary_of
from dpsco_bench.claims.kinds import Kind
from dpsco_bench.errors import InputError


def check_axis(axis: str, bound: str, kind: Kind, where: str) -> None:
    """Check the axis of a part.

    Raises InputError for a kind without slopes, a part without a bound, or what is no formula in the bound's symbols.
    """
    if not bound or not kind.measures_slope or kind.counts:
        raise InputError(f"{where}: axis", axis, "left out: it belongs to measured slopes beside a bound")
    known = glossary_of(bound)
    try:
        unknown = read(axis).names - known.keys()
    except InputError:
        unknown = frozenset([axis])
    if unknown:
        allowed = "a formula in the notation of bounds, in " + ", ".join(alphabetical(known))
        raise InputError(f"{where}: axis", axis, allowed)


def axis_value(axis: str, bound: str, context: BoundContext) -> float:
    """The axis at a cell."""
    return evaluate(bound, axis, context)
