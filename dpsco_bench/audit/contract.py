"""Check the contract of a private algorithm: declared = drawn, planned = counted, no peeking.

And it minimises what it is given, class and constants of the losses are what their problem declares, and an epsilon
that is called exact is attained: two admissible records change every release by what is declared, not by less or more.

Drawn records are held against the constants, as the search for neighbours takes unit records of shipped kinds. The
class decides what objective perturbation costs; a Hessian of rank one does not make a loss generalised linear, since
its range may turn with the point. A method that forgets a part of the objective passes every check of privacy, and its
risk falls at first all the same. So a long run without noise has to go half of the way to the minimum. Where more is
left, and it ends clearly further from the minimum than on a quarter of the records, it minimises another function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Algorithm
from dpsco_bench.audit.canaries import MOST_WORK, make_audit_cell, work_of
from dpsco_bench.audit.search import Comparing, Found, Redrawn, compare_releases, differing, other_records, search
from dpsco_bench.audit.subject import (
    REPLICATES,
    Finding,
    Subject,
    SubjectRun,
    points_of,
    record_gradients,
    replaced,
    subject_of,
)
from dpsco_bench.audit.transcript import hides_batches
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import check_run, make_cell
from dpsco_bench.execution.run import check_released
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.privacy.attained import attaining_pair, rests_on_sensitivities
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Disjoint, Poisson
from dpsco_bench.privacy.transcript import Nudged, Recorder, Replay
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.constants import declared_class

RECORDS, FEW, SPLIT = 24, 6, 3
"""Records by default, neighbours that are tried on a canary, and replicates of the first of two parts."""
TOLERANCE, ORDER_TOLERANCE = 1e-9, 1e-7  # rounding, and rounding of sums in another order
CLASS_RECORDS, CLASS_TOLERANCE, ATTAINED_TOLERANCE = 6, 1e-8, 1e-6
CLASSES = {
    "linear": "differences of two records' gradients are the same everywhere",
    "glm": "every record's gradient keeps its direction",
    "plane": "differences of two records' gradients stay in a plane",
}
NUMBERS, COMPARED = 1 << 22, 64
"""Coordinates of gradients that are looked at, and records of largest gradients that are compared with each other."""
CONSTANT_ROUNDING, FAR = 1e-4, 1e-3
"""Rounding of a constant, in single precision too; and the distance between points, as a share of the
farthest, whose gradients are compared."""
PlanAt = Callable[[int, int | None], Subject]
"""Number of records, and of steps in place of the theorem's -> the same algorithm and problem without noise."""
SIZES = tuple(1 << k for k in range(14, 4, -1))
HUGE = (1 << 17, 1 << 20)  # numbers of records, and those for methods that ask for very many
LENGTH = 1 << 14, 1 << 13
"""The most records, unless a method asks for more, and the most steps: releases, and gradients over `VECTOR`."""
MOST_GRADIENTS, VECTOR = 1 << 23, 16
"""Gradients of single records that a run may plan, and how many of them cost as much as a release."""
LONG_REPLICATES = 4
FLAT = 0.01  # a gradient below this share of the Lipschitz constant is next to nothing
LEFT, RISING, ERRORS = 0.5, 1.1, 6.0
"""Share of the starting gap of which no more may be left; the factor by which it may not grow from a run to a longer
one that starts as far away within that factor, beyond so many standard errors of four replicates."""
AGAIN = "cannot be told: its runs fail, as said above"


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
        found = make_audit_cell(cell.algorithm, None, keys, calibration)
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


