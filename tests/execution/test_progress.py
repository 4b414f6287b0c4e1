"""Progress of jobs: what the log says and what the terminal shows."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.progress import JobLog, Pace, Ticker, cut_short, duration


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_left_follows_the_work(tmp_path, capsys):
    clock, path = Clock(), tmp_path / "logs" / "job.log"
    with JobLog(path, "run x", weights=[1.0, 1.0, 8.0], clock=clock) as log:
        for done, now in ((1, 2.0), (2, 20.0), (3, 100.0)):
            clock.now = now
            log.progress(done, 3)
    assert path.read_text().splitlines() == [
        "run x",
        "1 of 3 cells done, 2.0 s, about 18 s left",
        "2 of 3 cells done, 20 s, about 1 min 20 s left",
        "3 of 3 cells done, 1 min 40 s",
        "done in 1 min 40 s",
    ]
    assert capsys.readouterr().err == ""  # it is in the log


def test_without_a_log_the_terminal_is_told_rarely(capsys):
    clock = Clock()
    with JobLog(None, "run x", weights=[1.0, 1.0, 8.0], clock=clock) as log:
        for done, now in ((1, 2.0), (2, 20.0), (3, 100.0)):
            clock.now = now
            log.progress(done, 3)
    assert capsys.readouterr().err == "run x: 2 of 3 cells done, 20 s, about 1 min 20 s left\n"


@pytest.mark.parametrize("weights", [(), (0.0, 0.0), (1.0,)])
def test_unknown_work_counts_as_equal(tmp_path, weights):
    clock, path = Clock(), tmp_path / "job.log"
    with JobLog(path, "run x", weights=weights, unit="runs", clock=clock) as log:
        clock.now = 3.0
        log.progress(1, 2)
    assert path.read_text().splitlines()[1] == "1 of 2 runs done, 3.0 s, about 3.0 s left"


def test_errors_end_up_in_the_log(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(InputError), JobLog(path, "run x"):
        raise InputError("n", 0, "an integer >= 1")
    assert path.read_text().splitlines()[-1] == "failed: n = 0: must be an integer >= 1"
    with pytest.raises(ZeroDivisionError), JobLog(path, "run x"):
        raise ZeroDivisionError("unexpected")
    assert "Traceback" in path.read_text() and path.read_text().endswith("ZeroDivisionError: unexpected\n")


class FullDisk(io.StringIO):
    """A file on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_log_on_a_full_disk_is_named_and_hides_no_error(tmp_path, monkeypatch):
    path = tmp_path / "job.log"
    log = JobLog(path, "run x")
    with pytest.raises(InputError), log:
        log._file = FullDisk()
        raise InputError("n", 0, "an integer >= 1")
    monkeypatch.setattr(Path, "open", lambda *arguments, **keys: FullDisk())
    with pytest.raises(OSError, match=f"No space left.*{path}"), JobLog(path, "run x"):
        pass


