"""Noisy SGD (Proposition 13) with compiled steps."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.descent import descending, projected_run, projecting
from dpsco_bench.fused.registry import fused


@fused("bassily2021.noisy_sgd", supports=descending, device=projecting)
def noisy_sgd(objective, plan, mechanism):
    """Run the listing compiled: the mean of x^1..x^T, from the start to the iterate before the last step."""
    x = objective.start
    total = x.copy()
    projected_run(objective, mechanism, x, total, plan.step, lambda t, k: np.arange(t + 1, t + k + 1) < plan.steps)
    return total / plan.steps
