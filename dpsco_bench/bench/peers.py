"""Peers on one thread of the CPU: C loops of the machine's own compiler, JAX, and PyTorch."""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

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


def import_jax() -> Any:
    """Import JAX on one thread of the CPU, which is what it is compared with.

    Raises NotMeasurable where it is not installed.
    """
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    try:
        return importlib.import_module("jax")
    except ImportError:
        raise NotMeasurable("JAX is not installed (make peers)") from None


def double_precision(jax: Any, dtype: str) -> Any:
    """Context in which 64-bit types exist if ``dtype`` is one."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(dtype == "float64")
    return importlib.import_module("jax.experimental").enable_x64(dtype == "float64")


def import_torch() -> Any:
    """Import PyTorch on one thread, which is what it is compared with.

    Raises NotMeasurable where it is not installed.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise NotMeasurable("PyTorch is not installed (make peers)") from None
    torch.set_num_threads(1)
    return torch
