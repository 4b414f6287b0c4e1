"""What has been measured of a plan's jobs, as the store has it: calibrations, result tables, timings, costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TypeVar

import pyarrow as pa

from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import Calibrated, Calibrations
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plan import Entry, digest
from dpsco_bench.execution.results import parquet_table, with_names
from dpsco_bench.execution.store import Store, total
from dpsco_bench.execution.times import Timings
from dpsco_bench.jsonio import restore
from dpsco_bench.plain import Record

E = TypeVar("E", bound=Entry)
R = TypeVar("R", bound=Record)
INFINITY = b'inf"'
"""What a text has in which an infinity is to be restored; going through all its values takes as long as reading it."""
TIMING_MODULES = ("dpsco_bench.execution.timing",)


def timing_key(job: Job) -> str:
    """Key of a job's timings."""
    return digest([job.key, code_digest(TIMING_MODULES)])


def item(step: str, job: Job) -> tuple[str, str]:
    """Kind and key of what a step (``calibrate``, ``run`` or ``time``) makes of a job."""
    kinds = {"calibrate": ("calibrations", job.calibration_key), "run": ("runs", job.key)}
    return kinds[step] if step in kinds else ("timings", timing_key(job))


def is_wanted(step: str, job: Job) -> bool:
    """Check that a job has a step that can be done here."""
    if job.skipped or (step != "calibrate" and not job.has_run):
        return False
    return step != "time" or (job.timing and not job.present)


@dataclass(frozen=True)
class Measured:
    """Reads the store by jobs.

    Attributes
    ----------
    store : Store
    """

    store: Store

    def has(self, step: str, job: Job) -> bool:
        """Check that what a step makes of a job is there, undamaged."""
        return self.store.has(*item(step, job))

    def calibrations(self, job: Job) -> Calibrations | None:
        """What calibrating its cells gave; None where that is not there."""
        found = self._read("calibrations", job.calibration_key, Calibrated)
        return None if found is None else found.cells

    def timing(self, job: Job) -> Timings | None:
        """What `timing.time_cells` gave; None where it is not there."""
        return self._read("timings", timing_key(job), Timings)

    def table(self, job: Job) -> pa.Table | None:
        """Result table; None where it is not there."""
        content = self.store.read("runs", job.key)
        return None if content is None else with_names(parquet_table(content), job.claim, job.part)

    def cost(self, step: str, job: Job) -> tuple[float, float] | None:
        """CPU seconds and peak memory in MB of a step of a job; None where nothing was measured."""
        return total(self.store.costs(*item(step, job)))

    def load(self, job: Job) -> tuple[pa.Table | None, Calibrations]:
        """Result table (None for a job that runs nothing) and calibrations. Raises InputError if one is missing."""
        calibrations, table = self.calibrations(job), self.table(job) if job.has_run else None
        if calibrations is None or (job.has_run and table is None):
            what = "calibrations" if calibrations is None else "result table"
            raise InputError(what, job.title, "in the store: its calibration or run failed, or has not been made")
        return table, calibrations

    def present(self, entry: E) -> E:
        """An entry in which no job counts as skipped whose results are there.

        Data may be absent here and now; a result that was made with them is still the job's result.
        """
        return replace(entry, jobs=tuple(self._present(job) for job in entry.jobs))

    def _present(self, job: Job) -> Job:
        if not job.skipped:
            return job
        there = self.has("calibrate", job) and (not job.has_run or self.has("run", job))
        return replace(job, skipped="", present=job.skipped) if there else job

    def _read(self, kind: str, key: str, record: type[R]) -> R | None:
        content = self.store.read(kind, key)
        if content is None:
            return None
        found = json.loads(content)
        return record.from_json(restore(found) if INFINITY in content else found)
