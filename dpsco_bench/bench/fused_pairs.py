"""P1: a method with compiled steps against its own reference implementation, and against drawing its noise alone."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from types import MappingProxyType

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, GOALS, BenchCase, NotMeasurable, Pair
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import call_run, make_objective
from dpsco_bench.fused.compiled import available
from dpsco_bench.fused.registry import fused_module, run_of
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan
from dpsco_bench.problems.objective import Objective

Size = tuple[int, int]
SIZES: tuple[Size, ...] = ((12, 8), (64, 8), (64, 128), (512, 128))
"""Replicates and dimension. Against its reference implementation a method has no goal: a slow one would meet it."""
NOISE_GOAL, WIDE = 2.0, 128  # in times of drawing all of its noise, from that dimension on
BESIDE = "beside its noise a step reads a record, moves, projects and adds to a sum: more bytes than the noise has"
REFERENCE, NOISE = "its reference implementation", ", noise"  # a peer, and the end of a row's name against its noise
MOST_VALUES, MOST_STEPS = 1 << 23, 4096
SCALE = 0.3  # noise of every query, where nothing else is said
STEP, RUN = "step of a replicate", "run of a replicate"
CellOf = Callable[[int, int], Cell]  # (dimension, about how many steps) -> what is run


def fused_cases(
    id: str,
    cells: Mapping[str, CellOf],
    sizes: Sequence[Size] = SIZES,
    limits: Mapping[str, str] = MappingProxyType({}),
    noisy: Collection[str] = (),
    scale: float = SCALE,
    unit: str = RUN,
    lazy: bool = False,
) -> Iterator[BenchCase]:
    """Set methods against their reference implementations, and those that draw noise in each step against it too.

    Parameters
    ----------
    cells : mapping, how a row calls a method -> see `CellOf`
    sizes : sequence of (replicates, dimension); at the wide ones methods are set against their noise
    limits : mapping, of methods that spend their time on something else than `BESIDE` says -> on what
    noisy : collection of str, methods that draw noise in each step
    lazy : bool, steps leave out noise that decides nothing. Drawing all of it is then not their work, and no goal.
    """
    for (method, cell_of), (replicates, d) in product(cells.items(), sizes):
        steps = max(64, min(MOST_STEPS, MOST_VALUES // (replicates * d)))
        name, given = f"{method}, R/d = {replicates}/{d}", (partial(cell_of, d, steps), replicates, scale, unit)
        yield BenchCase(id, name, REFERENCE, unit, AT_LEAST, None, partial(_pair, *given, REFERENCE))
        if method in noisy and d >= WIDE:
            peer = "drawing all of its noise" + ", most of which it leaves out" * lazy
            goal, limit = None if lazy else NOISE_GOAL, limits.get(method, BESIDE)
            yield BenchCase(id, name + NOISE, peer, unit, AT_MOST, goal, partial(_pair, *given, NOISE), limit)


def timed_cells() -> dict[str, Cell]:
    """Algorithm -> its cell of the first size, of all methods that are set against their reference implementations."""
    cases = (case for id in GOALS.names() if id.startswith("P1_") for case in GOALS.get(id).cases())
    found: dict[str, Cell] = {}
    for case in cases:
        if case.peer == REFERENCE and isinstance(case.build, partial):
            cell = case.build.args[0]()
            found.setdefault(cell.algorithm, cell)
    return found


def compile_ahead() -> None:
    """Compile the steps of these methods on all cores, a module in one process, so that no run waits for it."""
    if not available():
        return
    by_module = defaultdict[str, list[Cell]](list)
    for id, cell in timed_cells().items():
        by_module[fused_module(id)].append(cell)
    with ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(_compile, by_module.values()))


def _compile(cells: Sequence[Cell]) -> None:
    for cell in cells:
        TimedRun(cell, 2, SCALE)(True)


class TimedRun:
    """Whole runs of a cell on one data set, everything that is made once outside of them."""

    def __init__(self, cell: Cell, replicates: int, scale: float) -> None:
        if not available():
            raise NotMeasurable("Numba is missing or switched off: the reference implementation runs")
        self.cell, self.replicates = cell, replicates
        noiseless = "none" in [c for known in cell.algorithm_entry.variants.values() for c in known]
        self.plan: Plan = cell.plan("none" if noiseless else "accounted", 0)[1]
        self.scales = {query.name: scale for query in self.plan.queries}
        self.data = cell.draw_data(0, 0)
        self.steps = max(query.releases for query in self.plan.queries)

    def mechanism(self) -> Mechanism:
        return Mechanism(self.plan, self.scales, "bench", 0, 0, self.replicates)

    def objective(self) -> Objective:
        return make_objective(self.cell, self.data, (0, 0, 0, self.replicates))

    def __call__(self, fused: bool) -> None:
        call_run(self.cell.algorithm_entry, self.objective(), self.plan, self.mechanism(), fused=fused)

    def draw(self) -> None:
        """Draw the noise of the longest query, all of it, in the blocks of the reference implementation."""
        mechanism, query = self.mechanism(), max(self.plan.queries, key=lambda q: q.releases)
        signs = 2 if isinstance(query, NoisyMinimumQuery) else 1  # Frank-Wolfe asks for each vertex of the l1 ball
        width = signs * self.cell.problem_entry.dimension
        block = max(1, (1 << 17) // (self.replicates * width))
        for first in range(0, self.steps, block):
            mechanism.variates(query, first, min(block, self.steps - first), (0, self.replicates), width)


def _pair(cell: Callable[[], Cell], replicates: int, scale: float, unit: str, peer: str) -> Pair:
    """Set compiled runs against the reference implementation, or against drawing all noise."""
    run = TimedRun(cell(), replicates, scale)
    entry = run.cell.algorithm_entry
    if peer == REFERENCE and run_of(entry, run.objective(), run.plan, run.mechanism()) is entry.run_function:
        raise NotMeasurable("at this size its reference implementation runs")
    work = replicates * (run.steps if unit == STEP else 1)
    return Pair(lambda: run(True), (lambda: run(False)) if peer == REFERENCE else run.draw, work, work)
