"""Measured speed, from what `dpsco bench --out docs/benchmarks.json` kept.

`python docs/benchmarks.py` writes docs/benchmarks.md and docs/benchmarks.svg.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.bench.fused_pairs import without_room
from dpsco_bench.bench.measure import AT_MOST, QUICK, measure
from dpsco_bench.bench.suite import GOALS
from dpsco_bench.claims.costs import expected_seconds
from dpsco_bench.cli.verbs.gate import recorded_seconds_path
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import read_seconds
from dpsco_bench.fused.registry import has_steps
from dpsco_bench.jsonio import loads

HERE = Path(__file__).resolve().parent
BOARDS = HERE.parent / "workflows" / "recorded" / "boards"
TIMES = HERE.parent / "tests" / "claims" / "cell_times.json"
NEAR = 1.5
WORDS = {True: "yes", False: "no", None: ""}
Row = dict[str, Any]


def kept() -> list[Row]:
    """The rows that were measured, and one for each case of the suite that was not."""
    rows = loads((HERE / "benchmarks.json").read_text(encoding="utf-8"))
    there, about = {(row["id"], row["case"], row["peer"]) for row in rows}, rows[0]["machine"]
    for case in (case for id in GOALS.names() for case in GOALS.get(id).cases()):
        if (case.id, case.case, case.peer) not in there:
            lacking = measure(replace(case, untimed=case.untimed or "it was added since"), QUICK)
            rows.append({**asdict(lacking), "machine": about})
    return sorted(without_room(rows), key=lambda row: GOALS.names().index(row["id"]))


def is_met(row: Row, ratio: float) -> bool:
    """Whether a ratio would meet the goal of a row."""
    return ratio <= row["goal"] if row["sense"] == AT_MOST else ratio >= row["goal"]


def doubted(row: Row) -> bool:
    """Whether the median of the rounds' ratios says otherwise of the goal than the least times do."""
    return None not in (row["met"], row["ratio_median"]) and is_met(row, row["ratio_median"]) != row["met"]


def digits(row: Row, ratio: float) -> str:
    """A ratio with three digits, or with as many as show on which side of the goal it is."""
    told = [f"{ratio:.{places}g}" for places in range(3, 8)]
    if row["goal"] is None:
        return told[0]
    return next((text for text in told if is_met(row, float(text)) == is_met(row, ratio)), told[-1])


def headroom(row: Row) -> float:
    """Ratio over goal, above 1 where the goal is met."""
    return row["goal"] / row["ratio"] if row["sense"] == AT_MOST else row["ratio"] / row["goal"]


