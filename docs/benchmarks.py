"""Measured speed, from what `dpsco bench --out docs/benchmarks.json` and `docs/whole.py` kept.

`python docs/benchmarks.py` writes docs/benchmarks.md and docs/benchmarks.svg.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dpsco_bench.bench.fused_pairs import NOISE, REFERENCE
from dpsco_bench.bench.measure import AT_MOST, QUICK, measure
from dpsco_bench.bench.suite import GOALS
from dpsco_bench.claims.jobs import expected_seconds
from dpsco_bench.cli.verbs.gate import recorded_seconds_path
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import read_seconds
from dpsco_bench.jsonio import loads

HERE = Path(__file__).resolve().parent
TIMES = HERE.parent / "tests" / "claims" / "cell_times.json"
PEERS, NEAR = "P1_peers", 1.5
Row = dict[str, Any]


def kept() -> list[Row]:
    """Give the rows that were measured, and one for each case of the suite that was not, by today's goals."""
    rows = loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))
    measured, about = {(row["id"], row["case"], row["peer"]): row for row in rows}, rows[0]["machine"]
    found = []
    for case in (case for id in GOALS.names() for case in GOALS.get(id).cases()):
        row = measured.get((case.id, case.case, case.peer))
        if row is None:
            lacking = measure(replace(case, untimed=case.untimed or "it was added since"), QUICK)
            row = {**asdict(lacking), "machine": about}
        met = None if case.goal is None or row["ratio"] is None else is_met({**row, "goal": case.goal})
        found.append({**row, "goal": case.goal, "met": met, "limit": case.limit if met is False else ""})
    return found


def is_met(row: Row) -> bool:
    return bool(row["ratio"] <= row["goal"] if row["sense"] == AT_MOST else row["ratio"] >= row["goal"])


def headroom(row: Row) -> float:
    """Ratio over goal, above 1 where the goal is met."""
    return float(row["goal"] / row["ratio"] if row["sense"] == AT_MOST else row["ratio"] / row["goal"])


def page(rows: list[Row]) -> str:
    return "\n".join(["# Benchmarks", "", *_runs(), "", *_beside(rows), "", *_loops(rows), "", *_how(rows), ""])


def _runs() -> Iterable[str]:
    """Write what whole runs take, from the last timed ones."""
    whole = loads((HERE / "whole.json").read_text(encoding="utf-8"))
    timed = {"smoke": whole["smoke"]["after"], "ci": whole["ci"]["after"], "full": whole["full"]}
    yield "## What a run takes"
    yield ""
    yield "| profile | cores | processor time | by the clock | calibrations and runs, on record |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for profile, run in timed.items():
        spent = [_time(run[key]) if key in run else "not timed" for key in ("cpu", "wall")] + [
            _time(_recorded(profile))
        ]
        yield f"| `{profile}` | {run.get('cores', 1)} | {' | '.join(spent)} |"
    yield ""
    commits = ", ".join(f"`{profile}` at {run['commit']}" for profile, run in timed.items())
    first, commands = whole["smoke"]["first"]["after"], whole["commands"]
    yield (
        f"Each began with an empty store and all data sets ({commits}), on cores that other work shared. `full` was "
        "run in pieces, so that only its calibrations and runs are known. The first run on a machine compiles "
        f"besides: `smoke` then takes {_time(first)}. What is finished is kept: a second run makes nothing, "
        "and an edit makes anew what it changes."
    )
    before = whole["ci"]["before"]
    yield ""
    yield (
        f"Before the redesign ({before['commit']}) `ci` took {_time(before['cpu'])} for fewer claims. On what both "
        f"have, this one takes {whole['ci']['common']:.2f} of that (goal: at most 0.6); new parts take the rest."
    )
    yield ""
    yield (
        f"On two cores the site of `ci` takes {_time(whole['site']['wall'])}, `make test` "
        f"{_time(commands['test']['wall'])} and `.ci/run` {_time(commands['ci_run']['wall'])}. Of {_cells()} recorded "
        f"cells, {_expected():.0%} took within a factor {NEAR} of what is predicted for a method that is known by name."
    )


def _time(seconds: float) -> str:
    """Seconds, minutes or hours, two digits or three."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _recorded(profile: str) -> float:
    """Sum the recorded processor time of a profile's claims and leaderboards."""
    recorded = read_seconds(recorded_seconds_path(profile))
    return sum(calibrate + run for jobs in recorded.values() for calibrate, run, _ in jobs.values())


def _cells() -> int:
    return len(loads(TIMES.read_text(encoding="utf-8")))


def _expected() -> float:
    """Share of a sample of recorded cells that take what they are expected to."""
    near = []
    for row in loads(TIMES.read_text(encoding="utf-8")):
        cell = Cell.from_json(row["cell"])
        plan = cell.plan(row["calibration"], 0, twice=False)[1]
        near.append(1 / NEAR <= expected_seconds(cell, plan, row["replicates"]) / row["seconds"] <= NEAR)
    return sum(near) / len(near)


