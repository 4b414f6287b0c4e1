"""What every private algorithm must satisfy, checked on one's own: declared = drawn, planned = counted, no peeking.

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
from dpsco_bench.audit import attaining, drawn_constants, hidden, long_run, loss_class, released
from dpsco_bench.audit.canaries import MOST_WORK, audit_cell_of, work_of
from dpsco_bench.audit.search import Found, search
from dpsco_bench.audit.subject import REPLICATES, Subject, SubjectRun, subject_of
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.calling import undrawn
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import check_run, make_cell
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.transcript import Nudged, Recorder, Replay
from dpsco_bench.problems.base import Data

RECORDS, FEW = 24, 6
"""Records by default, and neighbours that are tried on a canary."""
TOLERANCE, ORDER_TOLERANCE = 1e-9, 1e-7
"""Rounding, and rounding of sums in another order."""
SPLIT = 3
"""Replicates of the first of two parts."""


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
    return check_cell_contract(make_cell(id, problem, {"n": RECORDS, **keys}), calibration, seed)


def check_cell_contract(cell: Cell, calibration: str, seed: int) -> list[CheckResult]:
    """Check a cell's algorithm, as `check_algorithm`."""
    check_run(calibration, 1, seed)
    if calibration == "none":
        raise InputError("calibration", calibration, "paper or accounted: without noise there is nothing to check")
    subject = subject_of(cell, calibrate_cell(cell, calibration, seed), seed)
    return findings(subject, partial(_without_noise, cell, seed), _on_canary(cell, calibration, seed))


def _on_canary(cell: Cell, calibration: str, seed: int) -> Subject | None:
    """The same on the canary of its audits, whose record attains what most methods declare; None without a short one.

    Records of the problem itself may change a release by far less, whatever the constants allow.
    """
    keys = {"n": cell.n, "variant": cell.variant, "epsilon": cell.epsilon, "delta": cell.delta, **cell.options}
    try:
        found = audit_cell_of(cell.algorithm, calibration, keys)
        if found.problem == cell.problem or work_of(found.plan(calibration, 0, twice=False)[1]) > MOST_WORK:
            return None
        subject = subject_of(found, calibrate_cell(found, calibration, seed), seed)
    except DpscoError:
        return None
    return None if subject.no_neighbours else subject


def findings(subject: Subject, plan_at: long_run.PlanAt, canary: Subject | None = None) -> list[CheckResult]:
    """The outcome of every check.

    Parameters
    ----------
    subject : Subject
        On a small data set, with noise.
    plan_at : callable
        What the long run is made of.
    canary : Subject, optional
        On a problem of which one record has a gradient; sensitivities are searched there too.
    """
    made = Checks(subject, plan_at, canary=canary)
    checks: dict[str, Callable[[], CheckResult]] = {
        "the output has the shape of the iterates and is finite": made.check_output,
        "each query is released and sampled as often as declared": made.check_counts,
        "planned gradient evaluations are those counted": made.check_evaluations,
        "the mechanism is the only source of randomness": made.check_randomness,
        "replicates do not depend on each other": made.check_replicates,
        "the order of the records does not matter": made.check_order,
        "no neighbour found changes a released value by more than declared": made.check_sensitivity,
        "a released value is the exposed one with the noise that was charged": made.check_released,
        "given the released values the output does not depend on the data": made.check_post_processing,
        "the losses are of the class that their problem declares": made.check_loss_class,
        "drawn records keep to the constants that their problem declares": made.check_constants,
        "without noise and with a long schedule it goes half of the way to the minimum": made.check_long_run,
        "an epsilon that is called exact is attained on this problem": made.check_attained,
        "the output is the last iterate of the steps that are declared": made.check_last_iterate,
    }
    return [replace(_guarded(check), check=name) for name, check in checks.items()]


def _without_noise(cell: Cell, seed: int, n: int, steps: int | None) -> Subject:
    """A cell with ``n`` records, without noise, and without the numbers of steps that were given for a short run.

    Raises InputError for a number of steps of a method that takes none.
    """
    counts = {key for key, value in cell.options.items() if isinstance(value, int) and not isinstance(value, bool)}
    options = {key: value for key, value in cell.options.items() if key not in counts}
    variant = cell.variant if "none" in cell.algorithm_entry.variants.get(cell.variant or "", ()) else None
    longer = replace(cell, n=n, variant=variant, options=options if steps is None else {**options, "steps": steps})
    longer.problem_entry.check_records(n)
    return subject_of(longer, calibrate_cell(longer, "none", seed), seed)


