"""A job as data: all cells and replicates of one part under one calibration.

A module of its own, since whatever runs or calibrates jobs depends on it, and their keys digest it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from dpsco_bench.execution.cell import Cell
from dpsco_bench.plain import Plain, Record

PLAN_ONLY, CLOSED_FORM = "plan_only", "closed_form"
_NAMES = ("profile", "claim", "part", "kind", "plugins", "data_root", "timing", "seconds", "skipped", "present")
"""Fields of a job that do not affect its numbers: names, places, predictions, and whether its data are here."""
_RUN_ONLY = ("replicates", "data_sets", "backend", "dtype", "fused", "record", "rounds")
"""Fields that do not affect calibrations."""


@dataclass(frozen=True, kw_only=True)
class Job(Record):
    """All cells and replicates of one part under one calibration.

    Attributes
    ----------
    claim, part, kind, calibration, profile : str
        Whose numbers these are; ``kind`` is the part's, ``leaderboard`` or ``run``.
    fused : bool, whether compiled steps may run in place of listings (`fused.registry.run_of`)
    evaluation : str, ``run``, ``closed_form``, or ``plan_only`` where nothing but the calibration is wanted
    calibration_key, key : str, digests of all that affects its calibrations, and its numbers, code included
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
    skipped: str = ""
    present: str = ""
    calibration_key: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        """Name within the claim: ``<part>.<calibration>``."""
        return f"{self.part}.{self.calibration}"

    @property
    def title(self) -> str:
        """What people read: claim, part and calibration."""
        return f"{self.claim} {self.part} [{self.calibration}]"

    @property
    def has_run(self) -> bool:
        """Whether there is a result table; other jobs are only planned and calibrated."""
        return self.evaluation != PLAN_ONLY

    def numbers(self, cells: list[Cell], calibrating: bool = False) -> Plain:
        """What affects the numbers (of the calibrations), without code; ``cells`` are its own, without places."""
        left_out = (*_NAMES, *_RUN_ONLY, "calibration_key") if calibrating else _NAMES
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in (*left_out, "key")}
        return {**kept, "cells": cells}


def part_of(job: Job) -> str:
    """Name of the part of a claim, or the instance of a leaderboard, that a job belongs to."""
    return job.part.partition("+")[0] if job.kind == "leaderboard" else job.part
