"""The process pool: every job has a result or a line that says why not, and no process is left."""

import os
import signal
import time
from multiprocessing import active_children
from types import SimpleNamespace

import pytest

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution import worker
from dpsco_bench.execution.jobs import Job

LONG = 300.0


def made(step, job, measured):
    if step == "calibrate":
        return
    if job.part == "refuses":
        raise DpscoError("two\nlines")
    if job.part == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.part == "waits":
        time.sleep(LONG)


def outcome(parts, seconds=LONG, cores=1, tell=lambda pace: None):
    usual = {"claim": "c", "kind": "ranking", "calibration": "accounted", "seed": 1, "replicates": 1}
    jobs = [Job(part=part, seconds=(0.1,), **usual) for part in parts]
    measured = SimpleNamespace(has=lambda step, job: job.part == "is there")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "make", made)
        try:
            with worker.Makers(jobs, measured, cores, seconds, tell) as makers:
                makers.make(jobs)
            return makers.outcome
        finally:
            assert not active_children()


def test_failures_are_a_line_each_and_the_others_are_made():
    found = outcome(["is there", "a", "refuses", "dies", "b", "waits", "never begun"], seconds=8.0)
    assert found.failed == {"refuses": "two lines", "dies": worker.LOST}
    assert (
        found.stopped.keys() == {"waits", "never begun"} and found.stopped["waits"] > found.stopped["never begun"] == 0
    )


def test_an_interrupt_ends_the_processes():
    def interrupt(pace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcome(["waits", "waits", "a"], cores=2, tell=interrupt)
