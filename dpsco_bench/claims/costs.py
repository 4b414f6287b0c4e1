"""What cells of a board are expected to take: the model of their steps, times what methods were found to take."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dpsco_bench.claims.files import read_shipped
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import predicted_seconds
from dpsco_bench.paths import conf_dir
from dpsco_bench.privacy.plan import Plan


def cost_ratios() -> Mapping[str, float]:
    """Measured seconds over those of the model, by algorithm."""
    return _read(conf_dir() / "cost.yaml")


@cache
def _read(path: Path) -> Mapping[str, float]:
    ratios: Mapping[str, float] = read_shipped(path)["ratios"]
    return ratios


def expected_seconds(cell: Cell, plan: Plan, replicates: int, fused: bool = True) -> float:
    """CPU seconds of so many replicates of a cell."""
    return cost_ratios().get(cell.algorithm, 1.0) * predicted_seconds(cell, plan, replicates, fused)
