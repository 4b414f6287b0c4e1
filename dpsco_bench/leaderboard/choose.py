"""Every method at one point, ranked as a leaderboard ranks them: a board of one point, within a limit of time."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.races import race
from dpsco_bench.claims.bounds.orders import NO_BOUND, NONE_STATED, ORDER_ONLY, lower_bound_name
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.plan import BoardEntry, LeftOut, Unrun
from dpsco_bench.datasets.tables import LABEL, write_records
from dpsco_bench.errors import DpscoError, InputError, checked_count, nearest
from dpsco_bench.execution import request
from dpsco_bench.execution.cell import CalibratedCell, Cell, check_data_sets, without_places
from dpsco_bench.execution.job_results import HELD_OUT, Measured
from dpsco_bench.execution.jobs import Job, Settings
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.results import check_writable, join_blocks
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.worker import Makers, Tell, Unfinished
from dpsco_bench.jsonio import digest, to_jsonable
from dpsco_bench.leaderboard import board as boards
from dpsco_bench.leaderboard.board import CALIBRATION, COUNTS, SILENT, Board, Entrant, Instance, Tried, contestants
from dpsco_bench.leaderboard.standings import TRIVIAL, Ranked, Standing, standings
from dpsco_bench.plain import Options, Plain, Record, Tabled, unboxed
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.registry import PLUGIN

ID, PROFILE = "choose", ""
OWN_RECORDS = "data_file"  # problem on records that are given as arrays
LIMIT = 90.0  # seconds
OVERHEAD = 0.3  # seconds on one core that a method takes beside its steps: its process, its accountant, its data
SLACK = 2.0  # times the limit that all may work: predictions are wrong
CORES = 2  # processes at a time, where the machine has so many cores
NOMINAL = "the constants are nominal (declared, or taken from the data), so that no privacy that rests on them is shown"
NEAR = 0.05  # least risks that are lower than the starting point's by less than this share are told so
VALUE = ": must be "  # part of a reason that asks for another value, of n or of an option
WRITTEN = (
    *("point", "risk_kind", "methods", "refused", "trivial", "without_privacy", "lower_bound", "held_out"),
    *("tied", "margin", "margin_ci", "warnings"),
)
"""Fields of a choice in its JSON."""


@dataclass(frozen=True, kw_only=True)
class Contest(Record):
    """A problem, with its constructor options, and a size at which all methods are run."""

    problem: str
    options: Options = field(default_factory=dict)  # constructor options of the problem, ``constants`` among them
    n: int
    d: int | None = None  # None for the problem's default
    p: float = math.nan  # order of the norm in which the problem's constants are declared
    epsilon: float = 1.0
    delta: float = 1e-5
    replicates: int = 16
    data_sets: int = 1
    seed: int = 2017

    def entry(self, data_root: str) -> Problem:
        return boards.problem_at(self.problem, self.d, self.options, data_root)

    @property
    def board(self) -> Board:
        """A board of all methods with this point alone; its profile has no name."""
        title = problem_class(self.problem).summary
        excluded = {name: why for one in boards.shipped_instances(self.problem) for name, why in one.excluded.items()}
        instance = Instance(self.problem, title, self.problem, self.options, excluded=excluded)
        grid = {"n": [self.n], "d": [self.d], "epsilon": [self.epsilon]}
        every: dict[str, Any] = {"grids": [grid], "replicates": self.replicates, "data_sets": self.data_sets}
        every |= dict.fromkeys(boards.LIMITS, math.inf)
        by_profile = {key: {PROFILE: value} for key, value in every.items()}
        return Board(ID, "Which method?", self.delta, contestants(), [instance], **by_profile)


def make_point(keys: Options, data_root: str = "data") -> Contest:
    """Sort plain keys into a point. Raises InputError for one that is missing or unknown, or a value out of range.

    Options and constants of the problem have their prefix or none; a file has all its records by default.
    """
    if "problem" not in keys:
        raise InputError("problem", "missing", "given: `dpsco list problems` shows all")
    cls = problem_class(str(keys["problem"]))
    found, options = _sorted(cls, keys)
    entry = boards.problem_at(cls.name, found.get("d"), options, data_root)
    if found.setdefault("n", entry.records if cls.file_options else None) is None:
        file = "given: a CSV, TSV, Parquet or LIBSVM file; or n and d, with --twin"
        key, allowed = ("path", file) if cls.file_options else ("n", "given, an integer >= 1")
        raise InputError(key, "missing", allowed)
    found |= {key: checked_count(key, found[key]) for key in ("n", *COUNTS) if key in found}
    point = Contest(problem=cls.name, options=options, **found)
    check_data_sets(cls.name, point.data_sets)
    entry.check_records(point.n)
    request.check_sampled(Cell("", cls.name, point.n, point.epsilon, point.delta, point.d, problem_options=options))
    return replace(point, d=entry.dimension, epsilon=float(point.epsilon), delta=float(point.delta))


def _sorted(cls: type[Problem], keys: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sort keys into those of a point, and options of its problem, with its constants among them."""
    own, declared = (*request.CELL_KEYS, *COUNTS), request.problem_options(cls)
    found, options, constants = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for key, value in keys.items():
        prefix, _, name = key.rpartition(".")
        if key in own:
            found[key] = value
        elif name in declared and prefix in ("", request.PROBLEM):
            options[name] = value
        elif name in request.CONSTANTS and prefix in ("", request.CONSTANT):
            constants[name] = value
        elif key != "problem":
            known, here = (*own, *declared, *request.CONSTANTS), request.OTHER_NAMES.get(name, "")
            unknown = nearest(name, known, f"dpsco show {cls.name}", "key of the problem")
            allowed = f"written {here}" if here in (*known, "seed") else unknown
            have = [method.name for method in contestants() if str(method.options.get(name)) == str(value)]
            told = f"; {', '.join(have)}: ranked with it anyway" if have else ""
            raise InputError(key, value, allowed, f"methods run with the parameters of their theorems{told}")
    options = {k: v for k, v in request.as_declared(options, declared).items() if v is not None}
    return found, options | ({"constants": constants} if constants else {})


