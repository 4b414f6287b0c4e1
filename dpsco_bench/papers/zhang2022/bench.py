"""Compiled methods against their reference implementations."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.bench.fused_pairs import CellOf, fused_cases
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell


@goal("P1_zhang2022", "compiled methods of zhang2022 against their reference implementations, by the run")
def other_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l2 ball, or the cube in l_inf: as many records as steps where a pass is made."""

    def batches(id: str, **options: int) -> CellOf:
        return lambda d, steps: Cell(id, "logistic_glm", 1024, 1.0, 1e-5, d, options={"steps": steps, **options})

    def one_pass(id: str, problem: str = "logistic_glm") -> CellOf:
        return lambda d, steps: Cell(id, problem, steps, 1.0, 1e-5, d)

    return fused_cases(
        "P1_zhang2022",
        {
            "DP-SGD": batches("zhang2022.dp_sgd", batch=1),
            "noisy SGD of BFTT19": batches("zhang2022.bftt19_noisy_sgd"),
            "phased SGD of FKT20": one_pass("zhang2022.fkt20_phased_sgd"),
            "DP-OTB": one_pass("zhang2022.dp_otb"),
            "DP-OTB in l_inf": one_pass("zhang2022.dp_otb_lp", "cube_iid"),
            "DP-OTB, pure": one_pass("zhang2022.dp_otb_pure"),
            "parameter-free": one_pass("zhang2022.parameter_free"),
        },
        limits={
            "noisy SGD of BFTT19": "a step reads each record of its batch twice: for its slope, and to add it",
            "DP-OTB": "a round has two margins, two lengths and a tree's sums, in several passes over its numbers",
            "DP-OTB in l_inf": "a round takes three powers of each number, and its records are drawn besides",
            "DP-OTB, pure": "a third to two thirds of a run draws the radii of its noise, by the same array calls",
            "parameter-free": "beside the schedule, Python in both, a round makes several passes over its numbers",
        },
        noisy=["DP-SGD", "noisy SGD of BFTT19", "DP-OTB", "DP-OTB in l_inf", "DP-OTB, pure", "parameter-free"],
    )