def page(rows: list[Row]) -> str:
    """The whole page, Markdown."""
    about, judged = rows[0]["machine"], [row for row in rows if row["met"] is not None]
    wanted = [row for row in rows if row["goal"] is not None]
    told = goals_of_runs()
    days = sorted({row["machine"]["date"] for row in rows})
    met, doubts = Counter(row["met"] for row in judged), Counter(row["met"] for row in judged if doubted(row))
    lines = [
        "# Benchmarks",
        "",
        f"Of {len(wanted)} goals of single loops {met[True]} are met, {met[False]} are missed and "
        f"{len(wanted) - len(judged)} were not measured. Goals of whole runs that are met: "
        f"{sum(line.endswith('| yes |') for line in told)} of {len(told)}. "
        "G1 to G8, P1 to P10, `plan`, `tests`, `CI` and `site` name them. "
        "P2 is G4, and P3 is G1 at every length of rows. G8 is of a card, and none was there.",
        f"Where nothing else is said, the times are of one core of {about['processor']}, which other work shared.",
        "A ratio compares processor times of two tasks run in turn in one process. A goal of at most 0.6 means",
        "that ours takes at most 0.6 of the other's time. A goal of at least 3 means that it is at least three times",
        "as fast, and in G6 that it reaches that part of the other's rate. A row without a goal is shown only.",
        "A ratio is of the least times of both sides. Where the median of the rounds' ratios says otherwise of a goal,",
        f"its row says so: {doubts[True]} of the goals that are met, and {doubts[False]} of those that are missed.",
        "Noise is float32, cast to the type of the state; scripts, JAX and PyTorch draw in the type of theirs.",
        *_of_p1(rows),
        "",
        "![Ratios over goals](benchmarks.svg)",
        "",
        f"NumPy {about['numpy']}, Python {about['python']}, BLAS threads: {about['blas_threads'] or 'all'}.",
        f"{', '.join(f'{name} {version}' for name, version in about['versions'].items())}.",
        f"Measured {_days(days)}; what was written since is not in these times.",
        "`make peers` installs JAX and PyTorch, `dpsco bench --out docs/benchmarks.json` measures,",
        "`python docs/benchmarks.py` writes this page. G8 asks for a card: `dpsco bench --gpu` measures it there.",
        *["Rows of other processors are of other runs."] * (len({row["machine"]["processor"] for row in rows}) > 1),
    ]
    lines += ["", "## The whole", "", *whole()]
    for id, group in groupby(rows, key=lambda row: row["id"]):
        own = list(group)
        lines += ["", f"## {id}: {GOALS.get(id).title}", ""]
        if own[0]["machine"]["processor"] != about["processor"]:
            lines += [f"Measured on one core of {own[0]['machine']['processor']}, which other work shared.", ""]
        lines += [
            "| case | against | ns of a | ours | other | ratio | goal | met |",
            "| --- | --- | --- | ---: | ---: | ---: | --- | --- |",
        ]
        lines += [line(row) for row in own]
        if id == "P8":
            lines += ["", *_of_p8(own)]
    return "\n".join(lines) + "\n"


def _days(days: list[str]) -> str:
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"


def _of_p1(rows: list[Row]) -> list[str]:
    """Which methods have rows for what P1 asks, and which have none."""
    against = {"its listing": "", "drawing all of its noise": "", "JAX vmap + scan, float64": ""}
    named = {
        peer: {
            row["case"].rpartition(", R/d")[0] for row in rows if row["id"].startswith("P1_") and row["peer"] == peer
        }
        for peer in against
    }
    listed, alone, jax = (named[peer] for peer in against)
    timed = {
        case.build.args[0]().algorithm
        for id in GOALS.names()
        if id.startswith("P1_")
        for case in GOALS.get(id).cases()
        if case.peer == "its listing" and isinstance(case.build, partial)
    }
    others = sorted(f"`{id}`" for id in list_algorithms() if has_steps(id) and id not in timed)
    return [
        f"P1 asks each compiled method for three things. {len(listed)} methods have rows against their listings. "
        f"Against its noise alone {len(alone)} have rows with a goal, and against JAX {len(jax)}: "
        "the others are not measured so.",
        f"No rows at all have {', '.join(others[:-1])} and {others[-1]}: they are compiled too. "
        "A step of theirs looks at all records, but for the batches of `bassily2021.noisy_smd`, which are not timed.",
        "DP-OTB is timed with its default learner. The goal at R/d = 64/8 is one beside those that P1 names.",
        f"{sum('the goal leaves' in row['limit'] for row in rows)} goals leave less time than the noise alone takes.",
    ]


def _of_p8(own: list[Row]) -> list[str]:
    """What its rows are not."""
    (equal,) = [row for row in own if "steps of" not in row["peer"]]
    return [
        "Cells are not stacked: a step of more replicates is one of a single cell that has so many. "
        f"At equal R the ratio is {digits(equal, equal['ratio'])}, in the first row."
    ]


