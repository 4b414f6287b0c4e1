"""A job as data: all cells and replicates of one part under one calibration, and the stages in which it is run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from dpsco_bench.errors import integral
from dpsco_bench.execution.cell import Cell
from dpsco_bench.jsonio import digest
from dpsco_bench.plain import IF_GIVEN, Plain, Record

RUN, PLAN_ONLY, CLOSED_FORM = "run", "plan_only", "closed_form"
STAGES, STAGED_FROM, STAGE_UNIT = (16, 4, 2, 1), 16, 8
"""Stage k ends at replicates / STAGES[k]; no job of fewer than STAGED_FROM is cut; ends are multiples of STAGE_UNIT."""
LOOKS, FEWEST_RACED = (4, 2), 4
"""A ranking looks after replicates / LOOKS, at two or more; of fewer than FEWEST_RACED replicates there is no race."""
RANKING, OF, SEARCHED = "ranking", "+", "search"
"""Kind of a leaderboard's jobs; what joins instance and method in their names; and what ends that of a search."""
_CALIBRATED = ("calibration", "seed", "charged", "evaluation")
"""Fields that affect calibrations."""
_NUMBERS = (*_CALIBRATED, "calibration_key", "replicates", "data_sets", "record", "rounds", "backend", "dtype", "fused")
"""Fields that affect the numbers of runs; the others are names, places, predictions, and whether the data are here."""
PILOT = 8
"""Replicates of all signals of a grid, after which those are chosen that go on."""
Progress = Callable[[int, int], None]
"""Is told how much of some work is done, and how much there is in all."""
Metering = Callable[[Sequence[int]], AbstractContextManager[Any]]
"""Gives a context in which the work of some cells is done, by their numbers."""


@dataclass(frozen=True)
class Block(Record):
    """Replicates of a job's cells, on all its data sets: what the store keeps as one item.

    The key is a digest of all that affects its numbers; without ``cells`` all of them are run.
    """

    first: int
    count: int
    key: str = ""
    cells: tuple[int, ...] = field(default=(), metadata=IF_GIVEN)

    @property
    def end(self) -> int:
        return self.first + self.count


def stage_ends(replicates: int) -> list[int]:
    """Compute the ends of a random job's stages: R/16 (8 at least), R/4, R/2 and R, in multiples of 8."""
    if replicates < STAGED_FROM:
        return [replicates]
    rounded = (STAGE_UNIT * math.ceil(replicates / part / STAGE_UNIT) for part in STAGES)
    return sorted({min(max(STAGE_UNIT, end), replicates) for end in rounded})


def race_ends(replicates: int) -> list[int]:
    """Compute the ends of a ranking's stages: R/4 and R/2, rounded up, and R."""
    looks = {max(2, math.ceil(replicates / part)) for part in LOOKS} if replicates >= FEWEST_RACED else set()
    return sorted(looks | {replicates})


