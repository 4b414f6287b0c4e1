"""A killed worker and a clock that jumps: one clear line, and nothing that was finished is lost or made anew."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.marks import rest_at_night

pytestmark = pytest.mark.slow
KILLED_AT_ITS_SECOND_RUN = """
import os, sys
if "worker" in sys.orig_argv and "run" in sys.orig_argv:
    begun = set()
    def watch(event, arguments):
        if event == "open" and "/locks/runs." in str(arguments[0]):
            begun.add(str(arguments[0]))
            if len(begun) == 2:
                os.kill(os.getpid(), SIGNAL)
    sys.addaudithook(watch)
"""
"""SIGKILL is what the kernel does to a process that takes more memory than there is; SIGTERM what who ends it does."""
ENDED = {
    9: ("killed", ", as when memory runs out"),
    15: ("ended from outside (SIGTERM)", ""),
}


def made(project):
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in project.paths()}


@pytest.mark.parametrize("signal", rest_at_night(sorted(ENDED), 0))
def test_a_worker_that_is_killed_is_named_once_and_loses_nothing_finished(project, signal):
    how, why = ENDED[signal]
    shutil.rmtree(project.root / "results", ignore_errors=True)
    kernel = project.root / "sitecustomize.py"
    kernel.write_text(KILLED_AT_ITS_SECOND_RUN.replace("SIGNAL", str(signal)))
    done = project.snakemake("--", "verdicts")
    kernel.unlink()
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "a process was" in line]
    assert line.startswith("no verdict of ") and "wang2017.alpha" in line.partition(": ")[0], done.stdout
    assert f": a process was {how} at run wang2017." in line, line
    assert line.endswith(f"{why}; what is finished stays: run it again") and ("memory" in line) == bool(why)
    finished = made(project)
    assert any(path.suffix == ".parquet" for path in finished)
    done = project.snakemake("--", "verdicts")
    assert done.returncode == 0, done.stderr
    assert finished.items() <= made(project).items()


@pytest.mark.parametrize("days", rest_at_night([-4000, 400], 0), ids=["ahead", "behind"])
def test_files_of_another_time_are_neither_lost_nor_made_anew(project, days):
    """The clock was behind, or ahead, while half of them were written; then it was set right."""
    assert project.snakemake("--", "verdicts").returncode == 0
    before = {path: path.read_bytes() for path in project.paths()}
    then = time.time() + 86400.0 * days
    files = [path for path in sorted((project.root / "results").rglob("*")) if path.is_file()]
    for path in files[::2]:
        os.utime(path, (then, then))
    done = project.snakemake("--", "verdicts")
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in project.paths()} == before
    assert "Nothing to be done" in project.snakemake("--", "verdicts").stderr