def twin_of(point: Contest, data_root: str = "data") -> Contest:
    """Make the point of synthetic records of the same n, d and options. Raises InputError where there are none."""
    cls = problem_class(point.problem)
    if not cls.twin:
        raise InputError("twin", point.problem, "a problem on one's own data; on others choosing costs no privacy")
    known = request.problem_options(problem_class(cls.twin))
    options = {key: value for key, value in point.options.items() if key in known or key == "constants"}
    return replace(point, problem=cls.twin, options={**options, **point.entry(data_root).twin_options})


def candidates(board: Board, settings: Settings) -> tuple[list[Tried], list[LeftOut]]:
    """Find the methods that accept a `Contest.board`, the ones to run first first, and the others with a reason.

    Their seconds count what a method takes beside its steps. A job has the name of its method.
    """
    accepted, kept, left_out = list[Tried](), list[Tried](), list[LeftOut]()
    for one in boards.tried(board, PROFILE, settings, absent=True):
        if one.unfit:
            left_out.append(LeftOut.of(one.cell, one.unfit.status, one.unfit.brief))
        else:
            accepted.append(one._replace(job=replace(one.job, part=one.name), seconds=OVERHEAD + one.seconds))
    for one in sorted(accepted, key=lambda one: one.name):  # the name that is kept hangs on no prediction
        run = get_algorithm(one.cell.algorithm).run_function
        alike = (o for o in kept if o.plan == one.plan and get_algorithm(o.cell.algorithm).run_function is run)
        if twin := next(alike, None):  # two streams of one law would be two chances to be the best
            left_out.append(LeftOut.of(one.cell, "not_run", f"it is the same mechanism as {twin.name}"))
        else:
            kept.append(one)
    return sorted(kept, key=lambda one: (not is_own(one.cell.algorithm), one.seconds, one.name)), left_out


def is_own(algorithm: str) -> bool:
    """Tell a method of a plug-in, which its user asks for."""
    return get_algorithm(algorithm).module.startswith(PLUGIN)


