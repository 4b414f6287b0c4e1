"""Collect the measurements of a part's jobs, cell by cell, for the functions that judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.analysis.sharing import Replicates, sharing_of
from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.model import RISK, THRESHOLD
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import EPSILON_VALUES, CalibratedCell, Calibrations, Cell, RefusedCell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import CERTIFIED, DEMOTED, EXTRAS, FINAL, read_extras
from dpsco_bench.privacy.ledger import SEVERITY
from dpsco_bench.problems.registry import problem_class

QUADRATURE_SLACK = 1e-6
"""Largest excess over 1 of a ratio by quadrature."""
_NUMBERS = ("cell", "data_set", "replicate", "checkpoint", "gradient_evaluations", "risk", "start_risk")
_WORDS = ("privacy_status", "warnings")


@dataclass(frozen=True)
class MeasuredCell:
    """One cell of a job; where the instance has a free signal strength, the cells of its whole grid.

    Its risk is then the largest mean over the signals, and all else is that of the maximising signal.

    Attributes
    ----------
    risks : ndarray ([signals,] data_sets, replicates), final excess risks; empty where nothing was run
    curve_evaluations, curve_risks : ndarray (checkpoints, data_sets, replicates), along the run, the final output last
    start_risk : float, excess risk of the starting point (mean over data sets)
    certificates : tuple of str, how exact the minimisers are, where the algorithm releases them
    extras : mapping of str to ndarray (data_sets, replicates), what the runs noted
    grid : tuple of MeasuredCell, the cells of the signal grid, each by itself; empty without one
    """

    entry: Cell
    calibrated: CalibratedCell
    calibration: str
    risks: np.ndarray
    curve_evaluations: np.ndarray
    curve_risks: np.ndarray
    start_risk: float
    exact: bool
    certificates: tuple[str, ...] = ()
    signal: float | None = None
    at_edge: bool = False
    extras: Mapping[str, np.ndarray] = field(default_factory=dict)
    grid: tuple[MeasuredCell, ...] = ()

    @property
    def final(self) -> np.ndarray:
        """Final excess risks at the maximising signal, shape ``(data_sets, replicates)``."""
        return self.curve_risks[-1]

    @property
    def value(self) -> float:
        return float(self.entry.value)

    @property
    def charged(self) -> tuple[CalibratedCell, Cell]:
        return self.calibrated, self.entry

    @property
    def next_signal(self) -> float:
        """The signal by which the grid's own ratio extends it at the end where the largest risk stands; else NaN."""
        signals = [one.entry.signal for one in self.grid if one.entry.signal is not None]
        if not self.at_edge or len(signals) < 2:
            return math.nan
        first, last = (signals[1], signals[0]) if self.signal == signals[0] else signals[-2:]
        return float(last * last / first)

    @property
    def can_be_stronger(self) -> bool:
        """True if its signal is free, and smaller than the largest admissible one."""
        return len(self.grid) > 1 and not self.calibrated.signal_capped

    @property
    def numerical_error(self) -> float | None:
        """Absolute numerical error of an exact cell, None for a simulated one."""
        if not self.exact:
            return None
        return problem_class(self.entry.problem).closed_form_error * abs(float(self.final.mean()))

    @property
    def slack(self) -> float:
        """Relative margin that an explicit bound allows: of a quadrature its accuracy, of all others none."""
        return QUADRATURE_SLACK * (self.exact and bool(problem_class(self.entry.problem).closed_form_remark))

    @cached_property
    def context(self) -> BoundContext:
        return BoundContext(
            n=int(self.entry.n),
            d=self.calibrated.dimension,
            epsilon=float(self.entry.epsilon),
            delta=float(self.entry.delta),
            constants=self.calibrated.constants,
            calibration=self.calibration,
            schedule=self.calibrated.schedule,
            scales=self.calibrated.scales,
            start_risk=self.start_risk,
            extras=self.extras,
        )

    @cached_property
    def printed(self) -> BoundContext:
        """The same for a formula as it is printed: eps/sqrt(l) stays, also where the noise was accounted.

        Where no noise is drawn, a formula that holds the noise has none either.
        """
        return self.context if self.calibration == "none" else replace(self.context, calibration="paper")


