"""The gate of chains: what Markov chains drew is judged only where they have settled and their code is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import NOT_MEASURED
from dpsco_bench.plain import Plain
from dpsco_bench.samplers.evidence import NOT_CERTIFIED, unsettled

OF_THE_LAW = ("risk", "chain_risk")
"""Quantities that do."""
NO_NUMBERS: Plain = {
    **{name: math.nan for name in ("slope", "noise_off_slope", "worst_ratio", "worst_value", "noise_off_share")},
    **{"ci": (math.nan, math.nan), "worst_cell": None, "local_slopes": (), "ratio": None, "ratio_ci": None},
}
"""Fields of a verdict row that replace slopes and ratios of uncertified chains."""


def has_chains(cells: Sequence[CellEvidence]) -> bool:
    """Check whether any cell was drawn by chains."""
    return any("chain_risk" in cell.extras for cell in cells)


def settled(cells: Sequence[CellEvidence]) -> str:
    """Why chains are not to be trusted, in words; empty where they are, and where there are none."""
    chains = [cell for cell in cells if "chain_risk" in cell.extras]
    if not chains:
        return ""
    return unsettled(max(_worst(cell, "rhat") for cell in chains), min(_worst(cell, "ess") for cell in chains))


def unchecked(part: str, verdict: Verdict | None) -> str:
    """Why the code path of settled chains is not trusted, in words; empty where it is."""
    if not part:
        return f"{NOT_CERTIFIED}: no cell of their code path has a known law; it takes a part that compares one"
    if verdict is not None and verdict.meaning.outcome == "confirms":
        return ""
    word = NOT_MEASURED if verdict is None else verdict.verdict
    return f"{NOT_CERTIFIED}: {part}, where the law is known, is {word.replace('_', ' ')}; it takes that part to hold"


def gated(verdict: Verdict, of_the_law: bool, reason: str) -> Verdict:
    """Return the verdict, or ``inconclusive`` with the reason if its chains cannot be trusted.

    Means of such chains are shown, but no slope and no ratio is made of them.
    """
    if not reason:
        return verdict
    lost = {name: value for name, value in NO_NUMBERS.items() if getattr(verdict, name) is not None}
    verdict = replace(verdict, **lost)
    if of_the_law:
        return replace(verdict, verdict="inconclusive", reason=reason)
    return replace(verdict, notes=(*verdict.notes, reason))


def uncertified(row: Verdict) -> bool:
    """Check whether a verdict rests on uncertified chains."""
    return any(text.startswith(NOT_CERTIFIED) for text in (row.reason, *row.notes))


def _worst(cell: CellEvidence, name: str) -> float:
    values = cell.extras.get(name)
    if values is None:  # constant chains have none
        return math.inf if name == "rhat" else 0.0
    return float(values.max() if name == "rhat" else values.min())
