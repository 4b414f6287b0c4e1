"""Noisy gradient descent with one pass over the records a step, over few entries or for few replicates."""

from __future__ import annotations

from functools import partial

from dpsco_bench.fused.gradients import mean_gradient, one_pass
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.sparse import entries_of
from dpsco_bench.fused.sparse import mean_gradient as mean_of_entries
from dpsco_bench.papers.wang2017.algorithms.gradient_descent import dp_gd_pl


def supported(objective, plan, mechanism):
    """Check that one pass is made: over few entries, or for few replicates."""
    return entries_of(objective) is not None or one_pass(objective)


@fused("wang2017.dp_gd", "wang2017.dp_gd_pl", supports=supported)
def gradient_descent(objective, plan, mechanism):
    mean = mean_gradient if entries_of(objective) is None else mean_of_entries
    return dp_gd_pl(objective, plan, mechanism, partial(mean, objective))
