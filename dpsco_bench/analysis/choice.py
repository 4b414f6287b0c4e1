"""Every method at one point, ranked as a leaderboard ranks them: `choose`."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from dpsco_bench.analysis.ranking import Interval, Ranked, Reference, Standing
from dpsco_bench.analysis.standings import standings
from dpsco_bench.claims.board_jobs import REFERENCE
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.choice import LIMIT, Point, choice_entry, make_point, twin_of
from dpsco_bench.claims.lower_bounds import NO_BOUND, NONE_STATED, ORDER_ONLY
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.claims.settings import Settings
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.cell import without_places
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.pool import Outcome, Tell, make_within
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.results import check_writable, join_blocks
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.summary import HeldOut
from dpsco_bench.jsonio import digest
from dpsco_bench.plain import UNWRITTEN, Options, Plain, Record
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import problem_class

NOMINAL = "the constants are nominal (declared, not true everywhere), so that no privacy that rests on them is shown"
VALUE = ": must be "
"""What a reason has that asks for another value, of n or of an option."""
CORES = 2
"""Processes at a time, where the machine has so many cores."""
SLACK = 2.0
"""Times the limit that all may work: predictions are wrong."""


@dataclass(frozen=True)
class Chosen:
    """A method that ran.

    Attributes
    ----------
    method, algorithm, variant : str, its name here, id, and the variant that ran
    risk, ci : float, pair of float, mean excess risk and its 95 % interval
    ranked, tied, at_start : bool
        Whether it can be the best (its privacy is proven), cannot be told apart from the best, and stays at the risk of
        the starting point.
    gradient_evaluations : float, mean of a replicate
    seconds : float
        CPU seconds of all replicates, calibration included and compilation not, when it was run.
    epsilon_real, epsilon_real_kind, privacy_status : as in `execution.calibrated.CalibratedCell`
    held_out : HeldOut or None, of its outputs
    """

    method: str
    algorithm: str
    variant: str
    risk: float
    ci: Interval
    ranked: bool
    tied: bool
    at_start: bool
    gradient_evaluations: float
    seconds: float
    epsilon_real: float
    epsilon_real_kind: str
    privacy_status: str
    held_out: HeldOut | None = None


@dataclass(frozen=True)
class NotRun:
    """A method without a risk here.

    Attributes
    ----------
    status : str
        ``refused``, ``incomparable``, ``not_run`` (a leaderboard that ships says why it never is, or another name of
        the same mechanism is run), ``too_long``, ``stopped`` (not done in time) or ``failed``.
    reason : str, in a line
    """

    method: str
    algorithm: str
    status: str
    reason: str


@dataclass(frozen=True)
class LowerBound:
    """What no private method can fall below, up to constants.

    Attributes
    ----------
    value : float or None, cut at the starting point's risk; None where none is known
    source : str, its formula and where it is from
    kind : str, ``order only``, or ``none``
    """

    value: float | None
    source: str
    kind: str


@dataclass(frozen=True)
class Where:
    """The point of a choice, as it was run.

    Attributes
    ----------
    options : mapping, constructor options of the problem, without places
    p : float, order of the norm in which its constants are declared
    """

    problem: str
    options: Options
    n: int
    d: int
    p: float
    epsilon: float
    delta: float
    replicates: int
    data_sets: int
    seed: int


@dataclass(frozen=True)
class Choice(Record):
    """What `choose` found.

    Attributes
    ----------
    point : Where
    risk_kind : str, ``excess empirical`` or ``excess population``
    methods : tuple of Chosen, the least risk first
    refused : tuple of NotRun, every method that has no risk here, with the reason
    trivial : float, risk of the starting point
    without_privacy : Reference
        Mean risk without noise and its interval: 0 where the risk is the sample's own.
    held_out : mapping, of ``trivial``, the starting point, and ``without_privacy``, the minimiser; empty without any
    tied : tuple of str, methods that cannot be told apart from the best, the best first; the starting point's name is
        ``trivial solution``
    margin, margin_ci : float, pair of float
        How much lower the least risk is than the next, as a share of it.
    warnings : tuple of str, what every run here says: what was computed from the data, or is declared only
    rows : pyarrow.Table, one row per (method, replicate)
    """

    point: Where
    risk_kind: str
    methods: tuple[Chosen, ...]
    refused: tuple[NotRun, ...]
    trivial: float
    without_privacy: Reference
    lower_bound: LowerBound
    held_out: Mapping[str, HeldOut]
    tied: tuple[str, ...]
    margin: float
    margin_ci: Interval
    warnings: tuple[str, ...]
    rows: pa.Table = field(repr=False, compare=False, metadata=UNWRITTEN)

    @property
    def best(self) -> Chosen | None:
        """The method of least risk whose privacy is proven; None where none does better than the starting point."""
        return next((method for method in self.methods if method.ranked and method.method == self.tied[0]), None)

    @property
    def late(self) -> list[NotRun]:
        """Methods that accept the point and did not run for lack of time; any might be better than those that ran."""
        return [item for item in self.refused if item.status in ("too_long", "stopped")]

    @cached_property
    def key(self) -> str:
        """Digest of the point and of all that was found there but times."""
        return digest([self.point, *(replace(method, seconds=0.0) for method in self.methods), self.refused])[:16]


def choose(
    problem: str,
    n: int | None = None,
    d: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    replicates: int = 16,
    data_sets: int = 1,
    seed: int = 2017,
    limit: float = LIMIT,
    cores: int | None = None,
    plugins: Sequence[str | Path] = (),
    data_root: str | Path = "data",
    store: str | Path | None = None,
    twin: bool = False,
    tell: Tell = lambda pace: None,
    **options: Any,
) -> Choice:
    """Run every method that accepts a problem, with its theorem's parameters, and rank them.

    Choosing by these numbers on private data costs privacy that is not charged.

    Parameters
    ----------
    problem : str, name
    n : int, number of records; a file has all of its own by default
    epsilon, delta : float, to which every method's accountant calibrates its noise (replace-one neighbours)
    limit : float
        Seconds on one core. Methods that are predicted not to fit are listed with what they would take; what is not
        finished after `SLACK` times as much work is ended, by the clock without compiling.
    cores : int, processes at a time; by default 2, or 1 where the machine has one core
    plugins : sequence of path-like, files of one's own methods and problems
    store : path-like, optional
        Folder where finished runs are kept and found again; nothing is kept without.
    twin : bool
        For one's own data: run on synthetic records of the same shape instead, which cost no privacy.
    tell : callable, is given the progress (`execution.progress.Pace`)
    **options
        Options and constants of the problem by plain name.

    Returns
    -------
    Choice

    Raises
    ------
    InputError
        For a key or value out of range.
    DpscoError
        Where no method can be run.
    """
    load_plugins(plugins)
    given = {"problem": problem, "n": n, "d": d, "epsilon": epsilon, "delta": delta, **options}
    keys = {k: v for k, v in given.items() if v is not None} | {"replicates": replicates, "data_sets": data_sets}
    settings = Settings(seed=seed, data_root=str(data_root), plugins=tuple(map(str, plugins)))
    point = make_point(keys, settings.data_root)
    point = twin_of(point, settings.data_root) if twin else point
    with ExitStack() as stack:
        place = Path(store) if store else Path(stack.enter_context(TemporaryDirectory()))
        return choose_at(point, settings, Measured(Store(place)), limit, cores, tell)


def choose_at(
    point: Point,
    settings: Settings,
    measured: Measured,
    limit: float = LIMIT,
    cores: int | None = None,
    tell: Tell = lambda pace: None,
    planned: Callable[[BoardEntry], object] = lambda entry: None,
) -> Choice:
    """As `choose`, of a checked point; ``planned`` is shown what is to be run."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < math.inf:
        raise InputError("limit", limit, "a finite number of seconds > 0")
    if settings.seed < 0:
        raise InputError("seed", settings.seed, "an integer >= 0")
    _check_file(point, settings)
    entry = choice_entry(point, settings, float(limit))
    if not any(job.calibration != "none" for job in entry.jobs):
        raise DpscoError(_nothing(point, entry))
    _check_store(measured.store.root)
    planned(entry)
    outcome = make_within(entry.jobs, measured, cores or min(CORES, os.cpu_count() or 1), SLACK * limit, tell)
    return _choice(point, settings, entry, measured, outcome)


