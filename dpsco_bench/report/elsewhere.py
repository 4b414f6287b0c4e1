"""Where the printed noise of a claim's runs is refuted by another claim, on records and settings of that one."""

from __future__ import annotations

from collections.abc import Iterable

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.plain import Options
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.scores import Score

PRINTED = "paper"
ASIDE = ("sampler", "accountant")
"""Options that say how a law is drawn and charged, and not what it is."""


def refuted_elsewhere(results: ClaimResults, scores: Iterable[Score]) -> list[Score]:
    """Rows on privacy of other claims that show a larger epsilon for a method of this one, the first of each claim.

    A method is the same where its algorithm and variant are, and all options with which its noise was refuted, but for
    those in `ASIDE`. What is beside a statement refutes nothing of it.
    """
    ours = [cell for job in results.entry.jobs if job.calibration == PRINTED and job.charged for cell in job.cells]
    found: dict[str, Score] = {}
    for score in scores:
        if score.row.id != results.id and score.row.id not in found and _refutes(score):
            job = score.results.job(score.row.part, PRINTED)
            if job is not None and any(_same(mine, cell) for cell in job.cells[:1] for mine in ours):
                found[score.row.id] = score
    return list(found.values())


def _refutes(score: Score) -> bool:
    row = score.row
    refuted = row.meaning.outcome == "contradicts" and row.calibration == PRINTED
    return score.kind.judges_noise and refuted and not row.beside


def _same(mine: Cell, refuted: Cell) -> bool:
    if (mine.algorithm, mine.variant) != (refuted.algorithm, refuted.variant):
        return False
    own = _options(mine)
    return all(own.get(key) == value for key, value in refuted.options.items() if key not in ASIDE)


def _options(cell: Cell) -> Options:
    """Those of a cell, with the defaults of its algorithm."""
    return {**{key: known.default for key, known in get_algorithm(cell.algorithm).options.items()}, **cell.options}
