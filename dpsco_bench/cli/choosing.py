"""What `dpsco choose` reads, and what it prints."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.analysis.choice import Choice, Chosen, NotRun
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.claims.choice import Point, candidates, contestants, make_point, twin_of
from dpsco_bench.claims.compose import plan_settings
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.claims.settings import Settings
from dpsco_bench.cli.claiming import SETTINGS, check_settings, say
from dpsco_bench.cli.options import parse_keys
from dpsco_bench.cli.output import Column, Row, labelled, number, table
from dpsco_bench.cli.overrides import extended
from dpsco_bench.errors import InputError
from dpsco_bench.execution.progress import Pace, duration
from dpsco_bench.execution.single import DEFAULT_RECORDS
from dpsco_bench.execution.summary import HeldOut
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class

KEPT = tuple(key for key in SETTINGS if key not in ("claims", "boards"))
"""Settings of a plan that a point has too."""
SPACING = 5.0
"""Least seconds between two lines of progress."""
STATUSES = {
    "too_long": "too long here: ",
    "stopped": "",
    "failed": "failed: ",
    "refused": "",
    "incomparable": "",
    "not_run": "never run here: ",
}
"""Why a method has no risk, in the order in which they are told, and what stands before the reason."""
COLUMNS = (
    Column("method", "method"),
    Column("risk", "risk", numeric=True),
    Column("ci", "+- (95 %)", numeric=True),
    Column("says", ""),
    Column("privacy", "privacy"),
    Column("gradients", "gradients", numeric=True),
    Column("seconds", "seconds", numeric=True),
)
HELD_OUT = (Column("loss", "held out: loss", numeric=True), Column("accuracy", "accuracy", numeric=True))


def asked_point(arguments: Sequence[str], plugins: Sequence[str] = (), twin: bool = False) -> tuple[Point, Settings]:
    """The point (or its public twin) and the settings that arguments ask for, checked, their plugins loaded.

    Raises InputError for an unknown key, or a value out of range.
    """
    names = [text.partition("=")[0] for text in arguments]
    mine = [text for text, name in zip(arguments, names, strict=True) if name in KEPT]
    overrides = check_settings(extended(mine, "plugins", plugins))
    settings = plan_settings("ci", overrides)
    keys = parse_keys(text for text, name in zip(arguments, names, strict=True) if name not in KEPT)
    point = make_point(keys, settings.data_root)
    return (twin_of(point, settings.data_root) if twin else point), settings


@dataclass(frozen=True)
class Accepting:
    """Whether a method accepts a point.

    Attributes
    ----------
    id, label, summary : str
        Of the algorithm; what a leaderboard calls it where it has several settings, else empty.
    reason : str
        Why not, in a line; empty where it does.
    """

    id: str
    label: str
    summary: str
    accepts: bool
    reason: str


def accepting(arguments: Sequence[str], plugins: Sequence[str] = ()) -> list[Accepting]:
    """Every method, those that accept a point first; n is 4096 where neither keys nor a file tell it.

    Raises InputError as `asked_point`.
    """
    keys = {text.partition("=")[0]: text.partition("=")[2] for text in arguments}
    cls = problem_class(keys["problem"]) if "problem" in keys else None
    own = cls is not None and cls.file_options and "path" in keys
    more = [] if own or "n" in keys else [f"n={DEFAULT_RECORDS}"]
    twin = bool(cls and cls.twin and not own)  # the same losses and constants, without a file
    try:
        point, settings = asked_point([*arguments, *more], plugins, twin)
    except InputError as error:
        if not twin or error.key in keys:
            raise
        raise InputError(error.key, error.value, "given, or path=FILE: without one only this key tells it") from None
    _, left_out = candidates(point, settings)
    refused = {item.method: item.reason for item in left_out if item.status != "not_run"}
    told = [
        Accepting(entry.id, method.label, entry.summary, method.name not in refused, refused.get(method.name, ""))
        for method in contestants()
        for entry in [get_algorithm(method.algorithm)]
    ]
    return sorted(told, key=lambda one: (not one.accepts, one.id, one.label))


class Teller:
    """Tells on stderr what is to be run, how far it is, and where the results are."""

    def __init__(self, limit: float) -> None:
        self._limit, self._shown = limit, time.monotonic()

    def begin(self, entry: BoardEntry) -> None:
        """Tell what is to be run."""
        count = sum(job.calibration != "none" for job in entry.jobs)
        seconds = sum(sum(job.seconds) for job in entry.jobs)
        say(f"{count} methods, about {duration(seconds)} of work (limit {duration(self._limit)} on one core)")
        self._shown = time.monotonic()

    def tell(self, pace: Pace) -> None:
        """Tell how far it is, now and then."""
        now = time.monotonic()
        if pace.done < pace.all and now - self._shown >= SPACING:
            self._shown = now
            say(str(pace))

    def files(self, files: Mapping[str, Path]) -> None:
        """Tell where results are."""
        for name, path in files.items():
            say(f"{name}: {path}")


def printed(found: Choice) -> str:
    """The answer, the ranking, what stands beside it, and what was not run."""
    parts = [heading(found), verdict(found), ranking(found), "\n".join(references(found))]
    refused = "\n".join(not_run(found.refused))
    parts += [f"not run, and why:\n{refused}"] if refused else []
    return "\n\n".join([*parts, "\n".join(labelled("*", note, 2) for note in notes(found))])


def heading(found: Choice) -> str:
    """The problem in a line, and the point in another."""
    point = found.point
    options = ", ".join(f"{key} = {value}" for key, value in sorted(point.options.items()) if key != "sha256")
    where = f"n = {point.n}, d = {point.d}, epsilon = {number(point.epsilon)}, delta = {point.delta:g}"
    return f"{point.problem}{f': {options}' if options else ''}\n{where}; {found.risk_kind} risks"


def ranking(found: Choice) -> str:
    """A line for each method that ran, the least risk first."""
    held = any(method.held_out for method in found.methods)
    classes = any(method.held_out and method.held_out.accuracy is not None for method in found.methods)
    more = HELD_OUT[: 1 + classes] if held else ()
    return table([*COLUMNS[:3], *more, *COLUMNS[3:]], [_line(found, method) for method in found.methods])


def _line(found: Choice, method: Chosen) -> Row:
    low, high = method.ci
    held = method.held_out
    return {
        "method": method.method,
        "risk": number(method.risk, 3),
        "ci": number((high - low) / 2, 2),
        "loss": number(held and held.loss, 3),
        "accuracy": number(held and held.accuracy, 3),
        "says": _says(found, method),
        "privacy": STATUS_WORDS[method.privacy_status],
        "gradients": number(float(method.gradient_evaluations), 3),
        "seconds": number(method.seconds, 2),
    }


def _says(found: Choice, method: Chosen) -> str:
    if not method.ranked:
        return "cannot win"
    if method.tied:
        return "best" if len(found.tied) == 1 else "tied"
    return "as the start" if method.at_start else ""


def verdict(found: Choice) -> str:
    """Which method is best in a sentence."""
    names, rest = [name for name in found.tied if name != TRIVIAL], without_time(found)
    if not any(method.ranked for method in found.methods):
        return f"No method whose privacy is proven ran{unbounded(found)}{rest}."
    if found.tied[0] == TRIVIAL and not names:
        return f"No method of proven privacy does better than the trivial solution{rest}."
    if len(found.tied) > 1:
        also = ", and no better than the trivial solution" if TRIVIAL in found.tied else ""
        if len(names) == 1:
            return f"{names[0]} has the least risk of proven privacy{also}{rest}."
        return f"Tied for the least risk: {', '.join(names)}{also}{rest}."
    if math.isnan(found.margin):
        return f"{names[0]} alone was run{rest}."
    low, high = (100 * end for end in found.margin_ci)
    id = next(method.algorithm for method in found.methods if method.method == names[0])
    share = f"{100 * found.margin:.0f} % [{low:.0f}, {high:.0f}]"
    return f"{id} has the least risk of proven privacy, {share} below the next{rest}."


def unbounded(found: Choice) -> str:
    """What makes privacy provable on own data whose bounds were computed from them; empty elsewhere."""
    computed = [warning for warning in found.warnings if "computed from the data" in warning]
    options = problem_class(found.point.problem).options
    keys = [
        f"{key}="
        for key, of in (("clip", "rows"), ("label_clip", "labels"))
        if key in options and any(of in warning for warning in computed)
    ]
    return f": bounds were computed from the data, give {' and '.join(keys)}" if keys else ""


def without_time(found: Choice) -> str:
    """How many methods that accept the point did not run for lack of time, any of which might be better."""
    count = len(found.late)
    return f"; {count} other method{'s' * (count > 1)} had no time" if count else ""


def references(found: Choice) -> Iterator[str]:
    """The trivial solution, the run without privacy and the lower bound."""
    low, high = found.without_privacy.ci
    own = found.risk_kind == "excess empirical"
    risk = number(found.without_privacy.risk, 3)
    spread = "the minimum of the sample's risk" if own else f"[{number(low, 3)}, {number(high, 3)}]"
    held = {name: _held_text(values) for name, values in found.held_out.items()}
    yield labelled("trivial solution", f"{number(found.trivial, 3)}, the starting point{held.get('trivial', '')}", 18)
    known = "not known: no method without noise has run here" if risk == "-" else f"{risk}, {spread}"
    yield labelled("without privacy", f"{known}{held.get('without_privacy', '')}", 18)
    bound = found.lower_bound
    cut = "cut at the trivial solution, " * (bound.value is not None and bound.value >= found.trivial)
    value = f"{number(bound.value, 3)}, {cut}{bound.kind}: " if bound.value is not None else "none: "
    yield labelled("lower bound", value + bound.source, 18)


def _held_text(values: HeldOut) -> str:
    accuracy = "" if values.accuracy is None else f", accuracy {number(values.accuracy, 3)}"
    return f"; held out: loss {number(values.loss, 3)}{accuracy}"


_LONG = re.compile(r"\b\d+\.\d{5,}(?:e[-+]?\d+)?")
"""A number with more digits than a reader wants."""


def not_run(refused: Sequence[NotRun]) -> Iterator[str]:
    """A line for each method that has no risk here."""
    room = 2 + max((len(item.method) for item in refused), default=0)
    for status, before in STATUSES.items():
        for item in refused:
            if item.status == status:
                reason = _LONG.sub(lambda found: f"{float(found[0]):.4g}", item.reason)
                yield labelled(item.method, before + reason, room)


MUCH = 0.5
"""Where more of the rows are clipped, little but their directions is left of them."""


def say_what_is_clipped(point: Point) -> None:
    """A line where the clip shortens most rows of one's own file."""
    clip = point.options.get("clip")
    if not problem_class(point.problem).file_options or not clip or point.options.get("scale"):
        return
    own: Any = get_problem(point.problem, **point.options)
    share = float(np.mean(own.row_norms(own.table.features) > clip))
    if share > MUCH:
        told = f"clip = {clip:g} shortens {share:.0%} of the rows (a number that is not private): little but their "
        say(told + "directions is left. Divide columns by public constants first, or take a larger clip.")


