"""What a job of the workflow does. Needs neither Hydra nor Snakemake; only `calibrate` needs an accountant."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibrated import CalibratedCell, Calibrations
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.layout import (
    effective_key,
    find_job,
    has_run,
    job_name,
    planned_entries,
    read_calibrations,
    read_entry,
    read_plan_text,
    stored_json,
)
from dpsco_bench.execution.lock import key_lock
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.execution.results import read_metadata, write_table
from dpsco_bench.jsonio import dumps_canonical, dumps_pretty, restore, write_text_atomic

SHARED_SECONDS = 10.0
"""How long a process goes on with other jobs: start-up costs more than most short jobs."""


def calibrate(
    plan: Path,
    claim: str,
    name: str,
    key: str,
    cache: Path,
    out: Path,
    log: Path | None = None,
    wanted: Path | None = None,
) -> None:
    """Write the calibrations of a job, and into the cache those of other jobs.

    A process that has calibrated its own job goes on with others, those of its claim first, for `SHARED_SECONDS`; their
    own processes then find them in the cache. An error in one of those is left to its own process.

    Parameters
    ----------
    plan, claim, name, key
        The job ``<part>.<calibration>`` of a claim, and the calibration key it must have in the plan.
    cache : Path
        Folder of calibrations by key.
    out, log : Path
        File to write, log.
    wanted : Path, optional
        List of the claims whose calibrations are wanted too (`Layout.wanted`).

    Raises
    ------
    DpscoError
        As the job's plan or accountant raises it.
    """
    entry = read_entry(plan, claim)
    job = planned_job(entry, plan, name, key, "calibration_key")
    start = time.monotonic()
    with JobLog(log, f"calibrate {claim} {name}") as progress:
        write_text_atomic(out, _cached(job, cache, wait=True))
        for other in _others_to_calibrate(plan, entry, wanted):
            if time.monotonic() - start > SHARED_SECONDS:
                break
            if not (cache / f"{effective_key(other, 'calibration_key')}.json").is_file():
                with suppress(Exception):  # its own process will meet it, and say so
                    load_plugins(other["plugins"])
                    _cached(other, cache, wait=False)
                    progress.write(f"also {other['claim']} {job_name(other)}")


def _others_to_calibrate(plan: Path, entry: Mapping[str, Any], wanted: Path | None) -> Iterator[Mapping[str, Any]]:
    """Jobs of the claim, then those of the wanted claims that follow it in the plan, and of those before it."""
    yield from entry["jobs"]
    found = stored_json(wanted).get("calibrated", []) if wanted else []
    entries = planned_entries(read_plan_text(plan))
    place = [other["claim"]["id"] for other in entries].index(entry["claim"]["id"])
    for other in [*entries[place + 1 :], *entries[:place]]:
        if other["claim"]["id"] in found:
            yield from restore(other["jobs"])


def _cached(job: Mapping[str, Any], cache: Path, wait: bool) -> str:
    """A job's calibrations as text, out of the cache or computed and put there; one process computes each.

    With ``wait`` false, what another process is computing is left to it (an empty text).
    """
    from dpsco_bench.execution.calibration import calibrate_job

    key = effective_key(job, "calibration_key")
    path = cache / f"{key}.json"
    with key_lock(cache / f".{path.stem}.lock", wait) as mine:
        if path.is_file():
            return path.read_text(encoding="utf-8")
        if not mine:
            return ""
        text = dumps_canonical({"key": key, "cells": _named(calibrate_job, job)})
        write_text_atomic(path, text)
        return text


def _named(function: Any, job: Mapping[str, Any]) -> Any:
    """Call with a job; an error of its input says which job it was."""
    try:
        return function(job)
    except DpscoError as error:
        error.args = (f"{job['claim']} {job_name(job)}: {error}",)
        raise


def run_job(
    plan: Path,
    claim: str,
    name: str,
    key: str,
    calibrations: Path,
    cache: Path,
    ready: Path,
    out: Path,
    log: Path | None = None,
) -> None:
    """Run a job and write its result table; leave ready those of other short jobs of its claim.

    A process that has run its own job goes on with others of the claim, as far as they are calibrated and should fit
    into `SHARED_SECONDS`; their own processes then find the tables. An error in one of those is left to
    its own process.

    Parameters
    ----------
    plan, calibrations : Path
        What the plan and calibration steps wrote.
    claim, name, key : str
        The job ``<part>.<calibration>`` of a claim, and the key it must have in the plan (see `effective_key`).
    cache : Path
        Folder of calibrations by key.
    ready : Path
        Where the table lies if another process made it (`Layout.ready`).
    out, log : Path
        Result table, log.

    Raises
    ------
    InputError
        If the plan changed since the workflow read it, or the calibrations belong to another version of the job.
    NumericalFailure
        On non-finite iterates.
    """
    entry = read_entry(plan, claim)
    job = planned_job(entry, plan, name, key)
    calibrated = read_calibrations(calibrations, job)
    start = time.monotonic()
    with key_lock(_lock_of(ready), wait=True):
        if ready.is_file():
            if log is not None and _log_of(ready).is_file():
                _log_of(ready).replace(log)
            ready.replace(out)
        else:
            _run(job, calibrated, out, log)
    seconds, own = time.monotonic() - start, _work(job, calibrated)
    for other, found in _others_to_run(entry, name, cache, out.parent):
        work = _work(other, found)
        expected = seconds * work / own if 0.0 < own < math.inf else (math.inf if work else 0.0)
        if time.monotonic() - start + expected <= SHARED_SECONDS:
            with suppress(Exception):  # its own process will meet it, and say so
                _leave_ready(other, found, ready.with_name(f"{job_name(other)}.{effective_key(other)}.parquet"))


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.stem}.lock")


def _log_of(path: Path) -> Path:
    """Log beside a table that waits: Snakemake empties the job's own one when the job starts."""
    return path.with_name(f"{path.name}.log")


