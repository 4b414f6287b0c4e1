"""An audit by hand: first of what outputs tell beside the releases, by forced runs, then of the releases.

An audit that is a claim is the second part alone. Where forced runs show data beside the releases, the event that they
show is tested first, with half of the error; what is not refuted by it is audited with the other half.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.stats import betabinom

from dpsco_bench.audit.auditor import (
    AuditResult,
    audit_calibrated,
    check_length,
    check_settings,
    chosen_statistic,
    default_runs,
)
from dpsco_bench.audit.bounds import BOUNDS, LowerBound, clopper_pearson_lower, clopper_pearson_upper
from dpsco_bench.audit.canaries import runs_fused
from dpsco_bench.audit.forced import REPLAYS, Counts, Look, cost_of, count, look
from dpsco_bench.audit.likelihood import supports
from dpsco_bench.audit.placed import Placed
from dpsco_bench.audit.power import attainable_bound
from dpsco_bench.audit.scorers import MechanismFactory
from dpsco_bench.audit.transcript import Setting
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import Cell
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.mechanism import Mechanism

COUNT_WORK, FEWEST_REPLAYS = 4e9, 8
"""Work of all replays of the counted runs, and fewest of a run."""
ALONE_WORK, FEWEST_ALONE = 2e8, 5000
"""Work of runs that are made one by one, and fewest of them, unless a number is asked for."""
STATISTIC = "forced outputs"
EVENT = "one of the data sets leads to the output, given all that was released, and the other does not"


@dataclass(frozen=True)
class Outcome(AuditResult):
    """An audit, and ``remarks``: what forced runs showed, a sentence each."""

    remarks: tuple[str, ...] = ()

    def to_json(self) -> Plain:
        return {**super().to_json(), "remarks": list(self.remarks)}


def audit(
    cell: Cell,
    calibration: str = "accounted",
    *,
    runs: int | None = None,
    confidence: float = 0.95,
    statistic: str | None = None,
    seed: int = 2017,
    mechanism: MechanismFactory = Mechanism,
    **how: Any,
) -> Outcome:
    """Bound the epsilon of a cell's algorithm from below, by what outputs tell beside the releases, and by these.

    Parameters and errors are those of `audit.auditor.audit_cell`.
    """
    check_settings(calibration, runs, confidence, seed)
    check_length(cell, calibration, runs)
    calibrated = calibrate_cell(cell, calibration, seed)
    plan = calibrated.plan_for(cell)
    chosen_statistic(statistic, supports(plan), cell)
    nominal = constants_status(cell, plan, calibrated.constants.status) != "global" and not plan.unprotected
    listed = statistic != "output" or not runs_fused(cell, plan)  # a fused run cannot be forced
    seen = look(cell, calibrated, seed, mechanism) if listed and not nominal else Look()
    if runs is None and seen.apart:
        runs = int(min(default_runs(plan), max(FEWEST_ALONE, ALONE_WORK // cost_of(plan, apart=True))))
    remarks, error = _own_numbers(seen), 1.0 - confidence
    if seen.pair:
        error *= 0.5
        shown = _counted(cell, calibrated, seen, runs or default_runs(plan), error, seed, mechanism)
        if shown.verdict == "refuted":
            return replace(shown, confidence=float(confidence), remarks=(*remarks, *shown.remarks))
        remarks = (*remarks, *shown.remarks)
    place = seen.place if not seen.varied else 0  # own random numbers would hide what the place changes
    chosen = Placed.of(cell, place, seen.apart) if place or seen.apart else cell
    left = 1.0 - error if seen.pair else confidence
    asked: dict[str, Any] = {"runs": runs, "confidence": left, "statistic": statistic, "seed": seed, **how}
    result = audit_calibrated(chosen, calibrated, mechanism=mechanism, **asked)
    neighbours = f"{result.neighbours}, in place {place}" if place else result.neighbours
    return replace(_outcome(result, remarks), neighbours=neighbours, confidence=float(confidence))


def _outcome(result: AuditResult, remarks: tuple[str, ...]) -> Outcome:
    return Outcome(**{f.name: getattr(result, f.name) for f in fields(AuditResult)}, remarks=remarks)


def _own_numbers(seen: Look) -> tuple[str, ...]:
    """A warning where forced runs return something else on the same data."""
    if not seen.varied:
        return ()
    share = f"{seen.varied} of {seen.runs}"
    said = f"Its releases do not explain its outputs: forced again on the same data, {share} runs return another one."
    alone = "Runs of one call share random numbers, so each was called alone." if seen.apart else ""
    return tuple(filter(None, (said, "It has random numbers of its own, which no accountant sees.", alone)))


def _counted(
    cell: Cell,
    calibrated: CalibratedCell,
    seen: Look,
    runs: int,
    error: float,
    seed: int,
    mechanism: MechanismFactory,
) -> Outcome:
    """The audit by the event that forced runs showed, on runs that had no part in its choice."""
    plan, d, epsilon = calibrated.plan_for(cell), cell.problem_entry.dimension, float(cell.epsilon)
    assert seen.pair is not None
    own = Placed.of(cell, apart=True) if seen.apart else cell
    setting = Setting(own, plan, calibrated.scales, seen.pair, seen.place)
    work = 2 * 2 * runs * max(seen.open, 1.0 / seen.runs) * cost_of(plan, seen.apart)
    replays = int(min(REPLAYS, max(FEWEST_REPLAYS, COUNT_WORK // work))) if seen.varied else 1
    with np.errstate(invalid="ignore", over="ignore"):
        counts = count(setting, runs, replays, seed, mechanism)
    bound, low = _bound(counts, float(cell.delta), error)
    exact = counts.settled and not setting.hides_batches and low > cell.delta
    refuted = bound.epsilon > epsilon or exact
    place = f", in place {seen.place}" if seen.place else ""
    rate = seen.leaking / seen.runs
    promised = _epsilon(rate * runs, 0.0, runs, float(cell.delta), error)
    return Outcome(
        algorithm=cell.algorithm_entry.id,
        calibration=calibrated.calibration,
        epsilon_claimed=epsilon,
        epsilon_lower=bound.epsilon,
        confidence=1.0 - error,
        runs=runs,
        neighbours=f"{cell.problem} n={cell.n} d={d}: two data sets of which one record differs{place}",
        statistic=STATISTIC,
        verdict="refuted" if refuted else "not refuted",
        power=_power(seen, runs, epsilon, float(cell.delta), error),
        against="this leak",
        promised=promised,
        attainable=attainable_bound(runs, calibrated.epsilon_real, cell.delta, 1.0 - error),
        delta=float(cell.delta),
        epsilon_real=calibrated.epsilon_real,
        epsilon_real_kind=calibrated.epsilon_real_kind,
        bound=bound,
        remarks=tuple(_said(counts, seen, replays, refuted, exact and bound.epsilon <= epsilon)),
    )


def _bound(counts: Counts, delta: float, error: float) -> tuple[LowerBound, float]:
    """The larger bound of both directions, and the lower limit of the likelier event."""
    found = []
    for side, direction in ((0, "P over Q"), (1, "Q over P")):
        event, runs = counts.alone[:, side], counts.runs
        low = float(clopper_pearson_lower(event[side], runs, error / BOUNDS))
        high = float(clopper_pearson_upper(event[1 - side], runs, error / BOUNDS))
        epsilon = _epsilon(event[side], event[1 - side], runs, delta, error)
        found.append((LowerBound(epsilon, direction, EVENT, low, high), low))
    return max(found, key=lambda one: (one[0].epsilon, one[1]))


def _epsilon(likely: float, unlikely: float, runs: int, delta: float, error: float) -> float:
    """Bound that so many runs with the event on either data set show."""
    low = float(clopper_pearson_lower(likely, runs, error / BOUNDS))
    high = float(clopper_pearson_upper(unlikely, runs, error / BOUNDS))
    return float(np.log(max((low - delta) / high, 1.0)))


def _power(seen: Look, runs: int, epsilon: float, delta: float, error: float) -> float:
    """Chance that so many runs refute what the look saw, by probabilities that it leaves possible."""
    low, high = 0, runs
    while low < high:  # the fewest events that refute where the other data set has none
        middle = (low + high) // 2
        low, high = (low, middle) if _epsilon(middle, 0, runs, delta, error) > epsilon else (middle + 1, high)
    return float(betabinom.sf(low - 1, runs, seen.leaking + 0.5, seen.runs - seen.leaking + 0.5))


def _said(counts: Counts, seen: Look, replays: int, refuted: bool, exact: bool) -> list[str]:
    """What was found, and how."""
    (here, back), (there, forth) = counts.alone
    own, other = (here, there) if here >= forth else (forth, back)
    again = f"; each was forced up to {replays} times on both" if replays > 1 else ""
    if not refuted:
        share = f"{seen.leaking} of {seen.runs} forced runs"
        return [
            f"In {share} no replay on other data led to the output, and one on its own data did. "
            + ("Random numbers of its own can do that by chance. " if seen.varied else "")
            + "The counted runs do not show that data leak; more --runs can, if they do in few."
        ]
    said = [
        f"Data leak past the releases: {own} of {counts.runs} outputs are such that, given all that was released, one "
        f"data set leads to them and its neighbour, which differs in record {seen.place}, does not. On the neighbour "
        f"{other} of {counts.runs} are{again}."
    ]
    if seen.asks:
        said.append("The range of a public choice, or the size of a public order, is another one on the neighbour.")
    if exact:
        said.append(
            "By these counts alone epsilon is not above the claim. But a run is a function of its data and releases, "
            "as all replays say: then the neighbour never returns these outputs, whatever epsilon is."
        )
    return said