def replicates_of(cells: Sequence[MeasuredCell]) -> Replicates:
    """Collect the risks of some cells, with what these have in common."""
    risks, errors = [cell.risks for cell in cells], [cell.numerical_error for cell in cells]
    return Replicates.of(risks, errors, sharing_of([cell.entry for cell in cells]))


def job_cells(job: Job, table: pa.Table | None, calibrations: Calibrations) -> list[MeasuredCell]:
    """Each cell of a job by itself, in the order of the plan, with what its runs noted; without refused cells."""
    rows = {} if table is None else _rows_of(table)
    known = [(cell, own) for cell, own in zip(job.cells, calibrations, strict=True) if not isinstance(own, RefusedCell)]
    return [_measured(job, cell, own, None if table is None else rows[cell.cell]) for cell, own in known]


@dataclass(frozen=True)
class _CellRows:
    """Columns of one cell's rows; ``extras`` are NaN in rows that noted none, ``words`` the distinct texts."""

    numbers: Mapping[str, np.ndarray]
    extras: Mapping[str, np.ndarray]
    words: Mapping[str, set[str]]


def _rows_of(table: pa.Table) -> dict[int, _CellRows]:
    """Group a table's rows by cell."""
    numbers = {name: table[name].to_numpy() for name in _NUMBERS}
    numbers["checkpoint"] = np.where(numbers["checkpoint"] == FINAL, np.iinfo(np.int32).max, numbers["checkpoint"])
    extras = read_extras(table) if EXTRAS in table.column_names else {}
    words = {name: table[name].combine_chunks() for name in _WORDS}
    order = np.argsort(numbers["cell"], kind="stable")
    cells, starts = np.unique(numbers["cell"][order], return_index=True)
    found = {}
    for cell, rows in zip(cells, np.split(order, starts)[1:], strict=True):
        own, noted = ({name: column[rows] for name, column in columns.items()} for columns in (numbers, extras))
        said = {name: {*column.take(pa.array(rows)).unique().to_pylist()} for name, column in words.items()}
        found[int(cell)] = _CellRows(own, noted, said)
    return found


def evidence_of(
    cells: Sequence[MeasuredCell], quantity: str = RISK, requires: Mapping[str, float] | None = None
) -> list[MeasuredCell]:
    """Return the cells of `job_cells` with the judged quantity as their risk; a signal grid becomes one cell.

    The quantity is the risk, an extra, a formula, or the threshold at which an extra reaches what is required of it.
    """
    grids: dict[tuple[str, float], list[MeasuredCell]] = {}
    for cell in cells:
        entry = cell.entry
        key = (entry.method, entry.value) if entry.signal is not None else (str(entry.cell), math.nan)
        grids.setdefault(key, []).append(_in_place(cell, quantity))
    if quantity == THRESHOLD:
        ((name, least), *_) = (requires or {}).items()
        return [_threshold(grid, name, least) for grid in grids.values()]
    return [_largest(grid) for grid in grids.values()]


def _largest(grid: list[MeasuredCell]) -> MeasuredCell:
    """Pick the largest mean of a grid, with the risks of all and the worst privacy; not of signals a pilot left out."""
    first = grid[0]
    if first.entry.signal is None:
        return first
    most = max(cell.risks.size for cell in grid)
    means = [float(cell.risks.mean()) if cell.risks.size == most > 0 else -math.inf for cell in grid]
    number = int(np.argmax(means))
    best, last = grid[number], len(grid) - 1
    worst = max((cell.calibrated.privacy_status for cell in grid), key=SEVERITY.index)
    return replace(
        best,
        calibrated=replace(best.calibrated, privacy_status=worst),
        risks=np.stack([cell.risks for cell in grid if cell.risks.size == most]),
        signal=best.entry.signal,
        at_edge=last > 0 and (number == 0 or (number == last and not best.calibrated.signal_capped)),
        grid=tuple(grid),
    )


