"""Compiled inner loops of DP-SVRG against their reference implementation, and what is timed on a card."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.bench.card import PROBES, CardProbe
from dpsco_bench.bench.fused_pairs import CellOf, fused_cases, other_methods
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell

PROBES.add("wang2017.noisy_sgd", CardProbe("wang2017.noisy_sgd_bst14", "ridge_logistic", "noisy SGD"), __name__)


def svrg(name: str) -> CellOf:
    """Make cells of one epoch of single records on `ridge_logistic`."""

    def cell(d: int, steps: int) -> Cell:
        options = {"epochs": 1, "inner_steps": steps}
        return Cell(f"wang2017.{name}", "ridge_logistic", 256, 1.0, 1e-5, d, variant="literal", options=options)

    return cell


def noisy_sgd(d: int, steps: int) -> Cell:
    return Cell("wang2017.noisy_sgd_bst14", "ridge_logistic", 256, 1.0, 1e-5, d, options={"steps": steps})


@goal("P1_dp_svrg", "DP-SVRG, compiled, against its reference implementation")
def cases() -> Iterator[BenchCase]:
    return fused_cases("P1_dp_svrg", "DP-SVRG", svrg("dp_svrg"))


@goal("P1_wang2017", "other compiled methods of wang2017 against their reference implementations, by the run")
def other_cases() -> Iterator[BenchCase]:
    methods = {"noisy SGD of BST14": noisy_sgd, "DP-SVRG++": svrg("dp_svrg_pp")}
    return other_methods("P1_wang2017", methods, noisy=methods)