@dataclass(eq=False)
class Checks:
    """The checks of one subject with noise; runs that several of them look at are made once.

    Sensitivities are searched on the ``canary`` too, of which one record has a gradient. The long run has ``length``;
    ``searching`` are keys of `search`.
    """

    subject: Subject
    plan_at: PlanAt
    canary: Subject | None = None
    length: tuple[int, int] = LENGTH
    searching: dict[str, Any] = field(default_factory=dict)

    def all(self) -> list[CheckResult]:
        """Make all of them; what a run does against its plan is what the check says that finds it.

        One cause is told once: not again by the same error, nor by what else fails where a plain run does.
        """
        of_problem = partial(loss_class, self.subject), partial(drawn_constants, self.subject)
        away = partial(long_run, self.plan_at, self.length)
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
            "the losses are of the class that their problem declares": of_problem[0],
            "drawn records keep to the constants that their problem declares": of_problem[1],
            "without noise and with a long schedule it goes half of the way to the minimum": away,
            "an epsilon that is called exact is attained on this problem": partial(attained_epsilon, self.subject),
            "the output is the last iterate of the steps that are declared": self.check_last_iterate,
        }
        found, errors = list[CheckResult](), set[str]()
        for name, check in checks.items():
            broken = bool(found) and found[0].passed is False and check not in of_problem
            try:
                with np.errstate(invalid="ignore", over="ignore"):
                    passed, detail = check()
            except DpscoError as error:
                passed, detail, broken = False, str(error), broken or str(error) in errors
                errors.add(detail)
            if broken and passed is False:
                passed, detail = None, AGAIN
            found.append(CheckResult(name, passed, detail))
        return found

    @cached_property
    def recorded(self) -> SubjectRun:
        return self.subject.run(Recorder)

    @cached_property
    def recorded_often(self) -> SubjectRun:
        return self.subject.run(Comparing, replicates=self.subject.many)

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
        output = self.recorded.output  # a run ends with an error where its shape is another one
        return bool(np.isfinite(output).all()), f"shape {output.shape}"

    def check_counts(self) -> Finding:
        queries, source = self.subject.plan.queries, self.recorded.mechanism
        check_released(self.subject.algorithm.id, self.subject.plan, source, self.subject.problem)
        return True, f"{sum(query.releases for query in queries)} releases of {len(queries)} queries"

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
        source = self.recorded_often.mechanism
        found = {q.name: compare_releases(q, self.subject, source) for q in self.subject.plan.queries}
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
        recorded, of = self.recorded_often, f"of {self.subject.many} runs"
        if count := differing(self.subject, recorded, Replay, other_records(self.subject)):
            return self._differs(f"outputs differ on others, in {count} {of}: the data are used without noise")
        if not hides_batches(self.subject.plan):
            return True, "equal on all neighbours tried"
        if count := differing(self.subject, recorded, Redrawn):
            return self._differs(f"outputs tell which records were drawn, in {count} {of}: hidden ones are charged")
        return True, "equal on all neighbours tried, and with other records drawn"

    def check_last_iterate(self) -> Finding:
        """Move one answer, and see by how much the output moves: no average, no momentum, no larger step."""
        plan = self.subject.plan
        if plan.last_iterate is None:
            return None, "not declared"
        (query,), declared = plan.queries, plan.last_iterate
        by = np.full(self.subject.problem.dimension, self.subject.scales[query.name] or 1.0)
        for t in dict.fromkeys((query.releases - 1, max(0, query.releases - 2), 0)):
            moved = self.subject.run(partial(Nudged, t, by)).output - self.recorded.output
            most = declared.step * float(np.linalg.norm(by)) * declared.contraction ** (query.releases - 1 - t)
            shares = np.linalg.norm(moved, axis=-1) / most if most > 0.0 else np.zeros(1)
            least = 1.0 if declared.attainable and t == query.releases - 1 else 0.0
            if shares.max() > 1.0 + ORDER_TOLERANCE or shares.min() < least - ORDER_TOLERANCE:
                share = shares.max() if shares.max() > 1.0 else shares.min()
                said = f"moving answer {t + 1} of {query.releases} moves the output by {share:.3g} of what is declared"
                return False, said
        return True, "an answer moves the output by what is declared, and by no more"


def not_projected(subject: Subject) -> str:
    """Say why no points of the domain can be tried; empty where they can."""
    domain = subject.problem.feasible_set
    tried = domain is None or hasattr(domain, "project")
    return "" if tried else "nothing is projected on the domain, and no point of it tried"