def notes(found: Choice) -> Iterator[str]:
    """What a reader has to know."""
    point = found.point
    cls = problem_class(point.problem)
    sets = point.data_sets
    if not cls.draws_per_replicate:
        data = "this one data set" if sets == 1 else f"{sets} data sets"
        noise = "speak of the noise alone" if sets == 1 else "speak of data and noise"
        yield f"Intervals are of {point.replicates} replicates on {data}: they {noise}."
    if point.delta >= 1 / point.n:
        yield f"delta = {point.delta:g} is not below 1/n: publishing a record at random would be as private."
    for warning in found.warnings:
        yield f"Of every run here: {warning}."
    if cls.file_options:
        yield "These numbers were made from your data: choosing by them costs privacy, which is not charged here."
    if cls.twin:
        yield "At no such cost, --twin runs on synthetic records of the same n, d, clip, loss and domain."
    if point.problem in {problem_class(name).twin for name in list_problems()}:
        yield "Synthetic records, made from public facts alone: ranks on your data can differ."
    if any(method.held_out for method in found.methods):
        yield "The held-out numbers, and those of the starting point and without privacy, are not private either."
    modules = ALGORITHMS.registered()
    for id in (m.algorithm for m in found.methods if not modules[m.algorithm].startswith("dpsco_bench.")):
        yield f"{id} is charged for what it declares: `dpsco check {id} --plugin FILE` tries whether it keeps to that."
    long = found.late
    if long:
        names = ", ".join(item.method for item in long)
        yield f"Not within the limit, and perhaps better: {names}; --limit SECONDS gives more time."
