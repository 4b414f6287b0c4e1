"""Read the inputs of the report: plan, verdicts, result tables, calibrations, timings and run times of a profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from dpsco_bench.analysis.answer import Answer, answers
from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of, job_cells
from dpsco_bench.analysis.noise import NOT_CHARGED, Noise
from dpsco_bench.analysis.races import raced_plan
from dpsco_bench.analysis.verdict import JudgedClaim, Verdict
from dpsco_bench.claims.kinds import NOT_MEASURED
from dpsco_bench.claims.model import RISK, Claim, Part
from dpsco_bench.claims.plan import BoardEntry, ClaimEntry, read_plan
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.cell import CalibratedCell, Calibrations, Cell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.plugins import check_given
from dpsco_bench.execution.timing import Timings
from dpsco_bench.leaderboard.board import Board, Instance
from dpsco_bench.leaderboard.standings import RankedBoard, Skipped, Standing

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group items by a key, in the order in which keys first appear."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


@dataclass(frozen=True)
class Charged:
    """One calibrated cell: what was claimed and what an accountant says of its plan, before anything was run."""

    cell: Cell
    calibrated: CalibratedCell
    calibration: str

    @cached_property
    def noise(self) -> Noise:
        return Noise.of(self.calibrated, self.cell)

    @property
    def real(self) -> float:
        return self.noise.epsilon_real

    @property
    def kind(self) -> str:
        return self.noise.epsilon_real_kind

    @property
    def claimed(self) -> float:
        return self.noise.epsilon_claimed

    @property
    def doubt(self) -> str:
        """Say why a bound shows nothing; empty for every status but ``unproven``."""
        if self.noise.status != "unproven":
            return ""
        if self.calibrated.constants.status == "nominal":
            return f"the constants of {self.cell.problem} are nominal: declared, not true on the whole domain"
        if math.isnan(self.noise.epsilon_real):
            return "no accountant covers it"
        if self.noise.sequence_exceeds:
            return "its query sequence exceeds the claim, what the output reveals is not known"
        if self.noise.epsilon_real_kind == "lower":
            return "a lower bound that does not exceed the claim"
        return "an upper bound above the claim"


@dataclass(frozen=True)
class ClaimResults:
    """One claim of the plan with whatever has been measured of it."""

    entry: ClaimEntry  # the claim and its jobs; those whose results are there do not count as skipped
    files: Layout  # where verdicts and results lie
    verdicts: Sequence[Verdict] | None = None  # where they are at hand; by default those of its verdict file
    _evidence: dict[tuple[str, str], list[MeasuredCell]] = field(default_factory=dict, repr=False, compare=False)
    _calibrations: dict[str, Calibrations] = field(default_factory=dict, repr=False, compare=False)

    @property
    def claim(self) -> Claim:
        return self.entry.claim

    @property
    def jobs(self) -> tuple[Job, ...]:
        return self.entry.jobs

    @property
    def id(self) -> str:
        return self.entry.id

    @property
    def paper(self) -> str:
        return self.entry.paper

    @cached_property
    def parts(self) -> dict[str, Part]:
        return {part.id: part for part in self.claim.parts}

    @cached_property
    def rows(self) -> list[Verdict]:
        """Verdicts, one per (part, calibration), in the order of the claim's file; one that is missing says so."""
        stored = JudgedClaim.read(self.files.verdicts(self.id)) if self.verdicts is None else None
        found = {(row.part, row.calibration): row for row in (stored.verdicts if stored else self.verdicts or ())}
        profile = self.jobs[0].profile if self.jobs else ""
        absent = Verdict(NOT_MEASURED, reason="no verdict file", id=self.id, profile=profile)
        empty = [
            replace(absent, kind=part.kind, part=part.id, calibration=c)
            for part in self.claim.parts
            for c in part.calibrations
        ]
        return [found.get((row.part, row.calibration), row) for row in empty]

    def part(self, row: Verdict) -> Part:
        return self.parts[row.part]

    def job(self, part: str, calibration: str) -> Job | None:
        return next((j for j in self.jobs if j.part == part and j.calibration == calibration), None)

    def calibrations(self, job: Job) -> Calibrations:
        """Say what the calibration step gave for a job; none if it has not run or was skipped."""
        if job.name not in self._calibrations:
            found = None if job.skipped else self.files.measured.calibrations(job)
            self._calibrations[job.name] = found or ()
        return self._calibrations[job.name]

    def charged(self, part: str, calibration: str) -> list[Charged]:
        """Find the charged cells that a (part, calibration) judges; of those that differ in a signal alone, one."""
        wanted = {part, *self.parts[part].uses}
        found: dict[tuple[Any, ...], Charged] = {}
        for job in (job for job in self.jobs if job.part in wanted and job.calibration == calibration):
            for cell, calibrated in zip(job.cells, self.calibrations(job), strict=False):
                if isinstance(calibrated, CalibratedCell) and calibrated.accountant != NOT_CHARGED:
                    key: tuple[Any, ...] = (id(cell),)
                    if cell.signal is not None:  # on which the noise rarely depends
                        real, kind = repr(calibrated.epsilon_real), calibrated.epsilon_real_kind
                        key = (cell.method, cell.value, real, kind, calibrated.privacy_status, calibrated.warnings)
                    found.setdefault(key, Charged(cell, calibrated, calibration))
        return [*found.values()]

    def timing(self, job: Job) -> Timings | None:
        return self.files.measured.timing(job) if job.timing else None

    def evidence(self, part: str, calibration: str) -> list[MeasuredCell]:
        """Read the measured cells of a (part, calibration); empty where skipped or not yet run."""
        key, job = (part, calibration), self.job(part, calibration)
        if key not in self._evidence and job and not job.skipped:
            calibrations, own = self.calibrations(job), self.parts[part]
            table = self.files.measured.table(job) if job.has_run else None
            quantity = own.quantity if table is not None and calibration in own.calibrations else RISK
            if len(calibrations) == len(job.cells) and (table is not None or not job.has_run):
                self._evidence[key] = evidence_of(job_cells(job, table, calibrations), quantity, own.requires)
        return self._evidence.setdefault(key, [])


