"""How the result of a job is computed: runs and closed forms, and what later rooms compute in place of runs."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa

from dpsco_bench.execution.calibrated import Calibrations
from dpsco_bench.execution.job import Progress, execute
from dpsco_bench.execution.jobs import Job

AUDIT, AUDIT_FUSED = "audit", "audit_fused"
MODULES = dict.fromkeys((AUDIT, AUDIT_FUSED), "dpsco_bench.audit.job")
"""Evaluation -> the module whose `execute` takes what `job.execute` takes; found by name when such a job is run."""


def executed(
    job: Job,
    calibrations: Calibrations,
    progress: Progress = lambda done, all: None,
    **how: Any,
) -> pa.Table:
    """Compute the result table of a job, or of a part of it: see `job.execute`."""
    if job.evaluation not in MODULES:
        return execute(job, calibrations, progress, **how)
    found: pa.Table = importlib.import_module(MODULES[job.evaluation]).execute(job, calibrations, progress, **how)
    return found


def is_whole(job: Job) -> bool:
    """Tell whether a cell of a job cannot be cut: an audit's runs stay together."""
    return job.evaluation in MODULES
