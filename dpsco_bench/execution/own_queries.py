"""Queries of one's own: what an accountant charges them by is left as the core has it.

An accountant sees the name of a query's class and its attributes alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan, Query

OURS, PLAIN = "dpsco_bench.", ("builtins", "numpy")
NAMELESS = frozenset({type(None), FunctionType, BuiltinFunctionType, MappingProxyType})
"""Classes of Python that no module has under their name."""
HOUSEKEEPING = frozenset(
    f"__{name}__"
    for name in (
        *("module", "qualname", "doc", "dict", "weakref", "annotations", "firstlineno", "static_attributes"),
        *("annotate", "annotate_func", "annotations_cache", "conditional_annotations"),
        *("dataclass_fields", "dataclass_params", "match_args", "init", "post_init", "repr", "eq", "hash"),
        *("setattr", "delattr", "replace"),
    )
)
"""What Python and `dataclass` give a class, and `__post_init__`: the core's own is called again after it."""


def check_queries(plan: Plan, where: str) -> None:
    """Check the queries of a plan. Raises InputError naming the algorithm ``where``, the query and what is allowed."""
    if type(plan) is not Plan:
        raise InputError(f"{where}: class of its plan", type(plan).__qualname__, "that of what make_plan returns")
    for query in plan.queries:
        check_query(query, where)


def check_query(query: Query, where: str) -> None:
    """A query's class is that of a module, and redefines nothing by which it is charged or answers."""
    key, cls = f"{where}: class of query {query.name}", type(query)
    if "<locals>" in cls.__qualname__:
        raise InputError(key, cls.__qualname__, "one that a module defines, not a function")
    core = [base for base in cls.__mro__ if _is_core(base)]
    for base in core:
        if not issubclass(core[0], base):
            raise InputError(key, cls.__qualname__, f"one of one kind, not of {core[0].__name__} and {base.__name__}")
    fields = {name for base in core for name in getattr(base, "__dataclass_fields__", ())}
    known = {name for base in core if base is not object for name in vars(base)}
    own = [name for base in cls.__mro__ if base not in core for name in _redefined(base, fields, known)]
    for name in [*own, *((known - fields) & vars(query).keys())]:
        raise InputError(key, cls.__qualname__, f"one that leaves {name} as it is: no accountant sees that")
    for name in sorted(fields & vars(query).keys()):
        for kind in map(type, _inside(vars(query)[name])):
            if not _is_plain(kind) and not _is_core(kind):
                of = f"{where}: class of {name} of query {query.name}"
                raise InputError(of, kind.__qualname__, "one of dpsco_bench, and numbers and texts of Python or NumPy")
    for base in core:
        if "__post_init__" in vars(base):
            vars(base)["__post_init__"](query)


def _inside(value: Any) -> Iterator[Any]:
    """A value with all that it holds: a number of another class may be another number to the one who draws."""
    yield value
    held = getattr(value, "__dict__", {}).values() if _is_core(type(value)) else ()
    if isinstance(value, Mapping):
        held = (*value.keys(), *value.values())
    elif isinstance(value, tuple | list | set | frozenset):
        held = value
    for one in held:
        yield from _inside(one)


def _is_plain(kind: type) -> bool:
    """Whether a class is one of Python's or NumPy's own, and not one that only says so."""
    home = sys.modules.get(kind.__module__) if kind.__module__.split(".")[0] in PLAIN else None
    return kind in NAMELESS or getattr(home, kind.__qualname__, None) is kind


def _redefined(base: type, fields: set[str], known: set[str]) -> Iterator[str]:
    """Names of the core that a class of one's own gives another meaning; a field may get another default."""
    for name, value in vars(base).items():
        if name.startswith("__") and name.endswith("__"):
            kept = name in HOUSEKEEPING
        else:
            kept = name not in known | fields or (name in fields and not hasattr(type(value), "__get__"))
        if not kept:
            yield name


def _is_core(cls: Any) -> bool:
    """Whether a class is the one that a module of this package, or of a paper that ships, has under its name."""
    if cls is object:
        return True
    home = sys.modules.get(cls.__module__) if cls.__module__.startswith(OURS) else None
    return getattr(home, cls.__qualname__, None) is cls
