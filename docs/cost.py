"""Fit what cells of the leaderboard take: `python docs/cost.py [FOLDER PROFILE]...` writes conf/cost.yaml and a sample.

A folder holds results of a whole run of the profile, by default profiles ci and full of this one. The store has the CPU
seconds of every cell. Those of a method, and those of it on a problem and set, are fitted by non-negative seconds for
each of `execution.predict.amounts`, in relative error and against outliers: the first cell of a process loads what all
use.
With ``--held-out`` each run is predicted from the others instead, and nothing is written.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from dpsco_bench.claims.jobs import CELL_SECONDS, Costs, family
from dpsco_bench.claims.plan import read_plan
from dpsco_bench.execution.cell import Cell, located
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.predict import amounts
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.paths import conf_dir
from dpsco_bench.problems.registry import problem_class

BOARD = "leaderboard.common"
ROOT = Path(__file__).resolve().parent.parent
TARGET, SAMPLE = conf_dir() / "cost.yaml", ROOT / "tests" / "claims" / "cell_times.json"
SAMPLED = 80
SHORT, SHORTER = 0.02, 0.01
"""Below so many seconds a cell is what starting it takes: it counts as so long, and for less (`WEIGHTS`)."""
WEIGHTS = 1.0, 0.3, 0.05
LEAST_TOOK = 0.004
ELSEWHERE = 0.02
"""Weight of all cells of a method elsewhere against those of a family, and of other methods against those of one."""
OUTLIER, SHARPNESS, ROUNDS = 0.3, 1.5, 25
"""Beyond this error, in logarithms, a cell counts less, by this power; so often the weights are found anew."""
NEAR = 1.5
HEAD = """# CPU seconds of a unit of what a cell does (claims/jobs.py: amounts), by method, problem and set.
# Written by `python docs/cost.py` from recorded runs. They decide what `choose` and leaderboards run within their
# limits and how work is packed, and no number.
"""


@dataclass(frozen=True)
class Time:
    """Measured time of a cell."""

    cell: Cell
    family: str
    does: dict[str, float]
    replicates: int
    calibration: str
    seconds: float

    @property
    def fused(self) -> bool:
        return has_steps(self.cell.algorithm)


def measured(profile: str, base: Path, data_root: str) -> list[Time]:
    """Collect the seconds of the board's cells."""
    files, found = Layout(profile, base), []
    for job in read_plan(files.plan, [BOARD]).boards[0].jobs:
        rows = job.replicates * job.data_sets
        for cost in files.measured.costs("run", job):
            cell = located(job.cells[cost.cell], data_root)
            plan = cell.plan(job.calibration, job.seed, twice=False)[1]
            does = amounts(cell, plan, rows)
            found.append(Time(job.cells[cost.cell], family(cell), does, rows, job.calibration, cost.cpu_s))
    return found


def _weights(times: Sequence[Time]) -> np.ndarray:
    took = np.array([time.seconds for time in times])
    return np.where(took > SHORT, WEIGHTS[0], np.where(took > SHORTER, WEIGHTS[1], WEIGHTS[2]))


def solved(ours: Sequence[Time], others: Sequence[Time] = (), scale: float = 1.0) -> dict[str, float]:
    """Seconds of a unit, of few of them: those of our cells, where these do not tell those of others times a scale."""
    names = list(ours[0].does)
    x = np.array([list(time.does.values()) for time in (*ours, *others)])
    took = np.array([max(t.seconds, LEAST_TOOK) for t in ours] + [max(t.seconds, LEAST_TOOK) * scale for t in others])
    weight = _weights(ours)
    if others:
        there = _weights(others)
        weight = np.concatenate([weight, there * ELSEWHERE * max(weight.sum(), 1.0) / there.sum()])
    unit = x.max(axis=0) + 1e-300
    x, about, found = x / unit, took.copy(), np.zeros(len(names))
    for _ in range(ROUNDS):  # (p - t)^2 / (p t) is even in log(p / t)
        error = np.maximum(np.abs(np.log(about / took)), 1e-9)
        root = np.sqrt(weight / (about * took) * np.minimum(1.0, (OUTLIER / error) ** SHARPNESS))
        found, _ = nnls(x * root[:, None], took * root, maxiter=2000)
        about = np.sqrt(about * np.maximum(x @ found, CELL_SECONDS / 100))
    return {name: float(f"{v:.3g}") for name, v in zip(names, found / unit, strict=True) if v > 0}


