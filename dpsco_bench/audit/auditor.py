"""Audit an algorithm: a lower confidence bound on its epsilon from runs on two neighbouring data sets.

A claim is refuted when the bound exceeds it. The reverse proves nothing: an audit sees the pairs, events and statistics
that it tries, and its power ends where the runs do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.audit.bounds import LowerBound, epsilon_lower_bound, lower_bound
from dpsco_bench.audit.neighbours import Neighbours, candidate_pairs
from dpsco_bench.audit.scores import STATISTICS, MechanismFactory, candidate_weights, run_features
from dpsco_bench.audit.transcript import Setting, supports
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.library import check_run
from dpsco_bench.execution.request import make_cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Plan

CALIBRATIONS = ("paper", "accounted")
FEWEST_RUNS = 100
PILOT_PART, PILOT_FEWEST, PILOT_MOST = 0.1, 200, 4000
PILOT_CONFIDENCE = 0.5
DEFAULT_RECORDS = 200
MOST_RUNS, FEWEST_DEFAULT_RUNS, DEFAULT_WORK = 100_000, 10_000, 2e8
RELEASE_COST = 20.0
"""Work of one release in units of one gradient evaluation."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AuditResult:
    """Outcome of an audit; the first nine attributes are its JSON.

    Attributes
    ----------
    epsilon_lower : float, with the given confidence, no larger than the true epsilon at `delta`
    runs : int, runs per data set, without the pilot
    neighbours, statistic : str, the pair and the statistic, both chosen by a pilot where several were possible
    epsilon_real, epsilon_real_kind : float, str, the accountant's value, for comparison
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
    delta: float
    epsilon_real: float
    epsilon_real_kind: str
    bound: LowerBound

    def to_json(self) -> dict[str, Any]:
        keys = "algorithm calibration epsilon_claimed epsilon_lower confidence runs neighbours statistic verdict"
        return {key: getattr(self, key) for key in keys.split()}


@dataclass(frozen=True)
class _Choice:
    """A pair and a statistic, and what they promised in the pilot."""

    pair: Neighbours
    setting: Setting
    label: str
    weights: np.ndarray
    promise: float


def make_audit_cell(algorithm: str, problem: str, keys: Mapping[str, Any]) -> Cell:
    """The cell of an audit: as `execution.request.make_cell`, with 200 records unless ``n`` is given."""
    return make_cell(algorithm, problem, {"n": DEFAULT_RECORDS, **keys})


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
) -> AuditResult:
    """Bound the epsilon of a cell's algorithm from below.

    Raises InputError, Refusal for a value outside its range, or a combination that cannot run.

    Parameters
    ----------
    runs : int or None
        Runs on each of the two data sets, >= 100; a pilot of up to a tenth more chooses pair and statistic. None: from
        10,000 to 100,000, as the plan's length allows within a minute or so.
    confidence : float, in (0, 1)
    statistic : str or None
        ``transcript`` (an adversary who sees everything released), ``output`` (the final output only), or None:
        the transcript where its likelihood is known, else the output.
    mechanism : callable, source of noise under audit, called like `privacy.mechanism.Mechanism`
    """
    _check(calibration, runs, confidence, seed)
    calibrated = calibrate_cell(cell, calibration, seed)
    plan = calibrated.plan_for(cell)
    if constants_status(cell, plan, calibrated.constants.status) != "global":
        raise Refusal(
            f"audit on {cell.problem}", "its constants are nominal, so that no noise claims to be private there"
        )
    statistic = _statistic(statistic, supports(plan), cell)
    runs = _default_runs(plan) if runs is None else int(runs)
    settings = [
        (pair, Setting(pair.cell, plan, calibrated.scales, (pair.data, pair.other), pair.record))
        for pair in candidate_pairs(cell, seed)
    ]
    pilot_runs = int(min(max(PILOT_PART * runs, PILOT_FEWEST), PILOT_MOST))
    choice = _pilot(settings, statistic, pilot_runs, seed, mechanism)
    scores = [_scores(choice, statistic, side, runs, seed, mechanism, progress) for side in (0, 1)]
    bound = lower_bound(scores[0], scores[1], cell.delta, confidence)
    return AuditResult(
        algorithm=cell.algorithm_entry.id,
        calibration=calibration,
        epsilon_claimed=float(cell.epsilon),
        epsilon_lower=bound.epsilon,
        confidence=float(confidence),
        runs=runs,
        neighbours=choice.pair.name,
        statistic=choice.label,
        verdict="refuted" if bound.epsilon > cell.epsilon else "not refuted",
        delta=float(cell.delta),
        epsilon_real=calibrated.epsilon_real,
        epsilon_real_kind=calibrated.epsilon_real_kind,
        bound=bound,
    )


def _check(calibration: str, runs: int | None, confidence: float, seed: int) -> None:
    if calibration not in CALIBRATIONS:
        raise InputError("calibration", calibration, "one of " + ", ".join(CALIBRATIONS))
    if runs is not None and (isinstance(runs, bool) or not isinstance(runs, int) or runs < FEWEST_RUNS):
        raise InputError("runs", runs, f"an integer >= {FEWEST_RUNS}")
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "in (0, 1)")
    check_run(calibration, 1, seed)


def _statistic(asked: str | None, supported: bool, cell: Cell) -> str:
    if asked is None:
        return "transcript" if supported else "output"
    if asked not in STATISTICS:
        raise InputError("statistic", asked, "one of " + ", ".join(STATISTICS))
    if asked == "transcript" and not supported:
        raise Refusal(f"statistic transcript for {cell.algorithm}", "its releases have no likelihood here; use output")
    return asked


def _default_runs(plan: Plan) -> int:
    work = plan.gradient_evaluations + RELEASE_COST * sum(getattr(q, "releases", 1) for q in plan.queries)
    return int(min(max(DEFAULT_WORK / work, FEWEST_DEFAULT_RUNS), MOST_RUNS))


def _pilot(
    settings: list[tuple[Neighbours, Setting]], statistic: str, runs: int, seed: int, mechanism: MechanismFactory
) -> _Choice:
    """Choose pair and weights that promise most: weights are learned on one half of the pilot, judged on the other."""
    return max(_pilot_choices(settings, statistic, runs, seed, mechanism), key=lambda choice: choice.promise)


def _pilot_choices(
    settings: list[tuple[Neighbours, Setting]], statistic: str, runs: int, seed: int, mechanism: MechanismFactory
) -> Iterator[_Choice]:
    for stream, (pair, setting) in enumerate(settings, start=1):
        features, others = (
            np.concatenate(list(run_features(setting, statistic, side, stream, runs, seed, mechanism)))
            for side in (0, 1)
        )
        half = runs // 2
        candidates = candidate_weights(statistic, features[:half], others[:half])
        for learned, weights in enumerate(candidates):
            label = statistic if not learned else f"{statistic}, weighted"
            found = [_weigh(values[half:], weights) for values in (features, others)]
            promise = epsilon_lower_bound(found[0], found[1], setting.cell.delta, PILOT_CONFIDENCE)
            yield _Choice(pair, setting, label, weights, promise)


def _scores(
    choice: _Choice,
    statistic: str,
    side: int,
    runs: int,
    seed: int,
    mechanism: MechanismFactory,
    progress: Progress,
) -> np.ndarray:
    """Scores of the runs that count, from a stream that the pilot did not see."""
    scores, done = np.empty(runs), 0
    for features in run_features(choice.setting, statistic, side, 0, runs, seed, mechanism):
        scores[done : done + len(features)] = _weigh(features, choice.weights)
        done += len(features)
        progress(side * runs + done, 2 * runs)
    return scores


def _weigh(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sums; infinite features decide alone, and by their signs."""
    infinite = np.isinf(features)
    finite = np.where(infinite, 0.0, features) @ weights
    decided = np.sign(np.where(infinite, np.sign(features), 0.0).sum(axis=1))
    return np.where(decided == 0, finite, np.where(decided > 0, np.inf, -np.inf))
