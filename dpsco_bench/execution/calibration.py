"""The calibration step of a cell: the only one that needs an accountant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from dpsco_bench.errors import DpscoError, Refusal
from dpsco_bench.execution.cell import CalibratedCell, Calibrations, Cell, RefusedCell, located
from dpsco_bench.execution.jobs import RANKING, Job, Metering, Progress
from dpsco_bench.privacy.attained import attaining_pair, attains, attains_curvature
from dpsco_bench.privacy.calibrate import Calibration, Charge, calibrate
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.tree import enforces_sensitivity


def calibrate_job(
    job: Job, progress: Progress = lambda done, all: None, meter: Metering = lambda cells: nullcontext()
) -> Calibrations:
    """Calibrate every cell of a job; a part that only counts gradients is planned but not charged."""
    found: list[CalibratedCell | RefusedCell] = []
    for number, cell in enumerate(job.cells):
        with meter([number]):
            try:
                found.append(calibrate_cell(located(cell, job.data_root), job.calibration, job.seed, job.charged))
            except Refusal as refusal:
                if job.kind != RANKING:  # on a leaderboard it is a result and no error
                    raise
                found.append(RefusedCell(str(refusal)))
        progress(number + 1, len(job.cells))
    return tuple(found)


def calibrate_cell(cell: Cell, calibration: str, root_seed: int, charged: bool = True) -> CalibratedCell:
    """Plan a cell and fix its noise; the charged plan is handed over in what comes back.

    Raises InputError, Refusal or AlgorithmError: as `Cell.plan`, or for a calibration that the plan does not allow.
    Raises DpscoError for numbers so extreme that the noise cannot be computed.
    """
    with within_range(cell):
        variant, plan = cell.plan(calibration, root_seed)
        constants, problem, attained = cell.constants(root_seed), cell.problem_entry, False
        fixed = Calibration(calibration, {}, Charge(math.nan, "upper", "not charged"), "unproven")
        if charged:
            status = constants_status(cell, plan, constants.status)
            attaining = attaining_pair(problem, plan, cell.n) is not None
            curvature = attains_curvature(problem, plan, cell.n)
            fixed = calibrate(plan, cell.privacy, calibration, status, attaining, curvature)
            attained = attains(problem, plan, cell.n, fixed.real)
    return CalibratedCell(
        calibration=calibration,
        variant=variant,
        charged=PlanRecord.of(plan),
        scales=fixed.scales,
        accountant=fixed.real.accountant,
        privacy_status=fixed.privacy_status,
        constants=constants,
        dimension=problem.effective_dimension,
        signal_capped=problem.signal_capped,
        warnings=(*plan.warnings, *problem.warnings),
        epsilon_law=fixed.charge.epsilon_law,
        tau=fixed.charge.tau,
        sampler_status=fixed.charge.sampler_status,
        attained=attained,
        plan=plan,
        **fixed.epsilons,
    )


@contextmanager
def within_range(cell: Cell) -> Iterator[None]:
    """Blame the input for numbers so extreme that a schedule or its noise cannot be computed, as DpscoError."""
    try:
        yield
    except DpscoError:
        raise
    except (ArithmeticError, ValueError, MemoryError) as error:
        why = str(error)
        if why.startswith("math "):  # Python's own "math domain error" names no number
            why = "a logarithm or power of these numbers, or of the problem's constants, is out of range"
        raise DpscoError(f"{cell.algorithm} on {cell.problem} degenerates at {cell.place}: {why}") from error


def constants_status(cell: Cell, plan: Plan, constants: str) -> str:
    """Status of the constants for the ledger: a run that clips to public levels needs no proven ones."""
    public = not cell.problem_entry.data_dependent_constants
    return "global" if public and enforces_sensitivity(plan) else constants
