"""Make whatever the store lacks of some jobs. Needs no Hydra and no Snakemake; only calibrating needs an accountant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibrated import Calibrated, CalibratedCell, RefusedCell
from dpsco_bench.execution.compiling import listen
from dpsco_bench.execution.evaluations import executed
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measured import Measured, is_wanted, item
from dpsco_bench.execution.progress import Pace, duration, shown
from dpsco_bench.execution.results import table_bytes, without_names
from dpsco_bench.execution.sharing import sharing
from dpsco_bench.execution.store import Meter
from dpsco_bench.jsonio import dumps_canonical

Progress = Callable[[int, int], None]
Say = Callable[[str], object]
Weigh = Callable[[str, Job], Sequence[float]]
Lost = Callable[[Job, DpscoError], object]


def equal_cells(_: str, job: Job) -> list[float]:
    """Count a second for each cell, where nothing is known."""
    return [1.0] * len(job.cells)


def make(step: str, job: Job, measured: Measured, progress: Progress = lambda done, all: None) -> bool:
    """Make what a step gives of a job, unless the store has it; one process makes each item.

    Parameters
    ----------
    step : str
        ``calibrate``, ``run`` or ``time``.
    job : Job
        With its plugins loaded, not skipped.
    measured : Measured
        Where calibrations are found and items go.
    progress : callable
        Called with cells done and cells in all.

    Returns
    -------
    bool
        Whether something was made.

    Raises
    ------
    InputError
        If the calibrations of a run are missing.
    DpscoError
        As the job raises it.
    """
    store, address = measured.store, item(step, job)
    with store.lock(*address):
        if measured.has(step, job):
            return False
        meter = Meter()
        content = _content(step, job, measured, progress, meter)
        store.write(*address, content, meter.costs)
    return True


def _content(step: str, job: Job, measured: Measured, progress: Progress, meter: Meter) -> str | bytes:
    if step == "calibrate":
        return dumps_canonical(calibrate(job, progress, meter))
    calibrations = measured.calibrations(job)
    if calibrations is None:
        raise InputError("calibrations", job.title, "in the store: calibrate it first")
    if step == "run":
        listen()
        return table_bytes(without_names(executed(job, calibrations, progress, meter=meter.measure)))
    from dpsco_bench.execution.timing import time_cells

    with meter.measure(range(len(job.cells))):
        return dumps_canonical(time_cells(job, calibrations, progress))


def calibrate(job: Job, progress: Progress = lambda done, all: None, meter: Meter | None = None) -> Calibrated:
    """Calibrations of a job as they are stored, made cell by cell."""
    from dpsco_bench.execution.calibration import calibrate_job

    meter, found = meter or Meter(), list[CalibratedCell | RefusedCell]()
    for number, cell in enumerate(job.cells):
        with meter.measure([number]):
            found += calibrate_job(replace(job, cells=(cell,)))
        progress(number + 1, len(job.cells))
    return Calibrated(tuple(found))


def make_all(
    jobs: Iterable[Job],
    measured: Measured,
    say: Say,
    weigh: Weigh = equal_cells,
    lost: Lost | None = None,
    steps: Sequence[str] = ("calibrate", "run"),
) -> None:
    """Make whatever the store lacks of some jobs, in this process; a line for each run that is made.

    Parameters
    ----------
    weigh : callable, (step, job) -> predicted seconds of each cell
    lost : callable, optional
        Told of a job that fails; the others are made then.
    steps : sequence of str
        What is made of each.

    Raises
    ------
    DpscoError
        As the first job that fails raises it, without ``lost``.
    """
    todo = [(step, job, weigh(step, job)) for step, job in _lacking(jobs, measured, say, steps)]
    if not todo:
        return
    pace = Pace([seconds for _, _, cells in todo for seconds in cells], unit="cells")
    failed: set[str] = set()
    with shown(pace, say, todo[0][1].claim), sharing():
        first = 0
        for step, job, cells in todo:
            begun, made = time.monotonic(), False
            try:
                made = job.key not in failed and make(step, job, measured, _reaching(pace, first))
            except DpscoError as error:
                if lost is None:
                    error.args = (f"{job.title}: {error}",)
                    raise
                failed.add(job.key)
                lost(job, error)
            first += len(cells)
            pace.reach(first)
            if made and step != "calibrate":
                say(f"{job.claim} {job.name}: {duration(time.monotonic() - begun)}")


def _reaching(pace: Pace, first: int) -> Progress:
    return lambda done, _: pace.reach(first + done)


def _lacking(jobs: Iterable[Job], measured: Measured, say: Say, steps: Sequence[str]) -> Iterator[tuple[str, Job]]:
    """Steps that are to be made, in their order; jobs that share a key are made once."""
    seen: set[tuple[str, str]] = set()
    for job in jobs:
        if job.skipped:
            say(f"{job.claim} {job.name}: {job.skipped}")
            continue
        for step in steps:
            address = item(step, job)
            if not job.present and is_wanted(step, job) and address not in seen and not measured.has(step, job):
                seen.add(address)
                yield step, job


def seconds_left(jobs: Iterable[Job], measured: Measured, predict: Callable[[str, Job], float]) -> float:
    """Predict the CPU seconds of all that the store lacks of some jobs; what they share is made once."""
    lacking = _lacking(jobs, measured, lambda line: None, ("calibrate", "run", "time"))
    return sum(predict(step, job) for step, job in lacking)
