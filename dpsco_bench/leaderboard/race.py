"""Race the methods of a leaderboard: whoever is clearly behind after a few replicates is not run to the end.

A stage is a block of replicates. Between stages `survivors` compares the methods of a point; what it decides depends on
stored results alone, so that a run which is ended and resumed gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.evidence import job_evidence
from dpsco_bench.claims.plan import BoardEntry, WorkPlan
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job, race_ends
from dpsco_bench.leaderboard.board import Board
from dpsco_bench.leaderboard.standings import Place, Ran, summary

Make = Callable[[Sequence[Job]], object]
"""Makes what the store lacks of some jobs; a true answer says that no time is left."""
ERROR = 0.0025
"""Probability, over all methods of a point and at each look, that one is dropped whose mean is the leader's."""
SURE = 2  # the methods of least mean that always go on


def survivors(risks: Mapping[str, FloatArray], started: int) -> set[str]:
    """Choose the methods of a point that go on after a look, of ``started`` that began.

    The risks so far are ``([signals,] replicates)``; the largest mean over signals counts.
    """
    rows = {}
    for name, values in risks.items():
        cells = np.reshape(values, (-1, values.shape[-1]))
        rows[name] = cells[int(cells.mean(axis=1).argmax())]
    order = sorted(rows, key=lambda name: (float(rows[name].mean()), name))
    lead = rows[order[0]]
    least = float(stdtrit(2 * len(lead) - 2, 1.0 - ERROR / max(1, started - 1)))

    def is_behind(own: FloatArray) -> bool:
        error = math.sqrt((own.var(ddof=1) + lead.var(ddof=1)) / len(lead))
        return bool(own.mean() - lead.mean() > least * error)

    return {name for place, name in enumerate(order) if place < SURE or not is_behind(rows[name])}


def race(entry: BoardEntry, measured: Measured, make: Make = lambda jobs: None) -> BoardEntry:
    """Make the jobs of a leaderboard stage by stage; by default decide by what is there and make nothing.

    References, searches and jobs on several data sets are no part of it (`Job.races`). Methods that a search tries, and
    those without a proof of privacy, run to their ends by the same stages. Where ``make`` says that no time is left,
    the jobs that still run go back to the stage that all have reached. The blocks that were run are in `Job.kept`.
    """
    ends = race_ends(max((job.replicates for job in entry.jobs), default=1))
    exempt, started = _exempt(entry), dict[Place, int]()
    jobs, going = [replace(job, kept=((),) if job.races else ()) for job in entry.jobs], [*range(len(entry.jobs))]
    for stage in range(len(ends)):
        late = make([jobs[k] for k in going])
        if late:
            jobs = [replace(job, kept=job.kept[: max(1, stage)]) for job in jobs]
        going = [k for k in going if jobs[k].races]
        if late or stage == len(ends) - 1:
            break
        ran = {k: found for k in going if (found := _ran(jobs[k], measured)) is not None}
        dropped = _dropped(ran, exempt, started)
        going = []
        for k, runs in ran.items():
            left = {run.point for run in runs} - {point for own, point in dropped if own == k}
            if left:
                every = not any(own == k for own, _ in dropped) and not any(jobs[k].kept)
                cells = () if every else tuple(n for n, cell in enumerate(jobs[k].cells) if int(cell.value) in left)
                jobs[k] = replace(jobs[k], kept=(*jobs[k].kept, cells))
                going.append(k)
    return replace(entry, jobs=tuple(jobs))


def raced(entry: BoardEntry, measured: Measured) -> BoardEntry:
    """Find the blocks that a leaderboard runs, as far as stages are in the store; what is there is not skipped."""
    return measured.present(race(entry, measured))


def raced_plan(plan: WorkPlan, measured: Measured) -> WorkPlan:
    return replace(plan, boards=tuple(raced(entry, measured) for entry in plan.boards))


def so_far(job: Job, measured: Measured) -> tuple[float, float, int] | None:
    """Summarise the one point of a job: mean risk, half its 95 % interval, replicates so far; None if refused."""
    for run in _ran(job, measured) or ():
        mean, (low, high) = summary(run.cell.risks)
        return mean, (high - low) / 2, run.cell.risks.shape[-1]
    return None


def _exempt(entry: BoardEntry) -> set[tuple[str, str]]:
    """List (instance, method) of the methods whose runs serve as a setting of a search."""
    board, profile = Board.of(entry), next((job.profile for job in entry.jobs), "")
    return {
        (one.id, board.runs_anyway(one, search, options, profile))
        for one in board.instances
        for search in one.searches
        for options in search.settings
    }


def _ran(job: Job, measured: Measured) -> list[Ran] | None:
    """Read the points that a job ran in its last block; None where that is not in the store."""
    table, calibrations = measured.table(job), measured.calibrations(job)
    if table is None or calibrations is None:
        return None
    runs = map(Ran.of, job_evidence(job, table, calibrations))
    return [run for run in runs if not job.kept[-1] or run.cell.entry.cell in job.kept[-1]]


def _dropped(
    ran: Mapping[int, Sequence[Ran]], exempt: set[tuple[str, str]], started: dict[Place, int]
) -> set[tuple[int, int]]:
    """List (job, point) of the methods that end here; ``started`` is filled at the first look."""
    fields: dict[Place, dict[str, tuple[int, Ran]]] = {}
    for k, runs in ran.items():
        for run in runs:
            if run.ranked:
                fields.setdefault((run.instance, run.point), {})[run.method] = k, run
    found = set()
    for place, field in fields.items():
        begun = started.setdefault(place, len(field))
        risks = {name: np.squeeze(run.cell.risks, -2) for name, (_, run) in field.items()}
        ends = field.keys() - survivors(risks, begun)
        found |= {(field[name][0], place[1]) for name in ends if (place[0], name) not in exempt}
    return found
