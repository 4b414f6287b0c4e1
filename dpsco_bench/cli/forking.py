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
BEGUN = b"+"
LOADED = (
    "dpsco_bench.cli.verbs.worker",
    "dpsco_bench.analysis.judge",
    "dpsco_bench.execution.calibration",
    "dpsco_bench.report.kind_figures",
    "dpsco_bench.report.figures",
    "dpsco_bench.fused.compiled",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "fontTools.subset",
    "scipy.stats",
    "dp_accounting.pld.privacy_loss_distribution",
)
"""Modules that jobs import, besides papers."""


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
        self.request.sendall(BEGUN)
        try:
            code = main(arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        self.request.sendall(bytes([code]))

    def _end_with_asker(self) -> None:
        with suppress(OSError):  # it may be gone before it has read
            self.request.recv(1)  # nothing comes, until it is gone
        os.kill(os.getpid(), signal.SIGTERM)


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    max_children = 1 << 10  # the workflow counts its jobs itself
    parent = 0

    def service_actions(self) -> None:
        super().service_actions()
        if os.getppid() != self.parent:
            raise SystemExit


def serve(listening: int, parent: int) -> None:
    """Import what jobs need, and fork them until the process that started this one is gone; who asks early waits."""
    os.environ["MPLBACKEND"] = "agg"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in LOADED:
        importlib.import_module(name)
    for registry in REGISTRIES:
        with suppress(DpscoError):  # a paper that cannot be imported: told by the jobs that need it
            registry.load()
    gc.freeze()  # what is loaded stays: no child looks through it
    with _Server("", _Job, bind_and_activate=False) as server:
        server.socket, server.parent = socket.socket(fileno=listening), parent
        server.serve_forever()


def _path() -> str:
    """Name the socket by the session: a job that a cluster starts is of another one, and keeps to its allocation."""
    return str(Path(os.environ[SOCKET]) / str(os.getsid(0)))


class Forks:
    """The started process; it ends with this one, or when it is stopped."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="dpsco-")  # short: a socket's path has at most 107 characters
        os.environ[SOCKET] = self._folder.name
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(_path())
            listening.listen(socket.SOMAXCONN)
            command = [sys.executable, "-m", __name__, str(listening.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(command, pass_fds=[listening.fileno()])

    def stop(self) -> None:
        """End it and wait for it, so that its times count as those of this process's children."""
        self._process.terminate()
        self._process.wait()


def asked(arguments: list[str]) -> int | None:
    """Have a job done, and return its exit code; None if nobody begins it."""
    if SOCKET not in os.environ:
        return None
    with suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.connect(_path())
        socket.send_fds(asking, [json.dumps([os.getcwd(), arguments]).encode()], [1, 2])
        if asking.recv(1) == BEGUN:
            answer = asking.recv(1)
            return answer[0] if answer else 1
    return None


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