@dataclass(frozen=True, kw_only=True)
class Job(Record):
    """All cells and replicates of one part under one calibration.

    Attributes
    ----------
    claim, part, kind, calibration, profile : str
        Whose numbers these are; ``kind`` is the part's, ``ranking`` (of a leaderboard) or ``run``.
    fused : bool, whether compiled steps may run in place of reference implementations (`fused.registry.run_of`)
    evaluation : str, ``run``, ``closed_form``, or ``plan_only`` where nothing but the calibration is wanted
    kept : tuple of tuple of int
        Cells that each block runs, `Block.cells`, of as many blocks as are decided; empty where every block runs all.
    calibration_key, run_key, key : str
        Digests of all that affects its calibrations, a replicate of it, and its numbers; code is included.
    group, decisions : str
        Name of the jobs that are at one stage together, and the key of what is decided on them (`Decided`);
        empty where all replicates are run.
    pilot : bool, whether the signals of its grid that go on are chosen after a few replicates
    """

    claim: str
    part: str
    kind: str
    calibration: str
    profile: str = ""
    seed: int
    replicates: int
    data_sets: int = 1
    evaluation: str = "run"
    record: float | None = None
    rounds: str = ""
    timing: bool = False
    charged: bool = True
    backend: str = "numpy"
    dtype: str = "float64"
    fused: bool = True
    plugins: tuple[str, ...] = ()
    data_root: str = "data"
    cells: tuple[Cell, ...] = ()
    seconds: tuple[float, ...] = ()
    kept: tuple[tuple[int, ...], ...] = field(default=(), metadata=IF_GIVEN)
    skipped: str = ""
    present: str = ""
    calibration_key: str = ""
    run_key: str = ""
    key: str = ""
    group: str = ""
    decisions: str = ""
    pilot: bool = False

    @property
    def name(self) -> str:
        return f"{self.part}.{self.calibration}"

    @property
    def title(self) -> str:
        return f"{self.claim} {self.part} [{self.calibration}]"

    @property
    def has_run(self) -> bool:
        """True if there is a result table; other jobs are only planned and calibrated."""
        return self.evaluation != PLAN_ONLY

    @property
    def races(self) -> bool:
        """Check whether a ranking compares it by stages: neither runs without noise, nor searches, nor several data."""
        aside = self.data_sets > 1 or self.calibration == "none" or self.part.endswith(OF + SEARCHED)
        return self.kind == RANKING and not aside

    @property
    def spares(self) -> list[str]:
        """Return the part of keys for jobs that may end before their last replicate: audits, and those that race."""
        return ["audit"] * self.evaluation.startswith("audit") + ["race"] * self.races

    @property
    def blocks(self) -> list[Block]:
        """Stages of a random job, one after the other; anything else is a single block.

        Source: a product of 4 rows and one of 64 round differently, so that the blocks are part of what is computed.
        """
        ends = [self.replicates]
        if self.evaluation == RUN:
            ends = (race_ends if self.races else stage_ends)(self.replicates)
        kept = self.kept or ((),) * len(ends)
        return [self.block(first, end, cells) for first, end, cells in zip([0, *ends], ends, kept, strict=False)]

    def block(self, first: int, end: int, cells: Sequence[int] = ()) -> Block:
        """Count the replicates ``first`` to ``end`` of some cells, by default of all; signals run at once count."""
        count, own = end - first, tuple(cells)
        return Block(first, count, digest([self.run_key, first, count, *self.spares, *([own] if own else [])]), own)

    def numbers(self, cells: list[Cell], calibrating: bool = False) -> Plain:
        """Collect what affects the numbers (of the calibrations), without code; ``cells`` are without places."""
        return {name: getattr(self, name) for name in (_CALIBRATED if calibrating else _NUMBERS)} | {"cells": cells}


@dataclass(frozen=True)
class Settings:
    """Settings that jobs share, as ``conf/plan.yaml`` and ``conf/run.yaml`` have them."""

    seed: int = 2017
    backend: str = "numpy"
    dtype: str = "float64"
    fused: bool = True
    data_root: str = "data"
    stages: bool = True
    plugins: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    boards: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: Plain) -> Settings:
        backend, files = config["backend"], (tuple(config.get(key, ())) for key in ("plugins", "claims", "boards"))
        how = (backend["name"], backend["dtype"], backend.get("fused", True))
        return cls(integral(config["seed"]), *how, config["data"]["root"], config.get("stages", True), *files)

    def job(self, **what: Any) -> Job:
        """Make a job with these settings; ``what`` are its other fields."""
        shared = ("seed", "backend", "dtype", "fused", "data_root", "plugins")
        return Job(**{key: getattr(self, key) for key in shared}, **what)


@dataclass(frozen=True)
class Entry(Record):
    """The jobs of a claim (``<paper>.<name>``) or leaderboard, and the digest of what its file and the profile say."""

    id: str
    jobs: tuple[Job, ...]
    digest: str

    @property
    def paper(self) -> str:
        """First word of the id: the claim's paper, or ``leaderboard``."""
        return self.id.split(".", 1)[0]


def part_of(job: Job) -> str:
    """Name of the part or group of a claim, or the instance of a leaderboard, that a job belongs to."""
    return job.part.partition(OF)[0] if job.kind == RANKING else job.group or job.part


@dataclass(frozen=True)
class Decided(Record):
    """Decisions on the jobs of a group, by the names of jobs and of words (``<part>.<calibration>``).

    Attributes
    ----------
    blocks : mapping of str to tuple of Block, what is to be run of each job so far
    kept : mapping of str to tuple of int, cells of the signals that go on after the pilot; empty for all
    looks : mapping of str to int, the look that decided a word
    """

    blocks: Mapping[str, tuple[Block, ...]]
    kept: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    looks: Mapping[str, int] = field(default_factory=dict)
    taken: int = 0
    done: bool = False

    def up_to(self, job: Job, look: int = 0) -> list[Block]:
        """List the blocks of a job that a look reads, whatever else is there; look 0 reads all of them."""
        end = stage_end(job, look) if look else job.replicates
        return [block for block in self.blocks[job.name] if block.end <= end]


Decide = Callable[[Sequence[Job], Decided | None], Decided]
"""Takes the jobs of a group and the last decision, whose blocks are there; gives the next one."""


def stage_end(job: Job, look: int) -> int:
    """Count the replicates of a job that a look reads; jobs of fewer stages stay at their last one."""
    ends = stage_ends(job.replicates)
    return ends[min(look, len(ends)) - 1]
