"""P1: a method with compiled steps against its own listing, and against drawing its noise alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, BenchCase, NotMeasurable, Pair
from dpsco_bench.execution.calling import call_run
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import make_objective
from dpsco_bench.fused.compiled import available
from dpsco_bench.fused.registry import run_of
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.objective import Objective

Size = tuple[int, int, float]
SIZES: tuple[Size, ...] = ((12, 8, 20.0), (64, 8, 8.0), (64, 128, 8.0), (512, 128, 5.0))
"""Replicates, dimension, and how many times as fast as the listing the compiled steps are to be."""
NOISE_GOAL, WIDE = 2.0, 128
"""In times of drawing all of its noise, from that dimension on."""
LISTED = "the noise is the listing's too, and at this size its calls are no longer most of its step"
SHARED = "draws, records and arithmetic are the listing's too: compiled steps save its calls alone"
BESIDE = "beside its noise a step reads a record, moves, projects and adds to a sum: more bytes than the noise has"
NOISE = ", noise"
"""How the name of a row against its noise ends."""
MOST_VALUES, MOST_STEPS = 1 << 23, 4096

SCALE = 0.3
"""Noise of every query, where nothing else is said."""
STEP, RUN = "step of a replicate", "run of a replicate"

CellOf = Callable[[int, int], Cell]
"""(dimension, about how many steps) -> what is run."""


def fused_cases(id: str, method: str, cell_of: CellOf, scale: float = SCALE, lazy: bool = False) -> Iterator[BenchCase]:
    """Yield the rows of one method.

    Parameters
    ----------
    id, method : str, of the goal, and how the rows call the method
    cell_of : callable, see `CellOf`
    scale : float, noise of every query
    lazy : bool
        Whether its steps leave out noise that decides nothing. Drawing all of it is then not their work, and no goal.
    """
    yield from _rows(id, method, cell_of, SIZES, scale, lazy=lazy)


def other_methods(
    id: str,
    cells: Mapping[str, CellOf],
    sizes: Sequence[Size] = SIZES,
    limits: Mapping[str, str] = MappingProxyType({}),
    noisy: Collection[str] = (),
) -> Iterator[BenchCase]:
    """Rows of all further methods of a paper, each against its listing at the sizes of P1; a unit is a whole run.

    Parameters
    ----------
    id : str, of the goal
    cells : mapping, how a row calls a method -> see `CellOf`
    sizes : sequence of (replicates, dimension, least ratio)
    limits : mapping, of methods that spend their time on something else than `SHARED` says -> on what
    noisy : collection of str, methods that draw noise in each step: they are set against that too
    """
    for method, cell_of in cells.items():
        listed, beside = (limits.get(method, usual) for usual in (SHARED, BESIDE))
        yield from _rows(id, method, cell_of, sizes, SCALE, RUN, listed, beside, method in noisy)


def _rows(
    id: str,
    method: str,
    cell_of: CellOf,
    sizes: Sequence[Size],
    scale: float,
    unit: str = STEP,
    listed: str = LISTED,
    beside: str = BESIDE,
    noisy: bool = True,
    lazy: bool = False,
) -> Iterator[BenchCase]:
    """Set a method against its listing, and where it is ``noisy`` at the wide sizes against its noise too."""
    for replicates, d, least in sizes:
        steps = max(64, min(MOST_STEPS, MOST_VALUES // (replicates * d)))
        name, given = f"{method}, R/d = {replicates}/{d}", (partial(cell_of, d, steps), replicates, scale, unit)
        yield BenchCase(id, name, "its listing", unit, AT_LEAST, least, partial(_listing_pair, *given), listed)
        if noisy and d >= WIDE:
            peer = "drawing all of its noise" + ", most of which it leaves out" * lazy
            goal = None if lazy else NOISE_GOAL
            yield BenchCase(id, name + NOISE, peer, unit, AT_MOST, goal, partial(_noise_pair, *given), beside)


def without_room(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as they were kept; where a goal leaves less time than the noise that both draw, this is its limit."""
    noise = {(row["id"], row["case"]): row["peer_ns"] for row in rows if row["case"].endswith(NOISE) and row["goal"]}
    found = []
    for row in rows:
        alone = noise.get((row["id"], row["case"] + NOISE))
        left = row["peer_ns"] / row["goal"] if alone and row["met"] is False and row["peer_ns"] else None
        if alone and left is not None and left < alone:
            told = f"{left:.3g} ns, and its noise alone, which the listing draws too, takes {alone:.3g}"
            row = {**row, "limit": f"the goal leaves {told}"}
        found.append(row)
    return found


class TimedRun:
    """Whole runs of a cell on one data set, everything that is made once outside of them."""

    def __init__(self, cell: Cell, replicates: int, scale: float) -> None:
        if not available():
            raise NotMeasurable("Numba is missing or switched off: the listing runs")
        self.cell, self.replicates = cell, replicates
        noiseless = "none" in [c for known in cell.algorithm_entry.variants.values() for c in known]
        self.plan: Plan = cell.plan("none" if noiseless else "accounted", 0)[1]
        self.scales = {query.name: scale for query in self.plan.queries}
        self.data = cell.draw_data(0, 0)
        self.steps = max(query.releases for query in self.plan.queries)

    def mechanism(self, kind: type[Mechanism] = Mechanism) -> Any:
        return kind(self.plan, self.scales, "bench", 0, 0, self.replicates)

    def objective(self) -> Objective:
        return make_objective(self.cell, self.data, (0, 0, 0, self.replicates))

    def __call__(self, fused: bool) -> None:
        call_run(self.cell.algorithm_entry, self.objective(), self.plan, self.mechanism(), fused=fused)

    def is_fused(self) -> bool:
        """Check whether compiled steps run by default."""
        algorithm = self.cell.algorithm_entry
        return run_of(algorithm, self.objective(), self.plan, self.mechanism()) is not algorithm.run_function

    @cached_property
    def widths(self) -> dict[str, int]:
        """Numbers of a release of each query, from a run of the listing; Frank-Wolfe's has one for every vertex."""
        watching = self.mechanism(_Widths)
        call_run(self.cell.algorithm_entry, self.objective(), self.plan, watching, fused=False)
        return dict(watching.widths)

    def draw(self) -> None:
        """Draw the noise of the longest query, all of it, in the blocks of the listing."""
        mechanism, query = self.mechanism(), max(self.plan.queries, key=lambda q: q.releases)
        width = self.widths[query.name]
        block = max(1, (1 << 17) // (self.replicates * width))
        for first in range(0, self.steps, block):
            mechanism.variates(query, first, min(block, self.steps - first), (0, self.replicates), width)


class _Widths(Mechanism):
    """Notes how many numbers a release of each query has."""

    @cached_property
    def widths(self) -> dict[str, int]:
        return {}

    def release(self, name: str, value: Any, step: int = 0) -> Any:
        self.widths[name] = value.shape[-1]
        return super().release(name, value, step)


def _listing_pair(cell: Callable[[], Cell], replicates: int, scale: float, unit: str) -> Pair:
    run = TimedRun(cell(), replicates, scale)
    if not run.is_fused():
        raise NotMeasurable("at this size its listing runs", missed=True)
    work = replicates * (run.steps if unit == STEP else 1)
    return Pair(lambda: run(True), lambda: run(False), work, work)


def _noise_pair(cell: Callable[[], Cell], replicates: int, scale: float, unit: str) -> Pair:
    run = TimedRun(cell(), replicates, scale)
    work = replicates * (run.steps if unit == STEP else 1)
    return Pair(lambda: run(True), run.draw, work, work)
