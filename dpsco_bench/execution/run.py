"""Run one cell: all its replicates at once, in blocks whose size depends on the cell alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import get_namespace, to_numpy
from dpsco_bench.backend.tuning import tuned
from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.measures import Measure, get_measure
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
        The algorithm's measure (mostly the excess risk) and counted gradient evaluations at each checkpoint; the last
        one is the final output.
    start_risk : float
        The measure at the starting point.
    certificate : float or None
        `Objective.certificate`.
    """

    output: np.ndarray
    risk: np.ndarray
    evaluations: np.ndarray
    start_risk: float
    certificate: float | None = None


class Checkpoints:
    """Shows iterates to a measure, and records it each time another ``fraction * n`` gradients have been evaluated.

    Without a fraction only the final output is recorded.
    """

    def __init__(self, measure: Measure, fraction: float | None, n: int) -> None:
        self._measure = measure
        self._every = None if fraction is None else fraction * n
        self._next = 0.0
        self.risk: list[np.ndarray] = []
        self.evaluations: list[np.ndarray] = []

    def __call__(self, objective: Objective, x: Any) -> None:
        """Observe an iterate."""
        self._measure.observe(objective, x)
        if self._every is None:
            return
        done = float(to_numpy(objective.evaluations).mean())
        if done >= self._next:
            self._next = (done // self._every + 1) * self._every
            self.add(objective, x)

    def add(self, objective: Objective, x: Any) -> None:
        """Record the measure now."""
        self.risk.append(self._measure.value(objective, x))
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
    measure = get_measure(cell.algorithm_entry.measure)
    checkpoints = Checkpoints(measure, record, cell.n)
    watched = record is not None or measure.along_the_run
    objective = Objective(cell.problem_entry, data, replicates, xp, dtype, checkpoints if watched else None)
    source = mechanism(plan, scales, cell.run_key(data_set), root_seed, first_replicate, replicates, xp, dtype)
    start_risk = measure.at_start(objective)
    run = cell.algorithm_entry.run_function
    if run is None:
        raise InputError("algorithm", cell.algorithm, "one with a run, attached by @plan.run")
    with tuned():
        output = run(objective, plan, source)
    checkpoints.add(objective, output)
    risk = np.stack(checkpoints.risk, axis=1)
    final = to_numpy(output)
    if not (np.isfinite(risk).all() and np.isfinite(final).all()):
        raise NumericalFailure(f"non-finite iterates: {describe(cell, calibration)}")
    return Trace(final, risk, np.stack(checkpoints.evaluations, axis=1), start_risk, objective.certificate)


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
