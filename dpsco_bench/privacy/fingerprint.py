"""A plan as plain data: all that an accountant sees of it, and where two plans differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import to_jsonable
from dpsco_bench.plain import IF_GIVEN, Plain, Record, Schedule
from dpsco_bench.privacy.plan import Plan

ROUNDING = 1e-12
"""Relative difference of floats that the mathematical functions of two processors may have."""
_ABSENT = "absent"
_DERIVED = ("law", "law_parameters", "norm", "norm_kappa")


@dataclass(frozen=True)
class PlanRecord(Record):
    """A plan as an accountant sees it: its fields as plain data; of queries, what their kind says of the noise too."""

    schedule: Schedule
    queries: tuple[Plain, ...]
    gradient_evaluations: float
    leaks: tuple[str, ...]
    unprotected: str
    warnings: tuple[str, ...]
    paper_limit: Plain | None
    last_iterate: Plain | None = field(default=None, metadata=IF_GIVEN)

    @classmethod
    def of(cls, plan: Plan) -> PlanRecord:
        """Record everything that a plan declares.

        Raises InputError for a quantity of the schedule, or an attribute of a query, of another type than plain data.
        """
        queries = []
        for query in plan.queries:
            declared = {**_fields(query), **{key: getattr(query, key) for key in _DERIVED}}
            queries.append({"kind": type(query).__name__, **_plain(declared, query.name)})
        others = {key: _plain(value, key) for key, value in vars(plan).items() if key != "queries"}
        return cls.from_json({**others, "queries": queries})

    def difference(self, other: PlanRecord) -> tuple[str, Any, Any] | None:
        """Key and both values of the first place where two records differ; None if there is none."""
        one, two = dict(_places(to_jsonable(self))), dict(_places(to_jsonable(other)))
        pairs = ((key, one.get(key, _ABSENT), two.get(key, _ABSENT)) for key in one | two)
        return next((pair for pair in pairs if not _same(*pair[1:])), None)


def _places(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Name each number and text of a record: ``scale of gradient of queries``."""
    if not isinstance(value, Mapping | list):
        yield key, value
        return
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for place, item in items:
        name = item.get("name", place) if isinstance(item, Mapping) else place
        yield from _places(item, f"{name} of {key}" if key else str(name))


def _same(one: Any, other: Any) -> bool:
    one, other = (None if isinstance(value, float) and math.isnan(value) else value for value in (one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ROUNDING)
    return type(one) is type(other) and bool(one == other)


def _plain(value: Any, key: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item, key) for item in value]
    kind = {} if isinstance(value, Mapping) else {"kind": type(value).__name__}
    if kind and (isinstance(value, type) or not is_dataclass(value)):
        allowed = "a number, text, an array, or a list, mapping or dataclass of these"
        raise InputError(key, f"a {type(value).__name__}", allowed)
    items = value if isinstance(value, Mapping) else _fields(value)
    return {**kind, **{str(name): _plain(item, f"{name} of {key}") for name, item in items.items()}}


def _fields(value: Any) -> dict[str, Any]:
    """Values of a dataclass's fields, without what a cached property keeps beside them."""
    return {f.name: getattr(value, f.name) for f in fields(value)}
