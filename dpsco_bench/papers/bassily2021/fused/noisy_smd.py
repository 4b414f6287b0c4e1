"""Noisy stochastic mirror descent (Algorithm 2) with compiled steps."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.mirror import NO_MEAN, MirrorSteps, full_mirror_run, smooth_mirror
from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.tiles import Steps
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.records import Full
from dpsco_bench.problems.data import form_of


def takes_steps(objective, plan, mechanism):
    """Check that there is a step, and that each record's gradient is known where batches are drawn."""
    if plan.steps == 1:
        return False
    return isinstance(plan.query("gradient").records, Full) or form_of(objective.problem) is not None


@fused("bassily2021.noisy_smd", supports=takes_steps, form=False)
def noisy_smd(objective, plan, mechanism):
    """Run the listing compiled; return the mean of x^1..x^T."""
    start, norm = objective.start, SmoothNorm(plan.p, objective.start.shape[-1], plan.norm_rule)
    geometry = smooth_mirror(norm, plan.p, objective.domain.radius)
    if isinstance(plan.query("gradient").records, Full):
        return (start + full_mirror_run(objective, mechanism, geometry, plan.step)) / plan.steps
    moved, steps = MirrorSteps(objective, geometry), Steps(objective, mechanism, "gradient", sampled=True)
    for t, k in steps.stretches(0, plan.steps - 1):
        scales, eta, one = steps.scales(t, k), np.full(k, plan.step), np.ones(k)
        for tile in steps.tiles(t, k):
            s = tile.steps
            moved(tile, steps.form, NO_MEAN, scales[s], eta[s], one[s])
        objective.observe(moved.x)
    return (start + moved.total) / plan.steps
