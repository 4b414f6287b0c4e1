"""``dpsco choose key=value...``: rank every method at one point, or on your own data."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.analysis.races import so_far
from dpsco_bench.claims.bounds.orders import ORDER_ONLY
from dpsco_bench.claims.jobs import plan_settings
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.cli import console as ui
from dpsco_bench.cli.overrides import PLAN_SETTINGS, check_settings, extended
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job, Settings
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import Pace, duration
from dpsco_bench.execution.results import check_writable, write_table
from dpsco_bench.jsonio import check_figure
from dpsco_bench.leaderboard.choose import Choice, Chosen, Contest, choose_at, make_point, twin_of
from dpsco_bench.privacy.ledger import OF, OUTPUT, ROUNDING, STATUS_WORDS
from dpsco_bench.problems.registry import get_problem, problem_class
from dpsco_bench.report.tables import Column, Number

SUMMARY = "which method for one problem, or for one's own data: all that accept it, ranked"
EPILOG = """keys: problem n d epsilon=1 delta=1e-5 replicates=16 data_sets=1, options and constants of the problem, and
settings seed=2017 backend=numpy backend.dtype=float64 backend.fused=true data.root=data plugins=[FILE,...]
  dpsco choose problem=logistic_glm domain=l2_ball n=16384 d=10 epsilon=1
  dpsco choose problem=data_file path=my.csv label=LABEL clip=1 domain=l2_ball epsilon=1
