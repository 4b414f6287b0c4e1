"""Audit an algorithm: a lower confidence bound on its epsilon from runs on two neighbouring data sets.

A claim is refuted when the bound exceeds it. The reverse proves nothing: an audit sees the pairs, events and statistics
that it tries, and its power ends where the runs do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from dpsco_bench.audit.bounds import LowerBound, gdp_lower_bound, lower_bound
from dpsco_bench.audit.canaries import CALIBRATIONS, RECORDS, audit_cell_of, check_private, work_of
from dpsco_bench.audit.canaries import MOST_WORK as SHORT_WORK
from dpsco_bench.audit.likelihood import supports
from dpsco_bench.audit.neighbours import Neighbours, candidate_pairs
from dpsco_bench.audit.power import (
    Events,
    attainable_bound,
    best_threshold,
    both_directions,
    expected_bound,
    predicted_power,
)
from dpsco_bench.audit.scorers import STATISTICS, MechanismFactory, Runs, Scorer, candidate_scorers, run_pairs
from dpsco_bench.audit.transcript import NeighbourRun
from dpsco_bench.errors import DpscoError, InputError, Refusal
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import check_run, make_cell
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.ledger import OUTPUT, ROUNDING, SEQUENCE
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan

FEWEST_RUNS, MOST_ASKED = 100, 100_000_000
"""Runs on each data set that may be asked for: scores of more would not fit in a memory."""
PILOT_PART, PILOT_FEWEST, RELEARN_FEWEST = 0.2, 400, 2000
"""Of the runs, for all pairs together, and twice that for the chosen one; fewest of one pair, and of the chosen one."""
PILOT_MOST = {"transcript": 4000, "output": 20_000}
"""Most runs of a pilot: more where probabilities are counted than where densities tell them."""
STEP = 0.05
"""Of promised bounds on epsilon that count as equal."""
RELEARNED, WEAKENED = 1000, 1001
"""Streams of the runs on which scorers of the chosen pair are learned, and of those with less noise."""
MOST_RUNS, FEWEST_DEFAULT_RUNS, DEFAULT_WORK = 100_000, 5_000, 2e8
MOST_WORK = 1440 * DEFAULT_WORK
"""Of all runs together: about a day."""
MOST_NUMBERS = 1 << 28
"""Numbers that the transcript of one run may have: more do not fit in a memory."""
FAULT = 0.25
"""Share of the noise that is left where an audit's power is predicted for noise that is proven."""
INSTANCES: dict[str, tuple[float, ...]] = {"regularisation": (1.0, 0.1, 1e-2, 1e-4), "start": (1.0,), "steps": (6, 14)}
"""What an audit of outputs tries of a canary's ridge and start, and of a method's steps, beside the values in force."""
OWN_NUMBERS = "Its releases do not explain its outputs: it has random numbers of its own, which `dpsco check` refuses."

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AuditResult:
    """Outcome of an audit; `to_json` has all but the bound, and what an accountant says of the same runs.

    Attributes
    ----------
    epsilon_lower : float, with the given confidence, no larger than the true epsilon at `delta`
    runs : int, runs per data set, without the pilot
    neighbours, statistic : str, the pair and the statistic, both chosen by a pilot where several were possible
    power : float
        Chance, predicted by the pilot before the runs, that a claim is refuted: of this noise where nothing proves it,
        else of a quarter of it.
    against : str, which of the two
    promised : float, the lower bound that the pilot predicted for these runs; 0 for none
    attainable : float
        The one that so many runs would show of normal noise that attains the accountant's epsilon: that it is small
        says that the runs are few, and that far less is promised, that the pair or the accountant is not tight. NaN
        where the accountant has none.
    of : str, what the runs are audited of: their ``output``, or the ``sequence`` of all answers
    mu_lower, mu_charged : float
        With the same confidence, no larger than the Gaussian-DP parameter; and the one that is charged, NaN where the
        accountant has none.
    epsilon_real, epsilon_real_kind : float, str, the accountant's value of what is audited, for comparison
    remarks : tuple of str
        A line where outputs are no function of the releases.
    """

    algorithm: str
    calibration: str
    epsilon_claimed: float
    epsilon_lower: float
    confidence: float
    runs: int
    neighbours: str
    statistic: str
    verdict: str
    power: float
    against: str
    promised: float
    attainable: float
    delta: float
    of: str
    mu_lower: float
    mu_charged: float
    epsilon_real: float
    epsilon_real_kind: str
    bound: LowerBound
    remarks: tuple[str, ...] = ()

    def to_json(self) -> Plain:
        keys = "algorithm calibration epsilon_claimed epsilon_lower confidence runs neighbours statistic verdict"
        keys += " power against of mu_lower mu_charged epsilon_real epsilon_real_kind"
        return {key: getattr(self, key) for key in keys.split()} | {"remarks": list(self.remarks)}


