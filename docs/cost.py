"""Fit what cells of the leaderboard take to the model of their steps: `python docs/cost.py` writes conf/cost.yaml.

Run it in a folder whose last run of profile ci is whole. The store has the CPU seconds of every cell. A ratio is the
weighted median over the cells of an algorithm, longer cells counting for more, and one of its own on a problem where
that is far from it. What did not run for long enough keeps its ratio; one problem alone tells nothing of others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log
from pathlib import Path

from dpsco_bench.claims.costs import costs
from dpsco_bench.claims.plan import read_plan
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.measured import item

TARGET = Path(__file__).resolve().parent.parent / "conf" / "cost.yaml"
BOARD, PROFILE = "leaderboard.common", "ci"
LEAST_SECONDS = 0.02
LEAST_MODEL = 0.001
"""A cell that takes less, or has steps of less, tells nothing of its steps."""
BESIDES = 0.015
FAR = 1.4
"""Factor between the ratio on a problem and that of all from which on it has a line of its own."""
NEAR = 1.5
HEAD = """# CPU seconds of a cell: `besides`, and the model of its steps (execution/predict.py) times a ratio, of its
# method or of its method on its problem. Written by `python docs/cost.py` from the recorded run. They decide what
# `choose` and leaderboards run within their limits, and no number.
"""

Times = tuple[str, str, float, float]
"""Algorithm, problem, seconds of the model, CPU seconds."""


def measured(profile: str = PROFILE, base: Path = Path()) -> list[Times]:
    """What the cells of a board took that ran long enough to tell."""
    files, known = Layout(profile, base), costs()
    found = []
    for job in read_plan(files.plan, [BOARD]).board(BOARD).jobs:
        for cost in files.measured.store.costs(*item("run", job)):
            cell = job.cells[cost.cell]
            ratio = known.seconds(cell.algorithm, cell.problem, 1.0) - known.besides
            model = max(job.seconds[cost.cell] - known.besides, 0.0) / ratio
            if cost.cpu_s > LEAST_SECONDS and model > LEAST_MODEL:
                found.append((cell.algorithm, cell.problem, model, cost.cpu_s))
    return found


def ratio(times: Sequence[Times]) -> float:
    """Weighted median of measured over modelled seconds."""
    pairs = sorted(
        (max(took - BESIDES, took / 5) / model, 1 + (took > 0.2) + 2 * (took > 1)) for *_, model, took in times
    )
    half, passed = sum(weight for _, weight in pairs) / 2, 0
    for value, weight in pairs:
        passed += weight
        if passed >= half:
            return float(f"{value:.2g}")
    raise ValueError("no times")


def fitted(times: Sequence[Times]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Ratios by algorithm, and those of their own by algorithm and problem."""
    by_algorithm, by_pair = defaultdict(list), defaultdict(list)
    for one in times:
        by_algorithm[one[0]].append(one)
        by_pair[one[:2]].append(one)
    several = {id: ours for id, ours in by_algorithm.items() if len({problem for _, problem, *_ in ours}) > 1}
    ratios = {**costs().ratios} | {id: ratio(ours) for id, ours in several.items()}
    on: dict[str, dict[str, float]] = {}
    for (id, problem), ours in sorted(by_pair.items()):
        if abs(log(ratio(ours) / ratios.setdefault(id, 1.0))) > log(FAR):
            on.setdefault(id, {})[problem] = ratio(ours)
    return dict(sorted(ratios.items())), on


def near(times: Sequence[Times], ratios: dict[str, float], on: dict[str, dict[str, float]]) -> float:
    """Share of the cells that are predicted within a factor `NEAR`."""
    found = [(BESIDES + model * on.get(id, {}).get(problem, ratios[id])) / took for id, problem, model, took in times]
    return sum(1 / NEAR <= one <= NEAR for one in found) / len(found)


def main() -> None:
    """Fit and write."""
    times = measured()
    ratios, on = fitted(times)
    lines = [f"besides: {BESIDES}", "ratios:", *(f"  {id}: {value:g}" for id, value in ratios.items()), "problems:"]
    lines += [f"  {id}: {{{', '.join(f'{p}: {value:g}' for p, value in own.items())}}}" for id, own in on.items()]
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(times)} cells, {100 * near(times, ratios, on):.0f} % predicted within a factor {NEAR}")


if __name__ == "__main__":
    main()
