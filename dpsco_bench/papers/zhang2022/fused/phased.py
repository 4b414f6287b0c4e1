"""Phased SGD (Feldman, Koren, Talwar 2020) with compiled steps."""

from __future__ import annotations

from dpsco_bench.fused.registry import fused
from dpsco_bench.fused.steps import descending, phased_run, projecting

fused("zhang2022.fkt20_phased_sgd", supports=descending, device=projecting)(phased_run)