def loss_class(subject: Subject) -> Finding:
    """Compare gradients of a few records at a few points."""
    plane = Trait.PLANE_GRADIENTS in subject.problem.properties
    declared = [name for name in (declared_class(subject.problem.traits), "plane" * plane) if name in CLASSES]
    if reason := not_projected(subject) or ("" if declared else "none is declared"):
        return None, reason
    for name in declared:
        if (gap := deviation(subject, name)) > CLASS_TOLERANCE:
            return False, f"declared: {CLASSES[name]}; off by {gap:.1e} of a gradient"
    return True, "; ".join(CLASSES[name] for name in declared)


def deviation(subject: Subject, name: str) -> float:
    """Measure how far gradients are from a class, as a share of their size: rounding where they belong to it."""
    gradients = record_gradients(subject, CLASS_RECORDS)
    size = float(np.abs(gradients).max()) or 1.0
    differences = gradients - gradients[:, :1]
    if name == "linear":
        return float(np.abs(differences - differences[:1]).max()) / size
    rank, vectors = (1, gradients) if name == "glm" else (2, differences)
    if vectors.shape[-1] <= rank:
        return 0.0
    singular = np.linalg.svd(vectors.swapaxes(0, 1), compute_uv=False)
    return float(singular[:, rank].max()) / size


def drawn_constants(subject: Subject) -> Finding:
    """Compare gradients of drawn records at a few points with the constants."""
    if reason := not_projected(subject):
        return None, reason
    if subject.problem.data_dependent_constants:
        return None, "constants are computed from the data"
    if subject.problem.constants.status == "nominal":
        return None, "constants are nominal"
    for name, declared, found in _compared(subject):
        if found > declared * (1.0 + CONSTANT_ROUNDING):
            return False, f"{name} = {declared:.4g}, and a drawn record has {found:.4g}"
    for name, declared, found in _curved(subject):
        if found < declared * (1.0 - CONSTANT_ROUNDING):
            return False, f"{name} = {declared:.4g}, and between two points it is {found:.4g}"
    return True, "their gradients are within them at the points tried"