def choice_entry(point: Contest, settings: Settings, limit: float = LIMIT) -> BoardEntry:
    """Plan a board of one point: a job for each method that fits, and one without noise where the risk asks for it.

    The limit is of seconds on one core for all methods, as predicted; plug-ins, then the quickest ones, come first. The
    method whose run without noise stands for the optimum is the first of the boards that ship which can run here.
    """
    problem, board = point.entry(settings.data_root), point.board
    if reason := type(problem).unavailable(Path(settings.data_root)):
        raise DpscoError(f"problem = {point.problem}: {reason}")
    found, left_out = candidates(board, settings)
    chosen, spent, (instance,) = list[Tried](), 0.0, board.instances
    known = [*boards.shipped_instances(point.problem), *boards.shipped_instances()] if problem.population else []
    for id in dict.fromkeys(one.without_privacy.algorithm for one in known if one.without_privacy):
        alone = replace(instance, without_privacy=Entrant(algorithm=id))
        (silent,) = boards.tried(replace(board, methods=[], instances=[alone]), PROFILE, settings)
        if not silent.unfit:
            instance = alone
            chosen.append(silent._replace(job=replace(silent.job, part=silent.name), seconds=OVERHEAD))
            break
    for one in found:
        if spent + one.seconds <= limit:
            spent += one.seconds
            chosen.append(one)
        elif one.plan:
            reason = f"about {duration(one.seconds)}: {boards.steps_text(one.plan)}"
            left_out.append(LeftOut.of(one.cell, "too_long", reason))
    jobs = tuple(boards.with_cells(one.job, [(one.cell, one.seconds)]) for one in chosen)
    instance = replace(instance, lower_bound=lower_bound_name(problem))
    made_from = digest([point, [job.key for job in jobs]])
    return BoardEntry(ID, jobs, made_from, to_jsonable(replace(board, instances=[instance])), tuple(left_out))


@dataclass(frozen=True)
class Chosen(Ranked):
    """A method that ran, and what it took."""

    seconds: float = 0.0  # CPU seconds of all replicates, calibration included and compilation not, when it was run

    def to_json(self) -> Plain:
        """Write its held-out numbers together."""
        kept = {key: value for key, value in super().to_json().items() if key not in ("signal", *HELD_OUT)}
        return {**kept, "held_out": self.held_out}


