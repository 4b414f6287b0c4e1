"""What the report reads: the plan, verdicts, result tables, calibrations, timings and run times of one profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsco_bench.analysis.evidence import CellEvidence, job_evidence
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.model import RISK
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import Calibrations, read_cells
from dpsco_bench.execution.layout import job_name, read_plan
from dpsco_bench.execution.plugins import job_plugins, load_plugins
from dpsco_bench.execution.present import present_results
from dpsco_bench.execution.results import read_table
from dpsco_bench.jsonio import loads

NOT_MEASURED = "not measured"
Job = Mapping[str, Any]


FOLDERS = ("calibrations", "runs")


def job_path(root: Path, folder: str, job: Job) -> Path:
    """Where a job's calibrations, runs or timings lie."""
    return root / folder / job["claim"] / f"{job_name(job)}.{'parquet' if folder == 'runs' else 'json'}"


@dataclass(frozen=True)
class ClaimResults:
    """One claim of the plan with whatever has been measured of it.

    Attributes
    ----------
    claim : mapping
        The claim as data.
    jobs : list of mapping
        Its jobs.
    root : Path
        Folder of the profile's results.
    verdicts : Path or None
        Verdict file; None for that of the folder.
    """

    claim: Mapping[str, Any]
    jobs: list[Job]
    root: Path
    verdicts: Path | None = None
    _evidence: dict[tuple[str, str], list[CellEvidence]] = field(default_factory=dict, repr=False, compare=False)
    _calibrations: dict[str, Calibrations] = field(default_factory=dict, repr=False, compare=False)

    @property
    def id(self) -> str:
        """Id of the claim."""
        return str(self.claim["id"])

    @property
    def paper(self) -> str:
        """Paper prefix of the id."""
        return self.id.split(".", 1)[0]

    @cached_property
    def parts(self) -> dict[str, Mapping[str, Any]]:
        """Parts of the claim by id, in the order of its file."""
        return {part["id"]: part for part in self.claim["parts"]}

    @cached_property
    def rows(self) -> list[Verdict]:
        """Verdicts, one per (part, calibration), in the order of the claim's file; none is ever left out.

        A part without a verdict gets a row that says so.
        """
        path = self.verdicts or self.root / "verdicts" / f"{self.id}.json"
        found = loads(path.read_text())["verdicts"] if path.is_file() else []
        rows = {(row["part"], row["calibration"]): Verdict.from_json(row) for row in found}
        for part in self.claim["parts"]:
            for calibration in part["calibrations"]:
                rows.setdefault((part["id"], calibration), self._not_measured(part, calibration))
        order = {part: number for number, part in enumerate(self.parts)}
        return sorted(rows.values(), key=lambda row: order.get(row.part, len(order)))

    def _not_measured(self, part: Mapping[str, Any], calibration: str) -> Verdict:
        profile = self.jobs[0]["profile"] if self.jobs else ""
        who = {"id": self.id, "part": part["id"], "calibration": calibration, "profile": profile}
        return Verdict(NOT_MEASURED, part["kind"], "no verdict file", **who)

    def sources(self, part: str, calibration: str) -> list[Job]:
        """Jobs whose rows a part judges under a calibration."""
        wanted = {part, *(self.parts[part]["uses"] if part in self.parts else ())}
        return [job for job in self.jobs if job["part"] in wanted and job["calibration"] == calibration]

    def job(self, part: str, calibration: str) -> Job | None:
        """The job of a (part, calibration), if the plan has one."""
        return next((j for j in self.jobs if j["part"] == part and j["calibration"] == calibration), None)

    def calibrations(self, job: Job) -> Calibrations:
        """What the calibration step wrote for a job; none if it has not run or was skipped."""
        name = job_name(job)
        if name not in self._calibrations:
            path = job_path(self.root, "calibrations", job)
            self._calibrations[name] = read_cells(loads(path.read_text())) if path.is_file() else ()
        return self._calibrations[name]

    def table(self, job: Job) -> tuple[pa.Table | None, Mapping[str, Any]]:
        """Result table of a job with its metadata; none where nothing is run."""
        path = job_path(self.root, "runs", job)
        return read_table(path) if path.is_file() else (None, {})

    def timing(self, job: Job) -> Mapping[str, Any]:
        """Timing file of a job, empty if it has none."""
        path = job_path(self.root, "timings", job)
        return loads(path.read_text()) if path.is_file() else {}

    def evidence(self, part: str, calibration: str) -> list[CellEvidence]:
        """Measured cells of a (part, calibration); empty where skipped or not yet run."""
        key = (part, calibration)
        if key not in self._evidence:
            self._evidence[key] = self._read_evidence(self.job(part, calibration))
        return self._evidence[key]

    def _read_evidence(self, job: Job | None) -> list[CellEvidence]:
        if job is None or job["skipped"]:
            return []
        calibrations, table = self.calibrations(job), self.table(job)[0]
        if len(calibrations) != len(job["cells"]) or (table is None and job["evaluation"] != "plan_only"):
            return []
        quantity = self.parts.get(job["part"], {}).get("quantity", RISK)
        other = table is not None and job["calibration"] != "none" and not get_kind(job["kind"]).quantities
        return job_evidence(job, table, calibrations, quantity if other else RISK)


