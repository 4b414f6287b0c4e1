"""Configuration files as plain values. They are read as Hydra reads them: by OmegaConf, and by nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from textwrap import shorten
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from dpsco_bench.errors import InputError, InputErrors, nearest
from dpsco_bench.jsonio import kept_beside

T = TypeVar("T")


def read_yaml(path: Path, key: str = "file") -> Any:
    """Parse a YAML file.

    Returns a list or dict with interpolations resolved. Raises InputError if it is no YAML file.
    """
    from omegaconf import OmegaConf

    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    except Exception as error:  # the parser's own errors have no name in OmegaConf
        reason = shorten(str(error), 300, placeholder=" ...")
        raise InputError(key, str(path), "a YAML file", reason) from error


def read_shipped(path: Path) -> Any:
    """Parse a file of the configuration tree, once: reading a hundred claims takes OmegaConf two seconds."""
    return kept_beside(path, ".json", lambda _: read_yaml(path))


TAKEN = {
    "problem_options": {"name": "problem", "d": "d, in the grid, fixed or sweep"},
    "options": {
        "constants": "problem_options: constants",
        "n": "n, in the grid, fixed or sweep",
        "d": "d, in the grid, fixed or sweep",
        "privacy": "epsilon and delta",
        "variant": "variant",
        "calibration": "calibrations",
    },
}
"""Names that options of a problem and of a method cannot have -> the key that says the same."""
EMPTY = {"str": "", "float": math.nan}
"""Stand-ins for what is due and not there or wrong, which is told of it, by their types."""


class Slips(list[InputError]):
    """Slips of one place of a file, collected so that all are told at once.

    ``unsure`` are further keys of which nothing can be said.
    """

    def __init__(self, where: str, slips: Iterable[InputError] = ()) -> None:
        super().__init__(slips)
        self.where, self.unsure = where, set[str]()

    def tried(self, make: Callable[..., Any], *given: Any) -> Any:
        """Call a function; None, with its error kept, where it raises an InputError."""
        try:
            return make(*given)
        except InputError as error:
            self.append(error)
            return None

    def words(self, slip: InputError) -> set[str]:
        """Words of a slip's key behind the place: the keys that it is about are among them."""
        return set(re.findall(r"\w+", slip.key.removeprefix(self.where)))

    @property
    def wrong(self) -> set[str]:
        """Keys of which a slip is told already, or nothing can be said."""
        return self.unsure.union(*map(self.words, self))

    def build(self, cls: Any, values: Mapping[str, Any], due: str = "") -> Any:
        """Build a dataclass, without the keys that `slips_of` or a slip before names; None where that cannot be."""
        self.extend(slips_of(cls, values, self.where, due))
        if not self:
            return cls(**values)
        wrong, known = self.wrong, fields(cls)
        sound = {f.name: EMPTY[f.type] for f in known if f.default is MISSING and f.type in EMPTY}
        sound |= {f.name: values[f.name] for f in known if f.name in values and f.name not in wrong}
        return None if list(slips_of(cls, sound, self.where)) else cls(**sound)

    def tell(self) -> None:
        """Raise what was collected, if anything was, as one InputError."""
        if self:
            raise self[0] if len(self) == 1 else InputErrors(self)


def listed(value: Any, where: str) -> list[Any]:
    """Read a list, empty for nothing."""
    if not isinstance(value, list | None):
        raise InputError(where, value, "a list")
    return value or []


def build_checked(cls: type[T], values: Any, where: str) -> T:
    """Build a dataclass from a mapping; values stay as they are given.

    Raises InputError naming the place and every key that is missing, unknown or of another type.
    """
    if not isinstance(values, Mapping):
        raise InputError(where, values, "a mapping of keys to values")
    Slips(where, slips_of(cls, values, where)).tell()
    return cls(**values)


def slips_of(cls: Any, values: Mapping[str, Any], where: str, due: str = "") -> Iterator[InputError]:
    """Find the keys of a mapping that are no fields of a dataclass, of another type, or missing.

    ``due`` says what asks for those that are missing, such as `` for kind rate``.
    """
    known, hints = {f.name: f for f in fields(cls)}, _hints(cls)
    for key, value in values.items():
        if key not in known:
            yield InputError(f"{where}: key", key, nearest(key, known))
        elif not fits(value, hints[key]):
            yield InputError(f"{where}: {key}", value, wanted(hints[key]))
        elif key in TAKEN:
            yield from taken_names(key, value, f"{where}: {key}")
            constants = value.get("constants") if key == "problem_options" else None
            if constants is not None and not fits(constants, Mapping[str, float]):
                yield InputError(f"{where}: {key}: constants", constants, "a mapping of names of constants to numbers")
    for key, f in known.items():
        if f.default is MISSING and f.default_factory is MISSING and key not in values:
            yield InputError(f"{where}: {key}", "missing", f"given{due}")


def taken_names(kind: str, names: Iterable[str], where: str) -> Iterator[InputError]:
    """Find options that another key says. ``kind`` is one of `TAKEN`."""
    for name in names:
        if name in TAKEN[kind]:
            yield InputError(where, name, f"an option; this is said by {TAKEN[kind][name]}")


def check_names(kind: str, names: Iterable[str], where: str) -> None:
    """Refuse options that another key says, as InputError. ``kind`` is one of `TAKEN`."""
    Slips(where, taken_names(kind, names, where)).tell()


def fits(value: Any, hint: Any) -> bool:
    """Check that a value has the type that a field declares, inside lists and mappings too."""
    try:
        msgspec.convert(value, hint, from_attributes=True)  # a list may have records that are made by now
    except msgspec.ValidationError:
        return False
    return True


_hints = cache(get_type_hints)
_NAMES = {float: "a number", int: "an integer", str: "text", bool: "true or false", type(None): "null"}


def wanted(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin in (Union, UnionType):
        return " or ".join(map(wanted, inner))
    if origin is list:
        return f"a list of {wanted(inner[0])}"
    if origin is Mapping:
        return "a mapping of names to " + ("values" if inner[1] is Any else wanted(inner[1]))
    return _NAMES.get(hint, "a mapping of keys to values")


def slug(name: str) -> str:
    """Small letters, digits and single hyphens: ``paper-thm4-2``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
