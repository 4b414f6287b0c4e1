"""The process pool, how much is done, and how long the rest takes."""

import os
import signal
import time
from multiprocessing import active_children
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution import worker
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.predict import ALL, BATCH, MEAN, ONE, kind_of
from dpsco_bench.execution.progress import Pace, duration

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
    assert found.stopped == {"waits": pytest.approx(8.0, abs=7.9), "never begun": 0}


def test_an_interrupt_ends_the_processes():
    with pytest.raises(KeyboardInterrupt):
        outcome(["waits", "waits", "a"], cores=2, tell=Mock(side_effect=KeyboardInterrupt))


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("at_once", [1, 2])
def test_the_time_left_follows_the_pace(slower, at_once):
    clock, predicted = SimpleNamespace(now=0.0), [10.0, 1.0, 5.0, 20.0, 4.0] * 8
    pace = Pace(predicted, at_once=at_once, clock=lambda: clock.now)
    whole = slower * sum(predicted) / at_once
    for number, seconds in enumerate(predicted):
        clock.now += slower * seconds / at_once
        pace.end(number)
        if clock.now > whole / 10:
            left = whole - clock.now
            assert left / 2 - 1 <= pace.left <= 2 * left + 1
    assert pace.done == pace.all == 40 and pace.left == 0


def test_a_long_piece_counts_down_and_never_to_nothing():
    clock = SimpleNamespace(now=0.0)
    pace = Pace([10.0, 10.0], unit="cells", clock=lambda: clock.now)
    assert pace.left == pytest.approx(20.0)
    clock.now = 10.0
    pace.reach(1)
    before = pace.left
    clock.now = 15.0
    assert pace.left == pytest.approx(before - 5.0)
    clock.now = 500.0
    assert 0 < pace.left < before
    assert str(pace).startswith("1 of 2 cells done, 8 min 20 s, ")


LOOKS = [(ONE, "zhang2022.dp_otb", "quad"), (BATCH, "zhang2022.dp_sgd", "quad")]
LOOKS += [(ALL, "wang2017.noisy_md_ttz14", "logistic_glm"), (MEAN, "bassily2021.noisy_smd", "cube_iid")]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("looks", "algorithm", "problem"), LOOKS)
def test_steps_are_priced_by_what_they_look_at(looks, algorithm, problem, fused):
    cell = Cell(algorithm, problem, 1000, 1.0, 1e-6, 5)
    assert kind_of(cell, cell.plan("none", 0)[1], fused) == (fused, looks)


TIMES = [(0.04, "0.0 s"), (9.94, "9.9 s"), (10.0, "10 s"), (59.4, "59 s"), (60.0, "1 min 00 s"), (200.0, "3 min 20 s")]
TIMES += [(3599.4, "59 min 59 s"), (3600.0, "1 h 00 min"), (3900.0, "1 h 05 min"), (172_799.0, "47 h 59 min")]
TIMES += [(2 * 86_400.0, "2 days"), (1.4e6, "16 days"), (1e9, "11,574 days")]


@pytest.mark.parametrize(("seconds", "said"), TIMES)
def test_times_for_people(seconds, said):
    assert duration(seconds) == said