def _check_store(root: Path) -> None:
    """Refuse a store of somebody else before the work, whose end would be lost."""
    for folder in (root / "locks", *(place for place in root.glob("*") if place.is_dir())):
        check_writable("store", folder / "item")


def _check_file(point: Point, settings: Settings) -> None:
    """Refuse a problem on one's own data without a file: every method would refuse it."""
    cls, entry = problem_class(point.problem), point.entry(settings.data_root)
    missing = [key for key in cls.file_options if getattr(entry, key) is None]
    if missing:
        twin = ", or left out with --twin (twin=True), for synthetic records" if cls.twin else ""
        raise InputError(missing[0], "missing", f"given, the file of {point.problem}{twin}")


def _nothing(point: Point, entry: BoardEntry) -> str:
    """Why no method can be run: the limit, or else values that some refuse, or the reason that most methods give."""
    long = [item for item in entry.left_out if item.status == "too_long"]
    if long:
        reason = f"the shortest that accepts it, {long[0].method}, takes {long[0].reason}"
        return f"no method can be run on {point.problem} within the limit; {reason}"
    values = [f"{item.method}: {item.reason}" for item in entry.left_out if VALUE in item.reason]
    if values:  # what another n or option would mend
        return f"no method runs on {point.problem} at this point: {'; '.join(dict.fromkeys(values))}"
    reasons = Counter(item.reason for item in entry.left_out)
    reason, count = next(iter(reasons.most_common(1)), ("no method is registered", 0))
    many = f" ({count} of {len(entry.left_out)} methods)" if count else ""
    return f"no method accepts {point.problem}: {reason}{many}"


