"""Measured speed, from what `dpsco bench --out docs/benchmarks.json` kept.

`python docs/benchmarks.py` writes docs/benchmarks.md and docs/benchmarks.svg.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dpsco_bench.bench.measure import AT_MOST
from dpsco_bench.bench.suite import GOALS
from dpsco_bench.jsonio import loads

HERE = Path(__file__).resolve().parent
WORDS = {True: "yes", False: "no", None: ""}
Row = dict[str, Any]


def kept() -> list[Row]:
    """The rows that were measured."""
    return loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))


def headroom(row: Row) -> float:
    """Ratio over goal, above 1 where the goal is met."""
    return row["goal"] / row["ratio"] if row["sense"] == AT_MOST else row["ratio"] / row["goal"]


def page(rows: list[Row]) -> str:
    """The whole page, Markdown."""
    about, judged = rows[0]["machine"], [row for row in rows if row["met"] is not None]
    met = Counter(row["met"] for row in judged)
    lines = [
        "# Benchmarks",
        "",
        f"{met[True]} of {len(judged)} goals are met, on one core of {about['processor']} where nothing else is said,",
        "which other work shared.",
        "A ratio compares processor times of two tasks run in turn in one process. A goal of at most 0.6 means",
        "that ours takes at most 0.6 of the other's time. A goal of at least 3 means that it is at least three times",
        "as fast, and in G6 that it reaches that part of the other's rate. A row without a goal is shown only.",
        "",
        "![Ratios over goals](benchmarks.svg)",
        "",
        f"NumPy {about['numpy']}, Python {about['python']}, BLAS threads: {about['blas_threads'] or 'all'}.",
        "`make peers` installs JAX and PyTorch, `dpsco bench --out docs/benchmarks.json` measures,",
        "`python docs/benchmarks.py` writes this page. G8 asks for a card: `dpsco bench --gpu` measures it there.",
    ]
    for id, group in groupby(rows, key=lambda row: row["id"]):
        own = list(group)
        lines += ["", f"## {id}: {GOALS.get(id).title}", ""]
        if own[0]["machine"]["processor"] != about["processor"]:
            lines += [f"Measured on one core of {own[0]['machine']['processor']}, which other work shared.", ""]
        lines += [
            "| case | against | ns | its ns | ratio | goal | met |",
            "| --- | --- | ---: | ---: | ---: | --- | --- |",
        ]
        lines += [line(row) for row in own]
    return "\n".join(lines) + "\n"


def line(row: Row) -> str:
    """A row of a table; times are nanoseconds per unit of work."""
    if row["reason"]:
        return f"| {row['case']} | {row['peer']} | | | | | not measured: {row['reason']} |"
    goal = "" if row["goal"] is None else f"{row['sense']} {row['goal']:g}"
    cells = [row["case"], row["peer"], *(f"{row[key]:.3g}" for key in ("ours_ns", "peer_ns", "ratio"))]
    told = WORDS[row["met"]] + (f": {row['limit']}" if row["limit"] else "")
    return f"| {' | '.join([*cells, goal, told])} |"


def figure(rows: list[Row]) -> Figure:
    """How far every measured row with a goal is from it."""
    judged = [row for row in rows if row["met"] is not None]
    fig = Figure(figsize=(8.2, 0.9 + 0.19 * len(judged)), layout="constrained")
    ax = fig.add_subplot()
    for place, row in enumerate(judged):
        ax.plot([1, headroom(row)], [place, place], color="0.75", lw=1.2, zorder=1)
        ax.plot(headroom(row), place, "o" if row["met"] else "X", color="#0072B2" if row["met"] else "#D55E00", ms=6)
    ax.axvline(1, color="0.3", lw=1)
    ax.set_yticks(range(len(judged)), [f"{row['id']}  {row['case']}, {row['peer']}" for row in judged], fontsize=6.5)
    ax.invert_yaxis()
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("times as good as its goal (crosses miss it)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.02)
    return fig


def main() -> None:
    """Write page and figure."""
    rows = kept()
    (HERE / "benchmarks.md").write_text(page(rows), encoding="utf-8")
    with matplotlib.rc_context({"svg.hashsalt": "dpsco", "svg.fonttype": "none"}):
        figure(rows).savefig(HERE / "benchmarks.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
