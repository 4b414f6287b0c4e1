"""How the result of a job is computed: runs and closed forms, and what registers beside them, as audits do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from dpsco_bench.execution.calibrated import Calibrations
from dpsco_bench.execution.job import Progress, execute
from dpsco_bench.execution.jobs import CLOSED_FORM, PLAN_ONLY, RUN, Job
from dpsco_bench.registry import Registry

Evaluation = Callable[..., pa.Table]
"""Takes what `job.execute` takes."""
AUDIT, AUDIT_OUTPUT = "audit", "audit_output"
EVALUATIONS: Registry[Evaluation] = Registry("evaluation", "evaluations", core="audit")


def evaluation(*names: str) -> Callable[[Evaluation], Evaluation]:
    """Register what computes the jobs of some evaluations (decorator of a function)."""

    def register(function: Evaluation) -> Evaluation:
        for name in names:
            EVALUATIONS.add(name, function, function.__module__)
        return function

    return register


def executed(
    job: Job,
    calibrations: Calibrations,
    progress: Progress = lambda done, all: None,
    **how: Any,
) -> pa.Table:
    """Compute the result table of a job, or of a part of it: see `job.execute`."""
    return (EVALUATIONS.get(job.evaluation) if is_whole(job) else execute)(job, calibrations, progress, **how)


def is_whole(job: Job) -> bool:
    """Tell whether a cell of a job cannot be cut: an audit's runs stay together."""
    return job.evaluation not in (RUN, CLOSED_FORM, PLAN_ONLY)
