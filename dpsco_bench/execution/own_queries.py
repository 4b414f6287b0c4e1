"""Queries of one's own: what an accountant charges them by is left as the core has it.

An accountant sees the name of a query's class and its attributes alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan, Query

OURS, PLAIN = "dpsco_bench.", ("builtins", "numpy")
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
    fields = {name for base in core for name in getattr(base, "__dataclass_fields__", ())}
    known = {name for base in core if base is not object for name in vars(base)}
    own = [name for base in cls.__mro__ if base not in core for name in _redefined(base, fields, known)]
    for name in [*own, *((known - fields) & vars(query).keys())]:
        raise InputError(key, cls.__qualname__, f"one that leaves {name} as it is: no accountant sees that")
    for name in sorted(fields & vars(query).keys()):
        kind = type(vars(query)[name])
        if kind.__module__.split(".")[0] not in PLAIN and not _is_core(kind):
            raise InputError(f"{where}: class of {name} of query {query.name}", kind.__qualname__, "one of dpsco_bench")
    for base in core:
        if "__post_init__" in vars(base):
            vars(base)["__post_init__"](query)


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
