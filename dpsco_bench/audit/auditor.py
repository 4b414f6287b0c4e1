"""Audit an algorithm: a lower confidence bound on its epsilon from runs on two neighbouring data sets.

A claim is refuted when the bound exceeds it. The reverse proves nothing: an audit sees the pairs, events and statistics
that it tries, and its power ends where the runs do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpsco_bench.analysis.rounding import outward
from dpsco_bench.audit import bounds
from dpsco_bench.audit.canaries import CALIBRATIONS, candidate_pairs, work_of
from dpsco_bench.audit.canaries import MOST_WORK as SHORT_WORK
from dpsco_bench.audit.canaries import make_audit_cell as make_audit_cell
from dpsco_bench.audit.subject import Factory
from dpsco_bench.audit.transcript import BINS, NeighbourRun, Recording, hides_batches, log_ratio, supports
from dpsco_bench.errors import DpscoError, InputError, NumericalFailure, Refusal
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import CalibratedCell, Cell
from dpsco_bench.execution.job import AUDIT_OUTPUT, EVALUATIONS, Progress
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.request import check_run
from dpsco_bench.execution.results import EXTRAS, NO_LAW, Columns
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.ledger import OUTPUT, ROUNDING, SEQUENCE
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan

FEWEST_RUNS = 100
PILOT_PART, PILOT_FEWEST, RELEARN_FEWEST = 0.2, 400, 2000
"""Share of the runs for all pairs, doubled for the chosen one; fewest of a pair, and of the chosen one."""
PILOT_MOST = {"transcript": 4000, "output": 20_000}  # most runs of a pilot: more where probabilities are counted
STEP = 0.05  # difference of promised bounds on epsilon that count as equal
COUNTED, RELEARNED, WEAKENED = 0, 1000, 1001
"""Streams of runs: those that count, of the chosen pair, and with less noise; the pairs have those between."""
MOST_RUNS, FEWEST_DEFAULT_RUNS, DEFAULT_WORK = 100_000, 5_000, 2e8
MOST_WORK = 1440 * DEFAULT_WORK  # most work of all runs together: about a day
FAULT = 0.25  # share of the noise that is left where an audit's power is predicted for noise that is proven
SAYS_SOMETHING, SURE = 0.5, 0.99  # predicted power below which an audit stops after the pilot; to which it is run
LEAST_KEPT, FEWEST_COUNTED = 0.9, 1000
"""Part of the promised bound that fewer runs have to keep of noise that is not proven; and the fewest that count."""
INSTANCES: dict[str, tuple[float, ...]] = {"regularisation": (1.0, 0.1, 1e-2, 1e-4), "start": (1.0,), "steps": (6, 14)}
"""Ridges, starts and steps that an audit of outputs tries, beside the values in force."""
OWN_NUMBERS = "Its releases do not explain its outputs: it has random numbers of its own, which `dpsco check` refuses."
Array = np.ndarray
Runs = tuple[Array, Array, Array]
"""Features ``(R, K)``, outputs ``(R, d)`` and ``(R,)`` of bool: no replay of the transcript explains the output."""
Score = Callable[[Array, Array, Array], Array]
Normals = tuple[tuple[Array, Array], tuple[Array, Array]]
BLOCK_BYTES = 1 << 26  # for the transcripts of replicates that run at once: with more, steps leave the caches
RIDGE = 1e-9
STATISTICS = ("transcript", "output")
MOST_DIMENSIONS = 64  # most dimensions of outputs whose covariances are learned
ROWS, STRAY_ROWS = 10, 4
"""Outputs for each dimension from which a covariance is learned, and of those that no replay explains."""
FAMILY = 400  # most tests of a profile, two of each audit, over which the confidence is divided
FAMILY_CONFIDENCE = 0.999
CONFIDENCE = 1.0 - (1.0 - FAMILY_CONFIDENCE) / FAMILY
"""Confidence of each audit, so that with `FAMILY_CONFIDENCE` no private method is refuted (Bonferroni)."""


@dataclass(frozen=True, repr=False)
class AuditResult:
    """Outcome of an audit; `to_json` has all but the bound, and what an accountant says of the same runs.

    A small ``attainable`` bound says that the runs are few; a far smaller ``promised`` one, that the pair or the
    accountant is not tight.
    """

    algorithm: str
    calibration: str
    epsilon_claimed: float
    confidence: float
    runs: int  # per data set, without the pilot; 0 where the audit stopped after it
    neighbours: str  # the pair, chosen by a pilot where several were possible, as the statistic is
    instance: str  # ridge, start and steps, where they are given or were chosen
    statistic: str
    power: float  # chance, predicted before the runs, that a claim is refuted
    against: str  # the noise that this is for: this one where nothing proves it, else a quarter of it
    promised: float  # lower bound predicted for these runs; 0 for none
    attainable: float  # the same for normal noise that attains the accountant's epsilon; NaN where it has none
    delta: float
    of: str  # what is audited: the ``output`` of the runs, or the ``sequence`` of all answers
    mu_lower: float  # with the same confidence, no larger than the Gaussian-DP parameter
    mu_charged: float  # the one that is charged; NaN where the accountant has none
    epsilon_real: float  # the accountant's value of what is audited
    epsilon_real_kind: str
    bound: bounds.LowerBound
    remarks: tuple[str, ...] = ()  # a line where outputs are no function of the releases

    @property
    def epsilon_lower(self) -> float:
        """No larger than the true epsilon at `delta`, with the given confidence."""
        return self.bound.epsilon

    @property
    def verdict(self) -> str:
        return "refuted" if self.epsilon_lower > self.epsilon_claimed else "not refuted"

    def __repr__(self) -> str:
        found = f"{self.verdict}, epsilon >= {outward(self.epsilon_lower, 'lower', 4):.4g}"
        return f"AuditResult({self.algorithm} {self.calibration}: {found}, claimed {self.epsilon_claimed:g})"

    def to_json(self) -> Plain:
        keys = "algorithm calibration epsilon_claimed epsilon_lower confidence runs neighbours statistic verdict"
        keys += " power against of mu_lower mu_charged epsilon_real epsilon_real_kind"
        return {key: getattr(self, key) for key in keys.split()} | {"remarks": list(self.remarks)}


def audit_cell(
    cell: Cell,
    calibration: str = "accounted",
    *,
    runs: int | None = None,
    confidence: float = 0.95,
    statistic: str | None = None,
    seed: int = 2017,
    mechanism: Factory = Mechanism,
    progress: Progress = lambda done, all: None,
    searched: Collection[str] = (),
) -> AuditResult:
    """Bound the epsilon of a cell's algorithm from below.

    Raises InputError, Refusal for a value outside its range, or a combination that cannot run.

    Parameters
    ----------
    runs : int or None
        Runs on each of the two data sets, >= 100; a pilot chooses pair and statistic. None: from 5,000 to 100,000, as
        the plan's length allows within a minute or so.
    confidence : float, in (0, 1)
    statistic : str or None
        ``transcript`` (an adversary who sees everything released), ``output`` (the final output only), or None:
        the transcript where its likelihood is known, else the output.
    mechanism : callable, source of noise under audit, called like `privacy.mechanism.Mechanism`
    searched : names of `INSTANCES`
        For an audit of outputs: what pilots may change in the cell, so that its output tells most.
    """
    asked = _checked_runs(cell, calibration, runs, confidence, seed)
    calibrated = calibrate_cell(cell, calibration, seed)
    audit = Audit(cell, calibrated, asked, confidence, statistic, seed, mechanism, progress)
    audit = audit.telling(searched) if statistic == "output" and searched else audit
    return (replace(audit, runs=default_runs(audit.plan)) if runs is None else audit).result()


def _checked_runs(cell: Cell, calibration: str, runs: int | None, confidence: float, seed: int) -> int:
    """Return the number of runs; refuse those that would not end before anything is calibrated."""
    if calibration not in CALIBRATIONS:
        raise InputError("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    if runs is not None and (not isinstance(runs, int) or runs < FEWEST_RUNS):
        raise InputError("runs", runs, f"an integer >= {FEWEST_RUNS}")
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "in (0, 1)")
    check_run(calibration, 1, seed)
    plan = cell.plan(calibration, 0, twice=False)[1]
    asked = default_runs(plan) if runs is None else runs
    if (days := asked * work_of(plan) / MOST_WORK) > 1.0:
        what = f"{asked} runs on each data set would take about {days:.2g} days: take fewer, or a shorter schedule"
        raise Refusal(f"audit of {cell.algorithm}", what)
    return asked


def default_runs(plan: Plan) -> int:
    return int(min(max(DEFAULT_WORK / work_of(plan), FEWEST_DEFAULT_RUNS), MOST_RUNS))


def _instances(cell: Cell, searched: Collection[str]) -> Iterator[Cell]:
    """List a cell and those with another ridge, start or number of steps, where it takes them."""
    own, ours = cell.algorithm_entry.options, cell.problem_entry.options
    tried = {k: v for k, v in INSTANCES.items() if k in searched and k in (own if k == "steps" else ours)}
    for values in product(*((None, *several) for several in tried.values())):
        given = {key: value for key, value in zip(tried, values, strict=True) if value is not None}
        steps = {"steps": given.pop("steps")} if "steps" in given else {}
        yield replace(cell, options={**cell.options, **steps}, problem_options={**cell.problem_options, **given})


@dataclass(frozen=True)
class _Choice:
    """A pair and a score, by which the pilot judged runs ``scores`` on either side that chose neither."""

    setting: NeighbourRun
    label: str
    score: Score
    scores: tuple[Array, Array]

    @property
    def events(self) -> tuple[bounds.Events, bounds.Events]:
        """Events in both directions: hidden batches hide the others' contributions, if they have any."""
        exact = self.label == "transcript" and (self.setting.alone or not hides_batches(self.setting.plan))
        first, second = self.scores
        return bounds.events(first, second, exact), bounds.events(-second, -first, exact)