def whole() -> list[str]:
    """What whole runs take and what they leave open, from the last records."""
    kept = loads((HERE / "whole.json").read_text(encoding="utf-8"))
    pairs = {profile: kept[profile] for profile in ("smoke", "ci")}
    full = kept["full"]
    seconds = "; ".join(
        f"`{profile}` {pair['before']['cpu']:.0f} s of processor time for the baseline ({pair['before']['commit']}), "
        f"{pair['after']['cpu']:.0f} s here"
        for profile, pair in pairs.items()
    )
    return [
        "| goal | what | is | at most | met |",
        "| --- | --- | ---: | ---: | --- |",
        *goals_of_runs(),
        "",
        "The baseline is a complete replication without compiled steps. Its leaderboard of `ci` ends at n = 1,536.",
        "",
        f"Side by side, on one core each{_on(pairs)}: {seconds}. "
        "`python docs/whole.py OLD NEW` measures two checkouts so.",
        "",
        *_by_stage(pairs),
        "All other times of whole runs were taken by commands by hand, and noted by hand. "
        f"So are those of `make test` and `.ci/run`, {kept['commands']['how']}. "
        "The first run of `smoke`, `full` and the site are others. "
        f"Of the jobs that both checkouts have, {kept['same']['how']}.",
        "",
        "`plan` adds up what is on record for the calibrations and runs that the store lacks. "
        "It leaves out those that ask for a data set that is absent: its estimate is then less, and the factor more.",
        "",
        f"P9 is of methods that are known by name. Of cells judged by their steps alone, as one's own methods are, "
        f"{loads((HERE / 'kinds.json').read_text(encoding='utf-8'))['within'][0]:.0%} are within a factor {NEAR}.",
        "",
        f"Site: {kept['site']['how']}. Its pages, tables and the figures across claims are all made anew.",
        "",
        f"`full` was timed at {full['commit']}. It ran {full['how']}. "
        f"All its processes took {full['cpu'] / 60:.0f} minutes of processor time: "
        "plan, calibrations, runs, judging, figures and site. "
        f"Calibrations and runs alone have {_recorded('full') / 3600:.1f} h on record. "
        "Results are kept by content, so that a record may hold those of several commits.",
        "",
        "By the clock its jobs took, those of both cores added up: "
        + "; ".join(f"{stage} {seconds / 60:.1f} min" for stage, seconds in full["stages"].items())
        + f". The clock had {full['wall'] / 60:.0f} min.",
    ]


def goals_of_runs() -> list[str]:
    """A row for each goal of whole runs."""
    kept = loads((HERE / "whole.json").read_text(encoding="utf-8"))
    kept["reasons"] = {why: reason.format(**_figures(kept)) for why, reason in kept["reasons"].items()}
    return [*_ratios_of_runs(kept), *_states_of_boards(kept), *_estimates(kept), *_commands(kept)]


def _figures(kept: Row) -> dict[str, float]:
    """Numbers that reasons are told with."""
    full, (smoke, ci), board = kept["full"], (kept["smoke"], kept["ci"]), _recorded("ci", "leaderboard.")
    return {
        "board": board,
        **{key: kept["same"][key] for key in ("jobs", "ratio", "times")},
        "judged": ci["after"]["stages"]["judging"],
        "judged_before": ci["before"]["stages"]["judging"],
        "cores": full["cpu"] / full["wall"],
        "site": kept["site"]["cpu"],
        "judging": smoke["after"]["stages"]["judging"] / smoke["after"]["wall"],
        "drawn": smoke["after"]["stages"]["figures and site"] / smoke["after"]["wall"],
        "first": smoke["first"]["after"] / smoke["first"]["before"],
    }


def _ratios_of_runs(kept: Row) -> list[str]:
    """Whole runs beside their baselines and the clock: P4 to P6."""
    ci, smoke = kept["ci"], kept["smoke"]
    after, minutes = ci["after"], kept["full"]["wall"] / 60
    concluding = after["stages"]["judging"] + after["stages"]["figures and site"]
    return [
        _told("P4", "`ci`, processor time over that of the baseline", _ratio(ci), 0.4, kept, "ci"),
        _told("P4", "`ci`, jobs of Snakemake (at least 50)", after.get("jobs"), 120, kept, "jobs"),
        _told("P4", "`ci`, lines that it prints", after["lines"], 200, kept, "lines"),
        _told(
            "P4",
            "`ci`, judging, figures and site, seconds by the clock on one core",
            concluding,
            40,
            kept,
            "concluding",
        ),
        _told("P5", "`smoke`, processor time over that of the baseline", _ratio(smoke), 0.6, kept, "smoke"),
        _told("P6", "`full` with leaderboard, minutes by the clock on two cores", minutes, 90, kept, "full"),
    ]


