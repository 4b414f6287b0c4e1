"""Ratios of processor times within one process, robust on a machine that others use; peers in C, JAX and PyTorch."""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpsco_bench.registry import Registry

AT_MOST, AT_LEAST = "at most", "at least"
Task = Callable[[], object]
FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fopenmp-simd", "-shared", "-fPIC")
GOALS: Registry[Goal] = Registry("benchmark", "bench", core="bench")


class NotMeasurable(Exception):
    """A case that cannot be measured; the message says why."""


@dataclass(frozen=True)
class Pair:
    """Two warm tasks, which have compiled and allocated what they need, and how much work each call of them does."""

    ours: Task
    peer: Task
    ours_units: float
    peer_units: float


@dataclass(frozen=True)
class BenchCase:
    """One line of the suite."""

    id: str
    case: str
    peer: str
    unit: str
    sense: str
    goal: float | None
    build: Callable[[], Pair]  # raises `NotMeasurable` where it cannot
    limit: str = ""  # what the time goes to: said where the goal is missed
    untimed: str = ""  # why it is not measured, where that is known before it is built


class Effort(NamedTuple):
    """How long to measure: ``rounds`` of one sample of each task, a sample taking about ``seconds``."""

    rounds: int
    seconds: float


FULL, QUICK = Effort(40, 0.01), Effort(8, 0.004)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Measurements of a case (`BenchCase`); numbers are None where nothing was measured."""

    id: str
    case: str
    ratio: float | None = None
    goal: float | None = None
    met: bool | None = None  # None without a goal too
    sense: str
    peer: str
    unit: str
    ours_ns: float | None = None  # least times per unit
    peer_ns: float | None = None
    ratio_median: float | None = None  # of the rounds' ratios: beside the ratio a measure of disturbance
    reason: str = ""  # why nothing was measured
    limit: str = ""  # of the case, where its goal is missed


def measure(case: BenchCase, effort: Effort) -> Row:
    """Measure one case.

    Samples of the two tasks alternate, so that both see the same machine, and their least times count, since
    disturbances only ever add time. Times are processor times of all threads.
    """
    row = Row(id=case.id, case=case.case, goal=case.goal, sense=case.sense, peer=case.peer, unit=case.unit)
    if case.untimed:
        return replace(row, reason=case.untimed)
    try:
        pair = case.build()
    except NotMeasurable as reason:
        return replace(row, reason=str(reason))
    calls = [_calls(task, effort.seconds) for task in (pair.ours, pair.peer)]
    ours, peer = [], []  # nanoseconds per unit of work
    for _ in range(effort.rounds):
        ours.append(1e9 * _seconds(pair.ours, calls[0]) / pair.ours_units)
        peer.append(1e9 * _seconds(pair.peer, calls[1]) / pair.peer_units)
    ratio = _ratio(case, min(ours), min(peer))
    median = statistics.median(_ratio(case, a, b) for a, b in zip(ours, peer, strict=True))
    met = None if case.goal is None else ratio <= case.goal if case.sense == AT_MOST else ratio >= case.goal
    limit = case.limit if met is False else ""
    return replace(row, ratio=ratio, met=met, ours_ns=min(ours), peer_ns=min(peer), ratio_median=median, limit=limit)


def _ratio(case: BenchCase, ours: float, peer: float) -> float:
    return ours / peer if case.sense == AT_MOST else peer / ours


def _calls(task: Task, seconds: float) -> int:
    """Count the calls that fill a sample; the first one only warms up."""
    task()
    return max(1, round(seconds / max(_seconds(task, 1), 1e-9)))


def _seconds(task: Task, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        task()
    return (time.process_time() - start) / calls


Cases = Callable[[], Iterable[BenchCase]]


class Goal(NamedTuple):
    """A goal of the suite: its name in words, and what makes its cases."""

    title: str
    cases: Cases


def goal(id: str, title: str) -> Callable[[Cases], Cases]:
    """Register a function that makes the cases of a goal (used as a decorator)."""

    def register(cases: Cases) -> Cases:
        GOALS.add(id, Goal(title, cases), cases.__module__)
        return cases

    return register


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
    """Return the first line of what the C compiler says of itself; empty without one."""
    if (compiler := shutil.which("cc")) is None:
        return ""
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.strip().partition("\n")[0]


def pointer(array: np.ndarray | None) -> ctypes.c_void_p:
    """Point to where an array begins; a null pointer for None."""
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
    """Make a context in which 64-bit types exist if ``dtype`` is one."""
    place = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")
    return place.enable_x64(dtype == "float64")


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