@pytest.mark.parametrize(
    "seconds, text", [(0.04, "0.0 s"), (9.94, "9.9 s"), (12.4, "12 s"), (200.2, "3 min 20 s"), (3900, "1 h 05 min")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize("factor", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("at_once", [1, 2])
def test_the_estimate_is_within_a_factor_two_after_a_tenth(factor, at_once):
    """Whatever the machine's speed: pieces take a factor of what is predicted, here and there twice or half of that."""
    predicted = [0.5, 2.0, 1.0, 4.0] * 40
    took = [factor * seconds * (2.0, 0.5, 1.0)[number % 3] for number, seconds in enumerate(predicted)]
    clock = Clock()
    pace = Pace(predicted, at_once, clock=clock)
    running, waiting, estimates = [], list(range(len(predicted))), []
    while waiting or running:
        while waiting and len(running) < at_once:
            number = waiting.pop(0)
            pace.begin(number)
            running.append((clock.now + took[number], number))
        clock.now, number = min(running)
        running.remove((clock.now, number))
        pace.end(number)
        estimates.append((clock.now, pace.left))
    assert pace.left == 0.0 and pace.done == pace.all
    late = [(now, now + left) for now, left in estimates if now >= clock.now / 10]
    assert all(clock.now / 2 <= total <= 2 * clock.now for _, total in late)


def test_the_pace_of_one_kind_says_nothing_of_another():
    """Calibrations that take fifty times what was predicted, before runs that take what was predicted."""
    clock, predicted = Clock(), [0.01] * 100 + [10.0] * 20
    pace = Pace(predicted, clock=clock, kinds=["calibrate"] * 100 + ["run"] * 20)
    pace.reach(0)
    for number, took in enumerate([0.5] * 100 + [10.0] * 20, 1):
        clock.now += took
        pace.reach(number)
        if clock.now >= 25.0:
            assert 125.0 <= clock.now + pace.left <= 500.0


def test_a_busy_machine_slows_what_has_not_begun_too():
    clock, worked = Clock(), Clock()
    pace = Pace([1.0] * 20 + [10.0] * 20, clock=clock, kinds=["calibrate"] * 20 + ["run"] * 20, worked=worked)
    pace.reach(0)
    clock.now, worked.now = 80.0, 20.0
    pace.reach(20)
    assert pace.left == pytest.approx(800.0, rel=0.1)


def test_pieces_one_after_the_other_may_end_together():
    clock = Clock()
    pace = Pace([3.0, 3.0, 6.0], unit="cells", clock=clock)
    pace.reach(0)
    clock.now = 12.0
    pace.reach(2)
    assert str(pace) == "2 of 3 cells done, 12 s, about 11 s left"  # 1.5 s count as done at the predicted pace
    clock.now = 15.0
    assert str(pace) == "2 of 3 cells done, 15 s, about 7.8 s left"
    pace.reach(3)
    assert str(pace) == "3 of 3 cells done, 15 s"


def test_long_work_is_told_of_while_it_goes_on_and_quick_work_is_not():
    told, said = [], threading.Event()

    def say(line):
        told.append(line)
        said.set()

    with Ticker(Pace([60.0], unit="runs"), say, "x", spacing=0.01) as pace:
        pace.reach(0)
        assert said.wait(10)
    assert told[0].startswith("x: 0 of 1 runs done, 0.0 s, about ")
    with Ticker(Pace([60.0]), told.append, "y", spacing=60.0):
        pass
    assert not [line for line in told if line.startswith("y")]


def test_a_share_of_a_piece_is_no_whole_piece():
    """A cell in four shares counts when the last one is done; what is left follows the shares."""
    clock = Clock()
    pace = Pace([30.0] * 4, unit="cells", clock=clock, sizes=[0.25] * 4)
    pace.reach(0)
    for number in range(1, 4):
        clock.now = 60.0 * number
        pace.reach(number)
        assert (pace.done, pace.all) == (0, 1) and pace.left == pytest.approx(60.0 * (4 - number), rel=0.1)
    clock.now = 240.0
    pace.reach(4)
    assert str(pace) == "1 of 1 cells done, 4 min 00 s"


def test_work_that_is_done_elsewhere_is_told_by_what_it_leaves():
    """Four at a time, in any order: the pace is that of all together."""
    clock = Clock()
    pace = Pace([40.0] * 20, unit="runs", clock=clock)
    for now, done in ((40.0, {1, 3, 0, 2}), (45.0, {1, 3, 0, 2}), (80.0, {*range(8)}), (120.0, {*range(12)})):
        clock.now = now
        pace.see(done)
        assert (now + pace.left) == pytest.approx(200.0, rel=0.2)
    assert str(pace).startswith("12 of 20 runs done, 2 min 00 s, about 1 min ")


def test_a_first_run_elsewhere_that_takes_long_is_not_about_to_end():
    """It is begun: what it takes beyond its prediction is expected of the others."""
    clock = Clock()
    pace = Pace([1.0] * 10, unit="runs", clock=clock)
    pace.see(())
    for now in (20.0, 80.0):
        clock.now = now
        pace.see(())
        assert pace.left > 4 * now


def test_a_log_says_what_a_killed_job_was_at(tmp_path):
    path = tmp_path / "run.log"
    assert cut_short(path) == ("", False)
    log = JobLog(path, "2 jobs, about 9 s").__enter__()
    assert cut_short(path) == ("2 jobs, about 9 s", False)
    for title in ("run mine.a n [paper]", "run mine.a d [paper]"):
        log.begin(title)
        log.progress(1, 3)
    assert cut_short(path) == ("run mine.a d [paper]", False)
    log.__exit__(None, None, None)
    assert cut_short(path) == ("", False)
    for error in (DpscoError("wrong"), MemoryError("no more")):
        with pytest.raises(type(error)), JobLog(path, "2 jobs"):
            raise error
        assert cut_short(path) == ("", False)


def _is_terminated(path):
    with JobLog(path, "2 jobs") as log:
        log.begin("run mine.a d [paper]")
        begun = multiprocessing.get_context("fork").Event()
        child = multiprocessing.get_context("fork").Process(target=lambda: (begun.set(), time.sleep(60)))
        child.start()
        begun.wait(30)  # Python drops a signal that comes while it forks
        child.terminate()
        child.join()
        assert "terminated" not in path.read_text()  # a child's end is not that of the job
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)


def test_a_log_tells_sigterm_from_sigkill(tmp_path):
    path = tmp_path / "run.log"
    process = multiprocessing.get_context("spawn").Process(target=_is_terminated, args=(path,))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGTERM
    assert cut_short(path) == ("run mine.a d [paper]", True)
    with JobLog(path, "2 jobs"):
        pass
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and cut_short(path) == ("", False)


def test_small_pieces_say_little_of_long_ones():
    """Ten pieces took three times what was predicted, two long ones that are left take what was."""
    clock = Clock()
    pace = Pace([0.5] * 10 + [15.0, 15.0], unit="cells", clock=clock)
    pace.reach(0)
    clock.now = 15.0
    pace.reach(10)
    assert pace.left < 2 * 30.0


def _watched(predicted, took, step=0.02):
    """(seconds, seconds that are said to be left) of pieces one after the other, also while one is under way."""
    clock, whole = Clock(), sum(took)
    pace = Pace(predicted, clock=clock)
    pace.reach(0)
    ends, seen = [sum(took[: number + 1]) for number in range(len(took))], []
    for tick in range(1, round(1 / step)):
        clock.now = tick * step * whole
        while (done := sum(end <= clock.now for end in ends)) > pace.done:
            now, clock.now = clock.now, ends[pace.done]
            pace.reach(pace.done + 1)
            clock.now = now
        assert pace.done == done
        seen.append((clock.now, pace.left))
    return whole, seen


TRACES = {
    "equal": ([4.0] * 12, [4.0] * 12),
    "equal, three times the prediction": ([4.0] * 12, [12.0] * 12),
    "equal, a hundred times the prediction": ([0.01] * 20, [1.0] * 20),
    "equal, a fifth of the prediction": ([10.0] * 12, [2.0] * 12),
    "growing, three times the prediction": ([1.5**k for k in range(12)], [3 * 1.5**k for k in range(12)]),
    "growing against the prediction": ([5.0] * 20, [5.0 * (1 + k / 10) for k in range(20)]),
    "one long piece": ([20.0], [20.0]),
    "one long piece among short ones": ([1.0] * 5 + [40.0] + [1.0] * 5, [1.0] * 5 + [40.0] + [1.0] * 5),
}


@pytest.mark.parametrize("name", TRACES)
def test_the_estimate_is_within_a_factor_two_from_the_first_tenth_on_also_within_pieces(name):
    predicted, took = TRACES[name]
    whole, seen = _watched(predicted, took)
    for now, left in seen:
        if now >= 0.1 * whole:
            assert whole / 2 <= now + left <= 2 * whole, (now, left)


@pytest.mark.parametrize("factor", [1.5, 2.0, 3.0])
def test_one_piece_past_its_prediction_is_not_about_to_end(factor):
    """Before it is past it, nothing can be known; from there on what is said to be left is at least half of it."""
    whole, seen = _watched([10.0], [10.0 * factor])
    for now, left in seen:
        if now > 10.0:
            assert left >= (whole - now) / 2 and now + left <= 2 * whole


def test_a_late_piece_slows_those_that_come_at_once():
    clock = Clock()
    pace = Pace([10.0] * 4, clock=clock)
    pace.reach(0)
    clock.now = 9.9
    before = pace.left
    clock.now = 15.0
    assert pace.left > 2 * before
