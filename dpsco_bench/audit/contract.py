"""What every private algorithm must satisfy, checked on one's own: declared = drawn, planned = counted, and no peeking.

A run records its transcript on a data set D. Forced on a neighbour D', the differences between the values that are
passed to the mechanism are the queries' sensitivities given the past; equal outputs say that all else is
post-processing. A search can refute a sensitivity, not prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.audit.neighbours import DOMAIN_RECORDS
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.guarded import call_run
from dpsco_bench.execution.library import check_run
from dpsco_bench.execution.request import make_cell
from dpsco_bench.execution.run import make_objective
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Poisson
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Data

RECORDS, REPLICATES = 24, 8
NEIGHBOURS = 12
NOISE_FACTORS = (1.0, 1e4)
"""Noise of the recorded runs in units of the calibrated one: large noise drives the iterates far apart."""
TOLERANCE, ORDER_TOLERANCE = 1e-9, 1e-7
"""Rounding, and rounding of sums in another order."""


@dataclass(frozen=True)
class Finding:
    """Outcome of one check."""

    check: str
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class _Run:
    output: np.ndarray
    mechanism: Any
    evaluations: np.ndarray


def check_algorithm(
    algorithm: str | Algorithm,
    problem: str = "ridge_logistic",
    calibration: str = "accounted",
    *,
    seed: int = 2017,
    **keys: Any,
) -> list[Finding]:
    """Check an algorithm on one problem.

    Raises InputError, Refusal for a value outside its range, or a combination that cannot run.

    Parameters
    ----------
    algorithm : str or Algorithm, id, or what ``@algorithm`` returned
    calibration : str, ``accounted`` or ``paper``: the noise with which it runs
    **keys
        ``n`` (24), ``d``, ``epsilon``, ``delta``, ``variant``, schedule options, problem options and constants. Short
        schedules are enough: ``steps=5``.
    """
    id = algorithm.id if isinstance(algorithm, Algorithm) else algorithm
    return check_cell_contract(make_cell(id, problem, {"n": RECORDS, **keys}), calibration, seed)


def check_cell_contract(cell: Cell, calibration: str, seed: int) -> list[Finding]:
    check_run(calibration, 1, seed)
    if calibration == "none":
        raise InputError("calibration", calibration, "paper or accounted: without noise there is nothing to check")
    case = _Case(cell, calibration, seed)
    checks: dict[str, Callable[[], Finding]] = {
        "the output has the shape of the iterates and is finite": case.check_output,
        "each query is released and sampled as often as declared": case.check_counts,
        "planned gradient evaluations are those counted": case.check_evaluations,
        "the mechanism is the only source of randomness": case.check_randomness,
        "replicates do not depend on each other": case.check_replicates,
        "the order of the records does not matter": case.check_order,
        "no neighbour found changes a released value by more than declared": case.check_sensitivity,
        "given the released values the output does not depend on the data": case.check_post_processing,
    }
    return [replace(_guarded(check), check=name) for name, check in checks.items()]


def _guarded(check: Callable[[], Finding]) -> Finding:
    try:
        with np.errstate(invalid="ignore"):
            return check()
    except DpscoError as error:
        return _finding(False, str(error))


def _finding(passed: bool | None, detail: str) -> Finding:
    return Finding("", passed, detail)


def _agreement(one: np.ndarray, other: np.ndarray, tolerance: float) -> Finding:
    gap = float(np.abs(one - other).max()) / max(1.0, float(np.abs(other).max()))
    return _finding(gap <= tolerance, "equal up to rounding" if gap <= tolerance else f"they differ by {gap:.1e}")


class _Case:
    """One algorithm on one small data set."""

    def __init__(self, cell: Cell, calibration: str, seed: int) -> None:
        self.cell, self.calibration, self.seed = cell, calibration, seed
        calibrated = calibrate_cell(cell, calibration, seed)
        self.plan, self.scales = calibrated.plan_for(cell), calibrated.scales
        self.problem, self.data = cell.problem_entry, cell.draw_data(seed, 0)
        self.status = constants_status(cell, self.plan, calibrated.constants.status)
        if cell.algorithm_entry.run_function is None:
            raise InputError("algorithm", cell.algorithm, "one with a run, attached by @plan.run")

    def run(
        self,
        factory: Callable[..., Mechanism] = Mechanism,
        data: Data | None = None,
        factor: float = 1.0,
        first: int = 0,
        replicates: int = REPLICATES,
    ) -> _Run:
        """Run with the calibrated noise times a factor."""
        scales = {name: factor * scale for name, scale in self.scales.items()}
        source = factory(self.plan, scales, self.cell.run_key(0), self.seed, first, replicates)
        objective = make_objective(self.cell, data or self.data, (self.seed, 0, first, replicates))
        output = to_numpy(call_run(self.cell, objective, self.plan, source, counted=False))
        return _Run(output, source, to_numpy(objective.evaluations))

    def check_output(self) -> Finding:
        """Shape and finiteness."""
        output = self.run().output
        expected = (REPLICATES, self.problem.dimension)
        if output.shape != expected:
            return _finding(False, f"shape {output.shape}, expected {expected}")
        return _finding(bool(np.isfinite(output).all()), f"shape {output.shape}")

    def check_counts(self) -> Finding:
        source, wrong = self.run().mechanism, []
        for query in self.plan.queries:
            sampled = query.releases if query.records.sampled else 0
            found = source.released[query.name], source.sampled[query.name]
            if found != (query.releases, sampled):
                wrong.append(f"{query.name}: declared {query.releases} releases of {sampled} batches, made {found}")
        total = sum(query.releases for query in self.plan.queries)
        return _finding(not wrong, "; ".join(wrong) or f"{total} releases of {len(self.plan.queries)} queries")

    def check_evaluations(self) -> Finding:
        """Planned = counted, within five standard deviations of the batch sizes where those are random."""
        counted = self.run(replicates=4 * REPLICATES).evaluations
        planned, spread = self.plan.gradient_evaluations, 0.0
        if any(isinstance(query.records, Poisson) for query in self.plan.queries):
            spread = 5 * float(counted.std(ddof=1)) / np.sqrt(counted.size)
        passed = abs(float(counted.mean()) - planned) <= spread + TOLERANCE * planned
        return _finding(passed, f"planned {planned:.6g}, counted {counted.mean():.6g}")

    def check_randomness(self) -> Finding:
        """A forced transcript forces the output, bit for bit."""
        first = self.run(Recorder)
        again = self.run(partial(Replay, first.mechanism.transcript))
        same = np.array_equal(first.output, again.output)
        return _finding(
            same, "a forced transcript forces the output" if same else "outputs differ under one transcript"
        )

    def check_replicates(self) -> Finding:
        """Replicates at once and in two parts."""
        whole = self.run().output
        parts = [self.run(replicates=3).output, self.run(first=3, replicates=REPLICATES - 3).output]
        return _agreement(np.concatenate(parts), whole, TOLERANCE)

    def check_order(self) -> Finding:
        """Permuted records, where the algorithm says that it does not matter and batches are not drawn."""
        sampled = any(query.records.sampled for query in self.plan.queries)
        if not self.cell.algorithm_entry.order_invariant or sampled or self.data.features is None:
            return _finding(None, "not claimed, or batches are drawn")
        order = np.random.default_rng(self.seed).permutation(self.data.n)
        permuted = Data(self.data.n, self.data.features[order], self.data.labels[order])
        return _agreement(self.run(data=permuted).output, self.run().output, ORDER_TOLERANCE)

    def check_sensitivity(self) -> Finding:
        """Search neighbours for a larger change than declared."""
        reason = self._no_neighbours()
        if reason:
            return _finding(None, reason)
        worst = {query.name: 0.0 for query in self.plan.queries}
        for recorded, other in self._neighbouring_runs():
            for query in self.plan.queries:
                first, second = recorded.mechanism.transcript, other.mechanism.transcript
                change = first.largest_change(second, query.name, query.norm)
                worst[query.name] = max(worst[query.name], float(change.max()) / query.sensitivity)
        shown = ", ".join(f"{name} {ratio:.3g}" for name, ratio in worst.items())
        return _finding(
            max(worst.values(), default=0.0) <= 1 + TOLERANCE, f"largest change in units of the declared: {shown}"
        )

    def check_post_processing(self) -> Finding:
        """Equal outputs on neighbours under one transcript."""
        reason = self._no_neighbours()
        if reason:
            return _finding(None, reason)
        for recorded, other in self._neighbouring_runs():
            if not np.array_equal(recorded.output, other.output):
                gap = float(np.abs(recorded.output - other.output).max())
                return _finding(False, f"outputs on neighbours differ by {gap:.1e}: the data are used without noise")
        return _finding(True, "equal on all neighbours tried")

    def _no_neighbours(self) -> str:
        """Why the search over neighbours says nothing here, or an empty string."""
        if self.problem.shares_records:
            return "all records of this problem are equal"
        if self.problem.draws_per_replicate:
            return "every replicate has a sample of its own"
        if self.status != "global":
            return "the constants of this problem are nominal"
        leaks = [leak for leak in (self.plan.unprotected, *self.plan.leaks) if leak]
        if leaks:
            return "the plan says what it leaks: " + "; ".join(leaks)
        return ""

    def _neighbouring_runs(self) -> Iterator[tuple[_Run, _Run]]:
        """A run on D, and its transcript forced on D': many replacements of record 0, and one of every other record."""
        domain = self.problem.domain_records(DOMAIN_RECORDS, self.seed)
        for first, factor in enumerate(NOISE_FACTORS):
            data = _replaced(self.data, 0, domain, first)
            recorded = self.run(Recorder, data=data, factor=factor, first=first)
            replay = partial(Replay, recorded.mechanism.transcript)
            swaps = [(0, which) for which in range(min(NEIGHBOURS, domain.n))]
            swaps += [(position, (position + first) % domain.n) for position in range(1, data.n)]
            for position, which in swaps:
                neighbour = _replaced(data, position, domain, which)
                yield recorded, self.run(replay, data=neighbour, factor=factor, first=first)


def _replaced(data: Data, position: int, domain: Data, which: int) -> Data:
    features, labels = np.array(data.features), np.array(data.labels)
    features[position], labels[position] = domain.features[which], domain.labels[which]
    return Data(data.n, features, labels)