def _run(job: Mapping[str, Any], calibrated: Calibrations, out: Path, log: Path | None) -> None:
    with JobLog(log, f"run {job['claim']} {job_name(job)}", weights(job, calibrated)) as progress:
        write_table(_named(lambda given: execute(given, calibrated, progress.progress), job), out)


def _leave_ready(job: Mapping[str, Any], calibrated: Calibrations, path: Path) -> None:
    """Run another process's job, unless that or a third one is at it."""
    with key_lock(_lock_of(path), wait=False) as mine:
        if mine and not path.is_file():
            _run(job, calibrated, path, _log_of(path))


def _others_to_run(
    entry: Mapping[str, Any], name: str, cache: Path, tables: Path
) -> Iterator[tuple[Mapping[str, Any], Calibrations]]:
    """The claim's other jobs that are calibrated and have no table yet, with their calibrations."""
    for job in entry["jobs"]:
        if job_name(job) == name or not has_run(job):
            continue
        table = tables / f"{job_name(job)}.parquet"
        made = table.is_file() and read_metadata(table).get("job", {}).get("key") == job["key"]
        if not made:
            with suppress(InputError):
                yield job, read_calibrations(cache / f"{effective_key(job, 'calibration_key')}.json", job)


def _work(job: Mapping[str, Any], calibrated: Calibrations) -> float:
    """Planned gradient evaluations of all replicates, times the dimension: what run times go with, roughly.

    Closed forms and what is skipped take no time; of a run without gradients nothing is known.
    """
    if job["skipped"] or job["evaluation"] == "closed_form":
        return 0.0
    pairs = zip(job["cells"], calibrated, strict=True)
    known = [(cell, found) for cell, found in pairs if isinstance(found, CalibratedCell)]
    work = sum(found.gradient_evaluations * float(cell.get("d") or 1) for cell, found in known)
    return job["replicates"] * job["data_sets"] * work or math.inf


def time_job(
    plan: Path, claim: str, name: str, key: str, calibrations: Path, out: Path, log: Path | None = None
) -> None:
    """Time the methods of a job, one replicate each, and write their curves as JSON. Parameters as in `run_job`."""
    from dpsco_bench.execution.timing import time_cells

    job = planned_job(read_entry(plan, claim), plan, name, key)
    calibrated = read_calibrations(calibrations, job)
    with JobLog(log, f"time {claim} {name}", weights(job, calibrated)) as progress:
        curves = _named(lambda given: time_cells(given, calibrated, progress.progress), job)
        write_text_atomic(out, dumps_pretty({"claim": claim, "job": name, "key": key, **curves}))


def planned_job(entry: Mapping[str, Any], plan: Path, name: str, key: str, which: str = "key") -> dict[str, Any]:
    """The job of a plan entry, if it is still the one that the workflow means; loads its plugins.

    Raises
    ------
    InputError
        If it is absent, has nothing to run, or its ``key`` (or ``calibration_key``) is another one.
    """
    job = find_job(entry, name)
    if which == "key" and not has_run(job):
        raise InputError(f"job of {job['claim']}", name, "a job that runs something")
    planned = effective_key(job, which)
    if planned != key:
        raise InputError(f"{which} of {job['claim']} {name} in {plan}", planned, f"{key}, or snakemake started again")
    load_plugins(job["plugins"])
    return job


def weights(job: Mapping[str, Any], calibrated: Calibrations) -> list[float]:
    """Planned gradient evaluations per cell, for the time left; none where methods differ in what one takes."""
    if len({cell["method"] for cell in job["cells"]}) > 1:
        return []
    return [found.gradient_evaluations for found in calibrated if isinstance(found, CalibratedCell)]
