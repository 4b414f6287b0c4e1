"""How many runs an audit will make, before it makes them: for the time that is left."""

from __future__ import annotations

from collections.abc import Mapping

from dpsco_bench.audit import auditor
from dpsco_bench.audit.likelihood import supports
from dpsco_bench.audit.neighbours import candidate_pairs
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import Plan


def foreseen_runs(
    cell: Cell,
    calibration: str,
    runs: int | None,
    statistic: str | None,
    seed: int,
    plan: Plan,
    scales: Mapping[str, float],
) -> tuple[int, int]:
    """Runs of the pilot and runs that count, both data sets together; zeros where the audit itself is refused.

    With the printed noise the pilot may have a third of them more or less, as what is known of that noise decides.
    """
    try:
        pairs = sum(1 for _ in candidate_pairs(cell, seed, plan, scales))
        how = auditor.chosen_statistic(statistic, supports(plan), cell)
    except DpscoError:
        return 0, 0
    each_side = auditor.default_runs(plan) if runs is None else runs
    each = auditor._pilot_size(each_side, auditor.PILOT_PART / pairs, auditor.PILOT_FEWEST, how)
    again = auditor._pilot_size(each_side, 2 * auditor.PILOT_PART, auditor.RELEARN_FEWEST, how)
    return 2 * (pairs * each + (1 + (calibration == "accounted")) * again), 2 * each_side