def _ratio(pair: Row) -> float:
    return float(pair["after"]["cpu"] / pair["before"]["cpu"])


def _states_of_boards(kept: Row) -> list[str]:
    """What the leaderboards leave open, and what their cells were expected to take: P7 and P9."""
    cells = len(loads(TIMES.read_text(encoding="utf-8")))
    far = f"share of {cells} recorded cells that took over {NEAR} times or under 1/{NEAR} of what was predicted"
    return [
        *(
            _told("P7", f"leaderboard of `{profile}`, undecided points", _undecided(profile), most, kept, "board")
            for profile, most in (("ci", 0.2), ("full", 0.1))
        ),
        _told("P9", far, 1 - _expected(), 0.1, kept, "costs"),
    ]


def _estimates(kept: Row) -> list[str]:
    """What whole runs took beside what is on record of their calibrations and runs, of which estimates are made."""
    smoke, ci, full = kept["smoke"], kept["ci"], kept["full"]
    took = {
        ("smoke", ", first run"): (smoke["first"]["after"], "estimate.first"),
        ("smoke", ""): (smoke["after"]["cpu"], "estimate"),
        ("ci", ""): (ci.get("later", ci["after"])["cpu"], "estimate"),  # the run whose seconds are on record
        ("full", ""): (full["cpu"], "estimate.full"),
    }
    rows = []
    for (profile, which), (seconds, why) in took.items():
        estimate = _recorded(profile)
        what = f"`{profile}`{which}, factor between its processor time and the {estimate:.0f} s on record for it"
        rows.append(_told("plan", what, max(seconds / estimate, estimate / seconds), NEAR, kept, why))
    return rows


def _commands(kept: Row) -> list[str]:
    """The tests, continuous integration and the site."""
    commands = kept["commands"]
    stages = ", ".join(f"{stage} {lasted:.0f} s" for stage, lasted in commands["ci_run"]["stages"].items())
    made = {"test": "", "ci_run": f" ({stages}; at {commands['ci_run']['commit']})"}
    asked = (("tests", "make test", "test", 8), ("CI", ".ci/run", "ci_run", 15))
    rows = [
        (id, f"`{command}`, minutes by the clock on two cores{made[key]}", commands[key]["wall"] / 60, most, kept, key)
        for id, command, key, most in asked
    ]
    site = _told("site", "site of `ci`, seconds by the clock on two cores", kept["site"]["wall"], 15, kept, "site")
    return [*(_told(*row) for row in rows), site]


def _on(pairs: dict[str, dict[str, Row]]) -> str:
    """On which days."""
    days = sorted({pair["after"]["date"] for pair in pairs.values() if "date" in pair["after"]})
    return f", {_days(days)}" if days else ""


def _by_stage(pairs: dict[str, dict[str, Row]]) -> list[str]:
    """Where the time of whole runs goes, before and now."""
    staged = {profile: pair for profile, pair in pairs.items() if pair["after"].get("stages")}
    if not staged:
        return []
    lines = ["Seconds by the clock of the same runs, by stage:", "", "| profile | stage | baseline | here |"]
    lines.append("| --- | --- | ---: | ---: |")
    for profile, pair in staged.items():
        before, after = pair["before"]["stages"], pair["after"]["stages"]
        lines += [f"| `{profile}` | {stage} | {before[stage]:.0f} | {after[stage]:.0f} |" for stage in after]
        lines.append(f"| `{profile}` | all | {pair['before']['wall']:.0f} | {pair['after']['wall']:.0f} |")
    return [*lines, ""]


