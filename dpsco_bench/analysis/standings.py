"""Standings of a leaderboard: risks of all methods at every point, the winner, and whether its margin decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import (
    FloatArray,
    as_cell,
    bootstrap_rng,
    percentile_interval,
    resampled_indices,
    student_factor,
    summarise,
)
from dpsco_bench.analysis.contenders import contenders, uncompared
from dpsco_bench.analysis.evidence import CellEvidence, job_evidence
from dpsco_bench.analysis.ranking import Interval, Outcome, Ranked, Reference, Searched, Skipped, Standing, Unrun
from dpsco_bench.claims.board import Board, Instance
from dpsco_bench.claims.board_jobs import REFERENCE, SEARCH_MARK
from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.calibrated import Calibrations, RefusedCell
from dpsco_bench.execution.cell import located
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.summary import HELD_OUT, HeldOut, HeldOutBeside, risk_kind_of

Load = Callable[[Job], tuple[pa.Table | None, Calibrations]]
Records = tuple[str, int, int | None]
"""Instance, n and d, which name the records that runs share."""
RANKED = ("proven",)
"""Privacy statuses of methods that can win."""
TRIVIAL = "trivial solution"
RESAMPLES = 100_000
"""So many that who is tied hardly depends on the draws: an end of an interval is known to 1 % of a standard error."""
ROUNDING = 1e-12
"""Shares below this are 0: sums of products in another order differ by less."""
MOST_NAMED = 3
"""Methods with one reason that are named; of more the number is told."""
NORMAL_95 = 1.959964
IDLE, AT_START = 1e-9, 1e-3
"""Relative distance of a risk from the starting point's: equal up to rounding, and hardly moved."""


@dataclass(frozen=True)
class Run:
    """One method at one point."""

    instance: str
    method: str
    setting: int | None
    point: int
    cell: CellEvidence

    @property
    def ranked(self) -> bool:
        """Whether it can win: its privacy is proven for the noise that was used, and nothing was searched."""
        return self.setting is None and self.proven

    @property
    def proven(self) -> bool:
        """Whether its noise is proven to be private; a search is not, whatever its noise."""
        return self.cell.calibrated.privacy_status in RANKED


def standings(entry: BoardEntry, load: Load) -> list[Standing | Skipped]:
    """A row for each (instance, point) of a board's plan entry, and one for each instance whose data are absent.

    A point at which nothing ran has a row as well, which says why.
    """
    runs: dict[tuple[str, int], list[Run]] = {}
    left_out = {(item.instance, int(item.point)): list[Unrun]() for item in entry.left_out}
    for item in entry.left_out:
        left_out[item.instance, int(item.point)].append(Unrun(item.method, item.algorithm, item.status, item.reason))
    skipped: dict[str, str] = {}
    beside: dict[Records, Mapping[str, HeldOut]] = {}
    for job in entry.jobs:
        if job.skipped:
            skipped |= {cell.method.partition("/")[0]: job.skipped for cell in job.cells}
            continue
        table, calibrations = load(job)
        for place, refused in _refused(job, calibrations):
            left_out.setdefault(place, []).append(refused)
        for run in _runs(job_evidence(job, table, calibrations)):
            if HELD_OUT[0] in run.cell.extras and _records(run) not in beside:
                beside[_records(run)] = _held_out_beside(run, job)
            runs.setdefault((run.instance, run.point), []).extend([run, *_as_settings(run, entry.board, job.profile)])
    rows: list[Standing | Skipped] = []
    for instance in entry.board.instances:
        if instance.id in skipped:  # whole: without some of its methods nothing can be said of the others
            rows.append(Skipped(instance.id, instance.title, skipped[instance.id]))
            continue
        rows += _empty(entry, instance, {place: left_out[place] for place in left_out if place not in runs})
        places = sorted(place for place in runs if place[0] == instance.id)
        own = [_row(instance, runs[place], left_out.get(place, ()), beside) for place in places]
        rows += [replace(row, contenders=contenders(row, own), uncompared=uncompared(row, own)) for row in own]
    return rows


def _records(run: Run) -> Records:
    """What tells the records of a run: epsilon does not."""
    return run.instance, run.cell.entry.n, run.cell.entry.d


def _held_out_beside(run: Run, job: Job) -> Mapping[str, HeldOut]:
    """Of the starting point and of the minimiser; empty where the data are not there: results stay without them."""
    try:
        found = HeldOutBeside.of(located(run.cell.entry, job.data_root), job.seed, run.cell.extras)
    except DpscoError:
        return {}
    return {"trivial": found.trivial, "without_privacy": found.without_privacy} if found else {}


