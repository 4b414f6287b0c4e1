"""Compiled inner loops of DP-SVRG against their reference implementation, and what is timed on a card."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.bench.card import PROBES, CardProbe
from dpsco_bench.bench.fused_pairs import STEP, fused_cases
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell

PROBES.add("wang2017.noisy_sgd", CardProbe("wang2017.noisy_sgd_bst14", "ridge_logistic", "noisy SGD"), __name__)


@goal("P1_dp_svrg", "DP-SVRG, compiled, against its reference implementation")
def cases() -> Iterator[BenchCase]:
    """List one epoch of single records on `ridge_logistic`."""

    def cell(d: int, steps: int) -> Cell:
        options = {"epochs": 1, "inner_steps": steps}
        return Cell("wang2017.dp_svrg", "ridge_logistic", 256, 1.0, 1e-5, d, variant="literal", options=options)

    return fused_cases("P1_dp_svrg", {"DP-SVRG": cell}, noisy=["DP-SVRG"], unit=STEP)


@goal("P1_wang2017", "other compiled methods of wang2017 against their reference implementations, by the run")
def other_cases() -> Iterator[BenchCase]:
    """Single records on `ridge_logistic`."""

    def noisy_sgd(d: int, steps: int) -> Cell:
        return Cell("wang2017.noisy_sgd_bst14", "ridge_logistic", 256, 1.0, 1e-5, d, options={"steps": steps})

    def dp_svrg_pp(d: int, steps: int) -> Cell:
        options = {"epochs": 1, "inner_steps": steps}
        return Cell("wang2017.dp_svrg_pp", "ridge_logistic", 256, 1.0, 1e-5, d, variant="literal", options=options)

    methods = {"noisy SGD of BST14": noisy_sgd, "DP-SVRG++": dp_svrg_pp}
    return fused_cases("P1_wang2017", methods, noisy=methods)
