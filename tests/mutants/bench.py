"""A copy of the repository in which defects are tried, one at a time: the checkout itself is never changed."""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.mutants.catalogue import ROOT, Mutant

LEFT_OUT = [".git", ".venv", ".hypothesis", ".snakemake", ".*_cache", "__pycache__", "results", "outputs", "multirun"]
LEFT_OUT += ["dist", "shared"]
"""What no test of a mutant needs; `shared` and the others may be large."""
LIMIT = 120.0
"""CPU seconds after which a test that a defect keeps from ending is stopped: it has caught it."""
LONGEST = 3600.0
"""Seconds after which even a test that waits is stopped."""
COMPILED = ("dpsco_bench/rng/", "/fused/", "/fused.py")
"""Places of compiled functions. Numba's cache need not notice that what a function calls has changed, so that a defect
there has a cache of its own."""
AHEAD = ["numpy", "scipy.special", "scipy.stats", "scipy.optimize", "scipy.integrate", "numba", "pyarrow.parquet"]
AHEAD += ["omegaconf", "pytest"]
"""What most tests import, and no defect is in."""
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "--tb=line")
FAILED_TO_RUN = 70
CAUGHT, STOPPED, SURVIVES, UNCLEAR = "caught", "stopped", "survives", "unclear"


@dataclass(frozen=True)
class Outcome:
    """The fate of a mutant, in how many CPU seconds, and the last lines of what was printed.

    ``caught``: its test fails. ``stopped``: it does not end within `LIMIT`. ``survives``: it passes. ``unclear``:
    pytest did not run it.
    """

    mutant: Mutant
    word: str
    seconds: float
    told: str = ""

    @property
    def good(self) -> bool:
        return self.word in (CAUGHT, STOPPED)


class Bench:
    """A copy of the repository, in a folder that may be removed afterwards."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder, self.copy = folder, folder / "checkout"
        shutil.copytree(root, self.copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        for name in AHEAD:
            with suppress(ImportError):
                import_module(name)
        self._tried = 0

    def passes(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Whether tests pass without a defect, and what was printed; fills the cache of Numba that mutants share."""
        code, _, told = self._pytest(list(tests), self.folder / "numba")
        return code == 0, told

    def attempt(self, mutant: Mutant) -> Outcome:
        file = self.copy / mutant.file
        text, before = file.read_text(encoding="utf-8"), file.stat()
        own = any(place in mutant.file for place in COMPILED)
        self._tried += 1
        try:
            file.write_text(mutant.applied(text), encoding="utf-8")
            # Caches know a file by its size and time: no two states of it may agree in both.
            later = time.time() + 3600.0 + 10.0 * self._tried
            os.utime(file, (later, later))
            cache = self.folder / (f"numba-{self._tried}" if own else "numba")
            code, seconds, told = self._pytest([mutant.test], cache, LIMIT)
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        word = {None: STOPPED, 0: SURVIVES, 1: CAUGHT}.get(code, UNCLEAR)
        return Outcome(mutant, word, seconds, told)

    def _pytest(self, tests: list[str], cache: Path, limit: float = math.inf) -> tuple[int | None, float, str]:
        """Exit status (None for one that was stopped), CPU seconds and the end of the output of a run of tests."""
        output = self.folder / "output"
        child = os.fork()
        if not child:
            code = FAILED_TO_RUN
            try:
                code = self._run(tests, cache, output)
            finally:
                os._exit(code)  # whatever happened: what follows is for the parent
        try:
            code, seconds = _waited(child, limit)
        except BaseException:
            _end(child)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
            raise
        told = output.read_text(encoding="utf-8", errors="replace").splitlines()[-6:] if output.is_file() else []
        return code, seconds, "\n".join(told)

    def _run(self, tests: list[str], cache: Path, output: Path) -> int:
        """In a process of its own: run tests on the copy."""
        os.setsid()
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.chdir(self.copy)
        os.environ |= {"PYTHONPATH": str(self.copy), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path = [str(self.copy), *(place for place in sys.path if place and Path(place) != ROOT)]
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "dpsco_bench")]:
            del sys.modules[name]
        if "numba" in sys.modules:
            sys.modules["numba"].config.reload_config()
        import pytest
        from hypothesis import settings

        # A slow machine is no defect, and a defect is found every time or not at all.
        settings.register_profile("mutants", deadline=None, derandomize=True)
        settings.load_profile("mutants")
        code = int(pytest.main([*OPTIONS, f"--basetemp={self.folder / 'tmp'}", *tests]))
        sys.stdout.flush()
        return code


def _waited(child: int, limit: float) -> tuple[int | None, float]:
    """Exit status and CPU seconds of a process; the status is None where it had to be stopped."""
    begun, stopped = time.monotonic(), False
    while True:
        ended, status, spent = os.wait4(child, os.WNOHANG)
        if ended:
            return None if stopped else os.waitstatus_to_exitcode(status), spent.ru_utime + spent.ru_stime
        if not stopped and (_spent(child) > limit or time.monotonic() - begun > LONGEST):
            stopped = _end(child)
        time.sleep(0.05)


def _spent(process: int) -> float:
    try:
        numbers = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, numbers[11:15])) / os.sysconf("SC_CLK_TCK")


def _end(child: int) -> bool:
    """Kill the group of a process; False where it has none of its own yet."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
        return True
    return False