Every method has the parameters of its theorem, and the noise that its accountant asks for at the same (epsilon, delta).
Finished methods are kept in results/store: a second call, with another --limit too, runs only what is missing."""
RESULTS = Path("results/choose")
ENDINGS = (".parquet", ".pq")
SPACING = 5.0  # least seconds between two lines of progress
MUCH = 0.5  # where more of the rows are clipped, little but their directions is left of them
STATUSES = {
    "too_long": "no time left: needs ",
    "stopped": "",
    "failed": "failed: ",
    "refused": "",
    "incomparable": "",
    "not_run": "never run here: ",
}
"""Statuses of methods without a risk, in the order in which they are told, and what stands before the reason."""
_LONG = re.compile(r"\b\d+\.\d{5,}(?:e[-+]?\d+)?")
"""A number with more digits than a reader wants."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", nargs="*", metavar="KEY=VALUE", help="the problem and the point, and settings")
    limit = "time for all methods together, on one core (default: 90)"
    parser.add_argument("--limit", type=float, default=90.0, metavar="SECONDS", help=limit)
    parser.add_argument("--cores", type=int, metavar="N", help="processes at a time (default: 2)")
    parser.add_argument("--out", metavar="FILE", help="Parquet file (default: results/choose/<digest>.parquet)")
    parser.add_argument("--twin", action="store_true", help="run on synthetic records of your data's shape instead")
    ui.add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Check the point, run what fits, rank it, and write rows and figure."""
    from dpsco_bench.report.choice import choice_figure
    from dpsco_bench.report.drawing import write_svg

    if args.cores is not None:
        checked_count("--cores", args.cores)
    rows = None if args.out is None else Path(args.out)
    if rows:
        if rows.suffix not in ENDINGS:
            ending = f"a file ending in {' or '.join(ENDINGS)}; the figure beside it is .svg"
            raise InputError("--out", args.out, ending)
        check_writable("--out", rows)
        check_figure("--out", rows.with_suffix(".svg"))
    point, settings = asked_point(args.keys, args.plugin, args.twin)
    if told := clipped_text(point):
        ui.say(told)
    measured = Layout("").measured
    shown = Watched(measured, args.limit)
    with shown.live or nullcontext():
        found = choose_at(point, settings, measured, args.limit, args.cores, shown.tell, shown.begin, shown.made)
    rows = rows or RESULTS / f"{found.key}.parquet"
    write_table(found.rows, rows)
    files = {"rows": rows, "figure": write_svg(lambda: choice_figure(found), rows.with_suffix(".svg"))}
    if args.json:
        ui.print_json({**found.to_json(), **files})
    else:
        print(printed(found))
        for name, path in files.items():
            ui.say(f"{name}: {path}")
    return 0


class Watched:
    """Shows each method as soon as some of its replicates are done: a live table on a terminal, else a line."""

    def __init__(self, measured: Measured, limit: float) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        self.live = Live(console=console, transient=True, auto_refresh=False) if console.is_terminal else None
        self.measured, self.limit, self.last, self.pace = measured, limit, 0.0, ""
        self.risks: dict[str, tuple[float, float, int]] = {}

    def begin(self, entry: BoardEntry) -> None:
        count = sum(job.calibration != "none" for job in entry.jobs)
        seconds = sum(sum(job.seconds) for job in entry.jobs)
        ui.say(f"{count} methods, about {duration(seconds)} of work (limit {duration(self.limit)} on one core)")

    def made(self, job: Job) -> None:
        """Show the risk of a method so far; in lines only the first one."""
        told = job.calibration == "none" or (job.part in self.risks and not self.live)
        if told or not (found := so_far(job, self.measured)):
            return
        self.risks[job.part] = risk, half, count = found
        risks = f"{ui.number(risk, 3)} +- {ui.number(half, 2)}"
        self._show(f"{job.part}: risk {risks} after {count} of {job.replicates} replicates")

    def tell(self, pace: Pace) -> None:
        self.pace = str(pace)
        if self.live or (pace.done < pace.all and time.monotonic() - self.last >= SPACING):
            self.last = time.monotonic()
            self._show(self.pace)

    def _show(self, line: str) -> None:
        """Show the table anew on a terminal, else a line."""
        from rich.table import Table

        if not self.live:
            return ui.say(line)
        rows = Table("method", "risk", "+- (95 %)", "replicates", box=None, caption=self.pace)
        for name, (risk, half, count) in sorted(self.risks.items(), key=lambda item: item[1]):
            rows.add_row(name, ui.number(risk, 3), ui.number(half, 2), str(count))
        self.live.update(rows, refresh=True)


def asked_point(arguments: Sequence[str], plugins: Sequence[str] = (), twin: bool = False) -> tuple[Contest, Settings]:
    """Sort arguments into a point, or its twin, and settings. Raises InputError for a wrong key or value."""
    kept = PLAN_SETTINGS.keys() - {"claims", "boards", "stages"}
    mine = [text for text in arguments if text.partition("=")[0] in kept]
    settings = plan_settings("ci", check_settings(extended(mine, "plugins", plugins)))
    point = make_point(ui.parse_keys(text for text in arguments if text not in mine), settings.data_root)
    return (twin_of(point, settings.data_root) if twin else point), settings


def clipped_text(point: Contest) -> str:
    """Warn if the clip shortens most rows of the user's file; empty if not."""
    clip = point.options.get("clip")
    if not problem_class(point.problem).file_options or not clip or point.options.get("scale"):
        return ""
    own: Any = get_problem(point.problem, **point.options)
    share = float((own.row_norms(own.table.features) > clip).mean())
    told = f"clip = {clip:g} shortens {share:.0%} of the rows (a number that is not private): little but their "
    told += "directions is left. Divide columns by public constants first, or take a larger clip."
    return told if share > MUCH else ""