def _empty(
    entry: BoardEntry, instance: Instance, places: Mapping[tuple[str, int], Sequence[Unrun]]
) -> Iterator[Skipped]:
    """A row for each point of an instance at which nothing ran, with the reason of each method."""
    where = {(item.instance, int(item.point)): item for item in entry.left_out}
    ran = {(c.method.partition("/")[0], int(c.value)): c for job in entry.jobs for c in job.cells}
    for place, items in sorted(places.items(), key=lambda pair: pair[0]):
        if place[0] == instance.id:
            at = where.get(place) or ran[place]
            point = ", ".join(f"{key} = {getattr(at, key):g}" for key in ("n", "d", "epsilon") if getattr(at, key))
            why = "; ".join(_by_reason(items))
            yield Skipped(instance.id, instance.title, f"{point}: no method runs: {why}")


def _by_reason(items: Iterable[Unrun]) -> Iterator[str]:
    """Each reason once, with the methods that have it, or how many they are."""
    methods: dict[str, list[str]] = {}
    for item in items:
        methods.setdefault(item.reason, []).append(item.method)
    for reason, names in methods.items():
        names = list(dict.fromkeys(names))
        yield f"{', '.join(names) if len(names) <= MOST_NAMED else f'{len(names)} methods'}: {reason}"


def _refused(job: Job, calibrations: Calibrations) -> Iterator[tuple[tuple[str, int], Unrun]]:
    """What was refused when the noise was to be fixed, with its (instance, point)."""
    for cell, calibrated in zip(job.cells, calibrations, strict=True):
        if isinstance(calibrated, RefusedCell):
            instance, _, method = cell.method.partition("/")
            yield (instance, int(cell.value)), Unrun(method, cell.algorithm, "refused", calibrated.refused)


def _runs(cells: Sequence[CellEvidence]) -> Iterator[Run]:
    for cell in cells:
        instance, _, name = cell.entry.method.partition("/")
        method, _, setting = name.partition(SEARCH_MARK)
        yield Run(instance, method, int(setting) if setting else None, int(cell.value), cell)


def _as_settings(run: Run, board: Board, profile: str) -> Iterator[Run]:
    """A method's run again, as each setting of a search that it is."""
    instance = next(instance for instance in board.instances if instance.id == run.instance)
    for search in instance.searches if run.setting is None else ():
        for setting, options in enumerate(search.settings()):
            if board.runs_anyway(instance, search, options, profile) == run.method:
                yield replace(run, method=search.name, setting=setting)


def _row(
    instance: Instance,
    runs: Sequence[Run],
    left_out: Sequence[Unrun],
    beside: Mapping[Records, Mapping[str, HeldOut]],
) -> Standing:
    plain = [run for run in runs if run.setting is None and run.method != REFERENCE]
    reference = next((run for run in runs if run.method == REFERENCE), None)
    first = runs[0].cell
    trivial = max(cell.start_risk for run in runs for cell in (run.cell.grid or (run.cell,)))
    outcome = compare({run.method: run.cell.risks for run in plain if run.ranked}, trivial)
    context = replace(first.context, start_risk=trivial)
    seen = {item.method: item for item in left_out if SEARCH_MARK not in item.method}
    lower_bound, cut = _lower_bound(instance.lower_bound, context)
    methods = sorted((_method(run, outcome.tied, trivial) for run in plain), key=lambda row: row.risk)
    return Standing(
        instance=instance.id,
        title=instance.title,
        n=first.entry.n,
        d=context.d,
        epsilon=first.entry.epsilon,
        delta=first.entry.delta,
        p=context.constants.norm,
        methods=tuple(methods),
        left_out=tuple(seen.values()),
        trivial=trivial,
        without_privacy=_without_privacy(instance, reference),
        lower_bound=lower_bound,
        lower_bound_cut=cut,
        **vars(outcome),
        search=best_search(runs),
        risk_kind=risk_kind_of(first.entry),
        held_out=beside.get(_records(runs[0]), {}),
    )


def _lower_bound(name: str, context: BoundContext) -> tuple[float | None, bool]:
    """The order of a lower bound, and whether it is cut at the starting point's risk, which needs no data."""
    if not name:
        return None, False
    value = get_bound(name).value(context)
    cut = value > context.start_risk * (1 + IDLE)
    return (context.start_risk if cut else value), cut


def _without_privacy(instance: Instance, reference: Run | None) -> Reference:
    """The run without noise; 0 where the risk is the sample's own, NaN where the run is refused at this point."""
    if reference:
        return Reference(*_summary(reference.cell.risks))
    value = math.nan if instance.without_privacy else 0.0
    return Reference(value, (value, value))


def _summary(risks: FloatArray) -> tuple[float, Interval]:
    """Mean risk and its 95 % interval."""
    found = summarise(risks)
    half = NORMAL_95 * student_factor(found.dof) * found.stderr if found.dof > 0 else math.nan
    return found.mean, (found.mean - half, found.mean + half)


