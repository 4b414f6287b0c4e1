"""Phased SGD (Algorithm 6) with compiled steps."""

from __future__ import annotations

from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.steps import descending, phased_run, projecting

fused("su2023.phased_dp_sgd", supports=descending, device=projecting)(phased_run)
