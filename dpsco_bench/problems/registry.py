"""Problems by name. The name is the module, so nothing has to be imported to list them."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Problem

_FOLDER = Path(__file__).parent
_USER_PROBLEMS: dict[str, type[Problem]] = {}
P = TypeVar("P", bound=type[Problem])


def problem(cls: P) -> P:
    """Register one's own problem class under its ``name`` (class decorator)."""
    if not cls.name:
        raise InputError("problem name", cls.name, "a non-empty class attribute `name`")
    _USER_PROBLEMS[cls.name] = cls
    return cls


def problem_class(name: str) -> type[Problem]:
    """Return the class of a problem by name.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name in _USER_PROBLEMS:
        return _USER_PROBLEMS[name]
    found = _shipped_class(name)
    if found is None:
        raise InputError("problem", name, "one of " + ", ".join(list_problems()))
    return found


@cache
def _shipped_class(name: str) -> type[Problem] | None:
    """The class of a built-in problem, or None."""
    if name.isidentifier() and (_FOLDER / f"{name}.py").is_file():
        for value in vars(importlib.import_module(f"dpsco_bench.problems.{name}")).values():
            if inspect.isclass(value) and issubclass(value, Problem) and value.name == name:
                return value
    return None


def get_problem(name: str, d: int | None = None, **options: Any) -> Problem:
    """Build a problem; options are those of its constructor (``constants`` among them).

    Raises
    ------
    InputError
        For an unknown name or option, or a value outside its range.
    """
    cls = problem_class(name)
    allowed = [key for key in inspect.signature(cls).parameters if key != "d"]
    for key in options:
        if key not in allowed:
            raise InputError(f"option of problem {name}", key, "one of " + ", ".join(allowed))
    return cls(d, **options)


def list_problems() -> list[str]:
    """Names of all problems, the user's own included."""
    names = set(_USER_PROBLEMS)
    for path in _FOLDER.glob("*.py"):
        if path.stem.startswith("_"):
            continue
        module = importlib.import_module(f"dpsco_bench.problems.{path.stem}")
        names |= {
            v.name
            for v in vars(module).values()
            if inspect.isclass(v) and issubclass(v, Problem) and v.name == path.stem
        }
    return sorted(names)
