"""From a leaderboard to resolved jobs; what a method refuses, or what takes too long, is kept with its reason.

A job is a method on an instance: an edit of the method makes its own jobs due, and no other's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import NO_VARIANT, get_algorithm
from dpsco_bench.claims.board import Board, Entrant, GridPoint, Instance, Search
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.costs import expected_seconds
from dpsco_bench.claims.jobs import finished
from dpsco_bench.claims.plan import BoardEntry, LeftOut
from dpsco_bench.claims.settings import Settings
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.cell import Cell, Draft, located, pinned
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.predict import rounds_of
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.rounds import NO_ROUNDS
from dpsco_bench.jsonio import digest
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.registry import get_problem, problem_class
from dpsco_bench.problems.traits import need_text
from dpsco_bench.registry import say_once

CALIBRATION, SILENT = "accounted", "none"
REFERENCE = "without_privacy"
"""Name of the runs without noise among the methods."""
SEARCH_MARK = "#"
"""Between the name of a searched method and the number of its setting."""
OF, SEARCHED = "+", "search"
"""Between an instance, a method and `SEARCHED` in the name of a job, which all settings of a search share."""
RISK_MEASURE = "excess_risk"
QUADRATIC = 11 / 6
"""Counts that grow by a larger power of n are of order n^2.

