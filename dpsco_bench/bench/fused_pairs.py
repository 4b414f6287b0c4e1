"""P1: a method with compiled steps against its own listing, and against drawing its noise alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, Case, NotMeasurable, Pair
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.guarded import call_run
from dpsco_bench.execution.run import make_objective
from dpsco_bench.fused.compiled import available
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan

SIZES = ((12, 8, 20.0), (64, 8, 8.0), (64, 128, 8.0), (512, 128, 5.0))
"""Replicates, dimension, and how many times as fast as the listing the compiled steps are to be."""
NOISE_GOAL, WIDE = 2.0, 128
"""In times of drawing the same words, from that dimension on."""
MOST_VALUES, MOST_STEPS = 1 << 23, 4096

CellOf = Callable[[int, int], Cell]
"""(dimension, about how many steps) -> what is run."""


def fused_cases(id: str, method: str, cell_of: CellOf, scale: float = 0.3) -> Iterator[Case]:
    """The rows of one method.

    Parameters
    ----------
    id, method : str, of the goal, and how the rows call the method
    cell_of : callable, see `CellOf`
    scale : float, noise of every query
    """
    for replicates, d, least in SIZES:
        cell = partial(cell_of, d, max(64, min(MOST_STEPS, MOST_VALUES // (replicates * d))))
        where = f"{method}, R/d = {replicates}/{d}"
        common = dict(id=id, unit="step of a replicate")
        pair = partial(_listing_pair, cell, replicates, scale)
        yield Case(**common, case=where, peer="its listing", sense=AT_LEAST, goal=least, build=pair)
        if d >= WIDE:
            alone = partial(_noise_pair, cell, replicates, scale)
            peer = "drawing the same words"
            yield Case(**common, case=f"{where}, noise", peer=peer, sense=AT_MOST, goal=NOISE_GOAL, build=alone)


class Run:
    """Whole runs of a cell on one data set, everything that is made once outside of them."""

    def __init__(self, cell: Cell, replicates: int, scale: float) -> None:
        if not available():
            raise NotMeasurable("Numba is missing or switched off: the listing runs")
        self.cell, self.replicates = cell, replicates
        self.plan: Plan = cell.plan("none", 0)[1]
        self.scales = {query.name: scale for query in self.plan.queries}
        self.data = cell.draw_data(0, 0)
        self.steps = max(query.releases for query in self.plan.queries)

    def mechanism(self) -> Mechanism:
        return Mechanism(self.plan, self.scales, "bench", 0, 0, self.replicates)

    def __call__(self, fused: bool) -> None:
        objective = make_objective(self.cell, self.data, (0, 0, 0, self.replicates))
        call_run(self.cell.algorithm_entry, objective, self.plan, self.mechanism(), fused=fused)

    def draw(self) -> None:
        """Draw the noise of the longest query, in the blocks of the listing."""
        mechanism, d = self.mechanism(), self.cell.problem_entry.dimension
        query = max(self.plan.queries, key=lambda q: q.releases)
        block = max(1, (1 << 17) // (self.replicates * d))
        for first in range(0, self.steps, block):
            mechanism.variates(query, first, min(block, self.steps - first), (0, self.replicates), d)


def _listing_pair(cell: Callable[[], Cell], replicates: int, scale: float) -> Pair:
    run = Run(cell(), replicates, scale)
    work = run.steps * replicates
    return Pair(lambda: run(True), lambda: run(False), work, work)


def _noise_pair(cell: Callable[[], Cell], replicates: int, scale: float) -> Pair:
    run = Run(cell(), replicates, scale)
    work = run.steps * replicates
    return Pair(lambda: run(True), run.draw, work, work)
