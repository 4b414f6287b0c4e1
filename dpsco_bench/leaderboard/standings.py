"""Standings of a leaderboard: at every point the risks of all methods, the winner, and whether its margin decides.

The frame of standings is a list of `Standing`, one per (instance, point), each with a `Ranked` per method that ran. All
that is shown of a board is a view of it; what is recorded of it is who wins.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis import bootstrap
from dpsco_bench.analysis.bootstrap import FloatArray, as_cell, summarise
from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of, job_cells
from dpsco_bench.analysis.judge import Load
from dpsco_bench.analysis.races import Place, Ran
from dpsco_bench.analysis.verdict import Sealed
from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.plan import SEARCH_MARK, BoardEntry, LeftOut, Unrun
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.cell import RefusedCell, epsilons, located
from dpsco_bench.execution.job_results import HELD_OUT, HeldOut, HeldOutBeside, risk_kind_of
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.progress import duration
from dpsco_bench.leaderboard.board import REFERENCE, Board, Instance
from dpsco_bench.plain import IF_GIVEN, Options, Plain, Record

Interval = tuple[float, float]
TRIVIAL = "trivial solution"
RESAMPLES = 100_000  # so many that an end of an interval is known to 1 % of a standard error
ROUNDING = 1e-12  # shares below this are 0: sums of products in another order differ by less
IDLE, AT_START = 1e-9, 1e-3
"""Relative distance of a risk from the starting point's: equal up to rounding, and hardly moved."""


@dataclass(frozen=True)
class Ranked(Record):
    """A method that was run at a point; its epsilons are those of `execution.cell.CalibratedCell`."""

    method: str
    algorithm: str
    variant: str
    risk: float  # largest mean excess risk over the signals
    ci: Interval
    signal: float | None  # where it is the largest; None without a grid of signals
    gradient_evaluations: float  # mean of a replicate
    epsilon_real: float
    epsilon_real_kind: str
    privacy_status: str
    ranked: bool  # it can win
    tied: bool  # it has or shares the first place
    at_start: bool  # it has not moved from the starting point's risk
    held_out_loss: float | None = None
    held_out_accuracy: float | None = None
    epsilon_of: str = ""
    epsilon_output: float | None = None
    epsilon_output_kind: str = ""
    epsilon_sequence: float | None = None
    epsilon_sequence_kind: str = ""
    dropped: int = field(default=0, metadata=IF_GIVEN)  # replicates after which it left the race; 0 for none

    @property
    def place(self) -> tuple[bool, float]:
        """Return the key that methods are sorted by: dropped ones come last."""
        return self.dropped > 0, self.risk

    @property
    def held_out(self) -> HeldOut | None:
        return None if self.held_out_loss is None else HeldOut(self.held_out_loss, self.held_out_accuracy)


@dataclass(frozen=True)
class Reference(Record):
    """Mean risk without noise, and its 95 % interval; NaN where that run is refused."""

    risk: float
    ci: Interval


@dataclass(frozen=True)
class Searched(Record):
    """The best setting of the public grid searches; its risk is of the replicates that did not choose it."""

    method: str
    algorithm: str
    options: Options  # of the setting, as its search names them
    risk: float
    ci: Interval
    settings: int  # how many were tried


@dataclass(frozen=True)
class Contender(Record):
    """A method left out as too long that might be the best: its place at the nearest point where it ran."""

    method: str
    place: int  # among the ranked methods there
    n: int
    d: int
    epsilon: float
    cost: str = ""  # what it would take here


class Outcome(NamedTuple):
    """The method of least mean risk, and its margin over the others: fields of `Standing`."""

    winner: str
    runner_up: str | None
    margin: float
    margin_ci: Interval
    tied: tuple[str, ...]


@dataclass(frozen=True)
class Skipped(Record):
    """An instance whose data are absent, or a point of it at which no method ran, with the reasons."""

    instance: str
    title: str
    skipped: str


