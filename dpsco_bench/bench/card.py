"""A card against one core: time of a sequential step (G8), and from which size on a fused run is faster there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, BenchCase, NotMeasurable, Pair, Row, goal
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import call_run, make_objective
from dpsco_bench.execution.timing import Machine, machine
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.registry import Registry, papers

GOAL_NS, GOAL_WIDTH = 600.0, 128  # G8: most nanoseconds of a sequential step of all replicates, and its dimension
NUMBERS = 1 << 29  # most coordinates that the steps of a run on a core move
NO_DEVICE = "no device: emulated"  # remark of rows made over an emulation, whose times say nothing of a card
TITLES = {"G8": "a sequential step on the card", "crossover": "the card against one core, by R d"}
PROBES: Registry[CardProbe] = Registry("card probe", "bench", core="bench")
"""Cases that `dpsco bench --gpu` times, as ``<paper>.<name>``; papers add theirs in their ``bench``."""
SIZES = ((1, 8), (12, 8), (64, 8), (512, 8), (12, 128), (64, 128), (512, 128), (64, 1024), (512, 1024))


@goal("G8", TITLES["G8"])
def on_a_core() -> Iterator[BenchCase]:
    """Its line where a core is measured: `card_rows` measures a card."""

    def no_card() -> Pair:
        raise NotMeasurable("this is of a card: dpsco bench --gpu measures it there")

    told = f"most nanoseconds of a step, at R = 1,000 and d = {GOAL_WIDTH}"
    yield BenchCase("G8", told, "the clock", "step", AT_MOST, GOAL_NS, no_card, limit="no card has been measured")


class CardProbe(NamedTuple):
    """Method timed on a card (it takes n^2 steps on one record each), with its name in rows."""

    algorithm: str
    problem: str
    title: str


class Work(NamedTuple):
    """Sizes to be timed."""

    lengths: tuple[int, int]  # records of a short and a long run; their difference is the time of the steps between
    goal_rows: tuple[int, ...]  # replicates of G8
    sizes: tuple[tuple[int, int], ...]  # replicates and dimension of the crossover


FULL = Work((128, 512), (64, 256, 1000), SIZES)
QUICK = Work((64, 192), (256,), SIZES[1::3])
TOUCHED = Work((3, 4), (2,), ((2, 3), (3, 3)))  # over an emulation: that everything runs


def _sequential_step(probe: CardProbe, xp: Any, size: tuple[int, int], lengths: tuple[int, int]) -> float:
    """Nanoseconds of a step of all replicates by a fused run, ``size`` (R, d): from the least times of two lengths."""
    short, long = (min(_seconds(probe, xp, n, *size) for _ in range(3)) for n in lengths)
    return 1e9 * (long - short) / (lengths[1] ** 2 - lengths[0] ** 2)


def _seconds(probe: CardProbe, xp: Any, n: int, replicates: int, d: int) -> float:
    cell = Cell(probe.algorithm, probe.problem, n, 1.0, 1e-6, d)
    plan = cell.plan("none", 0)[1]
    objective = make_objective(cell, cell.draw_data(0, 0), (0, 0, 0, replicates), xp)
    mechanism = Mechanism(plan, {query.name: 0.3 for query in plan.queries}, "bench", 0, 0, replicates, xp)
    wait = (lambda: None) if xp is np else xp.cuda.Device().synchronize
    wait()
    start = time.perf_counter()
    call_run(cell.algorithm_entry, objective, plan, mechanism)
    wait()
    return time.perf_counter() - start


def emulated(cupy: Any) -> bool:
    return bool(getattr(cupy, "EMULATED", False))


def about(cupy: Any) -> Machine:
    free, total = cupy.cuda.Device().mem_info
    runtime = cupy.cuda.runtime
    return replace(
        machine("cupy"),
        memory_gb=total / 2**30,
        free_gb=free / 2**30,
        driver=getattr(runtime, "driverGetVersion", int)(),
        runtime=getattr(runtime, "runtimeGetVersion", int)(),
        emulated=emulated(cupy),
    )


def peak_mb(cupy: Any) -> float:
    """Megabytes that CuPy has taken of the card since its pool was last emptied."""
    return float(cupy.get_default_memory_pool().total_bytes()) / 2**20


@dataclass(frozen=True, kw_only=True)
class CardRow(Row):
    """A row of the card, by replicates and dimension, with the most megabytes that it took of the card."""

    replicates: int
    d: int
    peak_mb: float | None = None


def card_rows(cupy: Any, work: Work, deadline: float = float("inf")) -> Iterator[CardRow]:
    """Measure G8 and the crossover of each probe, until a deadline of `time.monotonic`.

    Raises InputError if no paper that is installed has a probe.
    """
    if not PROBES.names():
        raise InputError("papers", ", ".join(papers()) or "none", "one that registers a probe for the card")
    sizes = [*(("G8", (rows, GOAL_WIDTH)) for rows in work.goal_rows), *(("crossover", size) for size in work.sizes)]
    for probe in map(PROBES.get, PROBES.names()):
        yield from (_row(probe, cupy, id, size, work, deadline) for id, size in sizes)


def _row(probe: CardProbe, cupy: Any, id: str, size: tuple[int, int], work: Work, deadline: float) -> CardRow:
    judged = id == "G8"
    row = CardRow(
        id=id,
        replicates=size[0],
        d=size[1],
        case=f"{probe.title} on the card, R/d = {size[0]}/{size[1]}",
        goal=1.0 if judged else None,
        sense=AT_MOST if judged else AT_LEAST,
        peer=f"{GOAL_NS:g} ns" if judged else "one core",
        unit="step of all replicates",
        reason="no time left" if time.monotonic() > deadline else "",
    )
    if row.reason:
        return row
    cupy.get_default_memory_pool().free_all_blocks()
    ours = _sequential_step(probe, cupy, size, work.lengths)
    row = replace(row, peak_mb=peak_mb(cupy))
    long = min(work.lengths[1], math.isqrt(NUMBERS // math.prod(size)))  # on a core rows come one after the other
    peer = GOAL_NS if judged else _sequential_step(probe, np, size, (max(2, long // 4), long))
    if emulated(cupy):
        return replace(row, reason=NO_DEVICE)
    ratio = ours / peer if judged else peer / ours
    return replace(row, ours_ns=ours, peer_ns=peer, ratio=ratio, met=ratio <= 1.0 if judged else None)


def crossing(rows: Sequence[CardRow]) -> str:
    """Say from which R d on the card was the faster one."""
    timed = [(row.replicates * row.d, row.ratio) for row in rows if row.id == "crossover" and row.ratio]
    if not timed:
        return "not measured"
    slower = max((size for size, ratio in timed if ratio < 1.0), default=0)
    faster = [size for size, _ in timed if size > slower]
    return f"from R d = {min(faster):,} on the card is faster" if faster else "one core is faster at the largest R d"
