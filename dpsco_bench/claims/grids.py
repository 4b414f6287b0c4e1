"""How a claim's file gives values by profile.

What profiles share is said once:

``{smoke: A, ci: B, full: B}``
    a value for each profile; ``{smoke: A, ci+full: B}`` says the same;
``A``
    the same in every profile of the part.

A part belongs to the profiles that the values of its sweep (or its grid) name, and to ci and full where these name
none. In place of a list of numbers, ``1024 .. 8192 x2`` is the geometric one 1024, 2048, 4096, 8192, and
``0.5 .. 64.0 in 15`` has 15 values, to six decimals. Signals may also be ``0.5 .. cap x2``: as many as lead to the
largest admissible signal, which the problem knows for each cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

PROFILES = ("smoke", "ci", "full")
MEASURED = ("ci", "full")
"""Profiles of a part whose values name none."""
GRID = "cell"
"""Swept parameter of a part whose file gives a grid: the number of the combination."""
SHARED = ("replicates", "data_sets", "tolerances", "signals", "only")
_NUMBER = r"([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_GEOMETRIC = re.compile(rf"{_NUMBER} ?\.\. ?{_NUMBER} (?:x{_NUMBER}|in (\d+))")
_TO_THE_CAP = re.compile(rf"{_NUMBER} ?\.\. ?cap x{_NUMBER}")
_DECIMALS = 6
_MOST = 1000
"""Values of a geometric list; a longer one is a slip."""


def numbers(value: Any, where: str) -> Any:
    """Expand a text into its list; return anything else as it is.

    Raises InputError for text that is no geometric list, or steps that do not meet its last value.
    """
    if not isinstance(value, str):
        return value
    found = _GEOMETRIC.fullmatch(value.strip())
    if found:
        first, last, ratio = (_number(text) for text in found.groups()[:3])
        steps = int(found[4]) - 1 if found[4] else _steps(first, last, ratio)
        if 0 < steps < _MOST and not found[4]:
            return [first * ratio**number for number in range(steps + 1)]
        if 0 < steps < _MOST and first * last > 0:
            return [round(first * (last / first) ** (number / steps), _DECIMALS) for number in range(steps + 1)]
    allowed = "a list of numbers, FIRST .. LAST xRATIO whose steps meet LAST, or FIRST .. LAST in COUNT"
    raise InputError(where, value, allowed)


def to_the_cap(value: Any) -> tuple[float, float] | None:
    """First signal > 0 and ratio > 1 of a grid that ends at the largest admissible signal; None for other values."""
    found = _TO_THE_CAP.fullmatch(value.strip()) if isinstance(value, str) else None
    first, ratio = (float(text) for text in found.groups()) if found else (0.0, 0.0)
    return (first, ratio) if first > 0 and ratio > 1 else None


def _number(text: str | None) -> Any:
    return float("nan") if text is None else int(text) if text.lstrip("+-").isdigit() else float(text)


def _steps(first: float, last: float, ratio: float) -> int:
    """How often the ratio leads from the first value to the last; 0 if it does not."""
    steps = math.log(last / first) / math.log(ratio) if first * last > 0 < ratio != 1 else 0.0
    return round(steps) if math.isclose(steps, round(steps), abs_tol=1e-9) else 0


def by_profile(values: Plain, where: str) -> Plain:
    """Expand a mapping of profiles, in which ``ci+full`` names two, to single profiles.

    Raises InputError for a profile that is named twice.
    """
    named = [(profile, value) for profile_names, value in values.items() for profile in str(profile_names).split("+")]
    for profile in (names := [profile for profile, _ in named]):
        if names.count(profile) > 1:
            raise InputError(where, profile, "given once")
    return dict(named)


def spread(entry: Plain, where: str) -> Plain:
    """Write out a part's values by profile, as its file has them: `Part` has a mapping of single profiles.

    Raises InputError for what cannot be read; whether the profiles exist is the part's matter.
    """
    values = dict(entry)
    if "grid" in values:
        values |= expanded(values.pop("grid"), f"{where}, grid")
    sweep = values.get("sweep")
    profiles: Iterable[str] = MEASURED
    if isinstance(sweep, Mapping) and "values" in sweep:
        swept = _lists(sweep["values"], MEASURED, f"{where}: sweep")
        values["sweep"], profiles = {**sweep, "values": swept}, swept
    for key in SHARED:
        if key in values:
            values[key] = _lists(values[key], profiles, f"{where}: {key}")
    for key in ("along", "fixed"):
        for name, value in values[key].items() if isinstance(values.get(key), Mapping) else ():
            if key == "along" or isinstance(value, Mapping):
                values[key] = {**values[key], name: _lists(value, profiles, f"{where}: {key} {name}")}
    return values


def _lists(value: Any, profiles: Iterable[str], where: str) -> Plain:
    given = by_profile(value, where) if isinstance(value, Mapping) else dict.fromkeys(profiles, value)
    return {profile: item if to_the_cap(item) else numbers(item, where) for profile, item in given.items()}


def expanded(grid: Any, where: str) -> Plain:
    """Expand the sweep over all combinations of ``{quantity: values}``, the last quantity fastest.

    Raises InputError under the name ``where``.
    """
    if isinstance(grid, Mapping) and not any(name in PROFILES or "+" in name for name in map(str, grid)):
        grid = dict.fromkeys(MEASURED, grid)
    if not isinstance(grid, Mapping) or not all(isinstance(axes, Mapping) and axes for axes in grid.values()):
        raise InputError(where, grid, "a mapping of profiles to mappings of swept quantities to lists")
    grid = by_profile(grid, where)
    names = list(dict.fromkeys(name for axes in grid.values() for name in axes))
    along: dict[str, dict[str, list[Any]]] = {name: {} for name in names}
    counts = {}
    for profile, axes in grid.items():
        if set(axes) != set(names):
            raise InputError(f"{where}: quantities of {profile}", list(axes), "those of every profile")
        lists = [numbers(axes[name], f"{where}: {name} of {profile}") for name in names]
        if not all(isinstance(values, list) for values in lists):
            raise InputError(f"{where}: quantities of {profile}", dict(axes), "lists of numbers")
        cells = list(product(*lists))
        counts[profile] = [float(number + 1) for number in range(len(cells))]
        for name, column in zip(names, zip(*cells, strict=True), strict=True):
            along[name][profile] = list(column)
    return {"sweep": {"parameter": GRID, "values": counts}, "along": along}
