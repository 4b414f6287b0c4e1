"""The gate of chains: what was drawn by Markov chains is judged only where they have settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.verdict import Verdict

GATED = ("rate", "explicit", "law", "control", "band")
"""Kinds whose verdict rests on the law of the output."""
OF_THE_LAW = ("risk", "chain_risk")
"""Quantities that do."""
LARGEST_RHAT, LEAST_ESS = 1.01, 400.0


def settled(cells: Sequence[CellEvidence]) -> str:
    """Why chains are not to be trusted, in words; empty where they are, and where there are none."""
    chains = [cell for cell in cells if "chain_risk" in cell.extras]
    if not chains:
        return ""
    rhat = max(_worst(cell, "rhat") for cell in chains)
    ess = min(_worst(cell, "ess") for cell in chains)
    if rhat <= LARGEST_RHAT and ess >= LEAST_ESS:
        return ""
    found = f"R-hat up to {rhat:.3f} (at most {LARGEST_RHAT}), effective sample size from {ess:.0f}"
    return f"chains not certified: {found} (at least {LEAST_ESS:.0f})"


def gated(verdict: Verdict, quantity: str, cells: Sequence[CellEvidence]) -> Verdict:
    """The verdict, or ``inconclusive`` where it rests on chains that have not settled."""
    reason = settled(cells) if quantity in OF_THE_LAW else ""
    return replace(verdict, verdict="inconclusive", reason=reason) if reason else verdict


def _worst(cell: CellEvidence, name: str) -> float:
    values = cell.extras.get(name)
    if values is None:  # constant chains have none
        return math.inf if name == "rhat" else 0.0
    return float(values.max() if name == "rhat" else values.min())
