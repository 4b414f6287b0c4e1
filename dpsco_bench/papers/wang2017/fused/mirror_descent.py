"""Noisy mirror descent (Talwar, Thakurta, Zhang 2014) with compiled steps."""

from __future__ import annotations

from dpsco_bench.algorithms.shared import optimal_step
from dpsco_bench.fused.mirror import averaged_run
from dpsco_bench.fused.registry import fused


@fused("wang2017.noisy_md_ttz14", form=False)
def noisy_md(objective, plan, mechanism):
    """Run the listing compiled; return the average of z_1..z_T."""
    return averaged_run(objective, plan, mechanism, optimal_step(plan, mechanism))
