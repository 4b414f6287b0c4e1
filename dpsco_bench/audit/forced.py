"""Forced runs, and whether outputs tell of the data what the releases do not, also where own random numbers decide.

A transcript is forced on its own data and on data with other records, again and again. The event that is counted: the
first lead to the output, in one of the replays, and the second in none. It is a function of what was released and
returned, so that its counts bound epsilon whatever a run's own random numbers are. Where the output is made of releases
and of random numbers that know no data, the event is equally likely on both data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_bench.audit.asked import Asking, leads
from dpsco_bench.audit.canaries import work_of
from dpsco_bench.audit.neighbours import DOMAIN_RECORDS, TRAJECTORIES
from dpsco_bench.audit.placed import Placed, Rows
from dpsco_bench.audit.replay import Recorder
from dpsco_bench.audit.scorers import MechanismFactory, blocks_of
from dpsco_bench.audit.seldom import all_replaced, copied
from dpsco_bench.audit.transcript import Setting, replayed
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Data

Array = np.ndarray
FORCED, FORCED_WORK = 1024, 1e8
"""Runs that are looked at, and the most work of one such block, whoever has written the method."""
REPLAYS, FEWEST_REPLAYS, REPLAY_WORK = 200, 8, 1e9
"""Replays of a run whose own random numbers decide: of those that happen in a hundredth, 87 % are met."""
COPIES, TIMES, APART = 256, 16, 4.0
"""Copies of one run, how often they are forced, and how far their means may lie apart, as a ratio of variances."""
ALONE, FEW_ALONE, ALONE_COST = 2e4, 512, 3000.0
"""Releases of the runs that are made one by one in a look, most of these that only ask whether any is another one when
forced on the same data, and what calling a run alone costs, per release."""
CANDIDATES, STILL = 16, 0.2
"""Runs by which the record is found of which the output tells, and the share of them to which data with other records
lead where those tell of none: few replays meet what own random numbers decide."""
LOOKED, COUNTED = 2004, 2006
"""Streams: of the look, and of the counted runs on the first data set; the one after it is of those on the second."""


@dataclass(frozen=True)
class Look:
    """What a look at forced runs shows.

    Attributes
    ----------
    runs : int
        How many; 0 where nothing was forced.
    varied : int
        Of those, outputs that are others when the transcript is forced on the same data: own random numbers.
    apart : bool
        Whether runs of one call share these, so that only runs of calls of their own are independent.
    open : float
        Share of the runs to whose output the first replay does not lead on both data sets.
    leaking : int
        Runs to whose output their data lead, and data with other records do not.
    replays : int
        How often each was forced.
    pair : two Data, or None
        Neighbours, if any are leaking; they differ in the record ``place``.
    asks : bool
        Whether these ask for other ranges of public choices, or other sizes of public orders.
    """

    runs: int = 0
    varied: int = 0
    apart: bool = False
    open: float = 0.0
    leaking: int = 0
    replays: int = 1
    pair: tuple[Data, Data] | None = None
    place: int = 0
    asks: bool = False


@dataclass(frozen=True)
class Counts:
    """Runs on two neighbouring data sets, by what leads to their outputs.

    Attributes
    ----------
    runs : int
        On each of the two.
    alone : array (2, 2)
        By the data set of the run, outputs to which the first leads alone, and the second alone.
    settled : bool
        Whether the first replay on its own data led to each of them.
    """

    runs: int
    alone: Array
    settled: bool


def cost_of(plan: Plan, apart: bool) -> float:
    """Work of one run, and of calling it alone."""
    return max(1.0, work_of(plan)) + apart * ALONE_COST * (10.0 + _releases(plan))


def _releases(plan: Plan) -> int:
    return max(1, sum(query.releases for query in plan.queries))  # a plan may release nothing


def look(cell: Cell, calibrated: CalibratedCell, seed: int, mechanism: MechanismFactory) -> Look:
    """Force runs on their own data and on data of which every record is another one.

    A look without runs where nothing can be forced, or a forced run fails: the audit itself says what is wrong.
    """
    plan, problem = calibrated.plan_for(cell), cell.problem_entry
    runs = int(min(FORCED, FORCED_WORK // cost_of(plan, apart=False)))
    if problem.shares_records or problem.draws_per_replicate or runs < TRAJECTORIES:
        return Look()
    data = cell.draw_data(seed, 0)
    setting = Setting(cell, plan, calibrated.scales, (data, data), 0)
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            return _look(setting, runs, seed, mechanism)
    except DpscoError:
        return Look()


def _look(setting: Setting, runs: int, seed: int, mechanism: MechanismFactory) -> Look:
    cell, (data, _) = setting.cell, setting.pair
    varied, recorder, output = _varied(setting, runs, seed, mechanism)
    few = max(TRAJECTORIES, int(min(runs, ALONE // _releases(setting.plan))))
    single = replace(setting, cell=Placed.of(cell, apart=True))
    asked = min(few, FEW_ALONE)
    apart = shared(setting, recorder, len(output)) if varied else _varied(single, asked, seed, mechanism)[0] > 0
    if apart:
        setting = single
        varied, recorder, output = _varied(setting, few, seed, mechanism)
    other = _another(setting, recorder, output, varied > 0, seed)
    first = led(setting, recorder, output, (data, other), 1).all(axis=0)
    cost = cost_of(setting.plan, apart) * 2 * max(1, int((~first).sum()))
    replays = int(min(REPLAYS, max(FEWEST_REPLAYS, REPLAY_WORK // cost))) if varied else 1
    here, there = led(setting, recorder, output, (data, other), replays)
    leaking = np.flatnonzero(here & ~there)
    found = Look(len(output), varied, apart, float((~first).mean()), len(leaking), replays)
    if not leaking.size:
        return found
    few_rows = leaking[:CANDIDATES]
    part = Rows(recorder, few_rows)
    low, high = 0, data.n  # the first `low` records replaced lead to the outputs still, the first `high` no more
    while high - low > 1:
        middle = (low + high) // 2
        (still,) = led(setting, part, output[few_rows], (first_of(data, other, middle),), replays)
        low, high = (middle, high) if still.mean() > STILL else (low, middle)
    pair = first_of(data, other, low), first_of(data, other, low + 1)
    asks = not leads(setting, pair[1], part, output[few_rows])[1].all()
    return replace(found, pair=pair, place=low, asks=asks)


def _another(setting: Setting, recorder: Recorder, output: Array, varied: bool, seed: int) -> Data:
    """Data with other records: of the ones that are tried, those that lead to the fewest outputs.

    Where own random numbers decide, one replay tells of the data little, and only the first are tried.
    """
    data = setting.pair[0]
    domain = setting.cell.problem_entry.domain_records(DOMAIN_RECORDS, seed)
    best, fewest = all_replaced(data, domain), len(output) + 1
    for other in () if varied else (best, *copied(data, domain)):
        try:
            (same,) = led(setting, recorder, output, (other,), 1)
        except DpscoError:
            if other is best:
                raise
            continue  # solvers may fail on what is no sample
        if same.sum() < fewest:
            best, fewest = other, same.sum()
    return best


def _varied(setting: Setting, runs: int, seed: int, mechanism: MechanismFactory) -> tuple[int, Recorder, Array]:
    """Runs of a block whose output is another one when forced on the same data; with what it released and returned."""
    what = setting.cell.run_key(LOOKED)
    recorder = Asking(mechanism(setting.plan, setting.scales, what, seed, 0, runs))
    output = setting.execute(setting.pair[0], recorder, runs)
    (same,) = led(setting, recorder, output, setting.pair[:1], 1)
    return int((~same).sum()), recorder, output


def shared(setting: Setting, recorder: Recorder, runs: int) -> bool:
    """Whether runs of one call share random numbers of their own.

    Copies of one run are forced at once, again and again. Of independent runs the means of a time lie no further apart
    than means of so many do. Copies that never differ from one another share all random numbers that they use.
    """
    copies = Rows(recorder, np.full(COPIES, runs // 2))
    outputs = np.stack([replayed(setting, setting.pair[0], copies, COPIES).outputs[0] for _ in range(TIMES)])
    within = outputs.var(axis=1, ddof=1).mean(axis=0)
    between = outputs.mean(axis=1).var(axis=0, ddof=1)
    size = 1e-18 * (1.0 + np.square(outputs).max())
    return bool(np.all(within <= size) or np.any(between > APART * within / COPIES + size))


def led(setting: Setting, recorder: Recorder, output: Array, sets: Sequence[Data], replays: int) -> Array:
    """Which outputs some replay of their transcripts leads to, ``(sets, R)`` of bool.

    Runs to whose output all of the data sets have led are not forced again.
    """
    found = np.zeros((len(sets), len(output)), dtype=bool)
    rows = np.arange(len(output))
    for _ in range(replays):
        part = Rows(recorder, rows)
        for number, data in enumerate(sets):
            found[number, rows] |= leads(setting, data, part, output[rows])[0]
        rows = rows[~found[:, rows].all(axis=0)]
        if not rows.size:
            break
    return found


def first_of(data: Data, other: Data, count: int) -> Data:
    """The data set with its first ``count`` records from another one."""
    rows: list[Any] = [np.array(own) for own in (data.features, data.labels)]
    for own, others in zip(rows, (other.features, other.labels), strict=True):
        own[:count] = np.asarray(others)[:count]
    return Data(data.n, *rows)


def count(setting: Setting, runs: int, replays: int, seed: int, mechanism: MechanismFactory) -> Counts:
    """Count the outputs of independent runs on a pair to which one of the two leads alone."""
    alone, settled = np.zeros((2, 2), dtype=int), True
    for side in (0, 1):
        what = setting.cell.run_key(COUNTED + side)
        for first, size in blocks_of(setting, "transcript", runs):
            recorder = Asking(mechanism(setting.plan, setting.scales, what, seed, first, size))
            output = setting.execute(setting.pair[side], recorder, size)
            here, there = led(setting, recorder, output, setting.pair, replays)
            alone[side] += int((here & ~there).sum()), int((there & ~here).sum())
            settled &= replays == 1 and bool((here, there)[side].all())
    return Counts(runs, alone, settled)
