"""Check the contract of a private algorithm: declared = drawn, planned = counted, no peeking.

And it minimises what it is given, class and constants of the losses are what their problem declares, and an epsilon
that is called exact is attained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.audit import constants, long_run, released
from dpsco_bench.audit.canaries import MOST_WORK, audit_cell_of, work_of
from dpsco_bench.audit.search import Found, leaking, search, told
from dpsco_bench.audit.subject import REPLICATES, Finding, Subject, SubjectRun, subject_of
from dpsco_bench.audit.transcript import hides_batches
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.calling import undrawn
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import check_run, make_cell
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.transcript import Nudged, Recorder, Replay
from dpsco_bench.problems.base import Data

RECORDS, FEW, SPLIT = 24, 6, 3
"""Records by default, neighbours that are tried on a canary, and replicates of the first of two parts."""
TOLERANCE, ORDER_TOLERANCE = 1e-9, 1e-7  # rounding, and rounding of sums in another order


@dataclass(frozen=True)
class CheckResult:
    """Outcome of one check; ``passed`` is None where it has nothing to say."""

    check: str
    passed: bool | None
    detail: str


def check_algorithm(
    algorithm: str | Algorithm,
    problem: str = "ridge_logistic",
    calibration: str = "accounted",
    *,
    seed: int = 2017,
    **keys: Any,
) -> list[CheckResult]:
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
    cell = make_cell(id, problem, {"n": RECORDS, **keys})
    check_run(calibration, 1, seed)
    if calibration == "none":
        raise InputError("calibration", calibration, "paper or accounted: without noise there is nothing to check")
    subject = subject_of(cell, calibrate_cell(cell, calibration, seed), seed)
    made = Checks(subject, partial(_without_noise, cell, seed), canary=_on_canary(cell, calibration, seed))
    return made.all()


def _on_canary(cell: Cell, calibration: str, seed: int) -> Subject | None:
    """Make the same on the canary of its audits, whose record attains what most methods declare; None without one."""
    keys = {"n": cell.n, "variant": cell.variant, "epsilon": cell.epsilon, "delta": cell.delta, **cell.options}
    try:
        found = audit_cell_of(cell.algorithm, calibration, keys)
        if found.problem == cell.problem or work_of(found.plan(calibration, 0, twice=False)[1]) > MOST_WORK:
            return None
        subject = subject_of(found, calibrate_cell(found, calibration, seed), seed)
    except DpscoError:
        return None
    return None if subject.no_neighbours else subject


def _without_noise(cell: Cell, seed: int, n: int, steps: int | None) -> Subject:
    """Take a cell with ``n`` records, without noise and without the numbers of steps of a short run."""
    counts = {key for key, value in cell.options.items() if isinstance(value, int) and not isinstance(value, bool)}
    options = {key: value for key, value in cell.options.items() if key not in counts}
    variant = cell.variant if "none" in cell.algorithm_entry.variants.get(cell.variant or "", ()) else None
    longer = replace(cell, n=n, variant=variant, options=options if steps is None else {**options, "steps": steps})
    longer.problem_entry.check_records(n)
    return subject_of(longer, calibrate_cell(longer, "none", seed), seed)


def _agreement(one: np.ndarray, other: np.ndarray, tolerance: float) -> Finding:
    gap = float(np.abs(one - other).max()) / max(1.0, float(np.abs(other).max()))
    return gap <= tolerance, "equal up to rounding" if gap <= tolerance else f"they differ by {gap:.1e}"


class Checks:
    """The checks of one subject with noise; runs that several of them look at are made once.

    Sensitivities are searched on the ``canary`` too, of which one record has a gradient. The long run has ``length``;
    other keys are passed to `search`.
    """

    def __init__(
        self, subject: Subject, plan_at: long_run.PlanAt, canary: Subject | None = None, **searching: Any
    ) -> None:
        self.subject, self.plan_at, self.canary = subject, plan_at, canary
        self.length, self.searching = searching.pop("length", long_run.LENGTH), searching

    def all(self) -> list[CheckResult]:
        """Make all of them; what a run does against its plan is what the check says that finds it."""
        checks: dict[str, Callable[[], Finding]] = {
            "the output has the shape of the iterates and is finite": self.check_output,
            "each query is released and sampled as often as declared": self.check_counts,
            "planned gradient evaluations are those counted": self.check_evaluations,
            "the mechanism is the only source of randomness": self.check_randomness,
            "replicates do not depend on each other": self.check_replicates,
            "the order of the records does not matter": self.check_order,
            "no neighbour found changes a released value by more than declared": self.check_sensitivity,
            "a released value is the exposed one with the noise that was charged": self.check_released,
            "given the released values the output does not depend on the data": self.check_post_processing,
            "the losses are of the class that their problem declares": self.check_loss_class,
            "drawn records keep to the constants that their problem declares": self.check_constants,
            "without noise and with a long schedule it goes half of the way to the minimum": self.check_long_run,
            "an epsilon that is called exact is attained on this problem": self.check_attained,
            "the output is the last iterate of the steps that are declared": self.check_last_iterate,
        }
        found = []
        for name, check in checks.items():
            try:
                with np.errstate(invalid="ignore", over="ignore"):
                    found.append(CheckResult(name, *check()))
            except DpscoError as error:
                found.append(CheckResult(name, False, str(error)))
        return found

    @cached_property
    def recorded(self) -> SubjectRun:
        return self.subject.run(Recorder)

    @cached_property
    def recorded_often(self) -> SubjectRun:
        return self.subject.run(released.Comparing, replicates=self.subject.many)

    @cached_property
    def found(self) -> Found:
        return search(self.subject, **self.searching)

    @cached_property
    def found_on_canary(self) -> Found:
        """Nothing where the run fails there: it does not on its own problem."""
        try:
            return search(self.canary, neighbours=FEW, rounds=1, everywhere=False) if self.canary else Found()
        except DpscoError:
            return Found()

    def check_output(self) -> Finding:
        output, expected = self.recorded.output, (REPLICATES, self.subject.problem.dimension)
        if output.shape != expected:
            return False, f"shape {output.shape}, expected {expected}"
        return bool(np.isfinite(output).all()), f"shape {output.shape}"

    def check_counts(self) -> Finding:
        source, wrong, queries = self.recorded.mechanism, [], self.subject.plan.queries
        for query in queries:
            sampled = query.releases if query.records.sampled else 0
            found = source.released[query.name], source.sampled[query.name]
            if lacking := undrawn(query, source, self.subject.problem):
                wrong.append(lacking)
            elif found != (query.releases, sampled):
                wrong.append(f"{query.name}: declared {query.releases} releases of {sampled} batches, made {found}")
        total = sum(query.releases for query in queries)
        return not wrong, "; ".join(wrong) or f"{total} releases of {len(queries)} queries"

    def check_evaluations(self) -> Finding:
        """Compare planned with counted, within five standard deviations of the batch sizes where those are random."""
        random = any(isinstance(query.records, Poisson) for query in self.subject.plan.queries)
        run = self.subject.run(replicates=4 * REPLICATES) if random else self.recorded
        counted, planned = to_numpy(run.objective.evaluations), self.subject.plan.gradient_evaluations
        spread = 5 * float(counted.std(ddof=1)) / np.sqrt(counted.size) if random else 0.0
        passed = abs(float(counted.mean()) - planned) <= spread + TOLERANCE * planned
        return passed, f"planned {planned:.6g}, counted {counted.mean():.6g}"

    @cached_property
    def _forced(self) -> bool:
        """True if runs are functions of their data and releases, bit for bit; else neighbours differ by chance too."""
        transcript = self.recorded_often.mechanism.transcript
        again = self.subject.run(partial(Replay, transcript), replicates=self.subject.many)
        return np.array_equal(self.recorded_often.output, again.output)

    def check_randomness(self) -> Finding:
        forced = "a forced transcript forces the output"
        return self._forced, forced if self._forced else "outputs differ under one transcript"

    def _differs(self, detail: str) -> Finding:
        """Report what neighbours show under one transcript, where random numbers of its own cannot be why."""
        if self._forced:
            return False, detail
        return None, "cannot be told: its own random numbers change outputs under one transcript; see audit"

    def check_replicates(self) -> Finding:
        run, rest = self.subject.run, REPLICATES - SPLIT
        parts = [run(replicates=SPLIT).output, run(first=SPLIT, replicates=rest).output]
        return _agreement(np.concatenate(parts), self.recorded.output, TOLERANCE)

    def check_order(self) -> Finding:
        """Permute records, where the algorithm says that it does not matter and batches are not drawn."""
        subject, data = self.subject, self.subject.data
        sampled = any(query.records.sampled for query in subject.plan.queries)
        if not subject.algorithm.order_invariant or sampled or data.features is None:
            return None, "not claimed, or batches are drawn"
        order = np.random.default_rng(subject.seed).permutation(data.n)
        permuted = Data(data.n, data.features[order], data.labels[order])
        return _agreement(subject.run(data=permuted).output, self.recorded.output, ORDER_TOLERANCE)

    def check_sensitivity(self) -> Finding:
        """Search neighbours for a larger change than declared."""
        if reason := self.subject.no_neighbours:
            return None, reason
        found, there = self.found, self.found_on_canary
        if misplaced := found.misplaced or there.misplaced:
            return False, "; ".join(f"{name}: {wrong}" for name, wrong in misplaced.items())
        shown = [", ".join(f"{name} {ratio:.3g}" for name, ratio in each.ratios.items()) for each in (found, there)]
        worst = max((*found.ratios.values(), *there.ratios.values()), default=0.0)
        beside = f"; on {self.canary.problem.name} {shown[1]}" if self.canary and shown[1] else ""
        said = f"largest change in units of the declared: {shown[0]}{beside}"
        return self._differs(said) if worst > 1 + TOLERANCE else (True, said)

    def check_released(self) -> Finding:
        """Hold every answer against that of the query's kind, and the noise against the charged scale."""
        found = released.compare(self.subject, self.recorded_often)
        wrong = [f"{name}: {own}" for name, (own, _) in found.items() if own]
        shown = [f"{name} {said or 'without all of its noise drawn'}" for name, (_, said) in found.items()]
        compared = bool(found) and all(said for _, said in found.values())
        return False if wrong else compared or None, "; ".join(wrong or shown) or "nothing is released"

    def check_post_processing(self) -> Finding:
        """Compare outputs under one transcript: on neighbours, on other records, and with other hidden batches."""
        if reason := self.subject.no_neighbours:
            return None, reason
        if leak := self.found.leak:
            return self._differs(f"outputs on neighbours differ by {leak:.1e}: the data are used without noise")
        of = f"of {self.subject.many} runs"
        if count := leaking(self.subject, self.recorded_often):
            return self._differs(f"outputs differ on others, in {count} {of}: the data are used without noise")
        if not hides_batches(self.subject.plan):
            return True, "equal on all neighbours tried"
        if count := told(self.subject, self.recorded_often):
            return self._differs(f"outputs tell which records were drawn, in {count} {of}: hidden ones are charged")
        return True, "equal on all neighbours tried, and with other records drawn"

    def check_last_iterate(self) -> Finding:
        """Move one answer, and see by how much the output moves: no average, no momentum, no larger step."""
        plan = self.subject.plan
        if plan.last_iterate is None:
            return None, "not declared"
        (query,), declared = plan.queries, plan.last_iterate
        ones = np.ones(query.releases)
        steps, c = declared.steps * ones, declared.contractions * ones
        by = np.full(self.subject.problem.dimension, self.subject.scales[query.name] or 1.0)
        for t in dict.fromkeys((query.releases - 1, max(0, query.releases - 2), 0)):
            moved = self.subject.run(partial(Nudged, t, by)).output - self.recorded.output
            most = steps[t] * float(np.linalg.norm(by)) * float(np.prod(c[t + 1 :]))
            shares = np.linalg.norm(moved, axis=-1) / most if most > 0.0 else np.zeros(1)
            least = 1.0 if declared.attainable and t == query.releases - 1 else 0.0
            if shares.max() > 1.0 + ORDER_TOLERANCE or shares.min() < least - ORDER_TOLERANCE:
                share = shares.max() if shares.max() > 1.0 else shares.min()
                said = f"moving answer {t + 1} of {query.releases} moves the output by {share:.3g} of what is declared"
                return False, said
        return True, "an answer moves the output by what is declared, and by no more"

    def check_loss_class(self) -> Finding:
        return constants.loss_class(self.subject)

    def check_constants(self) -> Finding:
        return constants.drawn(self.subject)

    def check_attained(self) -> Finding:
        return constants.attained(self.subject)

    def check_long_run(self) -> Finding:
        return long_run.outcome(self.plan_at, self.length)
