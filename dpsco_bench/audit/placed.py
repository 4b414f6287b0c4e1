"""An audit where the data leak: in the place of the data set whose record changes the outputs of forced runs most.

Pairs are chosen by what they change of the releases. A run that adds a record to its output, or uses its last batch
without noise, shows that in one place and in none of its releases. So its transcript is forced on other data first.
Where every output stays what it was, nothing but releases tells about the data, and the audit is the usual one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm, RunFunction, get_algorithm
from dpsco_bench.audit.auditor import AuditResult, _check, _check_length, audit_calibrated
from dpsco_bench.audit.canaries import runs_fused, work_of
from dpsco_bench.audit.neighbours import DOMAIN_RECORDS, TRAJECTORIES, _places, moved
from dpsco_bench.audit.replay import Recorder
from dpsco_bench.audit.seldom import all_replaced, farthest
from dpsco_bench.audit.subject import replaced
from dpsco_bench.audit.transcript import SAME_OUTPUT, Setting, replayed
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective

FORCED, FORCED_WORK = 256, 1e7
"""Runs that are forced on other data, and the most work of one such block: a share of what the audit itself takes."""
SEARCH_WORK = 5e8
"""Work up to which every place is tried once there is a leak; above it the ends, powers of two and eighths are."""


@dataclass(frozen=True)
class Placed(Cell):
    """A cell whose algorithm sees the records 0 and ``place`` exchanged, so that a canary stands in that place."""

    place: int = 0

    @classmethod
    def of(cls, cell: Cell, place: int) -> Placed:
        """The cell with another place."""
        return cls(**{f.name: getattr(cell, f.name) for f in fields(Cell)}, place=place)

    @cached_property
    def algorithm_entry(self) -> Algorithm:
        """The algorithm from the registry, on moved data; in this order of the records, no other place is tried."""
        entry = get_algorithm(self.algorithm)
        run = entry.run_function
        return entry if run is None else replace(entry, run_function=_moving(run, self.place), order_invariant=True)


def _moving(run: RunFunction, place: int) -> RunFunction:
    def moving(objective: Objective, plan: Any, mechanism: Any) -> Any:
        inner = Objective(objective.problem, moved(objective.host_data, place), objective.replicates)
        return run(inner, plan, mechanism)

    return moving


def audit(
    cell: Cell,
    calibration: str = "accounted",
    *,
    runs: int | None = None,
    confidence: float = 0.95,
    statistic: str | None = None,
    seed: int = 2017,
    **how: Any,
) -> AuditResult:
    """Bound the epsilon of a cell's algorithm from below, with the canary where outputs leak, if they do.

    Parameters and errors are those of `audit.auditor.audit_cell`.
    """
    _check(calibration, runs, confidence, seed)
    _check_length(cell, calibration, runs)
    calibrated = calibrate_cell(cell, calibration, seed)
    asked: dict[str, Any] = {"runs": runs, "confidence": confidence, "statistic": statistic, "seed": seed, **how}
    listed = statistic != "output" or not runs_fused(cell, calibrated.plan_for(cell))  # a fused run sees no moved data
    place = leaking_place(cell, calibrated, seed) if listed else 0
    if not place:
        return audit_calibrated(cell, calibrated, **asked)
    result = audit_calibrated(Placed.of(cell, place), calibrated, **asked)
    return replace(result, neighbours=f"{result.neighbours}, in place {place}")


def leaking_place(cell: Cell, calibrated: CalibratedCell, seed: int) -> int:
    """The place whose record changes the outputs of forced runs most; 0 where none does, or nothing can be forced.

    Batches that are hidden are not looked at: a forced run on them takes the record out of all of them or into each.
    """
    plan, problem = calibrated.plan_for(cell), cell.problem_entry
    runs = int(min(FORCED, FORCED_WORK // max(1.0, work_of(plan))))
    if problem.shares_records or problem.draws_per_replicate or runs < TRAJECTORIES:
        return 0
    data = cell.draw_data(seed, 0)
    setting = Setting(cell, plan, calibrated.scales, (data, data), 0)
    if setting.hides_batches:
        return 0
    recorder = Recorder(Mechanism(plan, calibrated.scales, cell.run_key(0), seed, 0, runs))
    try:
        domain = problem.domain_records(DOMAIN_RECORDS, seed)
        output = setting.execute(data, recorder, runs)
        if not _change(setting, recorder, output, all_replaced(data, domain)):
            return 0
        every = cell.n * runs * work_of(plan) <= SEARCH_WORK
        changes = {
            place: _change(setting, recorder, output, replaced(data, place, domain, farthest(data, place, domain)))
            for place in (range(cell.n) if every else sorted(_places(cell.n)))
        }
    except DpscoError:  # the audit itself says what is wrong
        return 0
    return max(changes, key=lambda place: changes[place])


def _change(setting: Setting, recorder: Recorder, output: np.ndarray, data: Data) -> float:
    """Mean change of the output when its transcript is forced on other data; 0 for rounding."""
    (forced,) = replayed(setting, data, recorder, len(output)).outputs
    with np.errstate(invalid="ignore"):  # of what overflows nothing is said
        gaps = np.abs(forced - output).max(axis=-1)
    return float(np.where(gaps > SAME_OUTPUT * (1.0 + np.abs(output).max(axis=-1)), gaps, 0.0).mean())
