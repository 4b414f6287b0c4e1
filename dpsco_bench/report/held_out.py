"""Loss and accuracy on held-out records: the winner's, and those that it is held against."""

from __future__ import annotations

from functools import partial

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.execution.summary import HeldOut
from dpsco_bench.report.numbers import NOTHING, number
from dpsco_bench.report.tables import Column


def held_out_text(found: HeldOut | None) -> str:
    """Both numbers: ``0.647 (61 %)``."""
    if found is None:
        return NOTHING
    return number(found.loss) + ("" if found.accuracy is None else f" ({number(100 * found.accuracy)} %)")


def held_out_columns() -> list[Column]:
    """Of a table with a row per point: the winner, the starting point, and the minimiser without privacy."""
    told = (("Held out", "winner"), ("Held out, trivial", "trivial"), ("Held out, no privacy", "without_privacy"))
    names = {"winner": "held_out_loss"}
    return [
        Column(title, partial(_text, of), {names.get(of, f"held_out_loss_{of}"): partial(_loss, of)}, True)
        for title, of in told
    ]


def _numbers(of: str, row: Standing) -> HeldOut | None:
    if of != "winner":
        return row.held_out.get(of)
    return next((method.held_out for method in row.methods if method.method == row.winner), None)


def _text(of: str, row: Standing) -> str:
    return held_out_text(_numbers(of, row))


def _loss(of: str, row: Standing) -> float | None:
    found = _numbers(of, row)
    return None if found is None else found.loss