@dataclass(frozen=True, kw_only=True, repr=False)
class Choice(Tabled, Standing):
    """The ranking of all methods at a point.

    Attributes
    ----------
    risk_kind : str, ``excess empirical`` or ``excess population``
    methods : tuple of Chosen, the least risk first
    best : Chosen or None
        The method of least risk whose privacy is proven; None where none does better than the starting point.
    trivial : float, risk of the starting point
    without_privacy : Reference
        Mean risk without noise and its interval: 0 where the risk is the sample's own.
    lower_bound : float or None
        Order of a risk that no private method can fall below, cut at the starting point's; None where none is known.
    bound : str, its formula and where it is from
    held_out : mapping, of ``trivial``, the starting point, and ``without_privacy``, the minimiser; empty without any
    tied : tuple of str
        Methods that cannot be told apart from the best, the best first; the starting point is ``trivial solution``.
    margin : float
        How much lower the least risk is than the next, as a share of it.
    margin_ci : pair of float, its interval
    warnings : tuple of str, what every run here says: what was computed from the data, or is declared only
    rows : pyarrow.Table, one row per (method, replicate)
    """

    methods: tuple[Chosen, ...]
    point: Contest
    bound: str
    warnings: tuple[str, ...]
    rows: pa.Table = field(repr=False, compare=False)

    def to_json(self) -> Plain:
        kind = NO_BOUND if self.lower_bound is None else ORDER_ONLY
        bound = {"value": self.lower_bound, "source": self.bound, "kind": kind}
        return {name: bound if name == "lower_bound" else getattr(self, name) for name in WRITTEN}

    def __repr__(self) -> str:
        point = self.point
        where = f"n = {point.n}, d = {point.d}, epsilon = {point.epsilon:g}, delta = {point.delta:g}"
        return f"Choice({point.problem}, {where}: {self.answer})"

    @property
    def table(self) -> pa.Table:
        """A row per method, the least risk first."""
        kept = ("method", "risk", "ci", "privacy_status", "epsilon_real", "gradient_evaluations", "seconds")
        return pa.table({key: [getattr(method, key) for method in self.methods] for key in kept})

    def plot(self) -> Any:
        """Draw all methods with their intervals, and what they are held against; a Matplotlib figure."""
        from dpsco_bench.report.choice import choice_figure
        from dpsco_bench.report.drawing import displayed, style

        with style():
            return displayed(choice_figure(self))

    @property
    def refused(self) -> tuple[Unrun, ...]:
        """Every method that has no risk here, with the reason."""
        return self.left_out

    @property
    def late(self) -> list[Unrun]:
        """Methods that accept the point and did not run for lack of time; any might be better than those that ran."""
        return [item for item in self.refused if item.status in ("too_long", "stopped")]

    @cached_property
    def key(self) -> str:
        """Digest of the point and of all that was found there but times."""
        return digest([self.point, *(replace(method, seconds=0.0) for method in self.methods), self.refused])[:16]

    @property
    def answer(self) -> str:
        """A sentence that names the best method."""
        names, count = [name for name in self.tied if name != TRIVIAL], len(self.late)
        rest = f"; {count} other method{'s' * (count > 1)} had no time." if count else "."
        if not any(method.ranked for method in self.methods):
            cures = cures_of(self.point, self.warnings)
            return f"No method whose privacy is proven ran{': ' * bool(cures)}{'; '.join(cures)}{rest}"
        if not names:
            return f"No method of proven privacy does better than the trivial solution{rest}"
        won = [method for method in self.methods if method.method in names]
        gained = 1.0 - min(method.risk for method in won) / self.trivial
        if TRIVIAL in self.tied:
            rest = f", and no better than the trivial solution{rest}"
        elif gained < NEAR:
            rest = f", within {max(1, math.ceil(100 * gained - 1e-6))} % of the trivial solution{rest}"
        if len(names) > 1:
            return f"Tied for the least risk: {', '.join(names)}{rest}"
        if TRIVIAL in self.tied:
            return f"{names[0]} has the least risk of proven privacy{rest}"
        if math.isnan(self.margin):
            return f"{names[0]} alone was run{rest}"
        low, high = (100 * end for end in self.margin_ci)
        share = f"{100 * self.margin:.0f} % [{low:.0f}, {high:.0f}]"
        return f"{won[0].algorithm} has the least risk of proven privacy, {share} below the next{rest}"

    @property
    def own(self) -> list[str]:
        """Say in a line where each method of a plug-in stands."""
        ranked, found = self.order, []
        places = {method.method: place for place, method in enumerate(ranked, start=1)}
        items: list[Chosen | Unrun] = [*self.methods, *self.refused]
        for item in (item for item in items if is_own(item.algorithm)):
            stands = f"place {places.get(item.method)} of {len(ranked)} of proven privacy"
            if isinstance(item, Unrun):
                stands = f"did not run: {item.reason}"
            elif not item.ranked:
                stands = "cannot win: its privacy is not proven"
            elif item.tied:
                stands += ", the best" if len(self.tied) == 1 else ", tied for the least risk"
            elif ranked[0].risk > 0:
                left = f"left the race after {item.dropped} replicates" if item.dropped else stands
                stands = f"{left}, {item.risk / ranked[0].risk:.3g} times the least risk"
            found.append(f"{item.algorithm}: {stands}.")
        return found


def cures_of(point: Contest, warnings: Sequence[str]) -> list[str]:
    """Name the options that make privacy provable, each with the reason."""
    options = problem_class(point.problem).options
    computed = [warning for warning in warnings if "computed from the data" in warning]
    asked = (("clip", "rows"), ("label_clip", "labels"))
    keys = [f"{key}=" for key, of in asked if key in options and any(of in warning for warning in computed)]
    found = ["labels were coded from the data, give positive="] * any("labels coded" in text for text in warnings)
    found += [f"bounds were computed from the data, give {' and '.join(keys)}"] * bool(keys)
    if "domain" in options and point.options.get("domain", options["domain"].default) == "none":
        found.append("there is no domain, give domain=l2_ball radius=")
    return found


