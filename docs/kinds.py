"""Fit what runs of each kind cost: `python docs/kinds.py [FOLDER PROFILE]...` prints `execution.predict.COSTS`.

It also writes docs/kinds.json: how near these constants, as the code has them, are to recorded times of cells. A folder
holds results of a whole run of the profile, by default profiles ci and full of this one. Each method counts once, and
errors are those of logarithms. Listings of methods with fused runs are not recorded: theirs are in docs/scaling.json.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from dpsco_bench.claims.plan import read_plan
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.cell import Cell, located
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.predict import COSTS, WORK, amounts, kind_of, predicted_seconds
from dpsco_bench.jsonio import dumps_pretty, write_atomic
from dpsco_bench.privacy.plan import Plan

HERE = Path(__file__).resolve().parent
KEPT = HERE / "kinds.json"
LEAST_TOOK = 0.003
"""Shorter cells are what starting them takes."""
BEGIN = (4e-3, 1e-5, 3e-8, 5e-6, 1e-7, 1e-9, 3e-9, 2e-10)
UNUSED = 0.05
"""A cost that is nowhere more than this share of a cell is none."""
OUTLIER = 0.4
FACTORS = (1.5, 2, 5)
TAKES_FEWER = {"su2023.nrmd"}
"""Methods whose runs take fewer gradients than they plan: they fit nothing."""


class Time(NamedTuple):
    """Measured time of a cell."""

    algorithm: str
    kind: tuple[bool, str]
    work: Sequence[float]
    predicted: float
    seconds: float
    fits: bool


def _time(cell: Cell, plan: Plan, rows: int, fused: bool, seconds: float) -> Time:
    kind, does = kind_of(cell, plan, fused), amounts(cell, plan, rows)
    at_once = not kind[0] and sum(query.releases for query in plan.queries) <= 1 and plan.gradient_evaluations <= cell.n
    fits = not at_once and cell.algorithm not in TAKES_FEWER
    work = [does[name] for name in WORK]
    return Time(cell.algorithm, kind, work, predicted_seconds(cell, plan, rows, fused), seconds, fits)


def recorded(folder: Path, profile: str, data_root: str) -> Iterable[Time]:
    """Cells of all claims and boards of a profile that ran for `LEAST_TOOK` or longer."""
    files = Layout(profile, folder)
    plan = read_plan(files.plan)
    for job in (job for entry in (*plan.claims, *plan.boards) for job in entry.jobs):
        if job.skipped or job.evaluation != "run" or not job.seconds:
            continue
        took: Counter[int] = Counter()
        for cost in files.measured.costs("run", job):
            took[cost.cell] += cost.cpu_s  # type: ignore[assignment]
        for number, seconds in took.items():
            if number < 0 or seconds <= LEAST_TOOK:
                continue
            try:
                cell = located(job.cells[number], data_root)
                known = cell.plan(job.calibration, job.seed, twice=False)[1]
            except DpscoError:
                continue
            yield _time(cell, known, job.replicates * job.data_sets, job.fused, seconds)


def listed() -> Iterable[Time]:
    """Rows of docs/scaling.json, as cells: what starts a cell is not in them."""
    import scaling

    for row in scaling.kept()[1]:
        point = scaling.point(row)
        yield _time(point.cell, point.plan, row["R"], row["fused"], row["seconds"] + LEAST_TOOK)


def fitted(times: Sequence[Time]) -> tuple[float, ...]:
    """Non-negative costs of one kind."""
    work = np.array([time.work for time in times], dtype=np.float64)
    took = np.log([max(time.seconds, LEAST_TOOK) for time in times])
    count = Counter(time.algorithm for time in times)
    root = np.sqrt([1.0 / count[time.algorithm] for time in times])
    root = root / np.sqrt(np.mean(root**2))

    def error(logs: np.ndarray) -> np.ndarray:
        return root * (np.log(work @ np.exp(logs)) - took)

    def slope(logs: np.ndarray) -> np.ndarray:
        parts = work * np.exp(logs)
        return root[:, None] * parts / parts.sum(axis=1, keepdims=True)

    start = np.log(np.array(BEGIN))
    found = least_squares(
        error, start, slope, bounds=(start - 12, start + 6), loss="soft_l1", f_scale=OUTLIER, max_nfev=200
    )
    parts = work * np.exp(found.x)
    used = (parts / parts.sum(axis=1, keepdims=True)).max(axis=0) > UNUSED
    return tuple(float(f"{cost:.1e}") for cost in np.where(used, np.exp(found.x), 0.0))


def shares(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Shares of (predicted, taken) within each of `FACTORS`."""
    error = np.abs(np.log([said / took for said, took in pairs]))
    return [float(np.mean(error <= np.log(factor))) for factor in FACTORS]


def held_out(cells: Sequence[Time], points: Sequence[Time]) -> list[tuple[float, float]]:
    """Each method's cells, predicted by what others of its kind cost; where there are none, as the code does."""
    by_kind, found = defaultdict(list), list[tuple[float, float]]()
    for time in (*cells, *points):
        if time.fits:
            by_kind[time.kind].append(time)
    for kind, method in sorted({(time.kind, time.algorithm) for time in cells}):
        others = [time for time in by_kind[kind] if time.algorithm != method]
        costs = np.array(fitted(others) if others else COSTS[kind])
        own = [time for time in cells if (time.kind, time.algorithm) == (kind, method)]
        found += [(float(np.dot(time.work, costs)), time.seconds) for time in own]
    return found


def main(arguments: Sequence[str]) -> None:
    data = next((a.partition("=")[2] for a in arguments if a.startswith("--data=")), "data")
    given = [a for a in arguments if not a.startswith("--")] or [".", "ci", ".", "full"]
    runs = zip(given[::2], given[1::2], strict=True)
    cells = [time for folder, profile in runs for time in recorded(Path(folder), profile, data)]
    points = list(listed())
    for kind in COSTS:
        print(kind, fitted([time for time in (*cells, *points) if time.kind == kind and time.fits]))
    known = [(time.predicted, time.seconds) for time in cells]
    kept = {"cells": len(cells), "within": shares(known), "held_out": shares(held_out(cells, points))}
    kept["fitting"] = shares([(time.predicted, time.seconds) for time in cells if time.fits])
    kept["fitting_cells"] = sum(time.fits for time in cells)
    write_atomic(KEPT, dumps_pretty(kept))


if __name__ == "__main__":
    main(sys.argv[1:])
