"""A calibrated cell: the plan that was charged, its noise and its place in the privacy ledger. Needs no accountant."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpsco_bench.execution.cell import Cell, check_same
from dpsco_bench.plain import UNWRITTEN, Record, Schedule
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Constants

EPSILON_VALUES = ("epsilon_real", "epsilon_output", "epsilon_sequence")
EPSILONS = (*EPSILON_VALUES, *(f"{name}_kind" for name in EPSILON_VALUES), "epsilon_of")
"""Fields of whatever has a real epsilon: that of the output where it is known, else that of all answers; and which of
the two it is, ``output``, ``sequence``, or ``release`` where there is one answer."""


def epsilons(of: Any) -> dict[str, Any]:
    """Read the fields of `EPSILONS`; None for an unknown epsilon of the output or the sequence."""
    values = {name: getattr(of, name) for name in EPSILONS}
    return {k: None if k != "epsilon_real" and isinstance(v, float) and math.isnan(v) else v for k, v in values.items()}


@dataclass(frozen=True)
class CalibratedCell(Record):
    """Result of calibrating a cell.

    Attributes
    ----------
    charged : PlanRecord, the plan as the accountant saw it
    scales : mapping, noise scale per query; of a normal its standard deviation
    epsilon_real, epsilon_real_kind, accountant : float, str, str
        The accountant's value (NaN without one), ``exact``, ``upper`` or ``lower``, and who says so; others of
        `EPSILONS`.
    constants : Constants, what the schedule saw of the problem
    dimension : int, the one that schedules and bounds use
    warnings : tuple of str, of the plan, then of the problem
    epsilon_law, tau, sampler_status : float, float, str, as in `privacy.plan.Charge`
    attained : bool, whether records of this problem are known to attain that value (`privacy.attained.attains`)
    plan : Plan or None, the charged plan itself, where this was not read from data
    """

    calibration: str
    variant: str
    charged: PlanRecord
    scales: Mapping[str, float]
    epsilon_real: float
    epsilon_real_kind: str
    accountant: str
    privacy_status: str
    constants: Constants
    dimension: int
    signal_capped: bool
    warnings: tuple[str, ...]
    epsilon_law: float = math.nan
    tau: float = math.nan
    sampler_status: str = ""
    attained: bool = True
    epsilon_of: str = ""
    epsilon_output: float = math.nan
    epsilon_output_kind: str = ""
    epsilon_sequence: float = math.nan
    epsilon_sequence_kind: str = ""
    plan: Plan | None = field(default=None, repr=False, compare=False, metadata=UNWRITTEN)

    @property
    def schedule(self) -> Schedule:
        """The theorem's named quantities."""
        return self.charged.schedule

    @property
    def gradient_evaluations(self) -> float:
        """As planned."""
        return self.charged.gradient_evaluations

    @property
    def leaks(self) -> tuple[str, ...]:
        """Uses of the data that no query covers; empty for a private algorithm."""
        return tuple(leak for leak in (self.charged.unprotected, *self.charged.leaks) if leak)

    @property
    def law(self) -> dict[str, float | str | None]:
        """Columns of results on a draw: None if nothing is known."""
        known = {"epsilon_law": self.epsilon_law, "tau": self.tau}
        return {**{k: None if math.isnan(v) else v for k, v in known.items()}, "sampler_status": self.sampler_status}

    def plan_for(self, cell: Cell) -> Plan:
        """Return the charged plan: handed over, or made from the same constants and compared whole.

        The cell is the one that was calibrated, or one of another signal with the same calibration. Raises
        AlgorithmError where the plan function gives another plan than the one that was charged.
        """
        if self.plan is not None:
            return self.plan
        plan = cell.make_plan(self.variant, self.constants, self.calibration)
        check_same(cell.algorithm_entry.id, self.charged, PlanRecord.of(plan), "when it was charged")
        return plan


@dataclass(frozen=True)
class RefusedCell(Record):
    """A cell that cannot be calibrated, which on a leaderboard is a result: why not."""

    refused: str


Calibrations = tuple[CalibratedCell | RefusedCell, ...]
"""Calibrations of the cells of a job, in their order."""


@dataclass(frozen=True)
class Calibrated(Record):
    """Calibrations of a job as they are stored."""

    cells: Calibrations
