"""Problems by name, registered by one decorator."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Problem
from dpsco_bench.registry import Registry

P = TypeVar("P", bound=type[Problem])
PROBLEMS: Registry[type[Problem]] = Registry("problem", "problems", core="problems", listed=True)


def problem(cls: P) -> P:
    """Register a problem class under its ``name`` (class decorator)."""
    if not isinstance(cls.name, str) or not cls.name.isidentifier():
        raise InputError(f"name of problem {cls.__name__}", cls.name, "letters, digits and _, a class attribute `name`")
    PROBLEMS.add(cls.name, cls, cls.__module__)
    return cls


def problem_class(name: str) -> type[Problem]:
    """Return the class of a problem by name. Raises InputError for an unknown name."""
    return PROBLEMS.get(name)


def get_problem(name: str, d: int | None = None, **options: Any) -> Problem:
    """Build a problem with options of its constructor. Raises InputError for an unknown name or a wrong option."""
    cls = problem_class(name)
    allowed = [key for key in inspect.signature(cls).parameters if key != "d"]
    for key in options:
        if key not in allowed:
            raise InputError(f"option of problem {name}", key, "one of " + ", ".join(allowed))
    return cls(d, **options)


def list_problems() -> list[str]:
    """Names of all problems, the user's own included."""
    return PROBLEMS.names()
