"""Noisy SGD (Bassily, Smith, Thakurta 2014) with compiled steps."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpsco_bench.fused.descent import descending, projected_run, projecting
from dpsco_bench.fused.registry import fused


@fused("wang2017.noisy_sgd_bst14", supports=descending, device=projecting)
def noisy_sgd(objective, plan, mechanism):
    """Run the listing compiled: the last iterate of steps ``1/(mu t)`` or ``diam/sqrt(t (G^2 + d sigma^2))``."""
    x = objective.start
    spread = sqrt(plan.lipschitz**2 + x.shape[-1] * mechanism.scales["gradient"] ** 2)

    def step(t, k):
        numbers = np.arange(t + 1, t + k + 1)
        return 1 / (plan.curvature * numbers) if plan.curvature > 0 else plan.diameter / (np.sqrt(numbers) * spread)

    projected_run(objective, mechanism, x, objective.xp.zeros_like(x), step, 0.0)
    return x
