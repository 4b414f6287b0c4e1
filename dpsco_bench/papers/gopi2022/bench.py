"""Compiled chains against their reference implementations."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.bench.fused_pairs import fused_cases
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell


@goal("P1_gopi2022", "compiled chains of gopi2022 against their reference implementations, by the run")
def chain_cases() -> Iterator[BenchCase]:
    """Linear losses along an axis of the l_p ball; a chain makes a sweep for every 32 steps."""

    def chain(d: int, steps: int) -> Cell:
        options = {"sweeps": max(2, steps // 32), "delta_in": 0.05}
        return Cell("gopi2022.proximal_sampler", "axis_linear", 1024, 1.0, 1e-5, d, options=options)

    return fused_cases("P1_gopi2022", {"alternating sampler": chain})