Theorems have powers up to 5/3, and 2. Halfway between them a factor ln n, which adds or takes 1/ln n, tips neither from
n = 404 on.
"""
QUICK = 10.0
"""A cell that is predicted to take no longer than this runs, whatever the order of its steps."""


def board_plan(board: Board, profile: str, settings: Settings) -> BoardEntry:
    """A board's entry of the plan.

    Parameters
    ----------
    profile : str, ``smoke``, ``ci`` or ``full``
    settings : Settings, of the plan

    Returns
    -------
    BoardEntry
        ``left_out`` has an entry for each (instance, method, point) that is not run.
    """
    jobs: dict[tuple[str, str], Job] = {}
    cells: dict[tuple[str, str], list[tuple[Draft, float]]] = {}
    left_out: list[LeftOut] = []
    for method in board.methods:
        _check_entrant(method, f"{board.id}, method {method.name}")
    for instance in board.instances:
        if instance.lower_bound:
            get_bound(instance.lower_bound)
        _check_instance(board, instance, profile, settings)
        for entrant in instance.entrants:
            _check_entrant(entrant, f"{board.id}, instance {instance.id}, {entrant.name}")
        for calibration, cell in board_cells(board, instance, profile):
            name = (_part(cell), calibration)
            job = jobs.setdefault(name, _job(board, *name, profile, settings))
            ours = cells.setdefault(name, [])
            found = _left_out(board, instance, cell, job)
            if isinstance(found, tuple):
                left_out.append(_not_run(cell, *found))
            else:
                first = len(ours)
                ours += [(replace(one, cell=first + i), found) for i, one in enumerate(_signals(instance, cell))]
    kept = []
    for name, found_cells in cells.items():
        where = jobs[name].data_root
        pins = tuple(pinned(cell, where) for cell, _ in found_cells)
        if pins:
            kept.append(finished(replace(jobs[name], cells=pins, seconds=tuple(s for _, s in found_cells))))
    return BoardEntry(board.id, tuple(kept), digest([board, profile, left_out]), board, tuple(left_out))


def board_cells(board: Board, instance: Instance, profile: str) -> Iterator[tuple[str, Draft]]:
    """(calibration, cell) of everything that an instance is to run, at one signal each."""
    for number, point in enumerate(board.points(instance, profile)):

        def cell(
            name: str, entrant: Entrant | Search, point: GridPoint = point, number: int = number, **more: Any
        ) -> Draft:
            return Draft(
                problem=instance.problem,
                problem_options=dict(instance.problem_options),
                **vars(point),
                delta=board.delta,
                parameter="point",
                value=float(number),
                method=f"{instance.id}/{name}",
                algorithm=entrant.algorithm,
                variant=_variant(entrant),
                **{"options": dict(entrant.options), **more},
            )

        for entrant in board.methods:
            yield CALIBRATION, cell(entrant.name, entrant)
        for search in instance.searches:
            for setting, options in enumerate(search.settings()):
                if not board.runs_anyway(instance, search, options, profile):
                    yield CALIBRATION, cell(f"{search.name}{SEARCH_MARK}{setting}", search, options=options)
        if instance.without_privacy:
            yield SILENT, cell(REFERENCE, instance.without_privacy)


def _check_instance(board: Board, instance: Instance, profile: str, settings: Settings) -> None:
    """What a problem does not have stops the board."""
    cls = problem_class(instance.problem)
    if cls.needs_data_root and cls.unavailable(Path(settings.data_root)):
        return
    place = {"root": settings.data_root} if cls.needs_data_root else {}
    for d in {point.d for point in board.points(instance, profile)}:
        try:
            get_problem(instance.problem, d, **instance.problem_options, **place)
        except InputError as error:
            raise InputError(
                f"{board.id}, instance {instance.id}: {error.key}", error.value, error.allowed, error.source
            ) from error


def _check_entrant(entrant: Entrant | Search, where: str) -> None:
    """What an algorithm does not have stops the board; what it refuses on an instance is shown there."""
    entry = get_algorithm(entrant.algorithm)
    settings = entrant.settings() if isinstance(entrant, Search) else [entrant.options]
    variant = entrant.variant if isinstance(entrant, Entrant) else None
    if variant is not None and variant not in entry.variants:
        raise InputError(f"{where}: variant", variant, "one of " + ", ".join(entry.variants))
    for options in settings:
        try:
            entry.checked_options(options)
        except InputError as error:
            raise InputError(f"{where}: {error.key}", error.value, error.allowed, error.source) from error


def _variant(entrant: Entrant | Search) -> str | None:
    """The one that is named, or that of the accounted calibration; None for a method that has none."""
    variant = entrant.variant if isinstance(entrant, Entrant) else None
    with suppress(Refusal):  # a method without an accounted variant is refused when it is planned
        variant = variant or get_algorithm(entrant.algorithm).variant_for(CALIBRATION)
    return variant


def _part(cell: Draft) -> str:
    """Name of the job of a cell: its instance and its method, in letters that the name of a file may have."""
    instance, _, name = cell.method.partition("/")
    method, mark, _ = name.partition(SEARCH_MARK)
    plain = re.sub(r"[^\w.-]", lambda found: f"{OF}{ord(found[0]):x}", method)
    return OF.join([instance, plain, *([SEARCHED] if mark else [])])


def _left_out(board: Board, instance: Instance, cell: Draft, job: Job) -> tuple[str, str] | float:
    """`obstacle`, or what the board says, or predicted seconds; 0 where the instance's data are absent."""
    name, profile = cell.method.partition("/")[2], job.profile
    if name in instance.excluded:
        return "refused", instance.excluded[name]
    if problem_class(instance.problem).unavailable(Path(job.data_root)):
        return 0.0
    limits = board.seconds(instance, profile, cell.n), board.quadratic_to.get(profile, math.inf)
    if (cell.n or math.inf) <= instance.runs_to.get(profile, {}).get(name, 0):
        limits = math.inf, math.inf
    found = obstacle(cell, job, *limits, signals=max(1, len(instance.signals)))
    unwanted = next((m.why for m in board.methods if m.name == name and profile not in m.profiles), "")
    return ("not_run", unwanted) if unwanted and isinstance(found, float) else found


def _signals(instance: Instance, cell: Draft) -> Iterator[Draft]:
    """A cell at every signal of its instance."""
    if not instance.signals:
        yield cell
    elif not problem_class(instance.problem).signal_option:
        raise InputError(f"signals of {instance.id}", instance.signals, f"none: {instance.problem} has no free signal")
    yield from map(cell.at_signal, instance.signals)


def _job(board: Board, part: str, calibration: str, profile: str, settings: Settings) -> Job:
    return settings.job(
        claim=board.id,
        part=part,
        kind="leaderboard",
        calibration=calibration,
        profile=profile,
        replicates=board.replicates[profile],
        data_sets=board.data_sets[profile],
        rounds=NO_ROUNDS,
    )


