"""A SLURM of one node on the loopback interface, from Debian's packages, for as long as a test needs it."""

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
CPUS, MEMORY_MB = 2, 8000  # what the node says that it has, whatever the machine has
START_SECONDS = 60.0
CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""


class Unavailable(Exception):
    """Why no SLURM can be started here, in a line."""


@contextmanager
def single_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start it in an empty folder of a short name; yield the environment with which ``sbatch`` finds it.

    Its daemons are this user's and end with the block. Raises `Unavailable` where it cannot be started.
    """
    if lacking := [program for program in PROGRAMS if shutil.which(program, path=PLACES) is None]:
        raise Unavailable(f"no {', '.join(lacking)} here (Debian: apt-get install munge slurm-wlm)")
    folder.chmod(0o755)  # munge asks for it
    environment = {**os.environ, "PATH": f"{_step_starter(folder)}{os.pathsep}{PLACES}"}
    environment["SLURM_CONF"] = str(folder / "slurm.conf")
    running: list[subprocess.Popen[bytes]] = []
    try:
        _start_munge(folder, running)
        _start_slurm(folder, environment, running)
        yield environment
    finally:
        for process in reversed(running):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10.0)
            process.kill()
            process.wait()


def _step_starter(folder: Path) -> Path:
    """Folder with an ``srun`` that knows the configuration: Snakemake takes SLURM's variables away before it calls it.

    Elsewhere the configuration lies in /etc/slurm, where this one is not to be written.
    """
    program = folder / "bin" / "srun"
    program.parent.mkdir()
    real = shutil.which("srun", path=PLACES)
    program.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {real} "$@"\n')
    program.chmod(0o755)
    return program.parent


def _start_munge(folder: Path, running: list[subprocess.Popen[bytes]]) -> None:
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(secrets.token_bytes(128))
    places = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    places |= {"seed-file": folder / "munged.seed", "log-file": folder / "munged.log"}
    options = [f"--{name}={path}" for name, path in places.items()]
    running.append(_daemon(["munged", "--foreground", *options], folder, dict(os.environ)))
    _wait(lambda: places["socket"].is_socket(), running, folder / "munged.out", folder / "munged.log")


def _start_slurm(folder: Path, environment: dict[str, str], running: list[subprocess.Popen[bytes]]) -> None:
    host = socket.gethostname().partition(".")[0]
    found = {"folder": folder, "host": host, "user": getpass.getuser(), "cpus": CPUS, "memory": MEMORY_MB}
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        found |= {"controller_port": one.getsockname()[1], "node_port": other.getsockname()[1]}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**found))
    for name in ("state", "spool"):
        (folder / name).mkdir()
    for program in ("slurmctld", "slurmd"):
        running.append(_daemon([program, "-D"], folder, environment))
    _wait(lambda: _state(environment) == "idle", running, folder / "slurmd.log", folder / "slurmctld.log")


def _daemon(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A daemon in the foreground, in a session of its own: an interrupt at the terminal is not for it."""
    words = [shutil.which(command[0], path=PLACES) or command[0], *command[1:]]
    with (folder / f"{command[0]}.out").open("wb") as out:
        return subprocess.Popen(words, env=environment, stdout=out, stderr=out, start_new_session=True)


def _state(environment: dict[str, str]) -> str:
    command = ["sinfo", "--noheader", "--format=%t"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=START_SECONDS)
    return done.stdout.strip()


def _wait(ready, running: list[subprocess.Popen[bytes]], *logs: Path) -> None:
    """Wait until something is ready; raise `Unavailable` with the last line of the logs where it does not come."""
    end = time.monotonic() + START_SECONDS
    while not ready():
        ended = [process for process in running if process.poll() is not None]
        if ended or time.monotonic() > end:
            what = f"{Path(ended[0].args[0]).name} ended at once" if ended else "SLURM is not ready after a minute"
            lines = [line for log in logs if log.is_file() for line in log.read_text(errors="replace").splitlines()]
            raise Unavailable(": ".join([what, *lines[-1:]]))
        time.sleep(0.2)
