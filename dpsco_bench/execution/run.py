"""Run one cell: all its replicates at once, in blocks whose size depends on the cell alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import get_namespace, to_numpy
from dpsco_bench.backend.tuning import tuned
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective

BLOCK_SCORES = 1 << 22
"""Most margins (replicates times records) held at once."""

MechanismFactory = Callable[..., Mechanism]


@dataclass(frozen=True)
class Trace:
    """What one block of replicates gave.

    Attributes
    ----------
    output : array (R, d)
        Final output, on the host.
    risk, evaluations : array (R, C)
        Excess risk and counted gradient evaluations at each checkpoint; the last one is the final output.
    start_risk : float
        Excess risk of the starting point.
    """

    output: np.ndarray
    risk: np.ndarray
    evaluations: np.ndarray
    start_risk: float


class Checkpoints:
    """Records the excess risk each time another ``fraction * n`` gradients have been evaluated."""

    def __init__(self, fraction: float | None, n: int) -> None:
        self._every = None if fraction is None else fraction * n
        self._next = 0.0
        self.risk: list[np.ndarray] = []
        self.evaluations: list[np.ndarray] = []

    def __call__(self, objective: Objective, x: Any) -> None:
        """Observe an iterate."""
        if self._every is None:
            return
        done = float(to_numpy(objective.evaluations).mean())
        if done >= self._next:
            self._next = (done // self._every + 1) * self._every
            self.add(objective, x)

    def add(self, objective: Objective, x: Any) -> None:
        """Record the excess risk now."""
        self.risk.append(objective.excess_risk(x))
        self.evaluations.append(to_numpy(objective.evaluations).astype(np.float64))


def run_block(
    cell: Cell,
    calibration: str,
    scales: Mapping[str, float],
    data: Data,
    *,
    root_seed: int,
    data_set: int = 0,
    first_replicate: int = 0,
    replicates: int = 1,
    backend: str = "numpy",
    dtype: str = "float64",
    record: float | None = None,
    mechanism: MechanismFactory = Mechanism,
) -> Trace:
    """Run replicates ``first_replicate .. first_replicate + replicates - 1`` of a cell on one data set.

    Raises
    ------
    NumericalFailure
        On non-finite outputs, naming the cell.
    """
    xp = get_namespace(backend)
    _, plan = cell.plan(calibration, root_seed)
    checkpoints = Checkpoints(record, cell.n)
    objective = Objective(cell.problem_entry, data, replicates, xp, dtype, checkpoints if record is not None else None)
    source = mechanism(plan, scales, cell.run_key(data_set), root_seed, first_replicate, replicates, xp, dtype)
    start_risk = float(objective.excess_risk(objective.start)[0])
    run = cell.algorithm_entry.run_function
    assert run is not None
    with tuned():
        output = run(objective, plan, source)
    checkpoints.add(objective, output)
    risk = np.stack(checkpoints.risk, axis=1)
    final = to_numpy(output)
    if not (np.isfinite(risk).all() and np.isfinite(final).all()):
        raise NumericalFailure(f"non-finite iterates: {describe(cell, calibration)}")
    return Trace(final, risk, np.stack(checkpoints.evaluations, axis=1), start_risk)


def replicate_blocks(n: int, replicates: int) -> list[tuple[int, int]]:
    """Split replicates into ``(first, count)`` blocks of bounded memory; depends on n and the count alone."""
    size = max(1, min(replicates, BLOCK_SCORES // n))
    return [(first, min(size, replicates - first)) for first in range(0, replicates, size)]


def describe(cell: Cell, calibration: str) -> str:
    """One line that names a cell."""
    return (
        f"{cell.algorithm} ({calibration}) on {cell.problem}, n = {cell.n}, d = {cell.problem_entry.dimension}, "
        f"epsilon = {cell.epsilon:g}, delta = {cell.delta:g}"
    )
