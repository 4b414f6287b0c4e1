"""Entries of configuration files as dataclasses, every key and type checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from dpsco_bench.errors import InputError, nearest

TAKEN = {
    "problem_options": {"name": "problem", "d": "d, in the grid, fixed or sweep"},
    "options": {
        "constants": "problem_options: constants",
        "n": "n, in the grid, fixed or sweep",
        "d": "d, in the grid, fixed or sweep",
        "privacy": "epsilon and delta",
        "variant": "variant",
        "calibration": "calibrations",
        "self": "algorithm",
    },
}
"""Names that options of a problem and of a method cannot have -> the key that says the same."""


def listed(value: Any, where: str) -> list[Any]:
    """A list, empty for nothing."""
    if not isinstance(value, list | None):
        raise InputError(where, value, "a list")
    return value or []


def build_checked(cls: Any, values: Any, where: str) -> Any:
    """Build a dataclass from a mapping.

    Raises InputError naming the place and the key that is missing, unknown or of another type.
    """
    if not isinstance(values, Mapping):
        raise InputError(where, values, "a mapping of keys to values")
    known = {f.name: f for f in fields(cls)}
    for key in values:
        if key not in known:
            raise InputError(f"{where}: key", key, nearest(key, known))
        if not _check(_hints(cls)[key])(values[key]):
            raise InputError(f"{where}: {key}", values[key], _wanted(_hints(cls)[key]))
        if key in TAKEN:
            check_names(key, values[key], f"{where}: {key}")
        if key == "problem_options":
            _check_constants(values[key].get("constants"), f"{where}: {key}: constants")
    for key, f in known.items():
        if f.default is MISSING and f.default_factory is MISSING and key not in values:
            raise InputError(f"{where}: {key}", "missing", "given")
    return cls(**values)


def check_names(kind: str, names: Iterable[str], where: str) -> None:
    """Refuse options that another key says. ``kind`` is one of `TAKEN`. Raises InputError for the first such."""
    for name in names:
        if name in TAKEN[kind]:
            raise InputError(where, name, f"an option; this is said by {TAKEN[kind][name]}")


def _check_constants(given: Any, where: str) -> None:
    if given is not None and not _check(Mapping[str, float])(given):
        raise InputError(where, given, "a mapping of names of constants to numbers")


_hints = cache(get_type_hints)
_NAMES = {float: "a number", int: "an integer", str: "text", bool: "true or false", type(None): "null"}


@cache
def _check(hint: Any) -> Callable[[Any], bool]:
    """The test whether a value has the type that a field declares, inside lists and mappings too."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin in (Union, UnionType):
        checks = tuple(map(_check, inner))
        return lambda value: any(check(value) for check in checks)
    if origin is list:
        item = _check(inner[0])
        return lambda value: isinstance(value, list) and all(map(item, value))
    if origin is Mapping:
        name, item = map(_check, inner)
        return lambda value: isinstance(value, Mapping) and all(map(name, value)) and all(map(item, value.values()))
    if hint is bool:
        return lambda value: isinstance(value, bool)
    wanted = (int, float) if hint is float else hint
    return lambda value: isinstance(value, wanted) and not isinstance(value, bool)


def _wanted(hint: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_wanted, inner))
    if origin is list:
        return f"a list of {_wanted(inner[0])}"
    if origin is Mapping:
        return "a mapping of names to " + ("values" if inner[1] is Any else _wanted(inner[1]))
    return _NAMES.get(hint, "a mapping of keys to values")
