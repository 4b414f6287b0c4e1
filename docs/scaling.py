"""Measure what a run costs against n, d and R: six methods, reference and compiled, beside the model of their steps.

`python docs/scaling.py measure` writes docs/scaling.json, about five minutes on one core, and then, as
`python docs/scaling.py` does from that file alone, docs/scaling.md and docs/scaling.svg.
`python docs/scaling.py model` asks the model anew and measures nothing.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure

from dpsco_bench.bench.suite import environment
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import predicted_seconds
from dpsco_bench.execution.run import Reuse, run_block
from dpsco_bench.jsonio import dumps_pretty, loads, write_atomic

HERE = Path(__file__).resolve().parent
KEPT = HERE / "scaling.json"
Row = dict[str, Any]
Size = dict[str, int]


class Method(NamedTuple):
    """A method to run, with the name that readers see."""

    title: str
    algorithm: str
    problem: str
    options: dict[str, Any]


METHODS = (
    Method("phased SGD", "zhang2022.fkt20_phased_sgd", "logistic_glm", {}),
    Method("DP-SGD, minibatches", "zhang2022.dp_sgd", "quad", {}),
    Method("DP-SVRG", "wang2017.dp_svrg", "ridge_logistic", {}),
    Method("one-pass Frank-Wolfe", "bassily2021.poly_sfw", "gaps_l1", {}),
    Method("online to batch", "zhang2022.dp_otb", "quad", {}),
    Method("Frank-Wolfe, full gradients", "wang2017.frank_wolfe_ttz15", "logistic_glm", {"domain": "l1_ball"}),
)
CENTRE = {"n": 1000, "d": 40, "R": 10}
GRID = {
    "n": (32, 100, 320, 1000, 3200, 10000, 32000),
    "d": (4, 13, 40, 130, 400, 1300, 4000),
    "R": (1, 3, 10, 32, 100, 320, 1000),
}
AXES = {"n": "n, records", "d": "d, dimension", "R": "R, replicates"}
SCALE = 0.3
"""Noise of every query."""
REPEATS, ENOUGH = 5, 0.6
"""The least of so many times counts, of fewer where they have taken so many seconds."""
FACTORS = (1.5, 2, 5)
COLUMNS = {
    "centre": {},
    "n = 32,000": {"n": 32000},
    "d = 4,000": {"d": 4000},
    "R = 1": {"R": 1},
    "R = 1,000": {"R": 1000},
}
RUNS = {False: ("reference", "#D55E00", "s"), True: ("compiled", "#0072B2", "o")}


# --- measuring ---------------------------------------------------------------------------------------
def sizes() -> Iterator[Size]:
    """List the centre, and points from there along each axis."""
    yield CENTRE
    for key, values in GRID.items():
        yield from (CENTRE | {key: value} for value in values if value != CENTRE[key])


class Point:
    """The runs of a method at one size, by the reference or compiled."""

    def __init__(self, method: Method, size: Size, reuse: Reuse) -> None:
        self.size, self.reuse = size, reuse
        options = {"problem_options": method.options} if method.options else {}
        self.cell = Cell(method.algorithm, method.problem, size["n"], 1.0, 1e-6, size["d"], **options)
        self.plan = self.cell.plan("none", 0)[1]
        self.data = self.cell.draw_data(0, 0)

    def model(self, fused: bool) -> float:
        return predicted_seconds(self.cell, self.plan, self.size["R"], fused)

    def run(self, fused: bool, replicates: int) -> None:
        """Run as a cell does: start, steps, and the risk of the output."""
        scales = {query.name: SCALE for query in self.plan.queries}
        rows = {"root_seed": 0, "replicates": replicates}
        run_block(self.cell, self.plan, scales, self.data, fused=fused, reuse=self.reuse, **rows)

    def measured(self, fused: bool) -> tuple[float, float]:
        """Least CPU seconds of a run, and megabytes that it holds at most beyond what there was."""
        gc.collect()  # what is dropped meanwhile would hide as much of what is taken
        Path("/proc/self/clear_refs").write_text("5")  # from here on the most is counted
        before, times = memory("VmRSS"), list[float]()
        while len(times) < REPEATS and sum(times) < ENOUGH:
            start = time.process_time()
            self.run(fused, self.size["R"])
            times.append(time.process_time() - start)
        return min(times), memory("VmHWM") - before


def point(row: Row) -> Point:
    """Where a row was measured."""
    method = next(method for method in METHODS if method.title == row["method"])
    return Point(method, {key: row[key] for key in CENTRE}, Reuse(0))


def memory(key: str) -> float:
    """Megabytes that this process holds (``VmRSS``), or has held at most (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1024


def apart(task: Callable[[], Any]) -> Any:
    """Run a task in a process of its own, forked from this one: what is compiled is at hand there."""
    here, there = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(target=lambda: there.send(task()))
    process.start()
    there.close()
    found = here.recv()
    process.join()
    return found


def measure() -> Iterator[Row]:
    """Rows of all points. One replicate is run before: it compiles, and finds the minimum that all others share."""
    for method in METHODS:
        for size in sizes():
            point = Point(method, size, Reuse(0))
            row = {"method": method.title, **size, "gradients": point.plan.gradient_evaluations * size["R"]}
            for fused in (False, True):
                point.run(fused, 1)
                seconds, peak = apart(lambda at=point, how=fused: at.measured(how))
                yield {**row, "fused": fused, "seconds": seconds, "model_s": point.model(fused), "peak_mb": peak}


# --- page and figures --------------------------------------------------------------------------------
def kept() -> tuple[Row, list[Row]]:
    """Read the machine, and the rows that were measured."""
    found = loads(KEPT.read_text(encoding="utf-8"))
    return found["machine"], found["rows"]


def ns(row: Row, key: str = "seconds") -> float:
    """Nanoseconds of a gradient of a replicate, noise, step and risk included."""
    return 1e9 * row[key] / row["gradients"]


def at(rows: list[Row], **size: int) -> dict[str, tuple[Row, Row]]:
    """Find by method the rows of its reference and its compiled run, at the centre but for what is given."""
    here = [row for row in rows if all(row[key] == value for key, value in (CENTRE | size).items())]
    return {m.title: tuple(row for row in here if row["method"] == m.title) for m in METHODS}  # type: ignore[misc]


def ratios(rows: list[Row], where: Callable[[Row], bool] = lambda row: True) -> list[float]:
    """Compute how many times as fast compiled runs are, a number for each method and size."""
    return [a["seconds"] / b["seconds"] for a, b in pairs(rows) if where(a)]


def pairs(rows: list[Row]) -> list[tuple[Row, Row]]:
    listings = {tuple(row[key] for key in ("method", *CENTRE)): row for row in rows if not row["fused"]}
    return [(listings[tuple(row[key] for key in ("method", *CENTRE))], row) for row in rows if row["fused"]]


def slower(rows: list[Row]) -> list[str]:
    """Write a sentence on the points where a compiled run took longer, with the methods and by how much at most."""
    found = [(b["seconds"] / a["seconds"] - 1, a["method"]) for a, b in pairs(rows) if a["seconds"] < b["seconds"]]
    if not found:
        return ["No compiled run takes longer than its reference implementation."]
    names = " and ".join(sorted({name for _, name in found}))
    points = "one point" if len(found) == 1 else f"{len(found)} points"
    return [f"It takes longer at {points}, by at most {max(found)[0]:.0%} ({names})."]


def short(value: float) -> str:
    """Two digits."""
    return f"{float(f'{value:.2g}'):,g}"


def between(values: list[float]) -> str:
    """Least and largest, in words."""
    return f"{min(values):.2g} to {max(values):.2g}"


def told(shares: list[float]) -> str:
    """Shares within each of the factors, in words."""
    first, *more = (f"{share:.0%} within {most}" for share, most in zip(shares, FACTORS, strict=True))
    return f"{first.replace('within', 'within a factor')}, {more[0]} and {more[1]}"


def page(about: Row, rows: list[Row]) -> str:
    fused = [row for row in rows if row["fused"]]
    errors = {m.title: [r["model_s"] / r["seconds"] for r in fused if r["method"] == m.title] for m in METHODS}
    within = [sum(1 / most <= e <= most for own in errors.values() for e in own) / len(fused) for most in FACTORS]
    known, core = loads((HERE / "kinds.json").read_text(encoding="utf-8")), about["blas_core_type"]
    lines = [
        "# What runs cost against n, d and R",
        "",
        f"On {len(fused)} points, drawn below, compiled runs are {between(ratios(rows))} times as fast as "
        "reference implementations:",
        f"{between(ratios(rows, lambda r: r['R'] == 1))} times with one replicate, "
        f"{between(ratios(rows, lambda r: r['R'] == CENTRE['R']))} times with {CENTRE['R']}, whatever n and d, and "
        f"{between(ratios(rows, lambda r: r['R'] == 1000))} times with 1,000.",
        *slower(rows),
        "A reference implementation pays for calls in every step, whatever the size; a compiled run pays for numbers.",
        "So their lines meet when R d is large, or when a method spends its time on samples or matrix products.",
        "",
        *table(rows, "ns of a gradient", lambda a, b: f"{short(ns(a))} / {short(ns(b))} = {ns(a) / ns(b):.2g}"),
        "",
        f"At the centre n is {CENTRE['n']:,}, d is {CENTRE['d']} and R is {CENTRE['R']}; a column changes one of them.",
        "A gradient is of one record for one replicate. Its time includes noise, steps and the risk of the output.",
        "",
        "![Nanoseconds of a gradient against n, d and R](scaling.svg)",
        "",
        "## The model",
        "",
        "Dashed lines are the model that predicts jobs without a recorded time (`execution/predict.py`).",
        "It uses steps, gradients, n, d and R, whether the run is compiled, and what a step looks at.",
        "That is one record, a batch, all records, or their mean if it is affine.",
        "It does not use the method, so it serves your own.",
        f"Of {known['cells']:,} recorded cells of profiles `ci` and `full` it predicts {told(known['within'])}.",
        f"For a method that was left out of the fit it is {told(known['held_out'])}.",
        "[Benchmarks](benchmarks.md) has the share of cells whose method is known by name.",
        "`python docs/kinds.py` fits the model to whole cells, which draw their data and find their minimum too.",
        f"Of the {len(fused)} compiled runs drawn here, which do not, it predicts {told(within)}.",
        "By the median it says of",
        "",
        *(f"* {name}: {median(own):.2g} times what was measured" for name, own in errors.items()),
        "",
        "## Memory",
        "",
        "Megabytes that a run holds at most, beyond the data that replicates share.",
        "Differences of less than ten mean little.",
        "",
        *table(rows, "MB, reference / compiled", lambda a, b: f"{a['peak_mb']:.0f} / {b['peak_mb']:.0f}"),
        "",
        "![Peak memory against n, d and R](scaling_memory.svg)",
        "",
        "## How it was measured",
        "",
        f"{about['processor']}, one core, shared with other work, on {about['date']}.",
        f"NumPy {about['numpy']}{core and f' with OpenBLAS kernels of {core}'}, Python {about['python']}.",
        f"Each point has a process of its own. Times are processor times, the least of up to {REPEATS} runs.",
        "Compiling, data and the minimum that a risk is measured from are not counted.",
        "`python docs/scaling.py measure` measures, and `python docs/scaling.py` writes this page from what it kept.",
    ]
    return "\n".join(lines) + "\n"


def table(rows: list[Row], head: str, cell: Callable[[Row, Row], str]) -> list[str]:
    """Tabulate what a cell says of the reference and the compiled run."""
    lines = [f"| {head} | {' | '.join(COLUMNS)} |", "| --- |" + " ---: |" * len(COLUMNS)]
    for method in METHODS:
        cells = (cell(*at(rows, **size)[method.title]) for size in COLUMNS.values())
        lines.append(f"| {method.title} | {' | '.join(cells)} |")
    return lines


def figure(rows: list[Row], value: Callable[[Row], float], unit: str, model: bool) -> Figure:
    """Draw a panel for each method and axis: reference and compiled run, and the model of each dashed."""
    fig = Figure(figsize=(8.2, 10.4 if model else 8.0), layout="constrained")
    axes = fig.subplots(len(METHODS), len(GRID), sharey="row" if model else "all", sharex="col")
    for line, method in zip(axes, METHODS, strict=True):
        for ax, key in zip(line, GRID, strict=True):
            for fused, (name, colour, marker) in RUNS.items():
                own = [r for r in rows if r["method"] == method.title and r["fused"] == fused]
                own = [r for r in own if all(r[other] == CENTRE[other] for other in GRID if other != key)]
                own.sort(key=lambda r: r[key])
                where = [r[key] for r in own]
                ax.plot(where, [value(r) for r in own], marker, ls="-", color=colour, ms=4, lw=1.2, label=name)
                if model:
                    ax.plot(where, [ns(r, "model_s") for r in own], "--", color=colour, lw=0.9, label=f"{name}, model")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.spines[["top", "right"]].set_visible(False)
            ax.tick_params(labelsize=8)
            ax.minorticks_off()
            ax.grid(axis="y", color="0.92", lw=0.6)
        line[0].set_title(method.title, fontsize=9, loc="left", fontweight="bold")
    for ax, name in zip(axes[-1], AXES.values(), strict=True):
        ax.set_xlabel(name, fontsize=9)
    fig.supylabel(unit, fontsize=9)
    fig.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=9, frameon=False)
    return fig


def main() -> None:
    about, rows = kept()
    (HERE / "scaling.md").write_text(page(about, rows), encoding="utf-8")
    with matplotlib.rc_context({"svg.hashsalt": "dpsco", "svg.fonttype": "none"}):
        for name, *drawn in (
            ("scaling", ns, "ns of a gradient of a replicate", True),
            ("scaling_memory", lambda row: row["peak_mb"], "peak memory, MB", False),
        ):
            figure(rows, *drawn).savefig(HERE / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        rows = list[Row]()
        for row in measure():
            rows.append(row)
            print(*row.values(), file=sys.stderr, flush=True)
        write_atomic(KEPT, dumps_pretty({"machine": environment(), "rows": rows}))
    if sys.argv[1:] == ["model"]:
        machine, rows = kept()
        rows = [row | {"model_s": point(row).model(row["fused"])} for row in rows]
        write_atomic(KEPT, dumps_pretty({"machine": machine, "rows": rows}))
    main()