@dataclass(frozen=True)
class _Choice:
    """A pair and a scorer, what they promised in the pilot, and the pilot's scores of runs that chose neither."""

    pair: Neighbours
    setting: NeighbourRun
    scorer: Scorer
    promise: float
    scores: tuple[np.ndarray, np.ndarray]

    @property
    def events(self) -> tuple[Events, Events]:
        """In both directions."""
        return both_directions(self.scores, _is_density_ratio(self.scorer, self.pair, self.setting))


def make_audit_cell(
    algorithm: str, problem: str | None = None, keys: Plain | None = None, calibration: str = "accounted"
) -> Cell:
    """The cell of an audit: on a problem as `execution.request.make_cell`, else on the first fitting canary.

    With 200 records unless ``n`` is given; fewer on a canary where runs would be long.
    """
    check_private(algorithm)
    if problem is None:
        return audit_cell_of(algorithm, calibration, keys or {})
    return make_cell(algorithm, problem, {"n": RECORDS[0], **(keys or {})})


def audit_cell(
    cell: Cell,
    calibration: str = "accounted",
    *,
    runs: int | None = None,
    confidence: float = 0.95,
    statistic: str | None = None,
    seed: int = 2017,
    mechanism: MechanismFactory = Mechanism,
    progress: Progress = lambda done, all: None,
    searched: Iterable[str] = (),
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
        Of an audit of outputs: what may be changed of the cell, by pilots, so that its output tells most.
    """
    check_settings(calibration, runs, confidence, seed)
    check_length(cell, calibration, runs)
    calibrated = calibrate_cell(cell, calibration, seed)
    if searched and statistic == "output":
        asked = default_runs(calibrated.plan_for(cell)) if runs is None else runs
        cell, calibrated = _telling(
            cell, calibrated, frozenset(searched), asked, (cell.delta, confidence), seed, mechanism
        )
    return audit_calibrated(
        cell,
        calibrated,
        runs=runs,
        confidence=confidence,
        statistic=statistic,
        seed=seed,
        mechanism=mechanism,
        progress=progress,
    )


def audit_calibrated(
    cell: Cell,
    calibrated: CalibratedCell,
    *,
    runs: int | None,
    confidence: float,
    statistic: str | None = None,
    seed: int,
    mechanism: MechanismFactory = Mechanism,
    progress: Progress = lambda done, all: None,
) -> AuditResult:
    """Audit a cell whose noise is fixed: see `audit_cell`."""
    plan = calibrated.plan_for(cell)
    if constants_status(cell, plan, calibrated.constants.status) != "global" and not plan.unprotected:
        raise Refusal(
            f"audit on {cell.problem}", "its constants are nominal, so that no noise claims to be private there"
        )
    statistic = chosen_statistic(statistic, supports(plan), cell)
    runs = default_runs(plan) if runs is None else int(runs)
    settings = [
        (pair, NeighbourRun(pair.cell, plan, calibrated.scales, (pair.data, pair.other), pair.record))
        for pair in candidate_pairs(cell, seed, plan, calibrated.scales)
    ]
    target = cell.delta, float(confidence)
    calibrated = _as_seen(calibrated, statistic, float(cell.epsilon))
    factor = FAULT if calibrated.privacy_status == "proven" else 1.0
    choice = _pilot(settings, factor, statistic, runs, target, seed, mechanism)
    power, against = _power(choice, calibrated, statistic, runs, cell, target, seed, mechanism)
    scores, strays = zip(
        *(_scores(choice, statistic, side, runs, seed, mechanism, progress) for side in (0, 1)), strict=True
    )
    there, back = (best_threshold(found, runs, float(cell.epsilon), *target) for found in choice.events)
    bound = lower_bound(scores[0], scores[1], *target, thresholds=(there, -back))
    return AuditResult(
        algorithm=cell.algorithm_entry.id,
        calibration=calibrated.calibration,
        epsilon_claimed=float(cell.epsilon),
        epsilon_lower=bound.epsilon,
        confidence=float(confidence),
        runs=runs,
        neighbours=choice.pair.name,
        statistic=choice.scorer.label,
        verdict="refuted" if bound.epsilon > cell.epsilon else "not refuted",
        power=power,
        against=against,
        promised=max(0.0, choice.promise),
        attainable=attainable_bound(runs, calibrated.epsilon_real, *target),
        delta=float(cell.delta),
        of=OUTPUT if statistic == "output" else calibrated.epsilon_of,
        mu_lower=gdp_lower_bound(scores[0], scores[1], float(confidence)),
        mu_charged=_charged_mu(calibrated, float(cell.delta)),
        epsilon_real=calibrated.epsilon_real,
        epsilon_real_kind=calibrated.epsilon_real_kind,
        bound=bound,
        remarks=(OWN_NUMBERS,) * any(strays),
    )


def _as_seen(calibrated: CalibratedCell, statistic: str, claim: float) -> CalibratedCell:
    """A cell as whoever sees all answers has it: charged by its sequence, where its output is charged apart."""
    if statistic == "output" or calibrated.epsilon_of != OUTPUT or math.isnan(calibrated.epsilon_sequence):
        return calibrated
    kept = calibrated.epsilon_sequence <= claim * (1.0 + ROUNDING)
    return replace(
        calibrated,
        epsilon_real=calibrated.epsilon_sequence,
        epsilon_real_kind=calibrated.epsilon_sequence_kind,
        epsilon_of=SEQUENCE,
        privacy_status=calibrated.privacy_status if kept else "unproven",
    )


def _charged_mu(calibrated: CalibratedCell, delta: float) -> float:
    """The Gaussian-DP parameter behind an epsilon of an accountant that has one; NaN of others."""
    known = "Gaussian-DP" in calibrated.accountant and calibrated.epsilon_real_kind in ("upper", "exact")
    return gdp_mu(calibrated.epsilon_real, delta) if known and 0.0 < calibrated.epsilon_real < math.inf else math.nan


def _telling(
    cell: Cell,
    calibrated: CalibratedCell,
    searched: frozenset[str],
    runs: int,
    target: tuple[float, float],
    seed: int,
    mechanism: MechanismFactory,
) -> tuple[Cell, CalibratedCell]:
    """The cell whose outputs promise most in a pilot, among those with other ridges, starts and numbers of steps."""
    known = {
        "steps": cell.algorithm_entry.options,
        **dict.fromkeys(("regularisation", "start"), cell.problem_entry.options),
    }
    tried = {
        key: (None, *values) if key in searched and key in known[key] else (None,) for key, values in INSTANCES.items()
    }
    best, found = -math.inf, (cell, calibrated)
    for values in product(*tried.values()):
        given = {key: value for key, value in zip(tried, values, strict=True) if value is not None}
        options = {key: value for key, value in given.items() if key == "steps"}
        ours = {key: value for key, value in given.items() if key != "steps"}
        try:
            own = replace(cell, options={**cell.options, **options}, problem_options={**cell.problem_options, **ours})
            if work_of(own.plan(calibrated.calibration, seed, twice=False)[1]) > SHORT_WORK:
                continue
            fixed = calibrate_cell(own, calibrated.calibration, seed)
        except DpscoError:
            continue
        pairs = candidate_pairs(own, seed, fixed.plan_for(own), fixed.scales)
        settings = [
            (p, NeighbourRun(p.cell, fixed.plan_for(own), fixed.scales, (p.data, p.other), p.record)) for p in pairs
        ]
        choices = _pilot_choices(list(enumerate(settings, 1)), PILOT_FEWEST, runs, "output", target, seed, mechanism)
        promise = max(choice.promise for choice in choices)
        if promise > best + STEP:
            best, found = promise, (own, fixed)
    return found


def check_settings(calibration: str, runs: int | None, confidence: float, seed: int) -> None:
    if calibration not in CALIBRATIONS:
        raise InputError("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    if runs is not None and (isinstance(runs, bool) or not isinstance(runs, int) or runs < FEWEST_RUNS):
        raise InputError("runs", runs, f"an integer >= {FEWEST_RUNS}")
    if runs is not None and runs > MOST_ASKED:
        raise InputError("runs", runs, f"an integer <= {MOST_ASKED}")
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "in (0, 1)")
    check_run(calibration, 1, seed)


def check_length(cell: Cell, calibration: str, runs: int | None) -> None:
    """Refuse runs that would not end within a day or so, before noise is calibrated for them."""
    plan = cell.plan(calibration, 0, twice=False)[1]
    numbers = sum(query.releases for query in plan.queries) * cell.problem_entry.dimension
    if numbers > MOST_NUMBERS:
        what = f"a run releases {numbers:.3g} numbers, and at most {MOST_NUMBERS:.3g} are kept: take a shorter schedule"
        raise Refusal(f"audit of {cell.algorithm}", what)
    asked = default_runs(plan) if runs is None else runs
    days = asked * work_of(plan) / MOST_WORK
    if days > 1.0:
        what = f"{asked} runs on each data set would take about {days:.2g} days: take fewer, or a shorter schedule"
        raise Refusal(f"audit of {cell.algorithm}", what)


def chosen_statistic(asked: str | None, supported: bool, cell: Cell) -> str:
    if asked is None:
        return "transcript" if supported else "output"
    if asked not in STATISTICS:
        raise InputError("statistic", asked, "one of " + ", ".join(STATISTICS))
    if asked == "transcript" and not supported:
        raise Refusal(f"statistic transcript for {cell.algorithm}", "its releases have no likelihood here; use output")
    return asked


def default_runs(plan: Plan) -> int:
    return int(min(max(DEFAULT_WORK / work_of(plan), FEWEST_DEFAULT_RUNS), MOST_RUNS))


def _pilot(
    settings: list[tuple[Neighbours, NeighbourRun]],
    factor: float,
    statistic: str,
    runs: int,
    target: tuple[float, float],
    seed: int,
    mechanism: MechanismFactory,
) -> _Choice:
    """Choose the pair that promises most, then on more runs the scorer.

    Scorers are learned on one half of a pilot and judged on the other. The pair is chosen at a ``factor`` of the noise:
    with noise that is proven, pairs differ in what they would show of a fault.
    """
    how = statistic, target, seed, mechanism
    numbered = [(k, (pair, _weaker(setting, factor))) for k, (pair, setting) in enumerate(settings, start=1)]
    each = _pilot_size(runs, PILOT_PART / len(settings), PILOT_FEWEST, statistic)
    best = max(_pilot_choices(numbered, each, runs, *how), key=_promise)
    again = [(RELEARNED, (best.pair, next(own for pair, own in settings if pair is best.pair)))]
    return max(
        _pilot_choices(again, _pilot_size(runs, 2 * PILOT_PART, RELEARN_FEWEST, statistic), runs, *how), key=_promise
    )


def _promise(choice: _Choice) -> int:
    """What a choice promises, in steps: of nearly equal ones the first is taken, which is the plainest."""
    return max(0, round(choice.promise / STEP))


def _weaker(setting: NeighbourRun, factor: float) -> NeighbourRun:
    return replace(setting, scales={name: factor * scale for name, scale in setting.scales.items()})


def _pilot_size(runs: int, part: float, fewest: int, statistic: str) -> int:
    return int(min(max(part * runs, min(fewest, runs)), PILOT_MOST[statistic]))


def _pilot_choices(
    settings: list[tuple[int, tuple[Neighbours, NeighbourRun]]],
    pilot: int,
    runs: int,
    statistic: str,
    target: tuple[float, float],
    seed: int,
    mechanism: MechanismFactory,
) -> Iterator[_Choice]:
    """Scorers of each pair, learned on ``pilot`` runs of a stream of their own, with what they promise of ``runs``."""
    for stream, (pair, setting) in settings:
        for scorer, scores in _learned(setting, statistic, stream, pilot, seed, mechanism):
            choice = _Choice(pair, setting, scorer, 0.0, scores)
            yield replace(choice, promise=max(expected_bound(found, runs, *target) for found in choice.events))


def _is_density_ratio(scorer: Scorer, pair: Neighbours, setting: NeighbourRun) -> bool:
    """Whether scores are log density ratios: hidden batches hide the others' contributions, if they have any."""
    return scorer.label == "transcript" and (pair.alone or not setting.hides_batches)


def _learned(
    setting: NeighbourRun, statistic: str, stream: int, runs: int, seed: int, mechanism: MechanismFactory
) -> Iterator[tuple[Scorer, tuple[np.ndarray, np.ndarray]]]:
    """Scorers learned on one half of some runs, each with the scores of the other half; of both data sets."""
    sides = [_pilot_runs(setting, statistic, side, stream, runs, seed, mechanism) for side in (0, 1)]
    half = runs // 2
    (f, o, s), (g, p, t) = sides
    for scorer in candidate_scorers(statistic, ((f[:half], o[:half], s[:half]), (g[:half], p[:half], t[:half]))):
        yield scorer, (scorer(f[half:], o[half:], s[half:]), scorer(g[half:], p[half:], t[half:]))


def _pilot_runs(
    setting: NeighbourRun, statistic: str, side: int, stream: int, runs: int, seed: int, mechanism: MechanismFactory
) -> Runs:
    """Features and outputs of some runs, and which of these no replay explains."""
    parts = zip(*run_pairs(setting, statistic, side, stream, runs, seed, mechanism), strict=True)
    features, outputs, strays = map(np.concatenate, parts)
    return features, outputs, strays


def _power(
    choice: _Choice,
    calibrated: CalibratedCell,
    statistic: str,
    runs: int,
    cell: Cell,
    target: tuple[float, float],
    seed: int,
    mechanism: MechanismFactory,
) -> tuple[float, str]:
    """Predicted power, and against what: see `AuditResult`."""
    against = "this noise"
    if calibrated.privacy_status == "proven":
        weaker = _weaker(choice.setting, FAULT)
        # a stream of its own, which neither the choice nor the test has seen
        learned = list(_learned(weaker, statistic, WEAKENED, 2 * len(choice.scores[0]), seed, mechanism))
        scorer, scores = next((own for own in learned if own[0].label == choice.scorer.label), learned[0])
        choice, against = replace(choice, scorer=scorer, scores=scores), f"{FAULT:g} of this noise"
    there, back = (predicted_power(found, runs, float(cell.epsilon), *target, seed=seed) for found in choice.events)
    return 1.0 - (1.0 - there) * (1.0 - back), against  # events at either end: their counts are nearly independent


def _scores(
    choice: _Choice,
    statistic: str,
    side: int,
    runs: int,
    seed: int,
    mechanism: MechanismFactory,
    progress: Progress,
) -> tuple[np.ndarray, int]:
    """Score the runs that count, from a stream that the pilot did not see; with how many outputs no replay explains."""
    scores, done, unexplained = np.empty(runs), 0, 0
    for features, outputs, strays in run_pairs(choice.setting, statistic, side, 0, runs, seed, mechanism):
        scores[done : done + len(features)] = choice.scorer(features, outputs, strays)
        done += len(features)
        unexplained += int(strays.sum())
        progress(side * runs + done, 2 * runs)
    return scores, unexplained
