"""How the result of a job is computed: runs and closed forms, and what later rooms compute in place of runs."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa

from dpsco_bench.execution.calibrated import Calibrations
from dpsco_bench.execution.job import WHOLE, Progress, Shard, execute
from dpsco_bench.execution.jobs import Job

AUDIT, AUDIT_FUSED = "audit", "audit_fused"
MODULES = dict.fromkeys((AUDIT, AUDIT_FUSED), "dpsco_bench.audit.job")
"""Evaluation -> the module whose `execute` takes what `job.execute` takes; found by name when such a job is run."""


def executed(
    job: Job,
    calibrations: Calibrations,
    progress: Progress = lambda done, all: None,
    *,
    shard: Shard = WHOLE,
    **meter: Any,
) -> pa.Table:
    """The result table of a job, or of a share of it: see `job.execute`."""
    if job.evaluation not in MODULES:
        return execute(job, calibrations, progress, shard=shard, **meter)
    found: pa.Table = importlib.import_module(MODULES[job.evaluation]).execute(
        job, calibrations, progress, shard=shard, **meter
    )
    return found


def evaluation_modules(job: Job) -> set[str]:
    """Modules beside those of runs that a job's numbers depend on."""
    return {MODULES[job.evaluation]} if job.evaluation in MODULES else set()
