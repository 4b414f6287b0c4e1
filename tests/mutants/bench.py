"""A copy of the repository in which defects are tried, one at a time: the checkout itself is never changed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.mutants.catalogue import ROOT, Mutant

LEFT_OUT = [".git", ".venv", ".hypothesis", ".snakemake", ".*_cache", "__pycache__", "results", "outputs", "multirun"]
LEFT_OUT += ["dist", "shared"]
"""What no test of a mutant needs; `shared` and the others may be large."""
LIMIT = 120
"""CPU seconds after which a test that a defect keeps from ending is stopped: it has caught it."""
LONGEST = 3600.0
"""Seconds after which even a test that waits is stopped."""
COMPILED = ("dpsco_bench/rng/", "/fused/", "/fused.py")
"""Places of compiled functions. Numba's cache need not notice that what a function calls has changed, so that a defect
there has a cache of its own."""
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "--tb=line")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
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
        self._tried = 0

    def passes(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Whether tests pass without a defect, and what was printed; fills the cache of Numba that mutants share."""
        word, _, told = self._pytest(tests, self.folder / "numba", resource.RLIM_INFINITY)
        return word == SURVIVES, told

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
            return Outcome(mutant, *self._pytest([mutant.test], cache, LIMIT))
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _pytest(self, tests: Sequence[str], cache: Path, limit: int) -> tuple[str, float, str]:
        """Run tests on the copy: the word for their outcome, CPU seconds and the end of what they print."""
        own = {"PYTHONPATH": str(self.copy), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        own |= dict.fromkeys(THREADS, "1")
        command = [sys.executable, "-m", "pytest", *OPTIONS, f"--basetemp={self.folder / 'tmp'}", *tests]
        how = {"cwd": self.copy, "env": os.environ | own, "capture_output": True, "text": True, "timeout": LONGEST}
        limited, before = partial(resource.setrlimit, resource.RLIMIT_CPU, (limit, limit)), _spent()
        try:
            done = subprocess.run(command, preexec_fn=limited, **how)
        except subprocess.TimeoutExpired:
            return STOPPED, _spent() - before, ""
        word = STOPPED if done.returncode < 0 else {0: SURVIVES, 1: CAUGHT}.get(done.returncode, UNCLEAR)
        return word, _spent() - before, "\n".join((done.stdout + done.stderr).splitlines()[-6:])


def _spent() -> float:
    """CPU seconds of all processes that were started and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