@dataclass(frozen=True)
class BoardResults:
    """One leaderboard of the plan with whatever has been measured of it.

    Attributes
    ----------
    id, title : str
    board : mapping
        The board as data.
    jobs, left_out : list of mapping
        What is run, and what is not.
    root : Path
        Folder of the profile's results.
    profile : str
        Whose grids were run.
    """

    id: str
    title: str
    board: Mapping[str, Any]
    jobs: list[Job]
    left_out: list[Mapping[str, Any]]
    root: Path
    profile: str

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Standings, a row per (instance, point); empty where nothing has been ranked."""
        path = self.root / "standings" / f"{self.id}.json"
        return loads(path.read_text(encoding="utf-8"))["standings"] if path.is_file() else []


@dataclass(frozen=True)
class Inputs:
    """Everything that a profile's report is made from.

    Attributes
    ----------
    profile : str
        Name of the profile.
    root : Path
        Folder of its results.
    claims : list of ClaimResults
        Every claim of the plan, in its order.
    stamp : str
        Digest of what the plan was made from.
    boards : list of BoardResults
        Every leaderboard of the plan.
    """

    profile: str
    root: Path
    claims: list[ClaimResults]
    stamp: str = ""
    boards: list[BoardResults] = field(default_factory=list)

    def claim(self, id: str) -> ClaimResults:
        """The claim of that id.

        Raises
        ------
        InputError
            If the plan does not have it.
        """
        for claim in self.claims:
            if claim.id == id:
                return claim
        raise InputError("claim", id, "one of " + ", ".join(claim.id for claim in self.claims), "plan")

    @property
    def papers(self) -> list[str]:
        """Papers of the claims, in order of appearance."""
        return list(dict.fromkeys(claim.paper for claim in self.claims))

    def of_paper(self, paper: str) -> list[ClaimResults]:
        """Claims of one paper."""
        return [claim for claim in self.claims if claim.paper == paper]

    def all_jobs(self) -> Iterator[tuple[ClaimResults, Job]]:
        """Every job with its claim."""
        for claim in self.claims:
            for job in claim.jobs:
                yield claim, job


def read_inputs(plan_path: Path, profile: str = "", only: str = "") -> Inputs:
    """Read a plan and load its plugins; results are looked for beside it.

    Parameters
    ----------
    plan_path : Path
        ``results/<profile>/plan.json``.
    profile : str
        Checked against the plan if given.
    only : str
        Id of the one claim or leaderboard to read; empty for all.

    Raises
    ------
    InputError
        If it is not a plan, that of another profile, or one without ``only``.
    """
    plan = read_plan(plan_path, only)
    if profile and plan["profile"] != profile:
        raise InputError("profile", profile, f"{plan['profile']}, the profile of {plan_path}")
    load_plugins(job_plugins(job for entry in plan["claims"] for job in entry["jobs"]))
    root = plan_path.parent
    found = [
        present_results(entry, *(partial(job_path, root, folder) for folder in FOLDERS)) for entry in plan["claims"]
    ]
    claims = [ClaimResults(entry["claim"], entry["jobs"], root) for entry in found]
    return Inputs(plan["profile"], root, claims, str(plan.get("stamp", "")), list(_boards(plan, root)))


def _boards(plan: Mapping[str, Any], root: Path) -> Iterator[BoardResults]:
    for entry in plan.get("boards", ()):
        claim = entry["claim"]
        parts = (entry["board"], entry["jobs"], entry["left_out"])
        yield BoardResults(claim["id"], claim["title"], *parts, root, plan["profile"])