@dataclass(frozen=True)
class Standing(Record):
    """A point of an instance that was run.

    Where there are contenders, the winner and its margin are those of the methods that ran, and the point is undecided.
    ``held_out`` has ``trivial``, the starting point, and ``without_privacy``, the minimiser on the records in use.
    """

    instance: str
    title: str
    n: int
    d: int
    epsilon: float
    delta: float
    p: float  # that of the norm
    methods: tuple[Ranked, ...]  # the least risk first
    left_out: tuple[Unrun, ...]
    trivial: float  # risk of the starting point
    without_privacy: Reference
    lower_bound: float | None  # its order; None where none is stated
    lower_bound_cut: bool  # at the starting point's risk
    winner: str
    runner_up: str | None  # None where no method can win
    margin: float  # how much lower the winner's risk is than the runner-up's, as a share of it, hence at most 1
    margin_ci: Interval
    tied: tuple[str, ...]  # all whose difference to the winner has an interval that contains 0, the winner among them
    search: Searched | None = None
    contenders: tuple[Contender, ...] = ()  # the best placed first
    uncompared: tuple[str, ...] = ()  # methods that were too long at every point of the instance
    risk_kind: str = "excess empirical"  # what all risks here are: ``excess empirical`` or ``excess population``
    skipped: str = ""
    held_out: Mapping[str, HeldOut] = field(default_factory=dict, metadata=IF_GIVEN)

    @property
    def decided(self) -> bool:
        """Tell whether a method can win, and none is left out that would contend for the first place."""
        return self.runner_up is not None and not self.contenders

    @property
    def told_margin(self) -> tuple[float, float, float] | None:
        """The margin and the ends of its interval; None where the point is undecided."""
        return None if self.contenders else (self.margin, *self.margin_ci)

    def recorded(self, board: str) -> Plain:
        """Say who has the least risk or shares it, in numbers of three digits; nobody is tied where undecided."""
        numbers = {
            "risk": self.least,
            "trivial": self.trivial,
            "search": self.search and self.search.risk,
            "held_out_loss": self.best and self.best.held_out_loss,
        }
        return {
            **{"board": board, "instance": self.instance, "n": self.n, "d": self.d, "epsilon": self.epsilon},
            "least": self.winner,
            "tied": [] if self.contenders else [*self.tied],
            "contenders": [one.method for one in self.contenders],
            **{key: value and float(f"{value:.3g}") for key, value in numbers.items()},
        }

    @cached_property
    def order(self) -> list[Ranked]:
        return sorted((method for method in self.methods if method.ranked), key=lambda method: method.place)

    @cached_property
    def best(self) -> Ranked | None:
        return next((method for method in self.methods if method.method == self.winner), None)

    @property
    def least(self) -> float:
        return self.best.risk if self.best else self.trivial


@dataclass(frozen=True)
class RankedBoard(Sealed):
    """The standings of a leaderboard, as they are kept, with the digest of what they were made from."""

    claim: str  # its id
    digest: str  # of what the standings were made from
    standings: tuple[Standing | Skipped, ...]


