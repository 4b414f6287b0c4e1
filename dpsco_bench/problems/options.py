"""Constructor options of problems: default, type, range and meaning of each stand once, in the class that has it."""

from __future__ import annotations

import inspect
import math
import os
import sys
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpsco_bench.errors import InputError, integral

WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
REAL, WHOLE = (int, float, np.integer, np.floating), (int, np.integer)


@dataclass(frozen=True)
class Interval:
    """The numbers that ``(low, high)`` or ``[low, high]`` allows; infinity is one of them where a bracket closes it."""

    text: str
    low: float
    high: float

    @classmethod
    def parse(cls, text: str) -> Interval:
        """Read ``"(1, 2]"``. Raises ValueError for other text."""
        low, high = map(float, text[1:-1].split(","))
        if text[0] not in "([" or text[-1] not in ")]":
            raise ValueError(text)
        return cls(text, low, high)

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.text[0] == "[" else value > self.low
        return above and (value <= self.high if self.text[-1] == "]" else value < self.high)

    def words(self, *, whole: bool) -> str:
        """Say in words whether integers or real numbers are allowed."""
        infinite = self.text[-1] == "]"
        noun = "an integer" if whole else "a number" if infinite else "a finite number"
        if self.high < math.inf:
            return f"{noun} from {self.low:g} to {self.high:g}" if whole else f"in {self.text}"
        least = f" {'>=' if self.text[0] == '[' else '>'} {self.low:g}" if self.low > -math.inf else ""
        return noun + least + ", or inf" * infinite


class Option:
    """An attribute of a problem class that its constructor takes by keyword; see `option`."""

    name = key = ""
    kind: Any = None

    def __init__(
        self, default: Any, meaning: str, within: str, choices: tuple[str, ...], key: str, source: str, words: str
    ) -> None:
        self.default, self.meaning, self.within = default, meaning, within
        self.choices, self.key, self.source, self.words = choices, key, source, words

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.default

    def declare(self, owner: type, name: str) -> None:
        """Take name and type from the class; all that is not said anew is that of the inherited option of this name.

        Raises InputError for another type than int, float, str, bool or one of these | None, or a default that is not
        allowed.
        """
        above = next((vars(cls)[name] for cls in owner.__mro__[1:] if name in vars(cls)), None)
        for part in ("meaning", "within", "choices", "key", "source", "words") if isinstance(above, Option) else ():
            setattr(self, part, getattr(self, part) or getattr(above, part))
        self.name, self.key = name, self.key or name
        kind = inspect.get_annotations(owner).get(name, getattr(above, "kind", None) or type(self.default))
        where = f"option {self.key} of problem {owner.__name__}"
        try:
            self.kind = eval(kind, vars(sys.modules[owner.__module__])) if isinstance(kind, str) else kind
            self.kinds = get_args(self.kind) if get_origin(self.kind) in (Union, UnionType) else (self.kind,)
            within = self.within or "(-inf, inf)" * {*self.kinds}.isdisjoint({str, bool})
            self.interval = Interval.parse(within) if within else None
        except (NameError, ValueError) as error:
            raise InputError(where, str(error), 'a known type and a range such as "(0, 1]"') from None
        if not {*self.kinds} <= {*WORDS, type(None)}:
            raise InputError(f"type of {where}", self.kind, "int, float, str, bool or one of these | None")
        checked = self.checked(self.default)
        self.default = self.default if isinstance(self.default, str) else checked

    @property
    def allowed(self) -> str:
        """Say in words which values besides null are allowed."""
        if self.words:
            return self.words
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.interval:
            return self.interval.words(whole=float not in self.kinds)
        return " or ".join(WORDS[kind] for kind in self.kinds if kind in WORDS)

    def checked(self, value: Any) -> Any:
        """Return the value, numbers as int or float, paths as they are. Raises InputError if it is not allowed."""
        if value is None and type(None) in self.kinds:
            return None
        if self.choices:
            valid = isinstance(value, str) and value in self.choices
        elif self.interval:
            kind = float if float in self.kinds else int
            number = math.inf if isinstance(value, str) and value == "inf" else value
            number = number if kind is float else integral(number)
            valid = isinstance(number, REAL if kind is float else WHOLE) and not isinstance(number, bool)
            valid = valid and number in self.interval
            value = kind(number) if valid else value
        else:
            wider = REAL * (float in self.kinds) + (os.PathLike,) * (str in self.kinds)
            valid = isinstance(value, (*self.kinds, *wider))
        if not valid:
            raise InputError(self.key, value, self.allowed, self.source)
        return value


def option(
    default: Any,
    meaning: str = "",
    *,
    within: str = "",
    choices: tuple[str, ...] = (),
    key: str = "",
    source: str = "",
    words: str = "",
) -> Any:
    """Declare an option of a problem's constructor: ``ridge: float = option(0.1, "lambda", within="(0, inf)")``.

    It is an attribute of the class, of whose instances each has its own value. A subclass says anew what changes
    (``ridge = option(0.2)``) or fixes the value (``ridge = 0.2``), which then is no option any more.

    Parameters
    ----------
    within : str
        Interval of a number, e.g. ``"[1, inf]"``: brackets include an end, and infinity with it, which may then be
        written as the text ``inf``.
    key : str, the keyword, where the attribute has another name
    words : str, what is allowed, where type, interval and choices say too little
    """
    return Option(default, meaning, within, choices, key, source, words)


def declared_options(cls: type) -> dict[str, Option]:
    """Options of a class by keyword, its own before those it inherits."""
    names = dict.fromkeys(name for base in cls.__mro__ for name, o in vars(base).items() if isinstance(o, Option))
    found = [inspect.getattr_static(cls, name) for name in names]
    return {o.key: o for o in found if isinstance(o, Option)}


def constructor_signature(options: dict[str, Option]) -> inspect.Signature:
    """``(d=None, *, options, constants=None)`` with their types and defaults."""
    named = {"d": (int | None, None), **{key: (o.kind, o.default) for key, o in options.items()}}
    named["constants"] = (dict[str, float] | None, None)
    kinds = {"d": inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return inspect.Signature(
        [
            inspect.Parameter(key, kinds.get(key, inspect.Parameter.KEYWORD_ONLY), annotation=kind, default=default)
            for key, (kind, default) in named.items()
        ]
    )