def _choice(point: Point, settings: Settings, entry: BoardEntry, measured: Measured, outcome: Outcome) -> Choice:
    lost = outcome.failed.keys() | outcome.stopped.keys()
    jobs = [job for job in entry.jobs if job.part not in lost]
    standing = next(iter(standings(replace(entry, jobs=tuple(jobs)), measured.load)), None)
    if not isinstance(standing, Standing):
        raise DpscoError(f"no method has a result on {point.problem}: {_first_failure(outcome)}")
    seconds = {
        job.part: sum(cost[0] for step in ("calibrate", "run") if (cost := measured.cost(step, job))) for job in jobs
    }
    methods = [_chosen(method, seconds[method.method]) for method in standing.methods]
    refused = [
        *(NotRun(item.method, item.algorithm, item.status, item.reason) for item in standing.left_out),
        *_lost(entry.jobs, outcome),
    ]
    source = get_bound(name).text if (name := entry.board.instances[0].lower_bound) else NONE_STATED
    kind = ORDER_ONLY if name else NO_BOUND
    where = Where(
        point.problem,
        without_places(jobs[0].cells[0]).problem_options,
        *(standing.n, standing.d, standing.p, standing.epsilon, standing.delta),
        *(point.replicates, point.data_sets, settings.seed),
    )
    found = Choice(
        point=where,
        risk_kind=standing.risk_kind,
        methods=tuple(methods),
        refused=tuple(refused),
        trivial=standing.trivial,
        without_privacy=standing.without_privacy,
        lower_bound=LowerBound(standing.lower_bound, source, kind),
        held_out=standing.held_out,
        tied=standing.tied,
        margin=standing.margin,
        margin_ci=standing.margin_ci,
        warnings=_warnings(point.entry(settings.data_root), jobs, measured),
        rows=join_blocks([], {}),
    )
    return replace(found, rows=_rows(jobs, measured, found))


def _warnings(problem: Problem, jobs: Sequence[Job], measured: Measured) -> tuple[str, ...]:
    """What every run says, also that its constants are nominal, which is why no privacy that rests on them is shown."""
    cells = (cell for job in jobs for cell in measured.calibrations(job) or () if isinstance(cell, CalibratedCell))
    nominal = any(cell.constants.status == "nominal" for cell in cells)
    return (*problem.warnings, *([NOMINAL] if nominal else []))


def _rows(jobs: Sequence[Job], measured: Measured, found: Choice) -> pa.Table:
    """Rows of all methods, one after the other, with what was found in the metadata; no times."""
    tables = [table for job in jobs if (table := measured.load(job)[0]) is not None]
    said = {**found.to_json(), "methods": [_without_seconds(method) for method in found.methods]}
    rows = pa.concat_tables(table.replace_schema_metadata(None) for table in tables)
    return join_blocks([rows], {"job": {"claim": "choose", **vars(found.point), "key": found.key}, "choice": said})


def _without_seconds(method: Chosen) -> Plain:
    return {key: value for key, value in vars(method).items() if key != "seconds"}


def _chosen(row: Ranked, seconds: float) -> Chosen:
    kept = {f.name: getattr(row, f.name) for f in fields(Chosen) if hasattr(row, f.name)}
    return Chosen(**{**kept, "seconds": seconds})


def _lost(jobs: Sequence[Job], outcome: Outcome) -> list[NotRun]:
    """Methods whose jobs were begun, or should have been, and gave nothing."""
    found = []
    for job in (job for job in jobs if job.part != REFERENCE):
        algorithm = job.cells[0].algorithm
        if job.part in outcome.failed:
            found.append(NotRun(job.part, algorithm, "failed", outcome.failed[job.part]))
        elif job.part in outcome.stopped:
            spent = outcome.stopped[job.part]
            known = f"; predicted to take {duration(sum(job.seconds))}"
            reason = (f"ended after {duration(spent)}" if spent else "not begun in time") + known
            found.append(NotRun(job.part, algorithm, "stopped", reason))
    return found


def _first_failure(outcome: Outcome) -> str:
    failures = [f"{name}: {why}" for name, why in outcome.failed.items()]
    return failures[0] if failures else "none was done in time"
