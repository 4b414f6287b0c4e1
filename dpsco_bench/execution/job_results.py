"""Read what the store has of a plan's jobs: calibrations, result tables, timings, costs; and summarise a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Calibrated, Calibrations, Cell, located
from dpsco_bench.execution.jobs import Decided, Entry, Job
from dpsco_bench.execution.results import FINAL, join_parts, parquet_table, read_extras, with_names
from dpsco_bench.execution.run import get_measure
from dpsco_bench.execution.store import Cost, Store
from dpsco_bench.execution.timing import Timings
from dpsco_bench.jsonio import loads
from dpsco_bench.plain import IF_GIVEN, Plain, Record
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.samplers.evidence import NOT_CERTIFIED, unsettled

E = TypeVar("E", bound=Entry)
R = TypeVar("R", bound=Record)
HELD_OUT = ("held_out_loss", "held_out_accuracy")
"""Extras of rows of a problem that holds records out."""
LARGEST_Z = 4.0
"""Standard errors that chains may be away from a known law."""
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
        costs = self.costs(step, job)
        return (sum(cost.cpu_s for cost in costs), max(cost.peak_mb for cost in costs)) if costs else None

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

        def seen(job: Job) -> Job:
            there = self.has("calibrate", job) and (not job.has_run or self.has("run", job))
            return replace(job, skipped="", present=job.skipped) if there else job

        return replace(entry, jobs=tuple(seen(job) if job.skipped else job for job in entry.jobs))

    def _read(self, kind: str, key: str, record: type[R]) -> R | None:
        content = self.store.read(kind, key)
        return None if content is None else record.from_json(loads(content.decode()))


@dataclass(frozen=True)
class HeldOut(Record):
    """Mean loss and, of classes, accuracy on the records that are held out; None where there is none."""

    loss: float
    accuracy: float | None = field(default=None, metadata=IF_GIVEN)

    @classmethod
    def of(cls, extras: Mapping[str, np.ndarray]) -> HeldOut:
        """Average what rows noted under the names of `HELD_OUT`."""
        return cls(*(float(np.mean(extras[name])) for name in HELD_OUT if name in extras))


@dataclass(frozen=True)
class HeldOutBeside(Record):
    """The held-out numbers of a method's outputs, of the starting point, and of the minimiser on the records in use."""

    own: HeldOut
    trivial: HeldOut
    without_privacy: HeldOut

    @classmethod
    def of(cls, cell: Cell, seed: int, extras: Mapping[str, np.ndarray]) -> HeldOutBeside | None:
        """Build it from a cell with its data root and its final rows' extras; None if no records are held out."""
        if HELD_OUT[0] not in extras:
            return None
        problem, data = cell.problem_entry, cell.draw_data(seed, 0)
        points = (problem.start, problem.minimiser(data))
        return cls(HeldOut.of(extras), *(HeldOut.of(problem.beside(x[None], data)) for x in points))

    def to_json(self) -> Plain:
        """Return the method's own numbers, the others under their names."""
        return {**self.own.to_json(), "trivial": self.trivial, "without_privacy": self.without_privacy}


@dataclass(frozen=True)
class Summary(Record):
    """A run in a line; its fields are those of ``run --json``.

    The risk is the mean over replicates, its error that of the data sets' means where there are several. Warnings say
    too whether chains are certified.
    """

    algorithm: str
    variant: str
    problem: str
    n: int
    d: int
    calibration: str
    epsilon_claimed: float
    delta: float
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_of: str
    epsilon_output: float | None
    epsilon_output_kind: str
    epsilon_sequence: float | None
    epsilon_sequence_kind: str
    privacy_status: str
    accountant: str
    planned_evaluations: float
    delta_large: bool
    warnings: str
    epsilon_law: float | None
    tau: float | None
    sampler_status: str
    risk_kind: str
    risk: float
    stderr: float
    start_risk: float
    gradient_evaluations: float
    replicates: int
    data_sets: int
    seed: int
    key: str
    held_out: HeldOutBeside | None = field(default=None, metadata=IF_GIVEN)

    @cached_property
    def half_interval(self) -> float:
        """Half of the 95 % interval of the mean risk, with Student's quantile; NaN for a single value."""
        size = self.data_sets if self.data_sets > 1 else self.replicates
        return float(stdtrit(size - 1, 0.975)) * self.stderr if size > 1 else math.nan


@dataclass(frozen=True)
class SweptRun:
    """A run of a sweep: the values of the keys that the sweep varies, and what it gave."""

    swept: Mapping[str, str]
    summary: Summary


def risk_kind_of(cell: Cell) -> str:
    """Name what a cell's risks are: an excess risk, empirical or of the population, or another measure."""
    measure = cell.algorithm_entry.measure
    if measure != "excess_risk":
        return get_measure(measure).label
    population: Any = problem_class(cell.problem).population
    if isinstance(population, property):  # the problem's options decide
        population = cell.problem_entry.population
    return "excess population" if population else "excess empirical"


def standard_error(values: np.ndarray) -> float:
    """Compute the standard error of the mean of ``values (R,)``; NaN for a single one."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def summarise(job: Job, table: pa.Table) -> Summary:
    """Mean risk with its standard error, privacy and cost of a job's final outputs."""
    final = table.filter(pa.array(table["checkpoint"].to_numpy() == FINAL))
    risk, sets = final["risk"].to_numpy(), final["data_set"].to_numpy()
    means = np.array([risk[sets == number].mean() for number in np.unique(sets)])
    row, extras, cell = final.slice(0, 1).to_pylist()[0], read_extras(final), job.cells[0]
    chains = "" if row["sampler_status"] == "proven_tv" else _chains(extras)
    found = {
        "warnings": "; ".join(text for text in (row["warnings"], chains) if text),
        "risk_kind": risk_kind_of(cell),
        "risk": float(means.mean()),
        "stderr": standard_error(means if means.size > 1 else risk),
        "gradient_evaluations": float(final["gradient_evaluations"].to_numpy().mean()),
        "held_out": HeldOutBeside.of(located(cell, job.data_root), job.seed, extras),
    }
    of_job = {name: getattr(job, name) for name in ("replicates", "data_sets", "seed", "key")}
    return Summary(**{f.name: row[f.name] for f in fields(Summary) if f.name in row} | of_job | found)


def _chains(extras: Mapping[str, np.ndarray]) -> str:
    """Why the chains that drew the outputs are not certified; empty where they are, and where there are none."""
    if "chain_risk" not in extras:
        return ""
    rhat, ess = extras.get("rhat"), extras.get("ess")  # constant chains have none
    reason = unsettled(np.inf if rhat is None else float(rhat.max()), 0.0 if ess is None else float(ess.min()))
    if reason or "z_score" not in extras:
        unknown = f"{NOT_CERTIFIED}: they have settled, but the law of this instance is not known to compare with"
        return reason or unknown
    z = float(np.abs(extras["z_score"]).max())
    return "" if z <= LARGEST_Z else f"{NOT_CERTIFIED}: {z:.2g} standard errors from the known law"
