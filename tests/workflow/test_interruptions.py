"""A killed run resumes and ends with the same bytes; a live run is alone with its results."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from dpsco_bench.execution.lock import ResultsInUse, ResultsLock

pytestmark = pytest.mark.slow


def wait_for(condition, process, seconds=600.0):
    """Poll until something is true while a process lives; a run that never gets there is not left behind."""
    limit = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the run ended before what was waited for"
        if time.monotonic() > limit:
            kill_group(process)
            pytest.fail("waited too long")
        time.sleep(0.005)


def kill_group(process):
    """Kill a process and all its children, without a chance to clean up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_at_eight_random_moments_ends_with_the_same_bytes(project):
    """Moments are counted in what a run has made, so that a slow machine neither meets others nor runs more often."""
    assert project.snakemake("--", "verdicts").returncode == 0
    undisturbed = project.tables()
    assert len(undisturbed) == 6 + 5 + 3
    project.forget()
    moments = random.Random(7)
    for made in sorted(moments.sample(range(len(undisturbed)), 8)):
        process = project.start("--", "verdicts")
        wait_for(lambda made=made, process=process: is_live(project, process) and len(project.paths()) >= made, process)
        time.sleep(moments.uniform(0.0, 0.3))
        kill_group(process)
        assert project.tables().items() <= undisturbed.items()
    assert project.snakemake("--", "verdicts").returncode == 0
    assert project.tables() == undisturbed
    assert "Nothing to be done" in project.snakemake("--", "verdicts").stderr


def is_live(project, process):
    """Whether a run has taken the results, with its plan and packs to follow."""
    lock = project.results / ".lock"
    return lock.is_file() and lock.read_text() == f"{process.pid}\n"


def test_a_second_live_run_is_refused_in_one_line(project):
    project.forget()
    process = project.start("--", "verdicts")
    try:
        wait_for(lambda: any((project.root / "results" / "store" / "calibrations").glob("*.json")), process)
        os.killpg(process.pid, signal.SIGSTOP)
        second = project.snakemake("--", "verdicts")
        assert second.returncode == 2
        refusal = [line for line in second.stderr.splitlines() if line.startswith("dpsco: ")]
        wanted = f"dpsco: results/smoke is in use by process {process.pid}: wait for it to end, or stop it"
        assert refusal == [wanted] and second.stdout == ""
        assert project.snakemake("--dry-run", "--", "verdicts").returncode == 0
    finally:
        os.killpg(process.pid, signal.SIGCONT)
    assert process.wait(timeout=600) == 0


def test_a_live_run_keeps_its_plan(project, edited):
    lock = ResultsLock(project.results / ".lock")
    plan = (project.results / "plan.json").read_bytes()
    with lock:
        assert "Nothing to be done" in project.snakemake("--", "verdicts").stderr
        edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.3"))
        result = project.snakemake("--dry-run", "--", "verdicts")
        assert result.returncode == 2 and "is in use by process" in result.stderr.strip().splitlines()[-1]
        assert (project.results / "plan.json").read_bytes() == plan


def test_lock_goes_with_its_process(tmp_path):
    path = tmp_path / "results" / ".lock"
    code = "from dpsco_bench.execution.lock import ResultsLock\nfrom pathlib import Path\n"
    code += f"lock = ResultsLock(Path({str(path)!r}))\n"
    code += "lock.acquire()\nimport subprocess\nchild = subprocess.Popen(['sleep', '60'])\n"
    code += "print('held', flush=True)\nchild.wait()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(ResultsInUse, match=f"in use by process {holder.pid}"), ResultsLock(path):
            pass
        holder.kill()  # the holder alone: its child lives on, without the lock
        holder.wait()
        with ResultsLock(path) as lock:
            assert lock.held
        assert not lock.held
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
