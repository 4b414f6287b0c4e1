"""Compiled methods against their reference implementations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpsco_bench.bench.fused_pairs import SIZES, CellOf, fused_cases
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell

INNER = 64
"""A step of kj16 and pda_dpmd solves a projection and looks at all records: a row has one for every so many."""
RECORDS = 4096
"""Enough for the truncation level."""
OWN = f"each replicate has {RECORDS:,} records of its own, too many at this size"


@goal("P1_su2023", "compiled methods of su2023 against their reference implementations, by the run")
def cases() -> Iterator[BenchCase]:
    """Logistic regression on the l2 ball, least squares with public points, and Student slopes on the l_1.5 ball."""

    def solving(id: str, problem: str) -> CellOf:
        return lambda d, steps: Cell(id, problem, 1024, 1.0, 1e-5, d, options={"steps": max(2, steps // INNER)})

    def truncated(id: str) -> CellOf:
        return lambda d, steps: Cell(id, "heavy_linear_t", RECORDS, 1.0, 1e-5, d, options={"steps": steps})

    def phased(d: int, steps: int) -> Cell:
        return Cell("su2023.phased_dp_sgd", "logistic_plain", steps, 1.0, 1e-5, d)

    truncating = {
        "truncated mirror descent": truncated("su2023.truncated_batched_md"),
        "shuffled mirror descent": truncated("su2023.shuffled_truncated_md"),
    }
    solvers = {
        "kj16": solving("su2023.kj16", "logistic_glm"),
        "pda_dpmd": solving("su2023.pda_dpmd", "public_quadratic"),
    }
    yield from fused_cases("P1_su2023", {"phased DP-SGD": phased, **solvers})
    yield from fused_cases("P1_su2023", truncating, SIZES[:2])
    yield from (replace(case, untimed=OWN) for case in fused_cases("P1_su2023", truncating, SIZES[2:]))
