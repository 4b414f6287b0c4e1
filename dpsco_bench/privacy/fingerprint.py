"""A plan as plain data: all that an accountant sees of it, and where two plans differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan, Query

ROUNDING = 1e-12
"""Relative difference of floats that the mathematical functions of two processors may have."""
_DERIVED = ("law", "law_parameters", "norm", "norm_kappa")
_ABSENT = "absent"


def plan_record(plan: Plan) -> dict[str, Any]:
    """Everything that a plan declares.

    Raises InputError for a quantity of the schedule, or an attribute of a query, of another type. Returns the plan's
    fields, of each query its kind, its norm and its law besides: nested dicts, lists, strings, bools, ints,
    exact floats and None.
    """
    queries = [_query_record(query) for query in plan.queries]
    return {**{key: _plain(value, key) for key, value in vars(plan).items() if key != "queries"}, "queries": queries}


def difference(one: Any, other: Any, key: str = "") -> tuple[str, Any, Any] | None:
    """Key and both values of the first place where two records differ; None if there is none."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names: Sequence[Any] = list(dict.fromkeys([*one, *other]))
        pairs = [(one.get(name, _ABSENT), other.get(name, _ABSENT)) for name in names]
    elif isinstance(one, list) and isinstance(other, list) and _names(one) == _names(other):
        names, pairs = _names(one), list(zip(one, other, strict=True))
    elif isinstance(one, list) and isinstance(other, list):
        return key, _names(one), _names(other)
    else:
        return None if _same(one, other) else (key, one, other)
    places = (difference(*pair, f"{name} of {key}" if key else name) for name, pair in zip(names, pairs, strict=True))
    return next((found for found in places if found), None)


def _names(items: list[Any]) -> list[Any]:
    """What tells the items of a list apart: the names of queries, the places of all else."""
    return [item.get("name", i) if isinstance(item, Mapping) else i for i, item in enumerate(items)]


def _same(one: Any, other: Any) -> bool:
    one, other = (None if isinstance(value, float) and math.isnan(value) else value for value in (one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ROUNDING)
    return type(one) is type(other) and bool(one == other)


def _query_record(query: Query) -> dict[str, Any]:
    fields = {**vars(query), **{key: getattr(query, key) for key in _DERIVED}}
    plain = {key: _plain(value, f"{key} of {query.name}") for key, value in fields.items()}
    return {"kind": type(query).__name__, **plain}


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
    fields = value if isinstance(value, Mapping) else vars(value)
    return {**kind, **{str(name): _plain(item, f"{name} of {key}") for name, item in fields.items()}}
