"""Phased SGD (Feldman, Koren, Talwar 2020) with compiled steps."""

from __future__ import annotations

from dpsco_bench.fused.descent import descending, phased_run, projecting
from dpsco_bench.fused.registry import fused

fused("zhang2022.fkt20_phased_sgd", supports=descending, device=projecting)(phased_run)
