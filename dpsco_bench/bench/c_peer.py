"""C loops as peers: compiled by the machine's own compiler, called in this process."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from dpsco_bench.bench.measure import NotMeasurable

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fopenmp-simd", "-shared", "-fPIC")


@cache
def library(source: Path) -> ctypes.CDLL:
    """Compile a C file and load it. Raises NotMeasurable without a compiler, or where it refuses the file."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NotMeasurable("there is no C compiler (cc)")
    with tempfile.TemporaryDirectory() as folder:  # a loaded library needs its file no longer
        made = Path(folder) / "peer.so"
        done = subprocess.run([compiler, *FLAGS, str(source), "-o", str(made), "-lm"], capture_output=True, text=True)
        if done.returncode:
            raise NotMeasurable(f"cc refused {source.name}: {done.stderr.strip().splitlines()[-1]}")
        return ctypes.CDLL(str(made))


def compiler_version() -> str:
    """First line of what the C compiler says of itself; empty without one."""
    compiler = shutil.which("cc")
    if compiler is None:
        return ""
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    return told.strip().partition("\n")[0]


def pointer(array: np.ndarray | None) -> ctypes.c_void_p:
    """Where an array begins; a null pointer for None."""
    return ctypes.c_void_p(None if array is None else array.ctypes.data)