def _told(id: str, what: str, value: float | None, most: float, kept: dict[str, Any], why: str) -> str:
    if value is None:
        return f"| {id} | {what} | | {most:g} | not measured: {kept['reasons'][why]} |"
    told = "yes" if value <= most else f"no: {kept['reasons'][why]}"
    return f"| {id} | {what} | {value:.3g} | {most:g} | {told} |"


def _recorded(profile: str, begins: str = "") -> float:
    """Recorded processor time of calibrations and runs of a profile's claims and leaderboards whose ids begin so."""
    recorded = read_seconds(recorded_seconds_path(profile))
    boards = [jobs for id, jobs in recorded.items() if id.startswith(begins)]
    return sum(calibrate + run for jobs in boards for calibrate, run, _ in jobs.values())


def _undecided(profile: str) -> float:
    """Share of the recorded board's points at which a method that was left out may have the least risk."""
    points = loads((BOARDS / f"{profile}.json").read_text(encoding="utf-8"))
    return sum(bool(point["contenders"]) for point in points) / len(points)


def _expected() -> float:
    """Share of a sample of recorded cells that are expected to take what they took."""
    near = []
    for row in loads(TIMES.read_text(encoding="utf-8")):
        cell = Cell.from_json(row["cell"])
        plan = cell.plan(row["calibration"], 0, twice=False)[1]
        ratio = expected_seconds(cell, plan, row["replicates"]) / row["seconds"]
        near.append(1 / NEAR <= ratio <= NEAR)
    return sum(near) / len(near)


def line(row: Row) -> str:
    """A row of a table; times are nanoseconds per unit of work."""
    goal = "" if row["goal"] is None else f"{row['sense']} {row['goal']:g}"
    if row["reason"]:
        told = "not measured" if row["met"] is None else WORDS[row["met"]]
        return f"| {row['case']} | {row['peer']} | {row['unit']} | | | | {goal} | {told}: {row['reason']} |"
    ratio = digits(row, row["ratio"])
    cells = [row["case"], row["peer"], row["unit"], *(f"{row[key]:.3g}" for key in ("ours_ns", "peer_ns")), ratio]
    median = row["ratio_median"]
    other = f", by the median ({digits(row, median)}) {WORDS[not row['met']]}" if doubted(row) else ""
    told = WORDS[row["met"]] + other + (f": {row['limit']}" if row["limit"] else "")
    return f"| {' | '.join([*cells, goal, told])} |"


def figure(rows: list[Row]) -> Figure:
    """How far every measured row with a goal is from it."""
    judged = [row for row in rows if row["met"] is not None and row["ratio"] is not None]
    fig = Figure(figsize=(8.2, 0.9 + 0.19 * len(judged)), layout="constrained")
    ax = fig.add_subplot()
    for place, row in enumerate(judged):
        ax.plot([1, headroom(row)], [place, place], color="0.75", lw=1.2, zorder=1)
        ax.plot(headroom(row), place, "o" if row["met"] else "X", color="#0072B2" if row["met"] else "#D55E00", ms=6)
    ax.axvline(1, color="0.3", lw=1)
    ax.set_yticks(
        range(len(judged)),
        [f"{row['id'].partition('_')[0]}  {row['case']}, {row['peer']}" for row in judged],
        fontsize=6.5,
    )
    ax.invert_yaxis()
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("times as good as its goal (crosses miss it)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.02)
    met, wanted = sum(row["met"] for row in judged), sum(row["goal"] is not None for row in rows)
    fig.suptitle(f"{met} of {wanted} goals of single loops are met; the others drawn are missed", weight="bold")
    return fig


def main() -> None:
    """Write page and figure."""
    rows = kept()
    (HERE / "benchmarks.md").write_text(page(rows), encoding="utf-8")
    with matplotlib.rc_context({"svg.hashsalt": "dpsco", "svg.fonttype": "none"}):
        figure(rows).savefig(HERE / "benchmarks.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
