"""Where functions are defined that were made of others: by `functools.partial`, a decorator, or a factory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from dpsco_bench.execution.helpers import is_somebodys
from dpsco_bench.execution.watched import makers_of
from dpsco_bench.registry import PLUGIN, REGISTRIES, Registry, roots

OURS = "dpsco_bench"


def homes(*values: Any) -> set[str]:
    """Names of the modules of some functions, and of all functions that these were made of.

    Parameters
    ----------
    values : of any type
        Classes count with those that they inherit from, and entries that are dataclasses with what they hold. Of what
        else cannot be called there is no module.
    """
    classes = [base for value in values if isinstance(value, type) for base in value.__mro__]
    found, seen = set[str](), set[int]()
    todo = [*values, *classes, *(value for one in classes for value in vars(one).values())]
    while todo:
        value = todo.pop()
        if is_dataclass(value) and not isinstance(value, type) and id(value) not in seen:
            seen.add(id(value))
            todo += vars(value).values()
        if id(value) in seen or not (callable(value) or isinstance(value, staticmethod | classmethod | property)):
            continue
        seen.add(id(value))
        found |= {_named(value, "__module__"), _named(type(value), "__module__")}
        found.add(str(getattr(value, "__globals__", {}).get("__name__", "")))
        if not isinstance(value, type):
            todo += _made_of(value)
    return found - {"", "builtins"}


def _named(value: Any, attribute: str) -> str:
    name = getattr(value, attribute, "")
    return name if isinstance(name, str) else ""


def _made_of(value: Any) -> Iterator[Any]:
    """What a partial, a method, a decorated function or one with a closure calls."""
    for attribute in ("func", "__wrapped__", "__func__", "__self__", "fget"):
        part = getattr(value, attribute, None)
        yield type(part) if attribute == "__self__" and not callable(part) else part
    yield from getattr(value, "args", ()) if hasattr(value, "func") else ()
    yield from getattr(value, "keywords", {}).values() if hasattr(value, "func") else ()
    yield from getattr(value, "__defaults__", None) or ()
    yield from (getattr(value, "__kwdefaults__", None) or {}).values()
    yield from _globals_of(value)
    for cell in getattr(value, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _globals_of(value: Any) -> Iterator[Any]:
    """What a function of one's own takes from its module by name: ``base = get_bound("mine.base")`` may stand there."""
    known, code = getattr(value, "__globals__", None), getattr(value, "__code__", None)
    if not isinstance(known, dict) or not isinstance(code, CodeType) or not in_keys(str(known.get("__name__", ""))):
        return
    codes = [code]
    for inner in codes:  # it grows by the functions within
        yield from (known[name] for name in inner.co_names if name in known)
        codes += [one for one in inner.co_consts if isinstance(one, CodeType)]


def in_keys(module: str) -> bool:
    """Whether a module that an entry is made of is in keys beside what ships: a plugin, or else `is_own`."""
    return module.startswith(PLUGIN) or is_own(module)


def beside(modules: Iterable[str]) -> set[str]:
    """Own modules of what some own modules registered, and of what that was made of: a learner, a bound, an observer.

    A class can inherit, and a formula can call, what another file registered, without importing that file.
    """
    found, todo = set[str](), {*filter(in_keys, modules)}
    while todo:
        found |= todo
        own = (
            registry.get(name)
            for registry in REGISTRIES
            for name, home in registry.registered().items()
            if home in todo
        )
        todo = {*filter(in_keys, homes(*own))} - found
    return found


def own_homes(registry: Registry[Any], names: Iterable[str]) -> set[str]:
    """Modules of one's own in which some entries are defined or registered, and of all that these are made of."""
    found = {home for name in names if in_keys(home := registry.module(name))}
    found.update(*(own_makers(registry.kind, name) for name in names))
    return found | beside(found)


def own_makers(kind: str, name: str) -> set[str]:
    """Modules of one's own whose code registered an entry."""
    return {module for module in makers_of(kind, name) if in_keys(module)}


def is_own(module: str) -> bool:
    """Whether a module is of a paper that does not ship, or is a file of one's own or a helper."""
    top = module.split(".")[0]
    if top == "__main__":  # a script of one's own, but not this package's or a program that is installed
        file = str(getattr(sys.modules.get(top), "__file__", None) or "")
        folders = (Path(__file__).resolve().parents[1], Path(sys.executable).parent)
        return bool(file) and not any(Path(file).absolute().is_relative_to(folder) for folder in folders)
    return top != OURS and (top in roots() or is_somebodys(top))
