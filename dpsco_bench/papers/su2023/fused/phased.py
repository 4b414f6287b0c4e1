"""Phased SGD (Algorithm 6) with compiled steps."""

from __future__ import annotations

from dpsco_bench.fused.descent import descending, phased_run, projecting
from dpsco_bench.fused.registry import fused

fused("su2023.phased_dp_sgd", supports=descending, device=projecting)(phased_run)
