"""Grids of several quantities, as sweeps over their combinations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from dpsco_bench.errors import InputError

GRID = "cell"
"""Swept parameter of a part whose file gives a grid: the number of the combination."""


def expanded(grid: Any, where: str) -> dict[str, Any]:
    """The sweep over all combinations of ``{profile: {quantity: values}}``, the last quantity fastest.

    Raises
    ------
    InputError
        Under the name ``where``.
    """
    if not isinstance(grid, Mapping) or not all(isinstance(axes, Mapping) and axes for axes in grid.values()):
        raise InputError(where, grid, "a mapping of profiles to mappings of swept quantities to lists")
    names = list(dict.fromkeys(name for axes in grid.values() for name in axes))
    along: dict[str, dict[str, list[Any]]] = {name: {} for name in names}
    counts = {}
    for profile, axes in grid.items():
        if set(axes) != set(names):
            raise InputError(f"{where}: quantities of {profile}", list(axes), "those of every profile")
        cells = list(product(*(axes[name] for name in names)))
        counts[profile] = [float(number + 1) for number in range(len(cells))]
        for name, column in zip(names, zip(*cells, strict=True), strict=True):
            along[name][profile] = list(column)
    return {"sweep": {"parameter": GRID, "values": counts}, "along": along}