def _beside(rows: list[Row]) -> Iterable[str]:
    """Compare a step of noisy SGD in other code, as multiples of our time."""
    own = [row for row in rows if row["id"] == PEERS]
    peers = list(dict.fromkeys(row["peer"] for row in own))
    yield "## A step of noisy SGD, beside other code"
    yield ""
    yield "How many times as long as ours (R replicates, dimension d, float64) a step takes; below 1 it is faster."
    yield ""
    yield f"| R/d | ours, ns | {' | '.join(peers)} |"
    yield f"| --- | ---: |{' ---: |' * len(peers)}"
    for case, group in groupby(own, key=lambda row: row["case"]):
        known = {row["peer"]: row for row in group}
        least = min(row["ours_ns"] for row in known.values() if row["ratio"])
        cells = (f"{known[peer]['ratio']:.3g}" if known[peer]["ratio"] else "-" for peer in peers)
        yield f"| {case.rpartition('= ')[2]} | {least:.3g} | {' | '.join(cells)} |"
    yield ""
    yield (
        "The plain C loop has libm and one scalar generator. The vectorised one draws float32 normals in 16 lanes, by "
        "polynomials for logarithm, sine and cosine, from one stream; in ours each step of each replicate has its own."
    )


def _loops(rows: list[Row]) -> Iterable[str]:
    """Write a line for each timed thing; methods beside their references, and beside their noise, are one each."""
    yield "## Single loops"
    yield ""
    yield "| what | against | ratio | goal | met |"
    yield "| --- | --- | ---: | --- | ---: |"
    rest = [row for row in rows if row["id"] != PEERS]
    listed = [row for row in rest if row["peer"] == REFERENCE]
    noise = [row for row in rest if row["case"].endswith(NOISE)]
    for id, group in groupby((row for row in rest if row not in listed + noise), key=lambda row: row["id"]):
        yield _line(GOALS.get(id).title.partition(" against ")[0], list(group))
    yield _line(f"{len({row['case'].partition(', R/d')[0] for row in listed})} compiled methods", listed)
    yield _line("compiled methods, d = 128", [row for row in noise if row["goal"]], "drawing their noise alone")


def _line(what: str, rows: list[Row], peer: str = "") -> str:
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    goals = sorted({row["goal"] for row in rows if row["goal"]})
    judged = [row for row in rows if row["met"] is not None]
    span = f"{min(ratios):.2g} to {max(ratios):.2g}" if ratios else "not measured"
    goal = f"{rows[0]['sense']} {' or '.join(f'{goal:g}' for goal in goals)}" if goals else ""
    met = f"{sum(row['met'] for row in judged)} of {len(judged)}" if judged else ""
    return f"| {what} | {peer or rows[0]['peer']} | {span} | {goal} | {met} |"


def _how(rows: list[Row]) -> Iterable[str]:
    about, days = rows[0]["machine"], sorted({row["machine"]["date"] for row in rows})
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    yield "![Ratios over goals](benchmarks.svg)"
    yield ""
    yield "## How it is measured"
    yield ""
    yield (
        "Two tasks take turns in one process, and the least processor times of both are compared. A goal of at most "
        "0.6 means that ours takes at most 0.6 of the other's time. One of at least 3 means that it is three times "
        "as fast (of gradients, that it reaches that part of the products' rate). No method has a goal "
        "against its own reference implementation."
    )
    yield ""
    yield (
        f"One core of {about['processor']}, shared with other work; NumPy {about['numpy']}, Python {about['python']}, "
        f"{versions}; {days[0] if len(days) == 1 else f'{days[0]} to {days[-1]}'}. "
        "`docs/benchmarks.json` has every row, with what keeps it from its goal. `make peers` installs JAX and "
        "PyTorch, `dpsco bench --out docs/benchmarks.json` measures, `python docs/whole.py OLD NEW` times "
        "whole runs of two checkouts side by side, `python docs/benchmarks.py` writes this page. "
        "`dpsco bench --gpu` measures a card."
    )


def figure(rows: list[Row]) -> Figure:
    """Draw how far every measured row with a goal is from it."""
    judged = [row for row in rows if row["met"] is not None]
    fig = Figure(figsize=(8.2, 0.9 + 0.19 * len(judged)), layout="constrained")
    ax = fig.add_subplot()
    for place, row in enumerate(judged):
        ax.plot([1, headroom(row)], [place, place], color="0.75", lw=1.2, zorder=1)
        ax.plot(headroom(row), place, "o" if row["met"] else "X", color="#0072B2" if row["met"] else "#D55E00", ms=6)
    ax.axvline(1, color="0.3", lw=1)
    ax.set_yticks(range(len(judged)), [f"{row['case']}, {row['peer']}" for row in judged], fontsize=6.5)
    ax.invert_yaxis()
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("times as good as its goal (crosses miss it)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.02)
    fig.suptitle(f"{sum(row['met'] for row in judged)} of {len(judged)} goals of single loops are met", weight="bold")
    return fig


def main() -> None:
    rows = kept()
    (HERE / "benchmarks.md").write_text(page(rows), encoding="utf-8")
    with matplotlib.rc_context({"svg.hashsalt": "dpsco", "svg.fonttype": "none"}):
        figure(rows).savefig(HERE / "benchmarks.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
