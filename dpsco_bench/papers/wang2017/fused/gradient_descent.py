"""DP-GD (Algorithm 4) with mean gradients in one pass over the records."""

from __future__ import annotations

from dpsco_bench.fused.gradients import mean_gradient, one_pass
from dpsco_bench.fused.registry import fused


@fused("wang2017.dp_gd", "wang2017.dp_gd_pl", supports=one_pass)
def gradient_descent(objective, plan, mechanism):
    """As the listing; returns the last iterate."""
    x = objective.start
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", mean_gradient(objective, x), t) + objective.regulariser_gradient(x)
        x = x - plan.step * gradient
        objective.observe(x)
    return x
