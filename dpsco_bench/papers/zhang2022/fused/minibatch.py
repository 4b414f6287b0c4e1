"""The mini-batch baselines with compiled steps."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpsco_bench.fused.descent import descending, projected_run, projecting
from dpsco_bench.fused.registry import fused


@fused("zhang2022.bftt19_noisy_sgd", supports=descending, device=projecting)
def bftt19_noisy_sgd(objective, plan, mechanism):
    """Run the listing compiled: the mean of the iterates before each step."""
    return _projected_sgd(objective, plan, mechanism, plan.step)


@fused("zhang2022.dp_sgd", supports=descending, device=projecting)
def dp_sgd(objective, plan, mechanism):
    """Run the listing compiled: steps of the size that is best for the noise in force."""
    variance = plan.lipschitz**2 + objective.start.shape[-1] * mechanism.scales["gradient"] ** 2
    return _projected_sgd(objective, plan, mechanism, plan.diameter / sqrt(plan.steps * variance))


def _projected_sgd(objective, plan, mechanism, step):
    x = objective.start
    total = x.copy()
    projected_run(objective, mechanism, x, total, step, lambda t, k: np.arange(t + 1, t + k + 1) < plan.steps)
    return total / plan.steps