def standings(entry: BoardEntry, load: Load) -> list[Standing | Skipped]:
    """Rank a row for each (instance, point) of a board; where nothing ran, or data are absent, the row says why."""
    skipped, runs = dict[str, str](), dict[Place, list[Ran]]()
    left_out, beside = [*entry.left_out], dict[tuple[str, int, int], Mapping[str, HeldOut]]()
    for job in entry.jobs:
        if job.skipped:
            skipped |= {cell.method.partition("/")[0]: job.skipped for cell in job.cells}
            continue
        table, calibrations = load(job)
        for cell, calibrated in zip(job.cells, calibrations, strict=True):
            if isinstance(calibrated, RefusedCell):
                left_out.append(LeftOut.of(cell, "refused", calibrated.refused))
        for run in map(Ran.of, evidence_of(job_cells(job, table, calibrations))):
            if HELD_OUT[0] in run.cell.extras and run.records not in beside:
                beside[run.records] = _held_out_beside(run.cell, job)
            tried = [
                replace(run, method=search, setting=number)
                for instance, search, number, method in entry.shared
                if (instance, method, None) == (run.instance, run.method, run.setting)
            ]
            runs.setdefault(run.place, []).extend([run, *tried])
    not_run: dict[Place, list[LeftOut]] = {}
    for item in left_out:
        not_run.setdefault((item.instance, int(item.point)), []).append(item)
    rows: list[Standing | Skipped] = []
    for one in Board.of(entry).instances:
        if one.id in skipped:  # whole: without some of its methods nothing can be said of the others
            rows.append(Skipped(one.id, one.title, skipped[one.id]))
            continue
        places = sorted(place for place in runs.keys() | not_run.keys() if place[0] == one.id)
        rows += [Skipped(one.id, one.title, _why_empty(not_run[place])) for place in places if place not in runs]
        own = [_row(one, runs[place], not_run.get(place, ()), beside) for place in places if place in runs]
        rows += [replace(row, contenders=contenders(row, own), uncompared=uncompared(row, own)) for row in own]
    return rows


def _held_out_beside(cell: MeasuredCell, job: Job) -> Mapping[str, HeldOut]:
    """Measure the starting point and the minimiser; empty where the data are not there: results stay without them."""
    with suppress(DpscoError):
        if found := HeldOutBeside.of(located(cell.entry, job.data_root), job.seed, cell.extras):
            return {"trivial": found.trivial, "without_privacy": found.without_privacy}
    return {}


def _why_empty(items: Sequence[LeftOut]) -> str:
    """Say why nothing ran at a point: the reason that most methods have."""
    ((reason, count),) = Counter(item.reason for item in items).most_common(1)
    place = ((key, getattr(items[0], key)) for key in ("n", "d", "epsilon"))
    point = ", ".join(f"{key} = {value:g}" for key, value in place if value)
    return f"{point}: no method runs: {reason} ({count} of {len(items)} methods)"


def _row(instance: Instance, runs: Sequence[Ran], left_out: Sequence[LeftOut], beside: Mapping[Any, Any]) -> Standing:
    plain = [run for run in runs if run.setting is None and run.method != REFERENCE]
    reference = next((run for run in runs if run.method == REFERENCE), None)
    first = runs[0].cell
    trivial = max(cell.start_risk for run in runs for cell in (run.cell.grid or (run.cell,)))
    most = max((run.cell.risks.shape[-1] for run in plain), default=0)
    left = {run.method: run.cell.risks for run in plain if run.ranked and run.cell.risks.shape[-1] == most}
    outcome = compare(left, trivial)
    context = replace(first.context, start_risk=trivial)
    unrun = {item.method: item.unrun for item in left_out if SEARCH_MARK not in item.method}
    lower_bound, cut = _lower_bound(instance.lower_bound, context)
    methods = [_method(run, outcome.tied, trivial, most) for run in plain]
    return Standing(
        instance=instance.id,
        title=instance.title,
        n=first.entry.n,
        d=context.d,
        epsilon=first.entry.epsilon,
        delta=first.entry.delta,
        p=context.constants.norm,
        methods=tuple(sorted(methods, key=lambda row: row.place)),
        left_out=tuple(unrun.values()),
        trivial=trivial,
        without_privacy=_without_privacy(instance, reference),
        lower_bound=lower_bound,
        lower_bound_cut=cut,
        **outcome._asdict(),
        search=best_search(runs),
        risk_kind=risk_kind_of(first.entry),
        held_out=beside.get(runs[0].records, {}),
    )


def _lower_bound(name: str, context: BoundContext) -> tuple[float | None, bool]:
    """Compute the order of a lower bound, and whether it is cut at the starting point's risk, which needs no data."""
    if not name:
        return None, False
    value, start = get_bound(name).value(context), context.start_risk
    return (start, True) if value > start * (1 + IDLE) else (value, False)


