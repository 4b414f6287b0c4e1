"""How long an algorithm takes: curves (gradient evaluations, seconds) of one replicate, for figures with a time axis.

Data, calibration and loss are outside the clock: it covers gradients, noise and steps only.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import get_namespace, to_numpy, tuned
from dpsco_bench.execution.calibrated import CalibratedCell, Calibrations, RefusedCell
from dpsco_bench.execution.cell import Cell, located
from dpsco_bench.execution.guarded import call_run
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.run import make_objective
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.objective import Objective

POINTS = 100
"""Most points of a curve."""
REPEATS = 3
ENOUGH_SECONDS = 1.0
"""Repeats stop once they took so long; the fastest one counts, since disturbances only ever add time."""


@dataclass
class Stopwatch:
    """Observer that notes the clock at every ``every``-th iterate.

    Parameters
    ----------
    every : int
        Spacing in iterates; 0 only counts them.
    """

    every: int = 0
    calls: int = 0
    start: float = 0.0
    evaluations: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __call__(self, objective: Objective, x: Any) -> None:
        """Observe an iterate."""
        self.calls += 1
        if self.every and self.calls % self.every == 0:
            self.note(objective)

    def note(self, objective: Objective) -> None:
        """Note gradient evaluations and seconds so far; reading the count waits for the device."""
        self.evaluations.append(float(to_numpy(objective.evaluations)[0]))
        self.seconds.append(time.perf_counter() - self.start)


def time_cells(
    job: Job,
    calibrations: Calibrations,
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> dict[str, Any]:
    """Time one replicate of every cell of a job, each kind of work once.

    Parameters
    ----------
    job, calibrations, progress
        As for `dpsco_bench.execution.job.execute`.

    Returns
    -------
    dict
        ``machine`` (what the times hold for) and ``cells``: one entry per cell with ``cell``, ``method``,
        ``parameter``, ``value``, ``evaluations`` and ``seconds`` (equally long, never decreasing), ``repeats``, and
        ``timed_cell``: cells that do the same work on the same data, at another noise, share the times of the first.
    """
    curves: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
    for done, (entry, calibrated) in enumerate(zip(job.cells, calibrations, strict=True), 1):
        if isinstance(calibrated, RefusedCell):
            continue
        cell = located(entry, job.data_root)
        names = {"cell": cell.cell, "method": cell.method, "parameter": cell.parameter, "value": float(cell.value)}
        work = dumps_canonical([cell.algorithm, calibrated.variant, calibrated.schedule, cell.data_key()])
        if work not in known:
            known[work] = {**time_cell(job, cell, calibrated), "timed_cell": cell.cell}
        curves.append({**names, **known[work]})
        progress(done, len(job.cells))
    return {"machine": machine(job.backend), "cells": curves}


def time_cell(job: Job, cell: Cell, calibrated: CalibratedCell) -> dict[str, Any]:
    """Fastest of up to `REPEATS` runs, after one that warms up caches and compiled code and counts the iterates."""
    timed = partial(_timed_run, job, cell, calibrated.plan_for(cell), calibrated.scales, cell.draw_data(job.seed, 0))
    warm = timed(every=0)
    every = max(1, -(-warm.calls // POINTS))
    runs: list[Stopwatch] = []
    while len(runs) < REPEATS and sum(run.seconds[-1] for run in runs) < ENOUGH_SECONDS:
        runs.append(timed(every))
    best = min(runs, key=lambda run: run.seconds[-1])
    return {"evaluations": best.evaluations, "seconds": best.seconds, "repeats": len(runs)}


def _timed_run(job: Job, cell: Cell, plan: Plan, scales: Mapping[str, float], data: Any, every: int) -> Stopwatch:
    xp, dtype = get_namespace(job.backend), job.dtype
    watch = Stopwatch(every)
    objective = make_objective(cell, data, (job.seed, 0, 0, 1), xp, dtype, watch)
    mechanism = Mechanism(plan, scales, cell.run_key(0), job.seed, 0, 1, xp, dtype)
    with tuned():
        watch.start = time.perf_counter()
        call_run(cell.algorithm_entry, objective, plan, mechanism, fused=job.fused)
        watch.note(objective)
    return watch


def machine(backend: str) -> dict[str, Any]:
    """What times depend on: processor, device, versions."""
    entry = {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "backend": backend,
    }
    if backend == "cupy":
        import cupy

        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        entry.update(device=properties["name"].decode(), cupy=cupy.__version__)
    return entry


def _processor() -> str:
    """Model of the processor; Linux says it in /proc only."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
