"""A killed run resumes and ends with the same bytes; a damaged result is made anew; a live run is alone.

A folder that cannot be written is named before Snakemake stumbles over it.
"""

import ctypes
import os
import random
import signal
import sys
import time

import pytest

from dpsco_bench.execution.store import take

pytestmark = pytest.mark.slow
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def keep_to_modes():
    """Let modes of files hold for root too."""
    if os.geteuid() == 0:
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux") and os.geteuid() == 0, reason="root writes everywhere")
@pytest.mark.parametrize("name", [".", "results", "figures"])
def test_a_folder_that_cannot_be_written_to_is_named_in_one_line(project, name):
    folder = project.root / name
    folder.mkdir(exist_ok=True)
    mode = folder.stat().st_mode
    folder.chmod(0o555)
    try:
        done = project.snakemake("--", "verdicts", preexec_fn=keep_to_modes)
    finally:
        folder.chmod(mode)
    first = done.stderr[done.stderr.index("dpsco: ") :]
    named = project.root if name == "." else name
    assert done.returncode == 2
    assert first.startswith(f"dpsco: folder = '{named}': must be a folder that can be written to")


def wait_for(condition, process, seconds=600.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the run ended before what was waited for"
        if time.monotonic() > limit:
            kill_group(process)
            pytest.fail("waited too long")
        time.sleep(0.005)


def kill_group(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_at_three_random_moments_ends_with_the_same_bytes(project):
    """Moments are counted in what a run has made, so that a slow machine neither meets others nor runs more often."""
    assert project.snakemake("--", "verdicts").returncode == 0
    undisturbed, whole = project.tables(), len(project.measured())
    project.forget()
    moments = random.Random(7)
    for made in sorted(moments.sample(range(1, whole), 3)):
        process = project.start("--", "verdicts")
        wait_for(lambda made=made: len(project.measured()) >= made, process)
        time.sleep(moments.uniform(0.0, 0.3))
        kill_group(process)
        assert project.tables().items() <= undisturbed.items()
    assert project.snakemake("--", "verdicts").returncode == 0
    assert project.tables() == undisturbed
    assert "Nothing to be done" in project.snakemake("--", "verdicts").stderr


def test_a_truncated_result_is_made_anew_by_who_reads_it(project):
    assert project.snakemake("--", "verdicts").returncode == 0
    undisturbed = project.tables()
    for kind in ("runs/*.parquet", "calibrations/*.json"):
        path = sorted((project.root / "results" / "store").glob(kind))[0]
        path.write_bytes(path.read_bytes()[:100])
    for claim in ("alpha", "beta.2"):
        (project.results / "verdicts" / f"wang2017.{claim}.json").unlink()
    done = project.snakemake("--", "verdicts")
    assert done.returncode == 0, done.stderr
    assert project.tables() == undisturbed


def test_a_live_run_is_alone_and_keeps_its_plan(project, edited):
    assert project.snakemake("--", "verdicts").returncode == 0
    plan = (project.results / "plan.json").read_bytes()
    lock = take(project.results / ".lock")
    try:
        assert "Nothing to be done" in project.snakemake("--", "verdicts").stderr
        (project.results / "verdicts" / "wang2017.alpha.json").unlink()
        second = project.snakemake("--", "verdicts")
        refusal = [line for line in second.stderr.splitlines() if line.startswith("dpsco: ")]
        assert second.returncode == 2 and len(refusal) == 1 and "results/smoke is in use" in refusal[0]
        assert project.snakemake("--dry-run", "--", "verdicts").returncode == 0
        edited(project.claim_file("alpha"), lambda text: text.replace("tolerance: 0.15", "tolerance: 0.3"))
        result = project.snakemake("--dry-run", "--", "verdicts")
        assert result.returncode == 2 and "is in use" in result.stderr
        assert (project.results / "plan.json").read_bytes() == plan
    finally:
        lock.release()