def _without_privacy(instance: Instance, reference: Ran | None) -> Reference:
    """Summarise the run without noise; 0 where the risk is the sample's own, NaN where it is refused here."""
    if reference:
        found = summarise(reference.cell.risks)
        return Reference(found.mean, found.ci)
    value = math.nan if instance.without_privacy else 0.0
    return Reference(value, (value, value))


def _method(run: Ran, tied: Sequence[str], trivial: float, most: int) -> Ranked:
    cell, calibrated = run.cell, run.cell.calibrated
    found, replicates = summarise(cell.risks), cell.risks.shape[-1]
    held: dict[str, Any] = {k: float(np.mean(cell.extras[k])) for k in HELD_OUT if k in cell.extras}
    return Ranked(
        method=run.method,
        algorithm=cell.entry.algorithm,
        variant=calibrated.variant,
        risk=found.mean,
        ci=found.ci,
        signal=cell.signal,
        gradient_evaluations=float(cell.curve_evaluations[-1].mean()),
        **epsilons(calibrated),
        privacy_status=calibrated.privacy_status,
        ranked=run.ranked,
        tied=run.method in tied,
        at_start=math.isclose(found.mean, trivial, rel_tol=AT_START),
        dropped=replicates if replicates < most else 0,
        **held,
    )


def compare(risks: Mapping[str, FloatArray], trivial: float) -> Outcome:
    """Find the method of least mean risk, and its margin over the others; equal risks give equal words.

    ``risks`` are ``([signals,] data_sets, replicates)`` of the methods that can win; replicates share their data, hence
    the comparison is paired. Intervals are of a two-level bootstrap, expanded for small samples, and cut at 1. A method
    whose risk is that of the start, `TRIVIAL`, wins and shares nothing: it does what the start does.
    """
    cells = {name: as_cell(values) for name, values in risks.items()}
    means = {name: float(cell.mean(axis=(1, 2)).max()) for name, cell in cells.items()}
    idle = sorted(name for name, mean in means.items() if math.isclose(mean, trivial, rel_tol=IDLE))
    means |= dict.fromkeys((*idle, TRIVIAL), trivial)
    moved = sorted(means.keys() - {*idle}, key=lambda name: (means[name], name != TRIVIAL, name))
    order = [*moved, *idle]
    winner = order[0]
    if not cells:
        return Outcome(TRIVIAL, None, math.nan, (math.nan, math.nan), (TRIVIAL,))
    shape = next(iter(cells.values())).shape[1:]
    drawn = _resampled(cells) | {TRIVIAL: np.full(RESAMPLES, trivial)}
    intervals = {}
    for name in order[1:]:
        share = float(_shares(means[winner], means[name]))
        intervals[name] = (share, _interval(share, _shares(drawn[winner], drawn[name]), shape))
    tied = [winner, *(name for name in moved[1:] if not intervals[name][1][0] > 0)]
    return Outcome(winner, order[1], *intervals[order[1]], tuple(tied))


