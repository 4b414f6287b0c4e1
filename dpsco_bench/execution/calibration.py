"""The calibration step of a cell: the only one that needs an accountant. Its result is plain data for the worker."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from dpsco_bench.errors import Refusal
from dpsco_bench.execution.cell import Cell, located
from dpsco_bench.execution.jobs import PLAN_ONLY, Job
from dpsco_bench.privacy.calibrate import Calibration, Charge, calibrate
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.tree import enforces_sensitivity

REFUSALS_ARE_RESULTS = ("leaderboard",)
UNCHARGED = ("complexity",)
"""Kinds of parts that count gradients only, unless they run."""


def calibrate_job(job: Job) -> dict[str, Any]:
    """Calibrate every cell of a job; a part that only counts gradients is planned but not charged."""
    charged = is_charged(job)
    cells = [located(entry, job.data_root) for entry in job.cells]
    return {"cells": [_calibrate_or_refuse(cell, job, charged) for cell in cells]}


def _calibrate_or_refuse(cell: Cell, job: Job, charged: bool) -> dict[str, Any]:
    """A cell's calibration; on a leaderboard a refusal is a result, ``{"refused": reason}``, and not an error."""
    try:
        return calibrate_cell(cell, job.calibration, job.seed, charged)
    except Refusal as refusal:
        if job.kind not in REFUSALS_ARE_RESULTS:
            raise
        return {"refused": str(refusal)}


def is_charged(job: Job) -> bool:
    """Whether a job needs noise: all but those that only count planned gradients."""
    return job.kind not in UNCHARGED or job.evaluation != PLAN_ONLY


def calibrate_cell(cell: Cell, calibration: str, root_seed: int, charged: bool = True) -> dict[str, Any]:
    """Plan a cell and fix its noise.

    Returns
    -------
    dict
        ``variant``, ``schedule``, ``scales``, ``epsilon_real``, ``epsilon_real_kind``, ``accountant``,
        ``privacy_status``, ``gradient_evaluations``, ``constants`` (a dict), ``dimension`` (the one that schedules and
        bounds use), ``signal_capped`` (see `Problem.signal_capped`), ``leaks``, ``warnings``.
    """
    variant, plan = cell.plan(calibration, root_seed)
    constants = cell.constants(root_seed)
    if charged:
        status = constants_status(cell, plan, constants.status)
        calibrated = calibrate(plan, cell.privacy, calibration, status)
    else:
        calibrated = Calibration(calibration, {}, Charge(math.nan, "upper", "not charged"), "unproven")
    entry = calibration_json(variant, plan, calibrated)
    entry["warnings"] += cell.problem_entry.warnings
    known = {"constants": asdict(constants), "dimension": cell.problem_entry.effective_dimension}
    return {**entry, **known, "signal_capped": cell.problem_entry.signal_capped}


def constants_status(cell: Cell, plan: Plan, constants: str) -> str:
    """Status of the constants for the ledger: a run that clips to public levels needs no proven ones.

    Parameters
    ----------
    cell, plan
        The run.
    constants : str
        Status of the problem's constants.
    """
    public = not cell.problem_entry.data_dependent_constants
    return "global" if public and enforces_sensitivity(plan) else constants


def calibration_json(variant: str, plan: Plan, calibrated: Calibration) -> dict[str, Any]:
    """Flatten a calibrated plan; of a draw with what is known of its sampler and its target law."""
    charge = calibrated.charge
    drawn = ("epsilon_law", "tau", "sampler_status") if charge.sampler_status else ()
    return {
        **{name: getattr(charge, name) for name in drawn},
        "variant": variant,
        "schedule": {k: list(v) if isinstance(v, tuple) else v for k, v in plan.schedule.items()},
        "scales": dict(calibrated.scales),
        "epsilon_real": calibrated.charge.epsilon,
        "epsilon_real_kind": calibrated.charge.kind,
        "accountant": calibrated.charge.accountant,
        "privacy_status": calibrated.privacy_status,
        "gradient_evaluations": plan.gradient_evaluations,
        "leaks": [leak for leak in (plan.unprotected, *plan.leaks) if leak],
        "warnings": list(plan.warnings),
    }
