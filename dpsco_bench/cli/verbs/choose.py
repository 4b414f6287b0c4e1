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
from dpsco_bench.claims.plan import BoardEntry, Settings, Unrun
from dpsco_bench.cli.claiming import SETTINGS, check_settings
from dpsco_bench.cli.console import (
    HELD_OUT,
    Heading,
    Row,
    add_shared,
    held_text,
    labelled,
    number,
    numbers,
    parse_keys,
    print_json,
    say,
    table,
)
from dpsco_bench.cli.overrides import extended
from dpsco_bench.cli.sweeps import set_damaged_aside
from dpsco_bench.errors import InputError
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import Pace, duration
from dpsco_bench.execution.results import check_writable, write_table
from dpsco_bench.jsonio import check_figure
from dpsco_bench.leaderboard.choose import Choice, Chosen, Contest, choose_at, make_point, twin_of
from dpsco_bench.privacy.ledger import OF, OUTPUT, ROUNDING, STATUS_WORDS
from dpsco_bench.problems.registry import get_problem, problem_class

SUMMARY = "which method for one problem, or for one's own data: all that accept it, ranked"
EPILOG = """keys: problem n d epsilon=1 delta=1e-5 replicates=16 data_sets=1, options and constants of the problem, and
settings seed=2017 backend=numpy backend.dtype=float64 backend.fused=true data.root=data plugins=[FILE,...]
  dpsco choose problem=logistic_glm domain=l2_ball n=16384 d=10 epsilon=1
  dpsco choose problem=data_file path=my.csv label=LABEL clip=1 domain=l2_ball epsilon=1
Every method has the parameters of its theorem, and the noise that its accountant asks for at the same (epsilon, delta).
Finished methods are kept in results/store: a second call, with another --limit too, runs only what is missing."""
RESULTS = Path("results/choose")
ENDINGS = (".parquet", ".pq")
SPACING = 5.0
"""Least seconds between two lines of progress."""
MUCH = 0.5
"""Where more of the rows are clipped, little but their directions is left of them."""
STATUSES = {
    "too_long": "no time left: needs ",
    "stopped": "",
    "failed": "failed: ",
    "refused": "",
    "incomparable": "",
    "not_run": "never run here: ",
}
"""Statuses of methods without a risk, in the order in which they are told, and what stands before the reason."""
COLUMNS = (
    Heading("method"),
    *numbers("risk", ci="+- (95 %)"),
    *HELD_OUT,
    Heading("says", ""),
    Heading("privacy"),
    *numbers("gradients", "seconds"),
)
_LONG = re.compile(r"\b\d+\.\d{5,}(?:e[-+]?\d+)?")
"""A number with more digits than a reader wants."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", nargs="*", metavar="KEY=VALUE", help="the problem and the point, and settings")
    limit = "of one core for all methods (default: 90)"
    parser.add_argument("--limit", type=float, default=90.0, metavar="SECONDS", help=limit)
    parser.add_argument("--cores", type=int, metavar="N", help="processes at a time (default: 2)")
    parser.add_argument("--out", metavar="FILE", help="Parquet file (default: results/choose/<digest>.parquet)")
    parser.add_argument("--twin", action="store_true", help="synthetic records of the shape of one's own data instead")
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Check the point, run what fits, rank it, and write rows and figure."""
    if args.cores is not None and args.cores < 1:
        raise InputError("--cores", args.cores, "an integer >= 1")
    if args.out is not None:
        _check_files(Path(args.out))
    point, settings = asked_point(args.keys, args.plugin, args.twin)
    _say_what_is_clipped(point)
    measured = Layout("").measured
    shown = Watched(measured, args.limit)
    with shown.live or nullcontext():
        found = choose_at(point, settings, measured, args.limit, args.cores, shown.tell, shown.begin, shown.made)
    files = _write(found, args.out)
    if args.json:
        print_json({**found.to_json(), **files})
    else:
        print(printed(found))
        for name, path in files.items():
            say(f"{name}: {path}")
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
        say(f"{count} methods, about {duration(seconds)} of work (limit {duration(self.limit)} on one core)")

    def made(self, job: Job) -> None:
        """Show the risk of a method so far; in lines only the first one."""
        if job.calibration == "none" or (job.part in self.risks and not self.live):
            return
        if (found := so_far(job, self.measured)) is None:
            return
        self.risks[job.part] = risk, half, count = found
        if not self._refresh():
            say(f"{job.part}: risk {number(risk, 3)} +- {number(half, 2)} after {count} of {job.replicates} replicates")

    def tell(self, pace: Pace) -> None:
        self.pace = str(pace)
        if not self._refresh() and pace.done < pace.all and time.monotonic() - self.last >= SPACING:
            self.last = time.monotonic()
            say(self.pace)

    def _refresh(self) -> bool:
        """Show the table anew; False where there is no terminal for it."""
        from rich.table import Table

        if not self.live:
            return False
        rows = Table("method", "risk", "+- (95 %)", "replicates", box=None, caption=self.pace)
        for name, (risk, half, count) in sorted(self.risks.items(), key=lambda item: item[1]):
            rows.add_row(name, number(risk, 3), number(half, 2), str(count))
        self.live.update(rows, refresh=True)
        return True


