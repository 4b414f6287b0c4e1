"""Where the numbers come from: versions, seeds, digests, machines, and how long each job took."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dpsco_bench import __version__
from dpsco_bench.analysis.record import read_record
from dpsco_bench.errors import InputError
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.times import Machine
from dpsco_bench.execution.timing import machine
from dpsco_bench.paths import shared_dir
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import NOTHING, count, number, seconds
from dpsco_bench.report.origin import commit_of, commit_text, lock_text
from dpsco_bench.report.tables import Column, Columns, Table

PACKAGES = ("numpy", "scipy", "pyarrow", "numba", "dp-accounting", "matplotlib")


@dataclass(frozen=True)
class Fact:
    """One line of the provenance."""

    name: str
    value: str


@dataclass(frozen=True)
class JobRow:
    """One job with what it cost.

    Attributes
    ----------
    calibrate, run : tuple of float or None
        CPU seconds and peak memory in MB of all its cells; None where nothing was measured.
    """

    job: Job
    calibrate: tuple[float, float] | None
    run: tuple[float, float] | None


def facts(inputs: Inputs) -> list[Fact]:
    """Commit, versions, lock, seeds, digests and machines in short."""
    jobs = [job for _, job in inputs.all_jobs()]
    return [
        Fact("Profile", inputs.profile),
        Fact("Commit that wrote this page", commit_text()),
        Fact("Verdicts on record", _on_record(inputs)),
        Fact("Versions", ", ".join(_versions())),
        Fact("Lock of all packages", lock_text()),
        Fact("Root seed", _distinct(job.seed for job in jobs)),
        Fact("Arithmetic", _distinct(f"{job.backend}, {job.dtype}" for job in jobs)),
        Fact("Digest of the plan", inputs.stamp or NOTHING),
        Fact("Page and figures made on", _machine(machine("numpy"))),
        *(Fact("Running times of figures taken on", text) for text in _timing_machines(inputs)),
        Fact("CPU time of all jobs", _total(inputs)),
    ]


def _on_record(inputs: Inputs) -> str:
    """The commit of the recorded verdicts of this profile, and how many differ from those of this page."""
    try:
        path = shared_dir("workflows") / "recorded" / f"{inputs.profile}.json"
    except InputError:
        return "not known: the package was installed without them"
    known = {(row.id, row.part, row.calibration): row.verdict for row in read_record(path)}
    rows = [row for claim in inputs.claims for row in claim.rows]
    differ = sum(known.get((row.id, row.part, row.calibration)) != row.verdict for row in rows)
    commit = commit_of(path)
    told = f"{differ} of {count(len(rows))} differ" if differ else f"none of {count(len(rows))} differs"
    return f"{told} from those here" + f"; recorded at {commit}" * bool(commit)


def _versions() -> list[str]:
    found = [f"Python {platform.python_version()}", f"dpsco_bench {__version__}"]  # metadata may be of an older install
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _distinct(values: Any) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values)) or NOTHING


def _machine(entry: Machine) -> str:
    shown = [entry.processor, f"{entry.cores} cores", entry.system]
    return ", ".join([*shown, *([entry.device] if entry.device else [])])


def _timing_machines(inputs: Inputs) -> list[str]:
    found = (claim.timing(job) for claim, job in inputs.all_jobs())
    return list(dict.fromkeys(_machine(one.machine) for one in found if one))


def _total(inputs: Inputs) -> str:
    rows = job_rows(inputs)
    found = {(step, key): cost for row in rows for step, key, cost in _costs(row) if cost}
    if not found:
        return "not measured"
    return f"{seconds(sum(cost[0] for cost in found.values()))} in {len(found)} calibrations and runs"


def _costs(row: JobRow) -> list[tuple[str, str, tuple[float, float] | None]]:
    """(step, key, cost): jobs of several claims that share a key were computed once."""
    return [("calibrate", row.job.calibration_key, row.calibrate), ("run", row.job.key, row.run)]


def job_rows(inputs: Inputs) -> list[JobRow]:
    """Every job with the costs of its calibration and its run, as the manifests of the store have them."""
    jobs = [*(job for _, job in inputs.all_jobs()), *(job for board in inputs.boards for job in board.entry.jobs)]
    cost = inputs.files.measured.cost
    return [JobRow(job, cost("calibrate", job), cost("run", job) if job.has_run else None) for job in jobs]


def _replicates(job: Job) -> str:
    if job.evaluation != "run":
        return NOTHING
    return count(job.replicates) + (f" × {job.data_sets} data sets" if job.data_sets > 1 else "")


JOBS: Columns = {
    "Claim": Column("job.claim", kind="code"),
    "Part": Column("job.part", kind="code"),
    "Noise": Column("job.calibration"),
    "Cells": Column(lambda row: len(row.job.cells), str, "cells", numeric=True),
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
    """Tabulate the frame of jobs: keys, sizes and run times."""
    note = "A key is the digest of all that affects a job's numbers: its configuration and the code that it uses."
    return Table("jobs", "Jobs", JOBS, job_rows(inputs), note)