def printed(found: Choice) -> str:
    """Lay out the answer, the ranking, what stands beside it, and what was not run, with its reason."""
    point, bound, statuses = found.point, found.lower_bound, list(STATUSES)
    options = ", ".join(f"{key} = {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    where = f"n = {point.n}, d = {point.d}, epsilon = {ui.number(point.epsilon)}, delta = {point.delta:g}"
    low, high = found.without_privacy.ci
    risk, own = ui.number(found.without_privacy.risk, 3), found.risk_kind == "excess empirical"
    spread = "the minimum of the sample's risk" if own else f"[{ui.number(low, 3)}, {ui.number(high, 3)}]"
    known = "not known: no method without noise has run here" if risk == "-" else f"{risk}, {spread}"
    cut = "cut at the trivial solution, " * (bound is not None and bound >= found.trivial)
    order = "none: " if bound is None else f"{ui.number(bound, 3)}, {cut}{ORDER_ONLY}: "
    held = {key: f"; held out: {ui.held_text(numbers)}" for key, numbers in found.held_out.items()}
    start = f"{ui.number(found.trivial, 3)}, the starting point"
    beside = [
        ui.labelled("trivial solution", start + held.get("trivial", ""), 18),
        ui.labelled("without privacy", known + held.get("without_privacy", ""), 18),
        ui.labelled("lower bound", order + found.bound, 18),
    ]
    parts = [
        f"{point.problem}{f': {options}' if options else ''}\n{where}; {found.risk_kind} risks",
        "\n".join([found.answer, *found.own]),
        _ranking(found),
        "\n".join(beside),
    ]
    if found.refused:
        room, lines = 2 + max(len(item.method) for item in found.refused), ["not run, and why:"]
        for item in sorted(found.refused, key=lambda item: statuses.index(item.status)):
            reason = _LONG.sub(lambda digits: f"{float(digits[0]):.4g}", item.reason)
            lines.append(ui.labelled(item.method, STATUSES[item.status] + reason, room))
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, "\n".join(ui.labelled("*", note, 2) for note in _notes(found))])


def _ranking(found: Choice) -> str:
    def says(method: Chosen) -> str:
        if method.dropped:
            return f"dropped after {method.dropped}"
        if not method.ranked:
            return "cannot win"
        if method.tied:
            return "best" if len(found.tied) == 1 else "tied"
        return "as the start" * method.at_start

    def privacy(method: Chosen) -> str:
        whole = method.epsilon_sequence or 0.0  # the output alone may be as private as claimed
        by_output = method.privacy_status == "proven" and whole > found.point.epsilon * (1.0 + ROUNDING)
        return STATUS_WORDS[method.privacy_status] + f" {OF[OUTPUT]}" * by_output

    columns = {
        **{"method": Column("method"), "risk": Number("risk", ui.digits(3))},
        "+- (95 %)": Number(lambda method: (method.ci[1] - method.ci[0]) / 2, ui.digits(2)),
        **{**ui.held_out("held_out_"), "": Column(says), "privacy": Column(privacy)},
        "gradients": Number("gradient_evaluations", ui.digits(3)),
        "seconds": Number("seconds", ui.digits(2)),
    }
    return ui.table(columns, found.methods)


def _notes(found: Choice) -> Iterator[str]:
    point, cls = found.point, problem_class(found.point.problem)
    if not cls.draws_per_replicate:
        count = int(max(found.rows["replicate"].to_pylist())) + 1
        alone, several = "this one data set: they speak of the noise alone", "data sets: they speak of data and noise"
        data = alone if point.data_sets == 1 else f"{point.data_sets} {several}"
        yield f"Intervals are of {count} replicates on {data}."
    if point.delta >= 1 / point.n:
        yield f"delta = {point.delta:g} is not below 1/n: publishing a record at random would be as private."
    for warning in found.warnings:
        yield f"Of every run here: {warning}."
    if cls.file_options:
        yield "These numbers were made from your data: choosing by them costs privacy, which is not charged here."
    if cls.twin:
        yield "At no such cost, --twin runs on synthetic records of the same n, d, clip, loss and domain."
    if cls.source.startswith("synthetic"):
        yield "Synthetic records, made from public facts alone: ranks on your data can differ."
    if any(method.held_out for method in found.methods):
        yield "The held-out numbers, and those of the starting point and without privacy, are not private either."
    modules = ALGORITHMS.registered()
    for id in (m.algorithm for m in found.methods if not modules[m.algorithm].startswith("dpsco_bench.")):
        yield f"{id} is charged for what it declares: `dpsco check {id} --plugin FILE` tries whether it keeps to that."
    if found.late:
        names = ", ".join(item.method for item in found.late)
        yield f"Not within the limit, and perhaps better: {names}; --limit SECONDS gives more time."