def asked_point(arguments: Sequence[str], plugins: Sequence[str] = (), twin: bool = False) -> tuple[Contest, Settings]:
    """Sort arguments into a point (or its public twin) and settings, checked, their plugins loaded.

    Raises InputError for an unknown key, or a value out of range.
    """
    kept = SETTINGS.keys() - {"claims", "boards", "stages"}
    mine = [text for text in arguments if text.partition("=")[0] in kept]
    settings = plan_settings("ci", check_settings(extended(mine, "plugins", plugins)))
    point = make_point(parse_keys(text for text in arguments if text not in mine), settings.data_root)
    return (twin_of(point, settings.data_root) if twin else point), settings


def _say_what_is_clipped(point: Contest) -> None:
    """Warn if the clip shortens most rows of the user's file."""
    clip = point.options.get("clip")
    if not problem_class(point.problem).file_options or not clip or point.options.get("scale"):
        return
    own: Any = get_problem(point.problem, **point.options)
    share = float((own.row_norms(own.table.features) > clip).mean())
    if share > MUCH:
        told = f"clip = {clip:g} shortens {share:.0%} of the rows (a number that is not private): little but their "
        say(told + "directions is left. Divide columns by public constants first, or take a larger clip.")


def _write(found: Choice, out: str | None) -> dict[str, Path]:
    from dpsco_bench.report.choice import write_choice

    rows = Path(out) if out else RESULTS / f"{found.key}.parquet"
    if not out:
        set_damaged_aside(rows)
        check_writable("--out", rows)
    write_table(found.rows, rows)
    return {"rows": rows, "figure": write_choice(found, rows.with_suffix(".svg"))}


def _check_files(rows: Path) -> None:
    """Refuse a place where rows, or the figure beside them, would replace another file."""
    if rows.suffix not in ENDINGS:
        raise InputError("--out", str(rows), f"a file ending in {' or '.join(ENDINGS)}; the figure beside it is .svg")
    check_writable("--out", rows)
    check_figure("--out", rows.with_suffix(".svg"))


def printed(found: Choice) -> str:
    """Lay out the answer, the ranking, what stands beside it, and what was not run."""
    point = found.point
    options = ", ".join(f"{key} = {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    where = f"n = {point.n}, d = {point.d}, epsilon = {number(point.epsilon)}, delta = {point.delta:g}"
    parts = [
        f"{point.problem}{f': {options}' if options else ''}\n{where}; {found.risk_kind} risks",
        "\n".join([found.answer, *found.own]),
        table(COLUMNS, [_line(found, method) for method in found.methods]),
        "\n".join(_references(found)),
    ]
    refused = "\n".join(not_run(found.refused))
    parts += [f"not run, and why:\n{refused}"] if refused else []
    return "\n\n".join([*parts, "\n".join(labelled("*", note, 2) for note in _notes(found))])


def _line(found: Choice, method: Chosen) -> Row:
    (low, high), held = method.ci, method.held_out
    says = "best" if len(found.tied) == 1 else "tied"
    if not (method.ranked and method.tied):
        says = "cannot win" if not method.ranked else "as the start" if method.at_start else ""
        says = f"dropped after {method.dropped}" if method.dropped else says
    return {
        "method": method.method,
        "risk": number(method.risk, 3),
        "ci": number((high - low) / 2, 2),
        "loss": number(held and held.loss, 3),
        "accuracy": number(held and held.accuracy, 3),
        "says": says,
        "privacy": STATUS_WORDS[method.privacy_status] + f" {OF[OUTPUT]}" * _by_output(method, found.point.epsilon),
        "gradients": number(method.gradient_evaluations, 3),
        "seconds": number(method.seconds, 2),
    }


def _by_output(method: Chosen, epsilon: float) -> bool:
    """Tell whether the output alone is as private as claimed, and the query sequence is not."""
    return method.privacy_status == "proven" and (method.epsilon_sequence or 0.0) > epsilon * (1.0 + ROUNDING)


def _references(found: Choice) -> Iterator[str]:
    """Tell the trivial solution, the run without privacy and the lower bound."""
    low, high = found.without_privacy.ci
    risk, own = number(found.without_privacy.risk, 3), found.risk_kind == "excess empirical"
    spread = "the minimum of the sample's risk" if own else f"[{number(low, 3)}, {number(high, 3)}]"
    known = "not known: no method without noise has run here" if risk == "-" else f"{risk}, {spread}"
    told = {"trivial": f"{number(found.trivial, 3)}, the starting point", "without_privacy": known}
    for key, text in told.items():
        held = f"; held out: {held_text(found.held_out[key])}" if key in found.held_out else ""
        yield labelled("trivial solution" if key == "trivial" else "without privacy", text + held, 18)
    bound = found.lower_bound
    cut = "cut at the trivial solution, " * (bound is not None and bound >= found.trivial)
    value = f"{number(bound, 3)}, {cut}{ORDER_ONLY}: " if bound is not None else "none: "
    yield labelled("lower bound", value + found.bound, 18)


def not_run(refused: Sequence[Unrun]) -> Iterator[str]:
    """Print a line for each method that has no risk here."""
    room = 2 + max((len(item.method) for item in refused), default=0)
    for status, before in STATUSES.items():
        for item in (item for item in refused if item.status == status):
            reason = _LONG.sub(lambda found: f"{float(found[0]):.4g}", item.reason)
            yield labelled(item.method, before + reason, room)


def _notes(found: Choice) -> Iterator[str]:
    point, cls = found.point, problem_class(found.point.problem)
    if not cls.draws_per_replicate:
        data = f"{point.data_sets} data sets: they speak of data and noise"
        data = "this one data set: they speak of the noise alone" if point.data_sets == 1 else data
        count = int(max(found.rows["replicate"].to_pylist())) + 1
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