@contextmanager
def _speaking_of(arrays: Any) -> Iterator[None]:
    """Name the user's arrays, not the file that they are written to, in what is refused."""
    try:
        yield
    except InputError as slip:
        key, allowed = (text.replace("X.parquet", "X") for text in (slip.key, slip.allowed))
        if not hasattr(arrays, "columns"):
            key, allowed = (re.sub(r"\b(column |drop=)f(\d+)\b", r"\1\2", text) for text in (key, allowed))
        raise InputError(key, slip.value, allowed, slip.source) from None


def choose(
    problem: Any,
    n: Any = None,
    d: int | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
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

    Choosing by these numbers on private data costs privacy that is not charged. Raises InputError for a key or value
    out of range, DpscoError where no method can be run.

    Parameters
    ----------
    problem : str, or array-like (n, d)
        Its name; or the features of one's own records, an array or a data frame. These are taken as a file with the
        same content would be: the keys of ``data_file`` apply, such as ``loss``, ``clip``, ``domain``, ``positive``.
    n : int, or array-like (n,)
        Number of records; a file has all of its own by default. With features, their labels.
    epsilon, delta : float, to which every method's accountant calibrates its noise (replace-one neighbours)
    limit : float
        Seconds on one core. Methods that are predicted not to fit are listed with what they would take; what is not
        finished after `SLACK` times as much work is ended, by the clock without compiling.
    cores : int, processes at a time; by default 2, or 1 where the machine has one core
    plugins : sequence of path-like, files of your own methods and problems
    store : path-like, optional
        Folder where finished runs are kept and found again; nothing is kept without.
    twin : bool
        For your own data: run on synthetic records of the same shape instead, which cost no privacy.
    tell : callable, is given the progress (`execution.progress.Pace`)
    **options
        Options and constants of the problem by plain name.
    """
    load_plugins(plugins)
    with ExitStack() as stack:
        if not isinstance(problem, str):
            stack.enter_context(_speaking_of(problem))
            folder = Path(stack.enter_context(TemporaryDirectory()))
            options = {"path": str(write_records(problem, n, folder)), "label": LABEL, **options}
            problem, n = OWN_RECORDS, None
        given = {"problem": problem, "n": n, "d": d, "epsilon": epsilon, "delta": delta, **options}
        given |= {"replicates": replicates, "data_sets": data_sets}
        keys = unboxed({key: value for key, value in given.items() if value is not None})
        seed, limit = unboxed({"seed": seed, "limit": limit}).values()
        settings = Settings(seed=seed, data_root=str(data_root), plugins=tuple(map(str, plugins)))
        point = make_point(keys, settings.data_root)
        point = twin_of(point, settings.data_root) if twin else point
        place = Path(store or stack.enter_context(TemporaryDirectory()))
        return choose_at(point, settings, Measured(Store(place)), limit, cores, tell)


def choose_at(
    point: Contest,
    settings: Settings,
    measured: Measured,
    limit: float = LIMIT,
    cores: int | None = None,
    tell: Tell = lambda pace: None,
    begin: Callable[[BoardEntry], object] = lambda entry: None,
    made: Callable[[Job], object] = lambda job: None,
) -> Choice:
    """Choose at a checked point; ``begin`` is shown what is to be run, ``made`` each job whenever a block is done."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < math.inf:
        raise InputError("limit", limit, "a finite number of seconds > 0")
    request.check_run(CALIBRATION, point.replicates, settings.seed)
    cls, problem = problem_class(point.problem), point.entry(settings.data_root)
    for key in (key for key in cls.file_options if getattr(problem, key) is None):
        twin = ", or left out with --twin (twin=True), for synthetic records" if cls.twin else ""
        raise InputError(key, "missing", f"given, the file of {point.problem}{twin}")
    entry = choice_entry(point, settings, float(limit))
    if not any(job.calibration != SILENT for job in entry.jobs):
        cures = "; ".join(cures_of(point, problem.warnings))
        raise DpscoError(_nothing(point.problem, entry.left_out) + f"; {cures}" * bool(cures))
    root = measured.store.root  # a store of somebody else is refused before the work, whose end would be lost
    for folder in (root / "locks", *(place for place in root.glob("*") if place.is_dir())):
        check_writable("store", folder / "item")
    begin(entry)
    at_once = cores or min(CORES, os.cpu_count() or 1)
    with Makers(entry.jobs, measured, at_once, SLACK * limit, tell, made) as makers:
        entry = race(entry, measured, makers.make)
    return _choice(point, settings, entry, measured, makers.outcome)


def _nothing(problem: str, left_out: Sequence[LeftOut]) -> str:
    """Say why no method can be run: the limit, or else values that some refuse, or the reason that most give."""
    long = [item for item in left_out if item.status == "too_long"]
    if long:
        reason = f"the shortest that accepts it, {long[0].method}, takes {long[0].reason}"
        return f"no method can be run on {problem} within the limit; {reason}"
    values = [f"{item.method}: {item.reason}" for item in left_out if VALUE in item.reason]
    if values:  # what another n or option would mend
        return f"no method runs on {problem} at this point: {'; '.join(dict.fromkeys(values))}"
    ((reason, count),) = Counter(item.reason for item in left_out).most_common(1)
    return f"no method accepts {problem}: {reason} ({count} of {len(left_out)} methods)"


def _choice(point: Contest, settings: Settings, entry: BoardEntry, measured: Measured, outcome: Unfinished) -> Choice:
    jobs = [job for job in entry.jobs if job.part not in outcome.failed and measured.has("run", job)]
    standing = next(iter(standings(replace(entry, jobs=tuple(jobs)), measured.load)), None)
    if not isinstance(standing, Standing):
        why = next((f"{name}: {reason}" for name, reason in outcome.failed.items()), "none was done in time")
        raise DpscoError(f"no method has a result on {point.problem}: {why}")
    seconds = {
        job.part: sum(cost[0] for step in ("calibrate", "run") if (cost := measured.cost(step, job))) for job in jobs
    }
    calibrated = [cell for job in jobs for cell in measured.calibrations(job) or () if isinstance(cell, CalibratedCell)]
    warnings = [*point.entry(settings.data_root).warnings]
    warnings += [NOMINAL] * any(cell.constants.status == "nominal" for cell in calibrated)
    ran = max(job.blocks[-1].end for job in jobs)
    if outcome.stopped and ran < point.replicates:
        warnings.append(f"the time ended after {ran} of {point.replicates} replicates")
    bound = Board.of(entry).instances[0].lower_bound
    found = {f.name: getattr(standing, f.name) for f in fields(standing)}
    found["methods"] = tuple(Chosen(**vars(one), seconds=seconds[one.method]) for one in standing.methods)
    found["left_out"] = (*standing.left_out, *_lost(entry.jobs, measured, outcome))
    options = without_places(jobs[0].cells[0]).problem_options
    where = {key: found[key] for key in ("n", "d", "p", "epsilon", "delta")}
    tables = [table.replace_schema_metadata(None) for job in jobs if (table := measured.load(job)[0]) is not None]
    chosen = Choice(
        **found,
        point=replace(point, options=options, seed=settings.seed, **where),
        bound=get_bound(bound).text if bound else NONE_STATED,
        warnings=tuple(warnings),
        rows=pa.concat_tables(tables),
    )
    methods = [{key: value for key, value in one.to_json().items() if key != "seconds"} for one in chosen.methods]
    about = {"job": {"claim": ID, **vars(chosen.point), "key": chosen.key}}  # no times
    rows = join_blocks([chosen.rows], {**about, "choice": {**chosen.to_json(), "methods": methods}})
    return replace(chosen, rows=rows)


def _lost(jobs: Sequence[Job], measured: Measured, outcome: Unfinished) -> list[Unrun]:
    """List the methods whose jobs were begun, or should have been, and gave nothing."""
    found = []
    for job in (job for job in jobs if job.part != boards.REFERENCE):
        name, algorithm = job.part, job.cells[0].algorithm
        if name in outcome.failed:
            found.append(Unrun(name, algorithm, "failed", outcome.failed[name]))
        elif name in outcome.stopped and not measured.has("run", job):
            ended = f"ended after {duration(spent)}" if (spent := outcome.stopped[name]) else "not begun in time"
            known = f"; predicted to take {duration(sum(job.seconds))}"
            found.append(Unrun(name, algorithm, "stopped", ended + known))
    return found