def _guarded(check: Callable[[], CheckResult]) -> CheckResult:
    """What a check finds; a run that changes what it is handed stops all of them."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            return check()
    except DpscoError as error:
        return _finding(False, str(error))


def _finding(passed: bool | None, detail: str) -> CheckResult:
    return CheckResult("", passed, detail)


def _agreement(one: np.ndarray, other: np.ndarray, tolerance: float) -> CheckResult:
    gap = float(np.abs(one - other).max()) / max(1.0, float(np.abs(other).max()))
    return _finding(gap <= tolerance, "equal up to rounding" if gap <= tolerance else f"they differ by {gap:.1e}")


class Checks:
    """The checks of one subject; runs that several of them look at are made once.

    Parameters
    ----------
    subject, plan_at
        As for `findings`.
    length : Length
        Of the long run.
    canary : Subject or None
        As for `findings`.
    **searching
        What is passed to `search`.
    """

    def __init__(
        self,
        subject: Subject,
        plan_at: long_run.PlanAt,
        length: long_run.Length = long_run.Length(),  # noqa: B008 - it is frozen
        canary: Subject | None = None,
        **searching: Any,
    ) -> None:
        self.subject, self.plan_at, self.length, self.searching = subject, plan_at, length, searching
        self.canary = canary

    @cached_property
    def recorded(self) -> SubjectRun:
        return self.subject.run(Recorder)

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

    @cached_property
    def recorded_often(self) -> SubjectRun:
        return self.subject.run(released.Comparing, replicates=self.subject.many)

    def check_output(self) -> CheckResult:
        """Shape and finiteness."""
        output = self.recorded.output
        expected = (REPLICATES, self.subject.problem.dimension)
        if output.shape != expected:
            return _finding(False, f"shape {output.shape}, expected {expected}")
        return _finding(bool(np.isfinite(output).all()), f"shape {output.shape}")

    def check_counts(self) -> CheckResult:
        source, wrong, queries = self.recorded.mechanism, [], self.subject.plan.queries
        for query in queries:
            sampled = query.releases if query.records.sampled else 0
            found = source.released[query.name], source.sampled[query.name]
            if lacking := undrawn(query, source, self.subject.problem):
                wrong.append(lacking)
            elif found != (query.releases, sampled):
                wrong.append(f"{query.name}: declared {query.releases} releases of {sampled} batches, made {found}")
        total = sum(query.releases for query in queries)
        return _finding(not wrong, "; ".join(wrong) or f"{total} releases of {len(queries)} queries")

    def check_evaluations(self) -> CheckResult:
        """Planned = counted, within five standard deviations of the batch sizes where those are random."""
        random = any(isinstance(query.records, Poisson) for query in self.subject.plan.queries)
        run = self.subject.run(replicates=4 * REPLICATES) if random else self.recorded
        counted, planned = to_numpy(run.objective.evaluations), self.subject.plan.gradient_evaluations
        spread = 5 * float(counted.std(ddof=1)) / np.sqrt(counted.size) if random else 0.0
        passed = abs(float(counted.mean()) - planned) <= spread + TOLERANCE * planned
        return _finding(passed, f"planned {planned:.6g}, counted {counted.mean():.6g}")

    def check_randomness(self) -> CheckResult:
        """A forced transcript forces the output, bit for bit."""
        same = self._forced
        return _finding(
            same, "a forced transcript forces the output" if same else "outputs differ under one transcript"
        )

    @cached_property
    def _forced(self) -> bool:
        """Whether runs are functions of their data and releases; else neighbours differ by chance too."""
        transcript = self.recorded_often.mechanism.transcript
        again = self.subject.run(partial(Replay, transcript), replicates=self.subject.many)
        return np.array_equal(self.recorded_often.output, again.output)

    def _differs(self, detail: str) -> CheckResult:
        """What neighbours show under one transcript, where random numbers of its own cannot be why."""
        if self._forced:
            return _finding(False, detail)
        return _finding(None, "cannot be told: its own random numbers change outputs under one transcript; see audit")

    def check_replicates(self) -> CheckResult:
        """Replicates at once and in two parts."""
        run, rest = self.subject.run, REPLICATES - SPLIT
        parts = [run(replicates=SPLIT).output, run(first=SPLIT, replicates=rest).output]
        return _agreement(np.concatenate(parts), self.recorded.output, TOLERANCE)

    def check_order(self) -> CheckResult:
        """Permuted records, where the algorithm says that it does not matter and batches are not drawn."""
        subject, data = self.subject, self.subject.data
        sampled = any(query.records.sampled for query in subject.plan.queries)
        if not subject.algorithm.order_invariant or sampled or data.features is None:
            return _finding(None, "not claimed, or batches are drawn")
        order = np.random.default_rng(subject.seed).permutation(data.n)
        permuted = Data(data.n, data.features[order], data.labels[order])
        return _agreement(subject.run(data=permuted).output, self.recorded.output, ORDER_TOLERANCE)

    def check_sensitivity(self) -> CheckResult:
        """Search neighbours for a larger change than declared."""
        reason = self.subject.no_neighbours
        if reason:
            return _finding(None, reason)
        found, there = self.found, self.found_on_canary
        misplaced = found.misplaced or there.misplaced
        if misplaced:
            return _finding(False, "; ".join(f"{name}: {wrong}" for name, wrong in misplaced.items()))
        shown = [", ".join(f"{name} {ratio:.3g}" for name, ratio in each.ratios.items()) for each in (found, there)]
        worst = max((*found.ratios.values(), *there.ratios.values()), default=0.0)
        beside = f"; on {self.canary.problem.name} {shown[1]}" if self.canary and shown[1] else ""
        said = f"largest change in units of the declared: {shown[0]}{beside}"
        return self._differs(said) if worst > 1 + TOLERANCE else _finding(True, said)

    def check_released(self) -> CheckResult:
        """Every answer against that of the query's kind, and the noise against the charged scale."""
        found = released.compare(self.subject, self.recorded_often)
        wrong = [f"{name}: {one.wrong}" for name, one in found.items() if one.wrong]
        shown = [f"{name} {one.said or 'without all of its noise drawn'}" for name, one in found.items()]
        compared = bool(found) and all(one.said for one in found.values())
        detail = "; ".join(wrong or shown) or "nothing is released"
        return _finding(not wrong if wrong or compared else None, detail)

    def check_post_processing(self) -> CheckResult:
        """Equal outputs on neighbours under one transcript."""
        reason = self.subject.no_neighbours
        if reason:
            return _finding(None, reason)
        if self.found.leak > 0.0:
            return self._differs(
                f"outputs on neighbours differ by {self.found.leak:.1e}: the data are used without noise"
            )
        leaking = hidden.leaking(self.subject, self.recorded_often)
        if leaking:
            share = f"{leaking} of {self.subject.many} runs"
            return self._differs(f"outputs differ on others, in {share}: the data are used without noise")
        if not hidden.hides(self.subject.plan):
            return _finding(True, "equal on all neighbours tried")
        told = hidden.told(self.subject, self.recorded_often)
        if told:
            share = f"{told} of {self.subject.many} runs"
            return self._differs(f"outputs tell which records were drawn, in {share}: hidden ones are charged")
        return _finding(True, "equal on all neighbours tried, and with other records drawn")

    def check_last_iterate(self) -> CheckResult:
        """Move one answer, and see by how much the output moves: no average, no momentum, no larger step."""
        plan = self.subject.plan
        if plan.last_iterate is None:
            return _finding(None, "not declared")
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
                return _finding(False, said)
        return _finding(True, "an answer moves the output by what is declared, and by no more")

    def check_loss_class(self) -> CheckResult:
        """Gradients of a few records at a few points."""
        declared, domain = loss_class.declared(self.subject), self.subject.problem.feasible_set
        if domain is not None and not hasattr(domain, "project"):
            return _finding(None, "nothing is projected on the domain, and no point of it tried")
        if not declared:
            return _finding(None, "none is declared")
        for name in declared:
            gap = loss_class.deviation(self.subject, name)
            if gap > loss_class.TOLERANCE:
                return _finding(False, f"declared: {loss_class.CLASSES[name]}; off by {gap:.1e} of a gradient")
        return _finding(True, "; ".join(loss_class.CLASSES[name] for name in declared))

    def check_constants(self) -> CheckResult:
        """Gradients of drawn records at a few points."""
        reason = drawn_constants.nothing_declared(self.subject)
        if reason:
            return _finding(None, reason)
        found = drawn_constants.exceeded(self.subject)
        return _finding(not found, found or "their gradients are within them at the points tried")

    def check_attained(self) -> CheckResult:
        """A pair of records, its gradients and what it changes."""
        reason = attaining.nothing_to_attain(self.subject)
        if reason:
            return _finding(None, reason)
        missing = attaining.shortfall(self.subject)
        value = f"epsilon = {self.subject.charge.epsilon:.4g} is called exact"
        return _finding(not missing, f"{value}, but {missing}" if missing else "by two opposed records")

    def check_long_run(self) -> CheckResult:
        """Risk of the end against that of the start, and how much of the gap to the minimum is left."""
        try:
            subject, steps = long_run.longest(self.plan_at, self.length)
        except Refusal as refusal:
            return _finding(None, str(refusal))
        found = long_run.ends(subject)
        said = f"risk {found.end:.4g} from a start of {found.start:.4g} at n = {subject.data.n}"
        if not found.rises and long_run.starts_near_a_minimiser(subject):
            return _finding(None, "the start is next to a minimiser")
        if not found.end < found.start or not found.left > long_run.LEFT:
            return _finding(found.end < found.start, said)
        said = f"{found.left:.2g} of the gap to the minimum is left at n = {subject.data.n}"
        short = long_run.shorter(self.plan_at, subject, steps)
        before = long_run.ends(short) if short else None
        if before and found.leads_away_after(before):
            return _finding(False, f"{said}, and {before.left:.2g} at a quarter of it: it goes elsewhere")
        return _finding(None, f"{said}: too short a run")