def _resampled(cells: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Compute the largest mean over the signals on every resample, by method; the methods are resampled together."""
    rows = np.concatenate([cell.reshape(len(cell), -1) for cell in cells.values()])
    shape = next(iter(cells.values())).shape[1:]
    drawn = bootstrap.resampled_counts(bootstrap.bootstrap_rng("margin"), RESAMPLES, *shape)
    means = np.concatenate([counts @ rows.T / rows.shape[1] for _, counts in drawn])
    ends = np.cumsum([len(cell) for cell in cells.values()])[:-1]
    return {name: own.max(axis=1) for name, own in zip(cells, np.split(means, ends, axis=1), strict=True)}


def _shares(winner: ArrayLike, other: ArrayLike) -> FloatArray:
    """Compute how much lower one risk is than another, as a share of it; 0 where both are 0."""
    least, most = np.asarray(winner, dtype=np.float64), np.asarray(other, dtype=np.float64)
    found = np.where(most > 0, 1.0 - least / np.where(most > 0, most, 1.0), 0.0)
    return np.where(np.abs(found) < ROUNDING, 0.0, found)


def _interval(share: float, spread: FloatArray, shape: tuple[int, ...]) -> tuple[float, float]:
    """Expand an interval for few resampled units (data sets if several, else replicates), and cut it at 1."""
    units = shape[0] if shape[0] > 1 else shape[1]
    if units == 1:
        return -math.inf, 1.0
    wider = math.sqrt(units / (units - 1)) * bootstrap.student_factor(units - 1)
    low, high = bootstrap.percentile_interval(share, spread, wider)
    return low, max(share, min(1.0, high))


def best_search(runs: Sequence[Ran]) -> Searched | None:
    """Find the best setting of the searches, chosen on half of the replicates, measured on the rest; None if none."""
    searched = [run for run in runs if run.setting is not None and run.proven]
    if not searched:
        return None
    cells = [as_cell(run.cell.risks) for run in searched]
    axis = 1 if cells[0].shape[1] > 1 else 2  # data sets, or where there is one only replicates
    halves = [np.split(cell, [cell.shape[axis] // 2], axis) for cell in cells]
    chosen = int(np.argmin([first.mean(axis=(1, 2)).max() for first, _ in halves]))
    name, entry, found = searched[chosen].method, searched[chosen].cell.entry, summarise(halves[chosen][1])
    return Searched(name, entry.algorithm, entry.options, found.mean, found.ci, len(searched))


def contenders(row: Standing, rows: Sequence[Standing]) -> tuple[Contender, ...]:
    """Find methods left out as too long that might be the best, the best placed first.

    A limit of time that removes the best method makes the next one look like the winner; the point is undecided then.
    Rates differ by a power of n or so: what was tied at the nearest point where it ran (the next smaller n of the same
    d and epsilon, if there is one), or behind by less than the factor by which n grows, can catch up.
    """

    def remoteness(other: Standing) -> tuple[bool, float, float]:
        same = (row.d, row.epsilon) == (other.d, other.epsilon)
        ratios = (row.n / other.n, row.d / other.d, row.epsilon / other.epsilon)
        return not (same and other.n < row.n), sum(abs(math.log(ratio)) for ratio in ratios), other.n

    found = []
    for item in row.left_out:
        ran = [other for other in rows if item.method in [method.method for method in other.order]]
        if item.status != "too_long" or not ran:
            continue
        near = min(ran, key=remoteness)
        place, own = next((i, m) for i, m in enumerate(near.order, start=1) if m.method == item.method)
        behind = own.risk > max(1.0, row.n / near.n) * near.order[0].risk
        if not behind or item.method in near.tied:
            cost = item.reason.partition(":")[0]
            found.append(Contender(item.method, place, near.n, near.d, near.epsilon, cost))
    return tuple(sorted(found, key=lambda one: (one.place, one.method)))


def uncompared(row: Standing, rows: Sequence[Standing]) -> tuple[str, ...]:
    """Name methods left out as too long that ran at no point of the instance: nothing is known of them there."""
    ran = {method.method for other in rows for method in other.methods}
    return tuple(sorted(x.method for x in row.left_out if x.status == "too_long" and x.method not in ran))


def cost_text(row: Standing) -> str:
    """Say what all contenders of a point take there on one core: ``3 min 52 s``."""
    names = [one.method for one in row.contenders]
    return duration(sum(item.seconds for item in row.left_out if item.method in names))


def decided_text(rows: Sequence[Standing]) -> str:
    """Say up to which n points are decided, be it by a tie, and how many above it are not; empty without points."""
    if not rows:
        return ""
    largest = max((row.n for row in rows if row.decided), default=0)
    first = f"The largest n at which a point is decided is {largest:,}" if largest else "No point is decided"
    if above := sum(bool(row.contenders) for row in rows if row.n > largest):
        return f"{first}; {above} above it {'are' if above > 1 else 'is'} undecided." if largest else f"{first}."
    if largest == max(row.n for row in rows):
        return f"{first}, which is the largest that was run."
    return f"{first}{'; at larger n' if largest else ', since'} no method of proven privacy ran."