@dataclass
class Audit:
    """An audit of a cell whose noise is fixed: ``seen`` is what it judges, ``charged`` the epsilon charged for that.

    Fields are as the parameters of `audit_cell`. Raises Refusal for nominal constants, and for a transcript whose
    likelihood is not known.
    """

    cell: Cell
    calibrated: CalibratedCell
    runs: int
    confidence: float
    statistic: str | None = None
    seed: int = 2017
    mechanism: Factory = Mechanism
    progress: Progress = lambda done, all: None

    def __post_init__(self) -> None:
        self.plan, asked = self.calibrated.plan_for(self.cell), self.statistic
        status = constants_status(self.cell, self.plan, self.calibrated.constants.status)
        if status != "global" and not self.plan.unprotected:
            what = "its constants are nominal, so that no noise claims to be private there"
            raise Refusal(f"audit on {self.cell.problem}", what)
        if asked not in (None, *STATISTICS):
            raise InputError("statistic", asked, "one of " + ", ".join(STATISTICS))
        if asked == "transcript" and not supports(self.plan):
            what = "its releases have no likelihood here; use output"
            raise Refusal(f"statistic transcript for {self.cell.algorithm}", what)
        self.seen = asked or ("transcript" if supports(self.plan) else "output")
        of, whole = self.calibrated, self.seen == "transcript" and self.calibrated.epsilon_of == OUTPUT
        self.of = OUTPUT if self.seen == "output" else of.epsilon_of
        self.charged, self.kind, kept = of.epsilon_real, of.epsilon_real_kind, True
        if whole and not math.isnan(of.epsilon_sequence):  # all answers are seen, and charged apart from the output
            self.of, self.charged, self.kind = SEQUENCE, of.epsilon_sequence, of.epsilon_sequence_kind
            kept = of.epsilon_sequence <= self.cell.epsilon * (1.0 + ROUNDING)
        self.proven, self.target = of.privacy_status == "proven" and kept, (self.cell.delta, self.confidence)

    def result(self, sparing: bool = False, searched: Collection[str] = ()) -> AuditResult:
        """Make the audit; a ``sparing`` one makes no runs of little power, nor more than it needs.

        Where little power is predicted of outputs, what is ``searched`` may change, as in `audit_cell`.
        """
        choice = self.pilot()
        judged = self.weakened(choice) if self.proven else choice
        audit = self.spared(judged) if sparing else self
        power = audit.predicted(judged)
        if searched and power < SAYS_SOMETHING and (telling := self.telling(searched)).cell != self.cell:
            return telling.result(sparing)
        found = NOTHING if sparing and power < SAYS_SOMETHING else audit.tested(choice)
        return audit.told(choice, power, found)

    def pilot(self) -> _Choice:
        """Choose the pair that promises most, then on more runs the score; of nearly equal ones the first, or plainest.

        Scores are learned on one half of a pilot and judged on the other. The pair is chosen with less noise where that
        is proven: pairs differ in what they would show of a fault.
        """

        def steps(choice: _Choice) -> int:
            return max(0, round(self.promise(choice) / STEP))

        def size(part: float, fewest: int) -> int:
            return int(min(max(part * self.runs, min(fewest, self.runs)), PILOT_MOST[self.seen]))

        pairs = list(candidate_pairs(self.cell, self.seed, self.plan, self.calibrated.scales))
        runs, factor = size(PILOT_PART / len(pairs), PILOT_FEWEST), FAULT if self.proven else 1.0
        found = (self.learned(_weaker(pair, factor), k, runs) for k, pair in enumerate(pairs, start=1))
        best = int(np.argmax([max(map(steps, choices)) for choices in found]))
        return max(self.learned(pairs[best], RELEARNED, size(2 * PILOT_PART, RELEARN_FEWEST)), key=steps)

    def telling(self, searched: Collection[str]) -> Audit:
        """Choose the instance of which outputs promise most in a pilot; the cell's own among nearly equal ones."""
        best, found, calibration = -math.inf, self, self.calibrated.calibration
        for cell in _instances(self.cell, searched):
            try:
                if work_of(cell.plan(calibration, self.seed, twice=False)[1]) > SHORT_WORK:
                    continue
                own = replace(self, cell=cell, calibrated=calibrate_cell(cell, calibration, self.seed))
            except DpscoError:
                continue
            pairs = enumerate(candidate_pairs(cell, self.seed, own.plan, own.calibrated.scales), start=1)
            promise = max(self.promise(one) for k, pair in pairs for one in self.learned(pair, k, PILOT_FEWEST))
            if promise > best + STEP:
                best, found = promise, own
        return found

    def learned(self, setting: NeighbourRun, stream: int, runs: int) -> Iterator[_Choice]:
        """Learn scores on one half of some runs, and judge the other half by them, on both data sets."""
        learn, judge = [], []
        for side in (0, 1):
            blocks = run_pairs(setting, self.seen, side, stream, runs, self.seed, self.mechanism)
            rows = [np.concatenate(own) for own in zip(*blocks, strict=True)]
            learn.append([own[: runs // 2] for own in rows])
            judge.append([own[runs // 2 :] for own in rows])
        for label, score in candidate_scores(self.seen, *learn).items():
            yield _Choice(setting, label, score, (score(*judge[0]), score(*judge[1])))

    def weakened(self, choice: _Choice) -> _Choice:
        """Learn the same score with less noise, from a stream that neither the choice nor the test has seen."""
        size = 2 * len(choice.scores[0])
        learned = list(self.learned(_weaker(choice.setting, FAULT), WEAKENED, size))
        return next((own for own in learned if own.label == choice.label), learned[0])

    def predicted(self, choice: _Choice) -> float:
        """Predict the power, by events at either end: their counts are nearly independent."""
        given = self.runs, self.cell.epsilon, *self.target
        there, back = (bounds.predicted_power(found, *given, seed=self.seed) for found in choice.events)
        return 1.0 - (1.0 - there) * (1.0 - back)

    def promise(self, choice: _Choice) -> float:
        """Predict the lower bound."""
        given = self.runs, *self.target
        return max(float(bounds.expected_bounds(own.likely, own.unlikely, *given).max()) for own in choice.events)

    def spared(self, choice: _Choice) -> Audit:
        """Halve the runs while the power is at least `SURE`; where noise is not proven, the bound is a finding too."""
        audit, least = self, LEAST_KEPT * (not self.proven) * self.promise(choice)
        while (fewer := replace(audit, runs=audit.runs // 2)).runs >= FEWEST_COUNTED:
            if fewer.predicted(choice) < SURE or fewer.promise(choice) < least:
                break
            audit = fewer
        return audit

    def tested(self, choice: _Choice) -> dict[str, Any]:
        """Make the runs that count: fields of `AuditResult`."""
        scores: tuple[list[Array], list[Array]] = ([], [])
        done, strayed = 0, False
        for side in (0, 1):
            for rows in run_pairs(choice.setting, self.seen, side, COUNTED, self.runs, self.seed, self.mechanism):
                scores[side].append(choice.score(*rows))
                done, strayed = done + len(rows[-1]), strayed or bool(rows[-1].any())
                self.progress(done, 2 * self.runs)
        p, q = map(np.concatenate, scores)
        given = self.runs, self.cell.epsilon, *self.target
        there, back = (float(found.thresholds[bounds.best_event(found, *given)]) for found in choice.events)
        return {
            "runs": self.runs,
            "bound": bounds.lower_bound(p, q, *self.target, thresholds=(there, -back)),
            "mu_lower": bounds.gdp_lower_bound(p, q, self.confidence),
            "remarks": (OWN_NUMBERS,) * strayed,
        }

    def told(self, choice: _Choice, power: float, found: dict[str, Any]) -> AuditResult:
        """Add to what the runs say what was charged and tested."""
        known = "Gaussian-DP" in self.calibrated.accountant and self.kind in ("upper", "exact")
        gaussian = known and 0.0 < self.charged < math.inf
        given = {**self.cell.problem_options, **self.cell.options}
        return AuditResult(
            algorithm=self.cell.algorithm_entry.id,
            calibration=self.calibrated.calibration,
            epsilon_claimed=float(self.cell.epsilon),
            confidence=self.confidence,
            neighbours=choice.setting.name,
            instance=", ".join(f"{key} = {given[key]:g}" for key in INSTANCES if key in given),
            statistic=choice.label,
            power=power,
            against=f"{FAULT:g} of this noise" if self.proven else "this noise",
            promised=max(0.0, self.promise(choice)),
            attainable=bounds.attainable_bound(self.runs, self.charged, *self.target),
            delta=float(self.cell.delta),
            of=self.of,
            mu_charged=gdp_mu(self.charged, self.cell.delta) if gaussian else math.nan,
            epsilon_real=self.charged,
            epsilon_real_kind=self.kind,
            **found,
        )


NOTHING = {"runs": 0, "bound": bounds.LowerBound(0.0, "none", "no runs", 0.0, 1.0), "mu_lower": 0.0}
"""Fields of `AuditResult` where no run counts."""


def _weaker(setting: NeighbourRun, factor: float) -> NeighbourRun:
    return replace(setting, scales={name: factor * scale for name, scale in setting.scales.items()})


def run_pairs(
    setting: NeighbourRun, statistic: str, side: int, stream: int, runs: int, seed: int, mechanism: Factory = Mechanism
) -> Iterator[Runs]:
    """Make runs on one data set of the pair, block by block; those of different streams, and sides, are independent.

    A block holds a bounded transcript and a bounded number of margins. Nothing is recorded for the statistic
    ``output``: a compiled run stands in for a reference that has one.

    Raises NumericalFailure on non-finite outputs.
    """
    queries, dimension = setting.plan.queries, setting.cell.problem_entry.dimension
    width = 2 * dimension if any(isinstance(query, NoisyMinimumQuery) for query in queries) else dimension
    kept = 1 + 2 * (1 + hides_batches(setting.plan)) if statistic == "transcript" else 0
    values = sum(q.releases for q in queries) * (kept * width + 4) + setting.cell.n * dimension + 8 * dimension
    size = max(1, min(runs, BLOCK_BYTES // (8 * values)))
    for first in range(0, runs, size):
        count, what = min(size, runs - first), setting.cell.run_key(2 * stream + side)
        source = mechanism(setting.plan, setting.scales, what, seed, first, count)
        recorder = Recording(source) if statistic == "transcript" else None
        output = setting.execute(setting.pair[side], recorder or source, count)
        if not np.isfinite(output).all():
            raise NumericalFailure(f"non-finite iterates: audit of {setting.cell.algorithm}")
        recorded = log_ratio(setting, recorder, output) if recorder else (output, np.zeros(count, dtype=bool))
        yield recorded[0], output, recorded[1]


def candidate_scores(statistic: str, side: Sequence[Array], other: Sequence[Array]) -> dict[str, Score]:
    """List rules to choose from, by name: from features, outputs and strays of some runs to one real number each.

    They are learned on runs of either data set that are not tested. The plain transcript statistic is the log density
    ratio of the declared mechanism; the plain output statistic is the projection on the difference of means. A linear
    discriminant takes correlations into account and so finds, e.g., noise that is drawn once and used again. Beside it
    stands for outputs the ratio of two normal densities with their own covariances, and beside both the same ratio for
    outputs that no replay explains.
    """
    (features, outputs, strays), (others, other_outputs, other_strays) = side, other
    with np.errstate(invalid="ignore"):  # infinities of both signs
        difference = features.mean(axis=0) - others.mean(axis=0)
    plain = np.ones(BINS) if statistic == "transcript" else difference
    found: dict[str, Score] = {statistic: partial(_weigh, plain)}
    if np.isfinite(difference).all():
        spread = 0.5 * (np.atleast_2d(np.cov(features.T)) + np.atleast_2d(np.cov(others.T)))
        if (scale := np.trace(spread) / len(spread)) != 0:
            weights = np.linalg.solve(spread + RIDGE * scale * np.eye(len(spread)), difference)
            found[f"{statistic}, weighted"] = partial(_weigh, weights)
    if statistic == "output" and (normals := normal_sides(outputs, other_outputs)):
        found["output, density ratio"] = partial(_normal_ratio, normals)
    if normals := normal_sides(outputs[strays], other_outputs[other_strays], STRAY_ROWS):
        found[f"{statistic}, unexplained outputs"] = partial(_unexplained, plain, normals)
    return found


def normal_sides(outputs: Array, others: Array, rows: int = ROWS) -> Normals | None:
    """Means and inverse covariances of the outputs on either data set; None for too few runs, or no spread."""
    d, found = outputs.shape[1], []
    if d > MOST_DIMENSIONS or min(len(outputs), len(others)) < rows * d:
        return None
    for own in (outputs, others):
        spread = np.atleast_2d(np.cov(own.T))
        if not (scale := np.trace(spread) / d) > 0.0:
            return None
        found.append((own.mean(axis=0), np.linalg.inv(spread + RIDGE * scale * np.eye(d))))
    return found[0], found[1]


def _weigh(weights: Array, features: Array, *_: Array) -> Array:
    """Weighted sums; infinite features decide alone, and by their signs."""
    infinite = np.isinf(features)
    finite = np.where(infinite, 0.0, features) @ weights
    decided = np.sign(np.where(infinite, np.sign(features), 0.0).sum(axis=1))
    return np.where(decided == 0, finite, np.where(decided > 0, np.inf, -np.inf))


def _normal_ratio(normals: Normals, _: Array, outputs: Array, *__: Array) -> Array:
    one, other = (np.einsum("ri,ij,rj->r", outputs - m, inverse, outputs - m) for m, inverse in normals)
    return np.asarray(0.5 * (other - one))


def _unexplained(weights: Array, normals: Normals, features: Array, outputs: Array, strays: Array) -> Array:
    """Judge outputs that no replay explains by their laws: not to be led to any other one is no certainty either."""
    scores = _weigh(weights, np.where(np.isinf(features), 0.0, features))
    return np.where(strays, _normal_ratio(normals, features, outputs), scores)


def audited(job: Job, cell: Cell, calibrated: CalibratedCell) -> Columns:
    """Audit a cell; ``risk`` is the lower bound on epsilon and ``start_risk`` the claimed one."""
    statistic = "output" if job.evaluation == AUDIT_OUTPUT else None
    audit = Audit(cell, calibrated, job.replicates, CONFIDENCE, statistic, job.seed)
    result = audit.result(sparing=True, searched=INSTANCES if statistic else ())
    said = f"audit of {result.neighbours}, by {result.statistic}, against {result.against}"
    said += f", with {result.instance}" * bool(result.instance)
    extras = {
        "audit_power": result.power,
        "audit_refuted": float(result.verdict == "refuted"),
        "audit_runs": float(result.runs),  # on each data set
        "audit_promised": result.promised,
        "audit_attainable": result.attainable,
        "audit_of_output": float(result.of != SEQUENCE),
        "audit_mu": result.mu_lower,
        "audit_mu_charged": result.mu_charged,
    }
    return {
        **NO_LAW,  # the bound is of the run, not of the law of a draw
        "risk": np.array([result.epsilon_lower]),
        "start_risk": float(cell.epsilon),
        "warnings": said,
        EXTRAS: {name: np.array([value]) for name, value in extras.items()},
    }


for name in ("audit", "audit_output"):  # in quotes: by these the module is found
    EVALUATIONS.add(name, audited, __name__)
