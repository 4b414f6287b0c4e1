"""Summarise a run: mean risk with its error, privacy and cost, and measures on held-out records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

from dpsco_bench.execution.cell import Cell, located
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measures import risk_kind
from dpsco_bench.execution.results import FINAL, read_extras
from dpsco_bench.plain import IF_GIVEN, Plain, Record
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.samplers.evidence import NOT_CERTIFIED, unsettled

HELD_OUT = ("held_out_loss", "held_out_accuracy")
"""Extras of rows of a problem that holds records out."""
LARGEST_Z = 4.0
"""Standard errors that chains may be away from a known law."""


@dataclass(frozen=True)
class HeldOut(Record):
    """Mean loss and, of classes, accuracy on the records that are held out; None where there is none."""

    loss: float
    accuracy: float | None = field(default=None, metadata=IF_GIVEN)

    @classmethod
    def of(cls, extras: Mapping[str, np.ndarray]) -> HeldOut:
        """Average what rows noted under the names of `HELD_OUT`."""
        return cls(*(float(np.mean(extras[name])) for name in HELD_OUT if name in extras))


@dataclass(frozen=True)
class HeldOutBeside(Record):
    """The held-out numbers of a method's outputs, of the starting point, and of the minimiser on the records in use."""

    own: HeldOut
    trivial: HeldOut
    without_privacy: HeldOut

    @classmethod
    def of(cls, cell: Cell, seed: int, extras: Mapping[str, np.ndarray]) -> HeldOutBeside | None:
        """Build it from a cell with its data root and its final rows' extras; None if no records are held out."""
        if HELD_OUT[0] not in extras:
            return None
        problem, data = cell.problem_entry, cell.draw_data(seed, 0)
        points = (problem.start, problem.minimiser(data))
        return cls(HeldOut.of(extras), *(HeldOut.of(problem.beside(x[None], data)) for x in points))

    def to_json(self) -> Plain:
        """Return the method's own numbers, the others under their names."""
        return {**self.own.to_json(), "trivial": self.trivial, "without_privacy": self.without_privacy}


@dataclass(frozen=True)
class Summary(Record):
    """A run in a line; its fields are those of ``run --json``.

    The risk is the mean over replicates, its error that of the data sets' means where there are several. Warnings say
    too whether chains are certified.
    """

    algorithm: str
    variant: str
    problem: str
    n: int
    d: int
    calibration: str
    epsilon_claimed: float
    delta: float
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_of: str
    epsilon_output: float | None
    epsilon_output_kind: str
    epsilon_sequence: float | None
    epsilon_sequence_kind: str
    privacy_status: str
    accountant: str
    planned_evaluations: float
    delta_large: bool
    warnings: str
    epsilon_law: float | None
    tau: float | None
    sampler_status: str
    risk_kind: str
    risk: float
    stderr: float
    start_risk: float
    gradient_evaluations: float
    replicates: int
    data_sets: int
    seed: int
    key: str
    held_out: HeldOutBeside | None = field(default=None, metadata=IF_GIVEN)

    @cached_property
    def half_interval(self) -> float:
        """Half of the 95 % interval of the mean risk, with Student's quantile; NaN for a single value."""
        size = self.data_sets if self.data_sets > 1 else self.replicates
        return float(stdtrit(size - 1, 0.975)) * self.stderr if size > 1 else math.nan


_OF_ROWS = tuple(f.name for f in fields(Summary))[:23]


@dataclass(frozen=True)
class SweptRun:
    """A run of a sweep: the values of the keys that the sweep varies, and what it gave."""

    swept: Mapping[str, str]
    summary: Summary


def risk_kind_of(cell: Cell) -> str:
    """Name the kind of a cell's risks, by the cell's if the problem's options decide."""
    population: Any = problem_class(cell.problem).population
    if isinstance(population, property):
        population = cell.problem_entry.population
    return risk_kind(population, cell.algorithm_entry.measure)


def standard_error(values: np.ndarray) -> float:
    """Compute the standard error of the mean of ``values (R,)``; NaN for a single one."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def summarise(job: Job, table: pa.Table) -> Summary:
    """Mean risk with its standard error, privacy and cost of a job's final outputs."""
    final = table.filter(pa.array(table["checkpoint"].to_numpy() == FINAL))
    risk, sets = final["risk"].to_numpy(), final["data_set"].to_numpy()
    means = np.array([risk[sets == number].mean() for number in np.unique(sets)])
    row, extras, cell = final.slice(0, 1).to_pylist()[0], read_extras(final), job.cells[0]
    chains = "" if row["sampler_status"] == "proven_tv" else _chains(extras)
    said = "; ".join(text for text in (row["warnings"], chains) if text)
    return Summary(
        **{**{key: row[key] for key in _OF_ROWS}, "warnings": said},
        risk_kind=risk_kind_of(cell),
        risk=float(means.mean()),
        stderr=standard_error(means if means.size > 1 else risk),
        start_risk=row["start_risk"],
        gradient_evaluations=float(final["gradient_evaluations"].to_numpy().mean()),
        replicates=job.replicates,
        data_sets=job.data_sets,
        seed=job.seed,
        key=job.key,
        held_out=HeldOutBeside.of(located(cell, job.data_root), job.seed, extras),
    )


def _chains(extras: Mapping[str, np.ndarray]) -> str:
    """Why the chains that drew the outputs are not certified; empty where they are, and where there are none."""
    if "chain_risk" not in extras:
        return ""
    rhat, ess = extras.get("rhat"), extras.get("ess")  # constant chains have none
    reason = unsettled(np.inf if rhat is None else float(rhat.max()), 0.0 if ess is None else float(ess.min()))
    if reason or "z_score" not in extras:
        unknown = f"{NOT_CERTIFIED}: they have settled, but the law of this instance is not known to compare with"
        return reason or unknown
    z = float(np.abs(extras["z_score"]).max())
    return "" if z <= LARGEST_Z else f"{NOT_CERTIFIED}: {z:.2g} standard errors from the known law"