class Unfit(DpscoError):
    """A cell that is not run.

    Attributes
    ----------
    status, reason : str
        ``incomparable`` or ``refused``, and why.
    brief : str
        The reason without the pair that it speaks of, and without its source.
    """

    def __init__(self, status: str, reason: str, brief: str = "") -> None:
        super().__init__(" ".join(reason.split()))
        self.status, self.reason, self.brief = status, str(self), " ".join((brief or reason).split())


def planned(draft: Draft, job: Job) -> tuple[Cell, Plan]:
    """A cell and its plan; a value of a board's own options that a method does not take is said in a line.

    Raises
    ------
    Unfit
        Where it cannot be held against the others.
    """
    measure = get_algorithm(draft.algorithm).measure
    if measure != RISK_MEASURE:
        reason = f"its theorem bounds another quantity than the risk: {measure.replace('_', ' ')}"
        raise Unfit("incomparable", reason)
    lacking: list[str] = []
    try:
        cell = located(pinned(draft, job.data_root), job.data_root)
        cell.problem_entry.check_records(cell.n)
        lacking = [need_text(need) for need in cell.algorithm_entry.needs if cell.problem_entry.lacks(need)]
        _, plan = cell.plan(job.calibration, job.seed, twice=False)
    except InputError as error:
        if error.key in draft.options:  # a value of the file itself, which another instance may take
            say_once(DpscoError(f"left out: {draft.method}: {error}"))
        raise Unfit("refused", str(error), _brief(error, lacking)) from error
    except DpscoError as error:
        raise Unfit("refused", str(error), _brief(error, lacking)) from error
    leaks = [text for text in (plan.unprotected, *plan.leaks) if text]
    if leaks and job.calibration != SILENT:
        raise Unfit("refused", f"no noise makes it private: {leaks[0]}")
    return cell, plan


def _brief(error: DpscoError, lacking: Sequence[str]) -> str:
    """A refusal without the pair that it speaks of, and without its source."""
    if isinstance(error, InputError):
        return f"{error.key} = {error.value}: must be {error.allowed}"
    if not isinstance(error, Refusal):
        return str(error)
    if error.reason == NO_VARIANT:
        return "no variant of it has noise that is accounted for"
    return f"needs {' and '.join(lacking)}" if lacking else error.reason


def steps_text(plan: Plan) -> str:
    """How long a plan is."""
    return f"{rounds_of(plan):.3g} rounds and {plan.gradient_evaluations:.3g} gradients"


def is_quadratic(draft: Draft, job: Job, plan: Plan) -> bool:
    """Whether the rounds or gradients of a cell's plan are of order n^2.

    By their growth from half as many records, or to twice as many where there is no plan for half; where there is
    neither, by their number.
    """
    n = draft.n
    assert n is not None
    for other in (n // 2, 2 * n):
        with suppress(Unfit):
            count = _count(planned(replace(draft, n=other), job)[1])
            return math.log(count / _count(plan)) / math.log(other / n) > QUADRATIC
    return _count(plan) > n**QUADRATIC


def _count(plan: Plan) -> float:
    return max(rounds_of(plan), plan.gradient_evaluations)


def obstacle(
    draft: Draft, job: Job, most_seconds: float, quadratic_to: float = math.inf, signals: int = 1
) -> tuple[str, str] | float:
    """Why a cell is not run, as (status, reason); where it is, `expected_seconds`.

    Parameters
    ----------
    most_seconds : float, of one signal
    signals : int, at how many it would run: the reason has the time of all
    """
    try:
        cell, plan = planned(draft, job)
    except Unfit as unfit:
        return unfit.status, unfit.reason
    seconds = expected_seconds(cell, plan, job.replicates * job.data_sets, job.fused)
    beyond = cell.n > quadratic_to and seconds > QUICK
    long = seconds > most_seconds or (beyond and is_quadratic(draft, job, plan))
    return ("too_long", f"about {duration(signals * seconds)} on one core: {steps_text(plan)}") if long else seconds


def _not_run(cell: Draft, status: str, reason: str) -> LeftOut:
    instance, _, method = cell.method.partition("/")
    return LeftOut(instance, method, cell.algorithm, cell.n, cell.d, cell.epsilon, cell.value, status, reason)
