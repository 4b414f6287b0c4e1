"""Where the files of a profile lie, and how a job finds its part of the plan and its calibrations.

Paths are relative to the working directory. The rules in ``workflows/`` take their patterns from here, with wildcards
for names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import loads, restore

if TYPE_CHECKING:
    from dpsco_bench.execution.calibrated import Calibrations


def job_name(job: Mapping[str, Any]) -> str:
    """Name of a job within its claim: ``<part>.<calibration>``."""
    return f"{job['part']}.{job['calibration']}"


def has_run(job: Mapping[str, Any]) -> bool:
    """Whether a job has a result table; the others are only planned and calibrated."""
    return job["evaluation"] != "plan_only"


@dataclass(frozen=True)
class Layout:
    """Files of one profile.

    Parameters
    ----------
    profile : str
        ``smoke``, ``ci`` or ``full``.
    base : Path
        Working directory of the workflow.
    """

    profile: str
    base: Path = Path()

    @property
    def results(self) -> Path:
        """Folder of everything but figures."""
        return self.base / "results" / self.profile

    @property
    def figures(self) -> Path:
        """Folder of the figures."""
        return self.base / "figures" / self.profile

    @property
    def plan(self) -> Path:
        """The plan, written by the plan step."""
        return self.results / "plan.json"

    @property
    def lock(self) -> Path:
        """The file whose kernel lock a live run holds."""
        return self.results / ".lock"

    @property
    def report(self) -> Path:
        """The report, one HTML page."""
        return self.results / "report.html"

    @property
    def tables(self) -> Path:
        """Folder of the report's tables."""
        return self.results / "tables"

    @property
    def gate(self) -> Path:
        """Written by a gate that passed."""
        return self.results / "gate.txt"

    @property
    def cache(self) -> Path:
        """Calibrations by key, shared by all profiles."""
        return self.base / "results" / "cache" / "workflow"

    def calibrations(self, job: Mapping[str, Any]) -> Path:
        """Calibrations of a job's cells."""
        return self.results / "calibrations" / job["claim"] / f"{job_name(job)}.json"

    def run(self, job: Mapping[str, Any]) -> Path:
        """Result table of a job."""
        return self.results / "runs" / job["claim"] / f"{job_name(job)}.parquet"

    def ready(self, job: Mapping[str, Any]) -> Path:
        """Result table of a job that another process of its claim made, until the job takes it."""
        return self.results / "ready" / job["claim"] / f"{job_name(job)}.{effective_key(job)}.parquet"

    @property
    def wanted(self) -> Path:
        """The claims that the present run calibrates, and those that it judges with the digests of their verdicts."""
        return self.results / "wanted.json"

    @property
    def judged(self) -> Path:
        """Verdicts and figures that another process made, by claim and digest, until their own steps take them."""
        return self.results / "judged"

    def timing(self, job: Mapping[str, Any]) -> Path:
        """Seconds per gradient evaluation of a job's methods."""
        return self.results / "timings" / job["claim"] / f"{job_name(job)}.json"

    def verdicts(self, claim: str) -> Path:
        """Verdict rows of a claim."""
        return self.results / "verdicts" / f"{claim}.json"

    def standings(self, board: str) -> Path:
        """Standings of a leaderboard."""
        return self.results / "standings" / f"{board}.json"

    def log(self, step: str, *names: str) -> Path:
        """Log of a step of the workflow for a claim, or for a job of it."""
        return self.results.joinpath("logs", step, *names[:-1], f"{names[-1]}.log")

    def benchmark(self, step: str, *names: str) -> Path:
        """Run time and memory of a step, as Snakemake's ``benchmark`` writes them."""
        return self.results.joinpath("benchmarks", step, *names[:-1], f"{names[-1]}.tsv")

    def figure(self, claim: str, suffix: str = "svg") -> Path:
        """Figure of a claim."""
        return self.figures / f"{claim}.{suffix}"


def judged_name(claim: str, digest: str) -> str:
    """Folder of a claim's figures that belong to the verdicts with a digest."""
    return f"{claim}.{digest}"


def read_plan(plan: Path, only: str = "") -> dict[str, Any]:
    """A plan; with ``only``, the id of a claim or leaderboard, nothing is left of it but that one entry.

    Raises
    ------
    InputError
        If there is no such plan, or the plan has no such claim.
    """
    found = read_plan_text(plan)
    if only:
        ids = [entry["claim"]["id"] for entry in planned_entries(found)]
        if only not in ids:
            raise InputError(f"claim of {plan}", only, "one of " + ", ".join(ids))
        for kind in ("claims", "boards"):
            found[kind] = [entry for entry in found.get(kind, ()) if entry["claim"]["id"] == only]
    return restore(found)


def read_entry(plan: Path, claim: str) -> dict[str, Any]:
    """The entry ``{"claim": ..., "jobs": [...]}`` of a claim or leaderboard in a plan.

    Raises
    ------
    InputError
        If there is no such plan, or the plan has no such claim.
    """
    return planned_entries(read_plan(plan, claim))[0]


def planned_entries(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Everything in a plan that has jobs: claims, then leaderboards."""
    return [*plan["claims"], *plan.get("boards", ())]


def read_plan_text(plan: Path) -> dict[str, Any]:
    """A plan as plain JSON, infinities still strings: decoding them all is slow, and a job needs one entry."""
    try:
        found = json.loads(plan.read_text(encoding="utf-8")) if plan.is_file() else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("claims"), list):
        raise InputError("plan", plan, "a file written by `python -m dpsco_bench plan`")
    return found


def find_job(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The job ``<part>.<calibration>`` of a plan entry.

    Raises
    ------
    InputError
        If the entry has no such job.
    """
    for job in entry["jobs"]:
        if job_name(job) == name:
            return job
    raise InputError(f"job of {entry['claim']['id']}", name, "one of " + ", ".join(map(job_name, entry["jobs"])))


def read_calibrations(path: Path, job: Mapping[str, Any]) -> Calibrations:
    """Calibrations of a job, stored as ``{"key": ..., "cells": [...]}``.

    Raises
    ------
    InputError
        If the file is absent, or was made for another version of the job.
    """
    from dpsco_bench.execution.calibrated import read_cells

    stored, need = stored_json(path), effective_key(job, "calibration_key")
    if stored.get("key") != need:
        raise InputError(f"key of {path}", stored.get("key", "absent"), f"{need}: snakemake --forcerun calibrate")
    return read_cells(stored)


def effective_key(job: Mapping[str, Any], which: str = "key") -> str:
    """The job's ``key`` or ``calibration_key``, marked where it can only be skipped.

    The key itself is the same with and without data, so that finished results stay those of the job; what a skipped
    job writes must not be taken for them.
    """
    return f"skipped-{job[which]}" if job["skipped"] else str(job[which])


def stored_json(path: Path) -> dict[str, Any]:
    """A JSON file; empty if it is absent or no such file."""
    try:
        found = loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
