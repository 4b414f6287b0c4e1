"""A card against one core: time of a sequential step (G8), and from which size on a fused run is faster there."""

from __future__ import annotations

import time
from typing import Any

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.guarded import call_run
from dpsco_bench.execution.run import make_objective
from dpsco_bench.privacy.mechanism import Mechanism

METHOD, PROBLEM = "wang2017.noisy_sgd_bst14", "ridge_logistic"
"""n^2 steps on one record each."""
GOAL, GOAL_WIDTH, GOAL_ROWS = 0.6, 128, (64, 256, 1000)
"""G8: most microseconds of a sequential step, at that dimension, with so many replicates."""
LENGTHS = (128, 512)
"""Records of the short and the long run, whose difference is the time of the steps between them."""
SIZES = ((1, 8), (12, 8), (64, 8), (512, 8), (12, 128), (64, 128), (512, 128), (64, 1024), (512, 1024))
"""Replicates and dimension."""
ROUNDS = 3


def sequential_step(xp: Any, replicates: int, d: int, lengths: tuple[int, int] = LENGTHS) -> float:
    """Microseconds of a step of all replicates of noisy SGD by its fused run, from the least times of two lengths.

    Parameters
    ----------
    xp : namespace, NumPy for one core
    lengths : records of the two runs
    """
    short, long = (min(_seconds(xp, n, replicates, d) for _ in range(ROUNDS)) for n in lengths)
    return 1e6 * (long - short) / (lengths[1] ** 2 - lengths[0] ** 2)


def _seconds(xp: Any, n: int, replicates: int, d: int) -> float:
    cell = Cell(METHOD, PROBLEM, n, 1.0, 1e-6, d)
    plan = cell.plan("none", 0)[1]
    objective = make_objective(cell, cell.draw_data(0, 0), (0, 0, 0, replicates), xp)
    mechanism = Mechanism(plan, {query.name: 0.3 for query in plan.queries}, "bench", 0, 0, replicates, xp)
    synchronise = getattr(getattr(xp, "cuda", None), "Device", None)
    if synchronise is not None:
        synchronise().synchronize()
    start = time.perf_counter()
    call_run(cell.algorithm_entry, objective, plan, mechanism)
    if synchronise is not None:
        synchronise().synchronize()
    return time.perf_counter() - start


def goal_rows(cupy: Any, lengths: tuple[int, int] = LENGTHS) -> list[dict[str, Any]]:
    """G8, a row for each number of replicates."""
    rows = []
    for replicates in GOAL_ROWS:
        found = sequential_step(cupy, replicates, GOAL_WIDTH, lengths)
        rows.append({"replicates": replicates, "d": GOAL_WIDTH, "us": found, "goal": GOAL, "met": found <= GOAL})
    return rows


def crossover(cupy: Any, numpy: Any, deadline: float, lengths: tuple[int, int] = LENGTHS) -> list[dict[str, Any]]:
    """Microseconds of a step of all replicates on the card and on one core, by size, until the clock says so."""
    rows = []
    for replicates, d in SIZES:
        if time.monotonic() > deadline:
            break
        # on a core the steps of all rows come one after the other: fewer of them are enough
        longest = lengths if replicates * d <= 1 << 13 else (lengths[0] // 4, lengths[1] // 4)
        times = sequential_step(cupy, replicates, d, lengths), sequential_step(numpy, replicates, d, longest)
        rows.append({"replicates": replicates, "d": d, "card_us": times[0], "core_us": times[1]})
    return rows
