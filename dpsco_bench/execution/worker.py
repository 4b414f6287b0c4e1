"""What a job of the workflow does. Needs neither Hydra nor Snakemake; only `calibrate_claim` needs an accountant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.layout import find_job, has_run, job_name, read_calibrations, read_entry
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.execution.results import write_table
from dpsco_bench.jsonio import dumps_canonical, dumps_pretty, loads, write_text_atomic


def calibrate_claim(plan: Path, claim: str, folder: Path, log: Path | None = None) -> None:
    """Calibrate every job of a claim: one file ``<part>.<calibration>.json`` each.

    Files that carry the job's ``calibration_key`` already stay, so that neither an edit of another part nor an
    interruption costs what was done.
    """
    from dpsco_bench.execution.calibration import calibrate_job

    jobs = read_entry(plan, claim)["jobs"]
    with JobLog(log, f"calibrate {claim}", unit="parts") as progress:
        for number, job in enumerate(jobs, 1):
            path = folder / f"{job_name(job)}.json"
            if not _is_calibrated(path, job):
                write_text_atomic(path, dumps_canonical({"key": job["calibration_key"], **_named(calibrate_job, job)}))
            progress.write(job_name(job))
            progress.progress(number, len(jobs))


def _is_calibrated(path: Path, job: Mapping[str, Any]) -> bool:
    """Whether a file holds a job's calibrations; one that cannot be read does not."""
    try:
        return path.is_file() and loads(path.read_text(encoding="utf-8"))["key"] == job["calibration_key"]
    except (DpscoError, KeyError, TypeError, ValueError):
        return False


def _named(function: Any, job: Mapping[str, Any]) -> Any:
    """Call with a job; an error of its input says which job it was."""
    try:
        return function(job)
    except DpscoError as error:
        error.args = (f"{job['claim']} {job_name(job)}: {error}",)
        raise


def run_job(
    plan: Path, claim: str, name: str, key: str, calibrations: Path, out: Path, log: Path | None = None
) -> None:
    """Run a job and write its result table.

    Parameters
    ----------
    plan, calibrations : Path
        The plan, and the folder that the calibration step wrote.
    claim, name, key : str
        The job ``<part>.<calibration>`` of a claim, and the key it must have in the plan.
    out, log : Path
        Result table, log.

    Raises
    ------
    InputError
        If the plan changed since the workflow read it, or the calibrations belong to another version of the job.
    NumericalFailure
        On non-finite iterates.
    """
    job = planned_job(plan, claim, name, key)
    calibrated = read_calibrations(calibrations, job)
    with JobLog(log, f"run {claim} {name}", weights(job, calibrated)) as progress:
        table = _named(lambda given: execute(given, calibrated, progress.progress), job)
        write_table(table, out)


def time_job(
    plan: Path, claim: str, name: str, key: str, calibrations: Path, out: Path, log: Path | None = None
) -> None:
    """Time the methods of a job, one replicate each, and write their curves as JSON. Parameters as in `run_job`."""
    from dpsco_bench.execution.timing import time_cells

    job = planned_job(plan, claim, name, key)
    calibrated = read_calibrations(calibrations, job)
    with JobLog(log, f"time {claim} {name}", weights(job, calibrated)) as progress:
        curves = _named(lambda given: time_cells(given, calibrated, progress.progress), job)
        write_text_atomic(out, dumps_pretty({"claim": claim, "job": name, "key": key, **curves}))


def planned_job(plan: Path, claim: str, name: str, key: str) -> dict[str, Any]:
    """The job as the plan has it now.

    Raises
    ------
    InputError
        If it is absent, has nothing to run, or its key is another one.
    """
    job = find_job(read_entry(plan, claim), name)
    if not has_run(job):
        raise InputError(f"job of {claim}", name, "a job that runs something")
    if job["key"] != key:
        raise InputError(
            f"key of {claim} {name} in {plan}", job["key"], f"{key}: the plan changed, start snakemake again"
        )
    return job


def weights(job: Mapping[str, Any], calibrated: Mapping[str, Any]) -> list[float]:
    """Planned gradient evaluations per cell, for the time left."""
    return [float(entry["gradient_evaluations"]) for entry in calibrated["cells"]]
