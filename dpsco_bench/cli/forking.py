"""A process that has loaded all that jobs need, and forks one for each: loading takes longer than most of them.

The workflow starts it and names its socket in the environment variable `SOCKET`; `python -m dpsco_bench worker ...`
asks it to do the work. Where it is not to be reached, as on another machine, a job runs as it would without it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dpsco_bench.errors import DpscoError
from dpsco_bench.registry import REGISTRIES

SOCKET = "DPSCO_JOBS"
LOADED = (
    "dpsco_bench.cli.verbs.worker",
    "dpsco_bench.analysis.judge",
    "dpsco_bench.execution.calibration",
    "dpsco_bench.report.figures",
    "dpsco_bench.fused.compiled",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "fontTools.subset",
    "scipy.stats",
    "dp_accounting.pld.privacy_loss_distribution",
)
"""What jobs import, besides papers."""


class _Job(socketserver.BaseRequestHandler):
    """A job, in a process of its own: its arguments, folder and output come from whoever asks, who gets its code."""

    def handle(self) -> None:
        from dpsco_bench.cli.main import main

        message, outputs, _, _ = socket.recv_fds(self.request, 1 << 20, 2)
        folder, arguments = json.loads(message)
        for own, given in zip((1, 2), outputs, strict=True):
            os.dup2(given, own)
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=self._end_with_asker, daemon=True).start()
        code = main(arguments)
        sys.stderr.flush()
        self.request.sendall(bytes([code]))

    def _end_with_asker(self) -> None:
        self.request.recv(1)  # nothing comes, until it is gone
        os.kill(os.getpid(), signal.SIGTERM)


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    max_children = 1 << 10  # the workflow counts its jobs itself
    parent = os.getppid()

    def service_actions(self) -> None:
        super().service_actions()
        if os.getppid() != self.parent:
            raise SystemExit


def serve(path: str) -> None:
    """Load the modules, and fork jobs until the process that started this one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["MPLBACKEND"] = "agg"
    for name in LOADED:
        importlib.import_module(name)
    for registry in REGISTRIES:
        with suppress(DpscoError):  # a paper that cannot be imported: told by the jobs that need it
            registry.load()
    gc.freeze()  # what is loaded stays: no child looks through it
    with _Server(path, _Job) as server:
        server.serve_forever()


class Forks:
    """The process, started, where jobs find it; it ends with this one, or when it is stopped.

    Jobs that begin before it has loaded do without it.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="dpsco-")  # a socket's path has at most 107 characters
        path = str(Path(self._folder.name) / "jobs")
        self._process = subprocess.Popen([sys.executable, "-m", __name__, path])
        os.environ[SOCKET] = path

    def stop(self) -> None:
        """End it and wait for it, so that its times count as those of this process's children."""
        self._process.terminate()
        self._process.wait()


def asked(arguments: list[str]) -> int | None:
    """Have a job done, and return its exit code; None if nobody is there to do it."""
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(os.environ[SOCKET])
        except OSError:
            return None
        socket.send_fds(asking, [json.dumps([os.getcwd(), arguments]).encode()], [1, 2])
        answer = asking.recv(1)
    return answer[0] if answer else 1


if __name__ == "__main__":
    serve(sys.argv[1])
