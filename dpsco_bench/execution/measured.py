"""What has been measured of a plan's jobs, as the store has it: calibrations, result tables, timings, costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa

from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import Calibrations, read_cells
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.job import WHOLE, Shard
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plan import Entry, digest
from dpsco_bench.execution.results import join_shards, parquet_table, table_bytes, with_names
from dpsco_bench.execution.store import Store, total
from dpsco_bench.jsonio import restore

if TYPE_CHECKING:
    from dpsco_bench.execution.timing import Timings

E = TypeVar("E", bound=Entry)
TIMING_MODULES = ("dpsco_bench.execution.timing",)


def shard_key(job: Job, shard: Shard) -> str:
    """Key of a share of a job; where the cuts lie depends on the predicted seconds."""
    return digest([job.key, job.seconds, shard.number, shard.of])


def timing_key(job: Job) -> str:
    """Key of a job's timings."""
    return digest([job.key, code_digest(TIMING_MODULES)])


def item(step: str, job: Job, shard: Shard = WHOLE) -> tuple[str, str]:
    """Kind and key of what a step (``calibrate``, ``run`` or ``time``) makes of a job."""
    if step == "calibrate":
        return "calibrations", job.calibration_key
    if step == "time":
        return "timings", timing_key(job)
    return ("runs", job.key) if shard.of == 1 else ("shards", shard_key(job, shard))


@dataclass(frozen=True)
class Measured:
    """Reads the store by jobs."""

    store: Store

    def calibrations(self, job: Job) -> Calibrations | None:
        """What calibrating its cells gave; None where that is not there."""
        found = self._json("calibrations", job.calibration_key)
        return None if found is None else read_cells(found)

    def timing(self, job: Job) -> Timings | None:
        """What `timing.time_cells` gave; None where it is not there."""
        return cast("Timings | None", self._json("timings", timing_key(job)))

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
        there = self.store.has("calibrations", job.calibration_key)
        there = there and (not job.has_run or self.store.has("runs", job.key))
        return replace(job, skipped="", present=job.skipped) if there else job

    def join(self, job: Job, of: int) -> bool:
        """Make a job's table of its shards if all of them are there; whether it is there at the end."""
        shards = [shard_key(job, Shard(number, of)) for number in range(of)]
        with self.store.lock("runs", job.key):
            if self.store.has("runs", job.key):
                return True
            found = [self.store.read("shards", key) for key in shards]
            tables = [parquet_table(content) for content in found if content is not None]
            if len(tables) < of:
                return False
            costs = [cost for key in shards for cost in self.store.costs("shards", key)]
            self.store.write("runs", job.key, table_bytes(join_shards(tables)), costs)
        for key in shards:
            self.store.remove("shards", key)
        return True

    def _json(self, kind: str, key: str) -> Mapping[str, Any] | None:
        content = self.store.read(kind, key)
        return None if content is None else restore(json.loads(content))
