"""Time algorithms: curves (gradient evaluations, seconds) of one replicate, for figures with a time axis.

Data, calibration and loss are outside the clock: it covers gradients, noise and steps only.
"""

from __future__ import annotations

import math
import os
import platform
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.cell import CalibratedCell, Calibrations, Cell, RefusedCell, located
from dpsco_bench.execution.jobs import Job, Progress
from dpsco_bench.execution.run import NO_ROUNDS, Measure, Trace, run_block
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.plain import IF_GIVEN, Plain, Record
from dpsco_bench.problems.objective import Objective

POINTS = 100
"""Most points of a curve."""
REPEATS = 3
ENOUGH_SECONDS = 1.0
"""Repeats stop once they took so long; the fastest one counts, since disturbances only ever add time."""
WARM_SECONDS = 5.0
"""A run that took so long is its own measurement: what its start took to warm up is a small part of it."""


class Clock(Measure):
    """Seconds since the run began, in place of a risk."""

    def at_start(self, objective: Objective) -> np.ndarray:
        self._began = time.perf_counter()
        return np.zeros(objective.replicates)

    def value(self, objective: Objective, x: Any) -> np.ndarray:
        to_numpy(objective.evaluations)  # waits for the device
        return np.full(objective.replicates, time.perf_counter() - self._began)

    def unseen(self, objective: Objective) -> float:
        """Gradients until the next note; never few, since a stretch of few steps is not what is to be timed."""
        return max(super().unseen(objective), math.ceil((self._every or 0.0) / 8))


def time_cells(job: Job, calibrations: Calibrations, progress: Progress = lambda done, all: None) -> Timings:
    """Time one replicate of every cell of a job, each kind of work once."""
    curves: list[Curve] = []
    known: dict[str, tuple[Plain, int]] = {}
    for done, (entry, calibrated) in enumerate(zip(job.cells, calibrations, strict=True), 1):
        if isinstance(calibrated, RefusedCell):
            continue
        cell = located(entry, job.data_root)
        work = dumps_canonical([cell.algorithm, calibrated.variant, calibrated.schedule, cell.data_key()])
        if work not in known:
            known[work] = time_cell(job, cell, calibrated), cell.cell
        timed, first = known[work]
        curves.append(Curve(cell.cell, cell.method, cell.parameter, float(cell.value), **timed, timed_cell=first))
        progress(done, len(job.cells))
    return Timings(machine(job.backend), tuple(curves))


def time_cell(job: Job, cell: Cell, calibrated: CalibratedCell) -> Plain:
    """Fastest of up to `REPEATS` runs, after one that warms up caches and compiled code; or that one, if it is long."""
    plan, data = calibrated.plan_for(cell), cell.draw_data(job.seed, 0)
    how: Any = {"root_seed": job.seed, "backend": job.backend, "dtype": job.dtype, "fused": job.fused}
    every = max(1.0, plan.gradient_evaluations / POINTS)

    def timed() -> Trace:
        return run_block(cell, plan, calibrated.scales, data, measure=Clock(every), rounds=NO_ROUNDS, **how)

    warm = timed()
    runs = [warm] if warm.risk[0, -1] >= WARM_SECONDS else []
    while len(runs) < REPEATS and sum(run.risk[0, -1] for run in runs) < ENOUGH_SECONDS:
        runs.append(timed())
    best = min(runs, key=lambda run: run.risk[0, -1])
    evaluations, seconds = (tuple(values[0].tolist()) for values in (best.evaluations, best.risk))
    return {"evaluations": evaluations, "seconds": seconds, "repeats": len(runs)}


def machine(backend: str) -> Machine:
    found = Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=platform.system(),
        python=platform.python_version(),
        numpy=np.__version__,
        backend=backend,
    )
    if backend == "cupy":
        import cupy

        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        return replace(found, device=properties["name"].decode(), cupy=cupy.__version__)
    return found


def _processor() -> str:
    """Model of the processor; Linux says it in /proc only."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@dataclass(frozen=True, kw_only=True)
class Machine(Record):
    """Processor and versions that times depend on; more for a card or a benchmark.

    ``emulated`` says whether the card is a stand-in, ``numba`` whether noise is compiled; the last two are as the
    environment sets them for matrix products, else empty.
    """

    processor: str
    cores: int
    system: str
    python: str
    numpy: str
    backend: str
    device: str | None = field(default=None, metadata=IF_GIVEN)
    cupy: str | None = field(default=None, metadata=IF_GIVEN)
    memory_gb: float | None = field(default=None, metadata=IF_GIVEN)
    free_gb: float | None = field(default=None, metadata=IF_GIVEN)
    driver: int | None = field(default=None, metadata=IF_GIVEN)
    runtime: int | None = field(default=None, metadata=IF_GIVEN)
    emulated: bool | None = field(default=None, metadata=IF_GIVEN)
    numba: bool | None = field(default=None, metadata=IF_GIVEN)
    blas_core_type: str | None = field(default=None, metadata=IF_GIVEN)
    blas_threads: str | None = field(default=None, metadata=IF_GIVEN)


@dataclass(frozen=True)
class Curve(Record):
    """Times of a cell, seconds after so many gradient evaluations; ``timed_cell`` is the one that was timed, so often.

    Cells that do the same work on the same data, at another noise, share the times of the first.
    """

    cell: int
    method: str
    parameter: str
    value: float
    evaluations: tuple[float, ...]
    seconds: tuple[float, ...]
    repeats: int
    timed_cell: int


@dataclass(frozen=True)
class Timings(Record):
    """Machine that a job's times hold for, and an entry for each cell."""

    machine: Machine
    cells: tuple[Curve, ...]
