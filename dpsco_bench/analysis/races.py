"""Race the methods of a leaderboard: who is clearly behind after a stage of replicates is not run to the end.

What `survivors` decides depends on stored results alone, so that a run which is ended and resumed gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from dpsco_bench.analysis.bootstrap import FloatArray, summarise
from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of, job_cells
from dpsco_bench.claims.plan import SEARCH_MARK, BoardEntry, WorkPlan
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job, race_ends

RANKED = ("proven",)  # privacy statuses of methods that can win
ERROR = 0.0025
"""Probability, over all methods of a point and at each look, that one is dropped whose mean is the leader's."""
SURE = 2  # the methods of least mean that always go on
Place = tuple[str, int]  # instance, and number of the point
Make = Callable[[Sequence[Job]], object]
"""Makes what the store lacks of some jobs; a true answer says that no time is left."""


@dataclass(frozen=True)
class Ran:
    """A method that ran at a point; of a search each setting by its number, which can win nothing."""

    instance: str
    method: str
    setting: int | None
    point: int
    cell: MeasuredCell

    @classmethod
    def of(cls, cell: MeasuredCell) -> Ran:
        """Read the names of a cell, whose method is ``<instance>/<method>``, of a search with ``#<setting>`` behind."""
        instance, _, name = cell.entry.method.partition("/")
        method, _, setting = name.partition(SEARCH_MARK)
        return cls(instance, method, int(setting) if setting else None, int(cell.value), cell)

    @property
    def place(self) -> Place:
        return self.instance, self.point

    @property
    def records(self) -> tuple[str, int, int]:
        """Instance, n and d, which name the records that runs share; they do not depend on epsilon."""
        return self.instance, self.cell.entry.n, self.cell.context.d

    @property
    def proven(self) -> bool:
        return self.cell.calibrated.privacy_status in RANKED

    @property
    def ranked(self) -> bool:
        return self.setting is None and self.proven


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
    stages = race_ends(max((job.replicates for job in entry.jobs), default=1))
    exempt = {(instance, method) for instance, _, _, method in entry.shared}
    jobs = [replace(job, kept=((),) if job.races else ()) for job in entry.jobs]
    going, started = [*range(len(jobs))], dict[Place, int]()
    for stage, end in enumerate(stages):
        if late := make([jobs[k] for k in going]):
            jobs = [replace(job, kept=job.kept[: max(1, stage)]) for job in jobs]
        if late or end == stages[-1]:
            break
        ran = {k: _ran(jobs[k], measured) for k in going if jobs[k].races}
        dropped, going = _dropped(ran, exempt, started), []
        for k, points in ((k, {run.point for run in runs}) for k, runs in ran.items()):
            left = points - {point for own, point in dropped if own == k}
            if left:
                every = left == points and not any(jobs[k].kept)
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
    for run in _ran(job, measured):
        found = summarise(run.cell.risks)
        return found.mean, found.half, run.cell.risks.shape[-1]
    return None


def _ran(job: Job, measured: Measured) -> list[Ran]:
    """Read the points that a job ran in its last block; none where that is not in the store."""
    table, calibrations = measured.table(job), measured.calibrations(job)
    if table is None or calibrations is None:
        return []
    runs, last = map(Ran.of, evidence_of(job_cells(job, table, calibrations))), job.blocks[-1].cells
    return [run for run in runs if not last or run.cell.entry.cell in last]


def _dropped(
    ran: Mapping[int, Sequence[Ran]], exempt: Collection[tuple[str, str]], started: dict[Place, int]
) -> set[tuple[int, int]]:
    """List (job, point) of the methods that end here; ``started`` is filled at the first look."""
    fields: dict[Place, dict[str, tuple[int, Ran]]] = {}
    for k, run in ((k, run) for k, runs in ran.items() for run in runs if run.ranked):
        fields.setdefault(run.place, {})[run.method] = k, run
    found = set()
    for place, group in fields.items():
        risks = {name: np.squeeze(run.cell.risks, -2) for name, (_, run) in group.items()}
        ends = group.keys() - survivors(risks, started.setdefault(place, len(group)))
        found |= {(group[name][0], place[1]) for name in ends if (place[0], name) not in exempt}
    return found
