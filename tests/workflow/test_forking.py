"""Jobs that are forked from a loaded process end as they would alone, with whoever asked for them."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from dpsco_bench.cli import forking

SERVED = """
import os, sys, time
from dpsco_bench.cli import forking, main

def job(arguments):
    print(os.getcwd(), os.getpid(), *arguments, flush=True)
    time.sleep(60.0 * (arguments[-1] == "long"))
    return 3

main.main, forking.LOADED, forking.REGISTRIES = job, (), ()
forking.serve(sys.argv[1])
"""
LEFT = """
import os
from dpsco_bench.cli import forking
forks = forking.Forks()
print(os.environ[forking.SOCKET], flush=True)
"""


def until(true):
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def served(tmp_path):
    server = subprocess.Popen([sys.executable, "-c", SERVED, str(tmp_path / "jobs")])
    try:
        until((tmp_path / "jobs").exists)
        yield
    finally:
        server.kill()
        server.wait()


def asking(tmp_path, *arguments):
    command = [sys.executable, "-m", "dpsco_bench", "worker", *arguments]
    env = {**os.environ, forking.SOCKET: str(tmp_path / "jobs")}
    return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)


def runs(pid):
    """Check whether a process runs; one that has ended waits for the server to notice."""
    try:
        with open(f"/proc/{pid}/stat") as told:
            return told.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_job_has_the_folder_output_and_code_of_whoever_asks_and_ends_with_it(tmp_path):
    with served(tmp_path):
        short = asking(tmp_path, "claim", "short")
        folder, _, *arguments = short.communicate()[0].split()
        assert (folder, arguments, short.returncode) == (str(tmp_path), ["worker", "claim", "short"], 3)
        long = asking(tmp_path, "claim", "long")
        pid = long.stdout.readline().split()[1]
        assert runs(pid)
        long.kill()
        until(lambda: not runs(pid))


def test_a_job_without_the_process_runs_alone(tmp_path):
    assert asking(tmp_path, "claim", "none", "--profile", "smoke").wait() == 2


@pytest.mark.slow
def test_the_process_ends_with_the_one_that_started_it(tmp_path):
    path = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=True).stdout.strip()
    of_it = ["pgrep", "-f", path]
    until(lambda: subprocess.run(of_it, stdout=subprocess.DEVNULL, check=False).returncode)
