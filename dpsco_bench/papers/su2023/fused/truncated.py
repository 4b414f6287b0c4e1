"""Truncated mirror descent, batched and shuffled (Algorithms 4 and 7), with compiled steps."""

from __future__ import annotations

from dpsco_bench.fused.mirror import on_its_own_ball, truncated_run
from dpsco_bench.fused.registry import fused
from dpsco_bench.papers.su2023.fused.student import quick


@fused("su2023.truncated_batched_md", supports=on_its_own_ball)
def truncated_batched_md(objective, plan, mechanism):
    """Run the listing, compiled."""
    objective.data = quick(objective.data)
    return truncated_run(objective, plan, mechanism)


@fused("su2023.shuffled_truncated_md", supports=on_its_own_ball)
def shuffled_truncated_md(objective, plan, mechanism):
    """Run the listing compiled: records that are shared are put in random order first."""
    objective.data = quick(objective.data)
    if not objective.problem.draws_per_replicate:
        objective.reorder(mechanism.permutation("records", plan.n))
    return truncated_run(objective, plan, mechanism)