def _threshold(grid: list[MeasuredCell], name: str, least: float) -> MeasuredCell:
    """Turn a grid into one cell of thresholds; at an edge if a replicate has none within the grid."""
    signals = np.array([cell.entry.signal for cell in grid], dtype=np.float64)
    values = np.stack([cell.extras[name] for cell in grid])
    found, inside = thresholds(signals, values, least)
    spent, edge = grid[-1].curve_evaluations[-1:], not inside.all()
    one = replace(_largest(grid), risks=found, curve_risks=found[None], curve_evaluations=spent)
    return replace(one, signal=None, at_edge=edge)


def thresholds(signals: np.ndarray, values: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Interpolate the signals at which values ``(signals, ...)`` first reach a level, on the logarithm of the signal.

    Returns thresholds, an end of the grid where the level is reached at once or never, and whether neither is so.
    """
    reached = values >= least
    after = np.where(reached.any(axis=0), reached.argmax(axis=0), len(signals) - 1)
    before = np.maximum(after - 1, 0)
    low, high = (np.take_along_axis(values, at[None], axis=0)[0] for at in (before, after))
    inside = reached.any(axis=0) & ~reached[0]
    share = np.where(inside, (least - low) / np.where(inside, high - low, 1.0), 1.0)
    logs = np.log(signals)
    return np.exp(logs[before] + share * (logs[after] - logs[before])), inside


def _in_place(cell: MeasuredCell, quantity: str) -> MeasuredCell:
    """Replace the risk of a cell by another quantity."""
    if "." in quantity:
        exact = np.full((1, 1), get_bound(quantity).value(cell.context))
        return replace(cell, risks=exact, curve_risks=exact[None], curve_evaluations=np.zeros((1, 1, 1)), exact=True)
    if quantity in (RISK, THRESHOLD) or not cell.risks.size:
        return cell
    if quantity not in cell.extras:
        known = ", ".join([RISK, *sorted(cell.extras)])
        raise InputError(f"quantity of {cell.entry.method}", quantity, f"one of {known}, which every row of a cell has")
    noted = cell.extras[quantity]
    return replace(cell, risks=noted, curve_risks=noted[None], curve_evaluations=cell.curve_evaluations[-1:])


def _measured(job: Job, entry: Cell, calibrated: CalibratedCell, rows: _CellRows | None) -> MeasuredCell:
    """Read one cell; its curve has the checkpoints that all runs have: where batches are drawn, runs differ in them."""
    exact = job.evaluation == "closed_form"
    if rows is None:
        nothing = np.empty((0, 0))
        return MeasuredCell(entry, calibrated, job.calibration, nothing, nothing, nothing, math.nan, exact)
    numbers = rows.numbers
    shape = data_sets, replicates = [int(numbers[name].max()) + 1 for name in ("data_set", "replicate")]
    runs = data_sets * replicates
    order = np.lexsort([numbers[name] for name in ("replicate", "data_set", "checkpoint")])
    _, at, counts = np.unique(numbers["checkpoint"][order], return_inverse=True, return_counts=True)
    common = order[counts[at] == runs]
    curve, spent = (numbers[name][common].reshape(-1, *shape) for name in ("risk", "gradient_evaluations"))
    finals = {name: column[order[-runs:]].reshape(shape) for name, column in rows.extras.items()}
    if DEMOTED in rows.words["privacy_status"]:
        lost: dict[str, Any] = dict.fromkeys(EPSILON_VALUES, math.nan)
        worst = max(DEMOTED, calibrated.privacy_status, key=SEVERITY.index)
        calibrated = replace(calibrated, privacy_status=worst, **lost)
    remarks = {remark for text in rows.words["warnings"] for remark in text.split("; ")}
    return MeasuredCell(
        *(entry, calibrated, job.calibration, curve[-1], spent, curve, float(numbers["start_risk"].mean()), exact),
        certificates=tuple(sorted(remark for remark in remarks if remark.startswith(CERTIFIED))),
        extras={name: array for name, array in finals.items() if not np.isnan(array).any()},
    )
