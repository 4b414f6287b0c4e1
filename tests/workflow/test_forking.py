"""Jobs that are forked from a loaded process end as they would alone, with whoever asked for them."""

import os
import socket
import subprocess
import sys
import time

import pytest

from dpsco_bench.cli import forking

STARTED = """
import sys
from dpsco_bench.cli.forking import SOCKET, Forks

forks = Forks()
print(SOCKET, flush=True)
sys.stdin.read()
"""
JOBS = """
import os, sys, time
from dpsco_bench.cli import forking, main

def job(arguments):
    print(os.getcwd(), os.getpid(), *arguments)
    if arguments[-1] == "fails":
        raise MemoryError
    sys.stdout.flush()
    time.sleep(60.0 * (arguments[-1] == "long"))
    return 3

main.main, forking.LOADED, forking.REGISTRIES = job, (), ()
forking.serve(int(sys.argv[1]), os.getppid())
"""


def until(true):
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def served(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / str(os.getsid(0))))
        listening.listen()
        command = [sys.executable, "-c", JOBS, str(listening.fileno())]
        server = subprocess.Popen(command, pass_fds=[listening.fileno()])
    yield
    server.kill()
    server.wait()


def asking(tmp_path, *arguments):
    command = [sys.executable, "-m", "dpsco_bench", "worker", *arguments]
    env = {**os.environ, forking.SOCKET: str(tmp_path)}
    return subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)


def runs(pid):
    """Check whether a process runs; one that has ended waits for the server to notice."""
    try:
        with open(f"/proc/{pid}/stat") as told:
            return told.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_job_has_the_folder_output_and_code_of_whoever_asks_and_ends_with_it(tmp_path, served):
    short = asking(tmp_path, "claim", "short")
    folder, _, *arguments = short.communicate()[0].split()
    assert (folder, arguments, short.returncode) == (str(tmp_path), ["worker", "claim", "short"], 3)
    fails = asking(tmp_path, "claim", "fails")
    assert fails.communicate()[0].endswith("fails\n") and fails.returncode == 1, "what it printed is told"
    long = asking(tmp_path, "claim", "long")
    pid = long.stdout.readline().split()[1]
    assert runs(pid)
    long.kill()
    until(lambda: not runs(pid))


def test_a_job_that_nobody_begins_runs_alone(tmp_path):
    assert asking(tmp_path, "claim", "none", "--profile", "smoke").wait() == 2


def test_the_process_ends_with_the_one_that_started_it():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    starter = subprocess.Popen([sys.executable, "-c", STARTED], **pipes, text=True)
    starter.stdout.readline()
    (pid,) = subprocess.check_output(["pgrep", "-P", str(starter.pid)], text=True).split()
    starter.kill()
    until(lambda: not runs(pid))