def _said(terms: dict[str, float], time: Time) -> float:
    return max(sum(seconds * time.does[name] for name, seconds in terms.items()), CELL_SECONDS)


def fitted(times: Sequence[Time]) -> Costs:
    by_kind, by_method, by_family = defaultdict(list), defaultdict(list), defaultdict(list)
    for one in times:
        by_kind[one.fused].append(one)
        by_method[one.cell.algorithm].append(one)
        by_family[one.cell.algorithm, one.family].append(one)
    methods = {
        id: solved(ours, [t for t in by_kind[ours[0].fused] if t.cell.algorithm != id])
        for id, ours in sorted(by_method.items())
    }
    families: dict[str, dict[str, dict[str, float]]] = {}
    for (id, name), ours in sorted(by_family.items()):
        scale = float(np.exp(np.median([np.log(max(t.seconds, LEAST_TOOK) / _said(methods[id], t)) for t in ours])))
        families.setdefault(id, {})[name] = solved(ours, [t for t in by_method[id] if t.family != name], scale)
    return Costs(methods, families)


def near(times: Iterable[Time], costs: Costs) -> tuple[float, float]:
    """Shares within a factor `NEAR`: of cells that are not `SHORT`, and of all, shorter ones counting as that."""
    pairs = []
    for time in times:
        id = time.cell.algorithm
        terms = costs.families.get(id, {}).get(time.family) or costs.methods.get(id, {"cell": SHORT})
        pairs.append((_said(dict(terms), time), time.seconds))
    said, took = np.array(pairs).T
    good = np.abs(np.log(said / np.maximum(took, 1e-9))) <= np.log(NEAR)
    floored = np.abs(np.log(np.maximum(said, SHORT) / np.maximum(took, SHORT))) <= np.log(NEAR)
    return float(good[took > SHORT].mean()), float(floored.mean())


def text(costs: Costs) -> str:

    def line(terms: dict[str, float]) -> str:
        return "{" + ", ".join(f"{name}: {seconds:.2e}" for name, seconds in terms.items()) + "}"

    lines = ["methods:", *(f"  {id}: {line(dict(terms))}" for id, terms in costs.methods.items()), "families:"]
    for id, own in costs.families.items():
        lines += [f"  {id}:", *(f'    "{name}": {line(dict(terms))}' for name, terms in own.items())]
    return HEAD + "\n".join(lines) + "\n"


def sample(times: Sequence[Time]) -> str:
    """Every so many-th of the cells that are not `SHORT` and need no data, a line each."""
    long = [t for t in times if t.seconds > SHORT and not problem_class(t.cell.problem).needs_data_root]
    kept = sorted(long, key=lambda t: (t.cell.algorithm, t.family, t.seconds))[:: max(1, len(long) // SAMPLED)]
    rows = [
        {"cell": t.cell, "replicates": t.replicates, "calibration": t.calibration, "seconds": t.seconds} for t in kept
    ]
    return "[\n" + ",\n".join(dumps_canonical(row) for row in rows) + "\n]\n"


def main(arguments: Sequence[str]) -> None:
    options = [a for a in arguments if a.startswith("--")]
    data = next((o.partition("=")[2] for o in options if o.startswith("--data=")), "data")
    given = [a for a in arguments if a not in options] or [".", "ci", ".", "full"]
    runs = {
        (folder, profile): measured(profile, Path(folder), data)
        for folder, profile in zip(given[::2], given[1::2], strict=True)
    }
    everything = [time for times in runs.values() for time in times]
    costs = fitted(everything)
    for key, times in runs.items():
        others = [time for other, those in runs.items() if other != key for time in those]
        found = fitted(others) if "--held-out" in options else costs
        print(f"{key[1]}: {len(times)} cells; within {NEAR}: {near(times, found)[0]:.1%} of those beyond {SHORT} s,")
        print(f"  {near(times, found)[1]:.1%} of all, what is shorter counting as {SHORT} s")
    if "--held-out" not in options:
        TARGET.write_text(text(costs), encoding="utf-8")
        SAMPLE.write_text(sample(everything), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
