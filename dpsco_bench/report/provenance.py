"""Where the numbers come from: versions, seeds, digests, machines, and how long each job took."""

from __future__ import annotations

import csv
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpsco_bench.execution.layout import Layout, job_name
from dpsco_bench.execution.timing import machine
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import NOTHING, count, number, seconds
from dpsco_bench.report.tables import Column, Table

PACKAGES = ("dpsco_bench", "numpy", "scipy", "pyarrow", "numba", "dp-accounting", "matplotlib")


@dataclass(frozen=True)
class Fact:
    """One line of the provenance."""

    name: str
    value: str


@dataclass(frozen=True)
class JobRow:
    """One job with its side files."""

    job: Mapping[str, Any]
    calibrate: Mapping[str, float]
    run: Mapping[str, float]


def facts(inputs: Inputs) -> list[Fact]:
    """Versions, seeds, digests and machines in short."""
    jobs = [job for _, job in inputs.all_jobs()]
    return [
        Fact("Profile", inputs.profile),
        Fact("Versions", ", ".join(_versions())),
        Fact("Root seed", _distinct(job["seed"] for job in jobs)),
        Fact("Arithmetic", _distinct(f"{job['backend']}, {job['dtype']}" for job in jobs)),
        Fact("Digest of the plan", inputs.stamp or NOTHING),
        Fact("Page and figures made on", _machine(machine("numpy"))),
        *(Fact("Running times of figures taken on", text) for text in _timing_machines(inputs)),
        Fact("Wall time of all jobs", _total(inputs)),
    ]


def _versions() -> list[str]:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _distinct(values: Any) -> str:
    return "; ".join(dict.fromkeys(str(value) for value in values)) or NOTHING


def _machine(entry: Mapping[str, Any]) -> str:
    shown = [str(entry["processor"]), f"{entry['cores']} cores", str(entry["system"])]
    return ", ".join([*shown, *([str(entry["device"])] if "device" in entry else [])])


def _timing_machines(inputs: Inputs) -> list[str]:
    found = (claim.timing(job).get("machine") for claim, job in inputs.all_jobs())
    return list(dict.fromkeys(_machine(entry) for entry in found if entry))


def _total(inputs: Inputs) -> str:
    rows = job_rows(inputs)
    found = [side["s"] for row in rows for side in (row.calibrate, row.run) if "s" in side]
    steps = sum(1 + (row.job["evaluation"] != "plan_only") for row in rows)
    if not found:
        return "no benchmark files"
    return f"{seconds(sum(found))} one after the other ({len(found)} of {steps} steps have a benchmark file)"


def job_rows(inputs: Inputs) -> list[JobRow]:
    """Every job with the benchmarks of its calibration and its run."""
    files = Layout(inputs.profile)
    rows = []
    jobs = [*(job for _, job in inputs.all_jobs()), *(job for board in inputs.boards for job in board.jobs)]
    for job in jobs:
        paths = (files.benchmark(step, job["claim"], job_name(job)) for step in ("calibrate", "run"))
        rows.append(JobRow(job, *(read_benchmark(inputs.root / path.relative_to(files.results)) for path in paths)))
    return rows


def read_benchmark(path: Path) -> dict[str, float]:
    """Seconds (``s``) and peak memory in MB (``max_rss``) of a Snakemake benchmark file; empty if there is none."""
    if not path.is_file():
        return {}
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    found = {}
    for key in ("s", "max_rss"):
        try:
            found[key] = float(rows[-1][key])
        except (IndexError, KeyError, ValueError):
            continue
    return found


def jobs_table(inputs: Inputs) -> Table:
    """Keys, sizes and run times of all jobs."""
    columns = (
        Column("Claim", _of("claim"), {"claim": _of("claim")}, kind="code"),
        Column("Part", _of("part"), {"part": _of("part")}, kind="code"),
        Column("Noise", _of("calibration"), {"calibration": _of("calibration")}),
        Column("Cells", lambda row: str(len(row.job["cells"])), {"cells": lambda row: len(row.job["cells"])}, True),
        Column("Replicates", _replicates, {"replicates": _of("replicates"), "data_sets": _of("data_sets")}, True),
        Column("Evaluation", lambda row: row.job["evaluation"].replace("_", " "), {"evaluation": _of("evaluation")}),
        Column(
            "Calibration", lambda row: seconds(row.calibrate.get("s")), {"calibrate_s": _side("calibrate", "s")}, True
        ),
        Column("Run", lambda row: seconds(row.run.get("s")), {"run_s": _side("run", "s")}, True),
        Column(
            "Memory (MB)",
            lambda row: number(row.run.get("max_rss")),
            {"max_rss_mb": lambda row: row.run.get("max_rss")},
            True,
        ),
        Column(
            "Key",
            lambda row: row.job["key"],
            {"key": _of("key"), "calibration_key": _of("calibration_key")},
            kind="code",
        ),
    )
    note = "A key is the digest of all that affects a job's numbers: its configuration and the code that it uses."
    return Table("jobs", "Jobs", columns, job_rows(inputs), note)


def _side(step: str, key: str) -> Any:
    return lambda row: getattr(row, step).get(key)


def _of(key: str) -> Any:
    return lambda row: row.job[key]


def _replicates(row: JobRow) -> str:
    if row.job["evaluation"] != "run":
        return NOTHING
    sets = row.job["data_sets"]
    return count(row.job["replicates"]) + (f" × {sets} data sets" if sets > 1 else "")
