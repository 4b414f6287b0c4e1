"""The frame of jobs: keys, sizes, and what each job cost."""

from __future__ import annotations

from typing import Any

from dpsco_bench.execution.jobs import Job
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import NOTHING, count, number, seconds
from dpsco_bench.report.tables import Column, Columns, Table


def job_rows(inputs: Inputs) -> list[dict[str, Any]]:
    """List every job with (CPU seconds, peak memory in MB) of its calibration and its run; None where unmeasured."""
    jobs = [*(job for _, job in inputs.all_jobs()), *(job for board in inputs.boards for job in board.entry.jobs)]
    cost = inputs.files.measured.cost
    return [
        {"job": job, "calibrate": cost("calibrate", job), "run": cost("run", job) if job.has_run else None}
        for job in jobs
    ]


def cpu_time(inputs: Inputs) -> str:
    """Sum the CPU seconds of all jobs; what jobs of several claims share was computed once."""
    found = {}
    for row in job_rows(inputs):
        for step, key in (("calibrate", row["job"].calibration_key), ("run", row["job"].key)):
            if row[step]:
                found[step, key] = row[step][0]
    return f"{seconds(sum(found.values()))} in {len(found)} calibrations and runs" if found else "not measured"


def _replicates(job: Job) -> str:
    several = f" × {job.data_sets} data sets" if job.data_sets > 1 else ""
    return count(job.replicates) + several if job.evaluation == "run" else NOTHING


JOBS: Columns = {
    "Claim": Column("job.claim", kind="code"),
    "Part": Column("job.part", kind="code"),
    "Noise": Column("job.calibration"),
    "Cells": Column(lambda row: len(row["job"].cells), str, "cells", numeric=True),
    "Replicates": Column(
        "job", _replicates, {"replicates": "job.replicates", "data_sets": "job.data_sets"}, numeric=True
    ),
    "Evaluation": Column("job.evaluation", lambda name: name.replace("_", " ")),
    "Calibration (CPU)": Column("calibrate.0", seconds, "calibrate_cpu_s", numeric=True),
    "Run (CPU)": Column("run.0", seconds, "run_cpu_s", numeric=True),
    "Memory (MB)": Column("run.1", number, "peak_mb", numeric=True),
    "Key": Column("job.key", raw={"key": "job.key", "calibration_key": "job.calibration_key"}, kind="code"),
}


def jobs_table(inputs: Inputs) -> Table:
    """Tabulate the frame of jobs."""
    note = "A key is the digest of all that affects a job's numbers: its configuration and the code that it uses."
    return Table("jobs", "Jobs", JOBS, job_rows(inputs), note)
