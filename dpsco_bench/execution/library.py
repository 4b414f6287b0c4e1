"""The library's `run`: one algorithm on one problem, from plain keys to NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell, check_data_sets
from dpsco_bench.execution.measures import risk_kind
from dpsco_bench.execution.request import check_run, check_sampled, make_cell
from dpsco_bench.execution.run import replicate_blocks, run_block
from dpsco_bench.problems.base import Problem


@dataclass(frozen=True)
class Result:
    """What the replicates of one run gave.

    Attributes
    ----------
    risk : array (R,), excess risk of each replicate's output, empirical or of the population (see `risk_kind`)
    output : array (R, d), the outputs
    gradient_evaluations : array (R,), single-record gradients that were evaluated
    start_risk : float, excess risk of the starting point (the replicates' mean, where they have samples of their own)
    calibration : CalibratedCell
        Its attributes say what was charged: ``schedule``, ``scales``, ``epsilon_real``, ``privacy_status``, ...
    """

    risk: np.ndarray
    output: np.ndarray
    gradient_evaluations: np.ndarray
    start_risk: float
    calibration: CalibratedCell
    cell: Cell
    seed: int

    @property
    def risk_kind(self) -> str:
        """``excess empirical``, ``excess population``, or the label of what the theorem bounds instead."""
        return risk_kind(self.cell.problem_entry.population, self.cell.algorithm_entry.measure)

    @property
    def held_out(self) -> dict[str, np.ndarray]:
        """Loss and, of classes, accuracy of each output ``(R,)`` on the records that a file holds out; else empty."""
        return self.cell.problem_entry.beside(self.output, self.cell.draw_data(self.seed, 0))

    @property
    def mean(self) -> float:
        """Mean excess risk."""
        return float(self.risk.mean())

    @property
    def stderr(self) -> float:
        """Standard error of the mean; NaN for a single replicate."""
        return standard_error(self.risk)


def standard_error(values: np.ndarray) -> float:
    """Standard error of the mean of ``values (R,)``; NaN for a single one."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def run(
    algorithm: str | Algorithm,
    problem: str | type[Problem],
    n: int,
    d: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    calibration: str = "accounted",
    replicates: int = 16,
    seed: int = 2017,
    data_set: int = 0,
    backend: str = "numpy",
    dtype: str = "float64",
    fused: bool = True,
    **options: Any,
) -> Result:
    """Calibrate an algorithm on a problem and run it.

    Returns a Result with arrays ``risk (R,)`` and ``output (R, d)`` and the ``calibration``. Raises InputError or
    Refusal for a key or value out of range, or a combination that the source does not define. Raises NumericalFailure
    for non-finite iterates.

    Parameters
    ----------
    algorithm : str or Algorithm, ``paper.name``, or the object that ``@algorithm`` returned
    problem : str or type of Problem, name, or the class that ``@problem`` returned
    n : int, number of records, >= 1
    d : int, optional, dimension; by default the problem's
    epsilon, delta : float
        Target (epsilon, delta)-differential privacy under replace-one neighbours; epsilon > 0, 0 < delta < 1.
    calibration : str
        ``accounted`` (least noise that the accountant accepts), ``paper`` (as the theorem states it) or ``none``.
    seed : int, root of all randomness, >= 0
    data_set : int, number of the data set, >= 0
    fused : bool, whether compiled steps may run in place of the listing; they agree to 1e-10
    **options
        ``variant``, schedule options, problem options and problem constants by plain name.
    """
    keys = {"n": n, "epsilon": epsilon, "delta": delta, **({} if d is None else {"d": d}), **options}
    cell = make_cell(_name(algorithm, "id"), _name(problem, "name"), keys)
    check_run(calibration, replicates, seed, data_set)
    check_sampled(cell)
    check_data_sets(cell.problem, data_set + 1)
    if not isinstance(fused, bool):
        raise InputError("fused", fused, "true or false")
    return _run(cell, calibrate_cell(cell, calibration, seed), replicates, seed, data_set, backend, dtype, fused)


def _run(
    cell: Cell,
    calibrated: CalibratedCell,
    replicates: int,
    seed: int,
    data_set: int,
    backend: str,
    dtype: str,
    fused: bool,
) -> Result:
    data, plan = cell.draw_data(seed, data_set), calibrated.plan_for(cell)
    blocks = [
        run_block(
            cell,
            plan,
            calibrated.scales,
            data,
            root_seed=seed,
            data_set=data_set,
            first_replicate=first,
            replicates=count,
            backend=backend,
            dtype=dtype,
            fused=fused,
        )
        for first, count in replicate_blocks(cell.problem_entry.row_size(cell.n), replicates)
    ]
    starts = np.concatenate([block.start_risk for block in blocks])
    return Result(
        np.concatenate([block.risk[:, -1] for block in blocks]),
        np.concatenate([block.output for block in blocks]),
        np.concatenate([block.evaluations[:, -1] for block in blocks]),
        float(starts[0]) if (starts == starts[0]).all() else float(starts.mean()),
        calibrated,
        cell,
        seed,
    )


def _name(entry: Any, attribute: str) -> str:
    return entry if isinstance(entry, str) else str(getattr(entry, attribute, entry))