def _method(run: Run, tied: Sequence[str], trivial: float) -> Ranked:
    calibrated, (risk, ci) = run.cell.calibrated, _summary(run.cell.risks)
    return Ranked(
        method=run.method,
        algorithm=run.cell.entry.algorithm,
        variant=calibrated.variant,
        risk=risk,
        ci=ci,
        signal=run.cell.signal,
        gradient_evaluations=float(run.cell.curve_evaluations[-1].mean()),
        epsilon_real=calibrated.epsilon_real,
        epsilon_real_kind=calibrated.epsilon_real_kind,
        privacy_status=calibrated.privacy_status,
        ranked=run.ranked,
        tied=run.method in tied,
        at_start=math.isclose(risk, trivial, rel_tol=AT_START),
        **{name: float(np.mean(run.cell.extras[name])) for name in HELD_OUT if name in run.cell.extras},
    )


def compare(risks: Mapping[str, FloatArray], trivial: float) -> Outcome:
    """The method of least mean risk, and its margin over the others; equal risks give equal words, wherever they stand.

    Parameters
    ----------
    risks : mapping of str to ndarray
        Risks ``([signals,] data_sets, replicates)`` of the methods that can win; replicates share their data, hence
        the comparison is paired.
    trivial : float, risk of the starting point, which takes part under the name `TRIVIAL`

    Returns
    -------
    Outcome
        Its intervals are those of a two-level bootstrap, expanded for small samples, and cut at 1. More than one name
        that is tied is a tie. A method whose risk is the starting point's wins and shares nothing: it does what the
        starting point does.
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
    runner_up = order[1]
    margin, interval = intervals[runner_up]
    tied = [winner, *(name for name in moved[1:] if not intervals[name][1][0] > 0)]
    return Outcome(winner, runner_up, margin, interval, tuple(tied))


def _resampled(cells: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Largest mean over the signals on every resample, by method; the methods are resampled together."""
    rows = np.concatenate([cell.reshape(len(cell), -1) for cell in cells.values()])
    found = []
    for indices in resampled_indices(bootstrap_rng("margin"), RESAMPLES, *next(iter(cells.values())).shape[1:]):
        resamples, units = indices.shape
        each = (indices + units * np.arange(resamples)[:, None]).ravel()
        counts = np.bincount(each, minlength=indices.size).reshape(resamples, units)
        found.append(counts @ rows.T / units)
    ends = np.cumsum([len(cell) for cell in cells.values()])[:-1]
    means = np.split(np.concatenate(found), ends, axis=1)
    return {name: own.max(axis=1) for name, own in zip(cells, means, strict=True)}


def _shares(winner: ArrayLike, other: ArrayLike) -> FloatArray:
    """How much lower one risk is than another, as a share of it; 0 where both are 0."""
    least, most = np.asarray(winner, dtype=np.float64), np.asarray(other, dtype=np.float64)
    found = np.where(most > 0, 1.0 - least / np.where(most > 0, most, 1.0), 0.0)
    return np.where(np.abs(found) < ROUNDING, 0.0, found)


def _interval(share: float, spread: FloatArray, shape: tuple[int, ...]) -> tuple[float, float]:
    """Expanded for few resampled units (data sets if several, else replicates); a single one excludes nothing.

    Risks are not negative, so that a share is at most 1; the expansion can reach beyond, and is cut there.
    """
    units = shape[0] if shape[0] > 1 else shape[1]
    if units == 1:
        return -math.inf, 1.0
    low, high = percentile_interval(share, spread, math.sqrt(units / (units - 1)) * student_factor(units - 1))
    return low, max(share, min(1.0, high))


def best_search(runs: Sequence[Run]) -> Searched | None:
    """The best setting of the public grid searches, chosen on one half of the replicates and measured on the other.

    None where nothing is searched.
    """
    searched = [run for run in runs if run.setting is not None and run.proven]
    if not searched:
        return None
    halves = [_halves(run.cell.risks) for run in searched]
    chosen = int(np.argmin([first.mean(axis=(1, 2)).max() for first, _ in halves]))
    run = searched[chosen]
    entry = run.cell.entry
    return Searched(run.method, entry.algorithm, entry.options, *_summary(halves[chosen][1]), len(searched))


def _halves(risks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Data sets, or where there is one only replicates, in two halves."""
    cell = as_cell(risks)
    axis = 1 if cell.shape[1] > 1 else 2
    middle = cell.shape[axis] // 2
    return (cell[:, :middle], cell[:, middle:]) if axis == 1 else (cell[:, :, :middle], cell[:, :, middle:])