@dataclass(frozen=True)
class BoardResults:
    """One leaderboard of the plan, and its standings."""

    entry: BoardEntry  # the board and its jobs
    files: Layout  # where the standings lie

    @property
    def id(self) -> str:
        return self.entry.id

    @cached_property
    def board(self) -> Board:
        return Board.of(self.entry)

    @cached_property
    def rows(self) -> Sequence[Standing | Skipped]:
        """A row per (instance, point); empty where nothing has been ranked."""
        found = RankedBoard.read(self.files.standings(self.id))
        return found.standings if found else ()

    @property
    def points(self) -> list[Standing]:
        return [row for row in self.rows if isinstance(row, Standing)]

    @property
    def by_instance(self) -> list[tuple[Instance, list[Standing]]]:
        found = [(one, [row for row in self.points if row.instance == one.id]) for one in self.board.instances]
        return [(one, rows) for one, rows in found if rows]


@dataclass(frozen=True)
class Inputs:
    """Everything that a profile's report is made from."""

    files: Layout  # where its results lie
    claims: list[ClaimResults]  # every claim of the plan, in its order
    stamp: str = ""  # digest of what the plan was made from
    boards: list[BoardResults] = field(default_factory=list)  # every leaderboard of the plan

    @property
    def profile(self) -> str:
        return self.files.profile

    def find(self, id: str) -> ClaimResults | None:
        """Find a claim; None where the profile does not have it."""
        return next((claim for claim in self.claims if claim.id == id), None)

    def claim(self, id: str) -> ClaimResults:
        if found := self.find(id):
            return found
        raise InputError("claim", id, nearest(id, [claim.id for claim in self.claims], "dpsco list claims"), "plan")

    @property
    def rows(self) -> list[Verdict]:
        """Every verdict of the profile, in the order of plan and claim files."""
        return [row for claim in self.claims for row in claim.rows]

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """Id of each claim -> what its verdicts come to."""
        return answers(self.rows)

    @property
    def papers(self) -> list[str]:
        return list(dict.fromkeys(claim.paper for claim in self.claims))

    def of_paper(self, paper: str) -> list[ClaimResults]:
        return [claim for claim in self.claims if claim.paper == paper]

    def all_jobs(self) -> Iterator[tuple[ClaimResults, Job]]:
        return ((claim, job) for claim in self.claims for job in claim.jobs)


def read_inputs(files: Layout, only: str = "") -> Inputs:
    """Read a plan, or ``only`` one claim or leaderboard of it.

    Raises InputError if there is no plan, one without ``only``, or one with plugins that this process was not given.
    """
    plan = raced_plan(read_plan(files.plan, [only] if only else None), files.measured)
    check_given((path for job in plan.jobs() for path in job.plugins), files.plan)
    claims = [ClaimResults(files.measured.present(entry), files) for entry in plan.claims]
    boards = [BoardResults(entry, files) for entry in plan.boards]
    return Inputs(files, claims, plan.stamp, boards)
