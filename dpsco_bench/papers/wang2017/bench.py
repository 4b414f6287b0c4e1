"""Compiled inner loops of DP-SVRG against their listing, and what is timed on a card."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_bench.bench.card import Probe, card_probe
from dpsco_bench.bench.fused_pairs import fused_cases
from dpsco_bench.bench.measure import Case, goal
from dpsco_bench.execution.cell import Cell

card_probe("wang2017.noisy_sgd", Probe("wang2017.noisy_sgd_bst14", "ridge_logistic", "noisy SGD"), __name__)


@goal("P1_dp_svrg", "DP-SVRG, compiled, against its listing")
def cases() -> Iterator[Case]:
    """One epoch of single records on `ridge_logistic`."""

    def cell(d: int, steps: int) -> Cell:
        options = {"epochs": 1, "inner_steps": steps}
        return Cell("wang2017.dp_svrg", "ridge_logistic", 256, 1.0, 1e-5, d, variant="literal", options=options)

    return fused_cases("P1_dp_svrg", "DP-SVRG", cell)
