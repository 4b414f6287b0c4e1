"""Read what the store has of a plan's jobs: calibrations, result tables, timings, costs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TypeVar

import pyarrow as pa

from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Calibrated, Calibrations
from dpsco_bench.execution.job import Shard
from dpsco_bench.execution.jobs import Block, Decided, Entry, Job
from dpsco_bench.execution.results import join_parts, parquet_table, table_bytes, with_names
from dpsco_bench.execution.store import Cost, Store, total
from dpsco_bench.execution.timing import Timings
from dpsco_bench.jsonio import digest, restore
from dpsco_bench.plain import Record

E = TypeVar("E", bound=Entry)
R = TypeVar("R", bound=Record)
INFINITY = b'inf"'
"""Mark of an infinity to be restored in a text; a search through all values takes as long as reading it."""


def piece_key(job: Job, block: Block, piece: Shard) -> str:
    """Key of a share of a block; where the cuts lie depends on the predicted seconds."""
    return digest([block.key, job.seconds, piece.number, piece.of])


STEPS = ("calibrate", "run", "time")


def is_wanted(step: str, job: Job) -> bool:
    """Check that a job has a step that can be done here."""
    if job.skipped or (step != "calibrate" and not job.has_run):
        return False
    return step != "time" or (job.timing and not job.present)


@dataclass(frozen=True)
class Measured:
    """Reads the store by jobs."""

    store: Store

    def calibrations(self, job: Job) -> Calibrations | None:
        found = self._read("calibrations", job.calibration_key, Calibrated)
        return None if found is None else found.cells

    def timing(self, job: Job) -> Timings | None:
        return self._read("timings", job.key, Timings)

    def decided(self, job: Job) -> Decided | None:
        """Read the decision on its group; None if it is missing, or if the job is run to its end."""
        return self._read("stages", job.decisions, Decided) if job.decisions else None

    def items(self, step: str, job: Job) -> list[tuple[str, str]]:
        """Kinds and keys of what a step (``calibrate``, ``run`` or ``time``) makes of a job, as far as decided."""
        if step == "calibrate":
            return [("calibrations", job.calibration_key)]
        if step == "time":
            return [("timings", job.key)]
        if not job.decisions:
            return [("runs", block.key) for block in job.blocks]
        found = self.decided(job)
        return [("stages", job.decisions), *(("runs", block.key) for block in (found.up_to(job) if found else ()))]

    def has(self, step: str, job: Job) -> bool:
        if step == "run" and job.decisions and not ((found := self.decided(job)) and found.done):
            return False
        return all(self.store.has(*address) for address in self.items(step, job))

    def table(self, job: Job, look: int = 0, found: Decided | None = None) -> pa.Table | None:
        """Read the result table of all blocks, or of those that a look reads; None if one is missing."""
        found = found or self.decided(job)
        if job.decisions and found is None:
            return None  # nothing is decided yet
        contents = [self.store.read("runs", block.key) for block in (found.up_to(job, look) if found else job.blocks)]
        tables = [parquet_table(content) for content in contents if content is not None]
        return with_names(join_parts(tables), job.claim, job.part) if len(tables) == len(contents) else None

    def cost(self, step: str, job: Job) -> tuple[float, float] | None:
        """CPU seconds and peak memory in MB of a step of a job; None where nothing was measured."""
        return total(self.costs(step, job))

    def costs(self, step: str, job: Job) -> list[Cost]:
        return [cost for address in self.items(step, job) for cost in self.store.costs(*address)]

    def load(self, job: Job, look: int = 0, found: Decided | None = None) -> tuple[pa.Table | None, Calibrations]:
        """Load result table (None if nothing is run) and calibrations. Raises InputError if one is missing."""
        calibrations, table = self.calibrations(job), self.table(job, look, found) if job.has_run else None
        if calibrations is None or (job.has_run and table is None):
            what = "calibrations" if calibrations is None else "result table"
            raise InputError(what, job.title, "in the store: its calibration or run failed, or has not been made")
        return table, calibrations

    def present(self, entry: E) -> E:
        """Return an entry in which no job with results counts as skipped.

        Data may be absent here and now; a result that was made with them is still the job's result.
        """
        return replace(entry, jobs=tuple(self._present(job) for job in entry.jobs))

    def _present(self, job: Job) -> Job:
        if not job.skipped:
            return job
        there = self.has("calibrate", job) and (not job.has_run or self.has("run", job))
        return replace(job, skipped="", present=job.skipped) if there else job

    def join(self, job: Job, block: Block, of: int) -> None:
        keys = [piece_key(job, block, Shard(number, of)) for number in range(of)]
        found = [self.store.read("pieces", key) for key in keys]
        costs = [cost for key in keys for cost in self.store.costs("pieces", key)]
        tables = [parquet_table(content) for content in found if content is not None]
        self.store.write("runs", block.key, table_bytes(join_parts(tables)), costs)
        for key in keys:
            self.store.remove("pieces", key)

    def _read(self, kind: str, key: str, record: type[R]) -> R | None:
        content = self.store.read(kind, key)
        if content is None:
            return None
        found = json.loads(content)
        return record.from_json(restore(found) if INFINITY in content else found)
