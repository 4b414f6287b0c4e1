"""``dpsco audit ALGORITHM key=value...``: an empirical lower bound on epsilon."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from dpsco_bench.audit.auditor import INSTANCES, AuditResult, audit_cell, make_audit_cell
from dpsco_bench.cli import console as ui
from dpsco_bench.errors import integral
from dpsco_bench.execution.progress import Pace, duration, shown
from dpsco_bench.privacy.ledger import OF

SUMMARY = "empirical lower bound on epsilon from runs on neighbouring data sets"
EPILOG = """keys: calibration (accounted), n (200, or fewer where runs are long), d, epsilon (1), delta (1e-5),
seed (2017), variant, problem (a worst case of the algorithm's own family, see `dpsco list audits`), and every
schedule option, problem option and problem constant by name. Examples:
  dpsco audit {algorithm} calibration=paper
  dpsco audit {algorithm} --runs 1000000 epsilon=2 delta=1e-3"""


class AuditPace(Pace):
    """Estimate how far an audit is, by the runs that count; a pilot as long as these comes before them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__([1.0], clock=clock)
        self._counted: list[tuple[int, int, float]] = []

    def progress(self, done: int, all: int) -> None:
        self._counted = [*self._counted[:1], (done, all, self.elapsed)]

    def __str__(self) -> str:
        """``pilot, 12 s``, then ``400 of 9000 runs done, 12 s, about 3 min 10 s left``."""
        if not self._counted:
            return f"pilot, {duration(self.elapsed)}; the runs that count come after"
        (first, _, began), (done, all, _) = self._counted[0], self._counted[-1]
        text = f"{done} of {all} runs done, {duration(self.elapsed)}"
        left = (self.elapsed - began) / (done - first) * (all - done) if done > first else None
        return text if left is None else f"{text}, about {duration(left)} left"


def configure(parser: argparse.ArgumentParser) -> None:
    ui.add_algorithm(parser, "n=... epsilon=... and any other key")
    parser.add_argument("--runs", help="runs per data set (default: 5,000 to 100,000, fewer for longer runs)")
    parser.add_argument("--confidence", default="0.95", help="joint confidence of the bound (default 0.95)")
    kinds = "transcript (everything released) or output (the final output only, on the instance that tells most)"
    parser.add_argument("--statistic", help=kinds)


def execute(args: argparse.Namespace) -> int:
    """Audit and print the outcome; whatever the verdict, the exit code is 0."""
    import numpy as np

    algorithm, keys = ui.algorithm_keys(args.algorithm, args.keys)
    problem, calibration = keys.pop("problem", None), str(keys.pop("calibration", "accounted"))
    how: dict[str, Any] = {"statistic": args.statistic, "seed": integral(keys.pop("seed", 2017))}
    how |= {key: ui.parse_value(text) for key in ("runs", "confidence") if (text := getattr(args, key)) is not None}
    cell = make_audit_cell(algorithm, None if problem is None else str(problem), keys, calibration)
    searched = () if problem else INSTANCES.keys() - {key.rpartition(".")[2] for key in keys}
    pace = AuditPace()
    # exp(epsilon) of a claim above 709 is infinite, and the power it gives is right
    with shown(pace, ui.say, f"audit {algorithm}"), np.errstate(over="ignore"):
        made = audit_cell(cell, calibration, searched=searched, progress=pace.progress, **how)
    return ui.answer(args.json, made, screen(made))


def screen(result: AuditResult) -> Iterator[str]:
    yield (
        f"{result.algorithm}, calibration {result.calibration}: {result.verdict} "
        f"(epsilon {ui.bounded(result.epsilon_lower, 'lower')}, claimed {ui.number(result.epsilon_claimed)})"
    )
    bound = result.bound
    kept = "" if result.mu_lower <= result.mu_charged else ": what is charged is refuted"
    level = f"mu {ui.bounded(result.mu_lower, 'lower')}, charged {ui.number(result.mu_charged)}{kept}"
    facts = {
        "bound": OF[result.of],
        "delta": ui.number(result.delta),
        "confidence": f"{ui.number(result.confidence)}, joint over both directions",
        "runs": f"{result.runs} on each data set",
        "neighbours": result.neighbours,
        **({"instance": result.instance} if result.instance else {}),
        "statistic": result.statistic,
        "power": f"{ui.number(result.power)}, predicted: the chance that {result.against} is refuted",
        "event": f"{bound.event}: probability >= {ui.number(bound.power_low)} on one data set, "
        f"<= {ui.number(bound.false_alarm_high)} on the other ({bound.direction})",
        **({} if math.isnan(result.mu_charged) else {"Gaussian DP": level}),
        "accountant": f"epsilon {ui.bounded(result.epsilon_real, result.epsilon_real_kind) or '-'}",
    }
    yield from (ui.labelled(label, text) for label, text in facts.items())
    yield from (ui.labelled("*", remark, 2) for remark in result.remarks)
    if result.verdict != "refuted":
        if result.power < 0.5:
            yield ui.labelled("*", "It says nothing: the predicted power is below one half.", 2)
        yield ui.labelled("*", "Not refuted is no proof: an audit sees only the pairs and events that it tries.", 2)