def _compared(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Name of a constant, its value, and the largest that some records have: `Constants` says of which gradients."""
    c, traits, points = subject.problem.constants, subject.problem.traits, points_of(subject)
    gradients, q = record_gradients(subject, max(COMPARED, NUMBERS // points.size)), dual_exponent(c.norm)
    if Trait.LIPSCHITZ in traits:
        yield "lipschitz", c.lipschitz, float(lp_norm(gradients, q).max())
    largest = gradients[:, np.argsort(np.linalg.norm(gradients, axis=-1).max(axis=0))[-COMPARED:]]
    apart = largest[:, :, None] - largest[:, None, :]
    if c.gradient_range:
        yield "gradient_range", c.gradient_range, float(np.linalg.norm(apart, axis=-1).max())
    if c.loss_range and Trait.LIPSCHITZ in traits:
        yield "loss_range", c.loss_range, float(lp_norm(apart, q).max())
    if Trait.SMOOTH in traits:
        moved = lp_norm(gradients[:, None] - gradients[None, :], q).max(axis=(2, 3))
        far = lp_norm(points[:, None] - points[None, :], c.norm)[..., 0]
        distinct = far > FAR * far.max()
        if distinct.any():
            yield "smoothness", c.smoothness, float((moved[distinct] / far[distinct]).max())


def _curved(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Name of a constant, its value, and the least growth between two points of the gradients that it speaks of."""
    problem, c, domain = subject.problem, subject.problem.constants, subject.problem.feasible_set
    strong, gauged = Trait.STRONGLY_CONVEX in problem.traits, c.gauge_convexity and domain is not None
    if not strong and not gauged:
        return
    seen = zip(points_of(subject), record_gradients(subject, subject.data.n), strict=True)
    grown = [(x - y, (at_x - at_y) @ (x - y)) for (x, at_x), (y, at_y) in combinations(seen, 2)]
    far = FAR**2 * max(float(apart @ apart) for apart, _ in grown)
    grown = [(apart, each) for apart, each in grown if apart @ apart > far]
    if strong:
        least = min((float(each.mean() / (apart @ apart)) for apart, each in grown), default=np.inf)
        yield "strong_convexity", c.strong_convexity, least + c.regularisation
    if gauged and domain is not None:
        gauges = [float(to_numpy(domain.norm(apart))[..., 0]) / domain.radius for apart, _ in grown]
        found = (float(each.min()) / gauge**2 for gauge, (_, each) in zip(gauges, grown, strict=True))
        yield "gauge_convexity", c.gauge_convexity, min(found, default=np.inf)


def attained_epsilon(subject: Subject) -> Finding:
    """Compute a pair of records, its gradients and what it changes; a draw computes its pair itself."""
    charge, plan, constants = subject.charge, subject.plan, subject.problem.constants
    said, opposed = f"epsilon = {charge.epsilon:.4g} is called exact, but ", "by two opposed records"
    if charge.kind != "exact":
        return None, f"its epsilon is called {charge.kind}"
    for draw in plan.queries:
        if isinstance(draw, DrawQuery):
            found = draw.attained(subject.scales[draw.name], subject.delta)
            exact = found is not None and found.kind == "exact"
            near = found is not None and abs(found.epsilon / charge.epsilon - 1.0) <= ATTAINED_TOLERANCE
            return (True, opposed) if exact and near else (False, f"{said}no pair of laws is known to attain it")
    if not rests_on_sensitivities(plan, charge.epsilon):
        return None, "no pair is asked for"
    pair, query, most = attaining_pair(subject.problem, plan, subject.data.n), plan.queries[0], 1.0 + ATTAINED_TOLERANCE
    if pair is None:
        return False, f"{said}no two records of {subject.problem.name} are known to attain what is declared"
    gradients = _gradients(subject, pair)
    size = query.records.size if isinstance(query.records, Disjoint) else subject.data.n
    apart = np.linalg.norm(gradients[0] - gradients[1], ord=query.norm, axis=-1) / (query.sensitivity * size)
    steep = float(lp_norm(gradients, dual_exponent(constants.norm)).max()) / constants.lipschitz
    if constants.status != "nominal" and steep > most:
        said += f"a gradient of the two records is {steep:.3g} times the Lipschitz constant: they are not admissible"
    elif apart.min() < 1.0 - ATTAINED_TOLERANCE:
        said += f"the gradients of the two records differ by as little as {apart.min():.3g} of what is declared"
    elif apart.max() > most:
        said += f"the gradients of the two records differ by {apart.max():.3g} times what is declared"
    elif not subject.no_neighbours and abs((ratio := _least_ratio(subject, pair)) - 1.0) > ATTAINED_TOLERANCE:
        said += f"the two records change a release by {ratio:.3g} of what is declared"
    else:
        return True, opposed
    return False, said


def _gradients(subject: Subject, pair: Data) -> np.ndarray:
    """Compute the gradients of two records at some points, ``(2, points, d)``."""
    points = np.concatenate([points_of(subject)] * 2)
    rows = (
        None if own is None else np.repeat(np.asarray(own), len(points) // 2, axis=0)[:, None]
        for own in (pair.features, pair.labels)
    )
    found = subject.problem.batch_gradient(points, Data(2, *rows), np.ones((len(points), 1)))
    return to_numpy(found).reshape(2, -1, points.shape[1])


def _least_ratio(subject: Subject, pair: Data) -> float:
    """Least change of a release between data sets with either record over the declared one; of blocks the largest."""
    one, other = (replaced(subject.data, 0, pair, which) for which in (0, 1))
    recorded = subject.run(Recorder, data=one)
    replayed = subject.run(partial(Replay, recorded.mechanism.transcript), data=other)
    ratios, disjoint = [], [isinstance(query.records, Disjoint) for query in subject.plan.queries]
    for query, block in zip(subject.plan.queries, disjoint, strict=True):
        values = [run.mechanism.transcript.value(query.name) for run in (recorded, replayed)]
        changes = np.linalg.norm(values[0] - values[1], ord=query.norm, axis=-1) / query.sensitivity
        ratios.append(changes.max() if block else changes.min())
    return float(max(ratios) if all(disjoint) else min(ratios))


def longest(plan_at: PlanAt, length: tuple[int, int] = LENGTH) -> tuple[Subject, int | None]:
    """Find the most records whose schedule fits, or else a schedule that is cut. Raises Refusal where neither does."""
    (records, most), reason = length, ""
    sizes = [n for n in SIZES if n <= records]
    for n, steps in [(n, None) for n in (*sizes, *HUGE)] + [(n, most // 4) for n in sizes]:
        try:
            subject = plan_at(n, steps)
        except (InputError, Refusal) as error:  # too few records, or more than there are
            reason = reason or str(error)
            continue
        plan, oracle = subject.plan, subject.problem.shares_records
        gradients = 0.0 if oracle and plan.queries else plan.gradient_evaluations
        work = sum(query.releases for query in plan.queries) + gradients / VECTOR
        if gradients <= MOST_GRADIENTS and work <= most:
            return subject, steps
        reason = f"the schedule takes {plan.gradient_evaluations:.3g} gradients at n = {n}"
    raise Refusal("a long run", reason)


@dataclass(frozen=True)
class Ends:
    """Start and end of a long run: mean risks up to a constant, and whether they rise by more than next to nothing.

    Where the minimum is known: the ``gap`` to it at the start, what is ``left`` of it, and the standard ``error`` of
    that.
    """

    start: float
    end: float
    rises: bool
    gap: float = math.nan
    left: float = math.nan
    error: float = 0.0


def ends(subject: Subject) -> Ends:
    objective, run = subject.objective(replicates=LONG_REPLICATES), subject.run(replicates=LONG_REPLICATES)
    points, c = (objective.start, run.output), objective.constants
    try:
        start, end = (float(np.mean(to_numpy(subject.problem.risk(x, objective.data)))) for x in points)
    except InputError:  # of a problem that knows its excess alone
        start, end = (float(np.mean(objective.excess_risk(x))) for x in points)
    moved = float(np.linalg.norm(run.output - to_numpy(objective.start), ord=c.norm, axis=-1).mean())
    found = Ends(start, end, end - start > FLAT * c.lipschitz * moved)
    try:
        gap, finals = float(np.mean(objective.excess_risk(objective.start))), objective.excess_risk(run.output)
    except InputError:
        return found
    if gap <= 0.0:
        return found
    error = float(np.std(finals, ddof=1)) / math.sqrt(LONG_REPLICATES)
    return replace(found, gap=gap, left=float(np.mean(finals)) / gap, error=error / gap)


def long_run(plan_at: PlanAt, length: tuple[int, int]) -> Finding:
    """Compare the end of a long run with its start, and where too much of the gap is left with a shorter run."""
    try:
        subject, steps = longest(plan_at, length)
    except Refusal as refusal:
        return None, str(refusal)
    found, where = ends(subject), f"at n = {subject.data.n}"
    if not found.rises:
        objective = subject.objective(replicates=LONG_REPLICATES)
        gradient, c = to_numpy(objective.exact_gradient(objective.start)), objective.constants
        if np.linalg.norm(gradient, ord=dual_exponent(c.norm), axis=-1).max() <= FLAT * c.lipschitz:
            return None, "the start is next to a minimiser"  # then no run need end below it
    if not found.end < found.start or not found.left > LEFT:
        return found.end < found.start, f"risk {found.end:.4g} from a start of {found.start:.4g} {where}"
    said = f"{found.left:.2g} of the gap to the minimum is left {where}"
    try:
        before = ends(plan_at(subject.data.n // 4, steps and max(1, steps // 4)))
    except (InputError, Refusal):  # no schedule for so few
        return None, f"{said}: too short a run"
    beyond = found.left - RISING * before.left > ERRORS * math.hypot(found.error, RISING * before.error)
    if beyond and 1.0 / RISING < found.gap / before.gap < RISING:
        return False, f"{said}, and {before.left:.2g} at a quarter of it: it goes elsewhere"
    return None, f"{said}: too short a run"
