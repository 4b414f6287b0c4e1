"""What cells of a board are expected to take: the model of their steps, times what methods were found to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpsco_bench.claims.files import read_shipped
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import predicted_seconds
from dpsco_bench.paths import conf_dir
from dpsco_bench.privacy.plan import Plan


@dataclass(frozen=True)
class Costs:
    """Measured costs of cells.

    Attributes
    ----------
    besides : float, CPU seconds of a cell besides its steps: its data, their optimum, the evaluation
    ratios : mapping, measured seconds over those of the model, by algorithm
    problems : mapping of mapping, the same by algorithm and problem, where it differs much
    """

    besides: float
    ratios: Mapping[str, float]
    problems: Mapping[str, Mapping[str, float]]

    def seconds(self, algorithm: str, problem: str, model: float) -> float:
        """CPU seconds of a cell of which the model says so many."""
        return self.besides + model * self.problems.get(algorithm, {}).get(problem, self.ratios.get(algorithm, 1.0))


def costs() -> Costs:
    """What ``conf/cost.yaml`` has."""
    return _read(conf_dir() / "cost.yaml")


@cache
def _read(path: Path) -> Costs:
    return Costs(**read_shipped(path))


def expected_seconds(cell: Cell, plan: Plan, replicates: int, fused: bool = True) -> float:
    """CPU seconds of so many replicates of a cell."""
    return costs().seconds(cell.algorithm, cell.problem, predicted_seconds(cell, plan, replicates, fused))
