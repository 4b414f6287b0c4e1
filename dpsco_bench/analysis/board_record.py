"""What is recorded of leaderboards: who wins at every point, and how a fresh run differs; that fails nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.ranking import Skipped, Standing
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic

DIGITS = 3
PLACE = ("board", "instance", "n", "d", "epsilon")


def recorded_row(board: str, row: Standing) -> dict[str, Any]:
    """A point as it is recorded, numbers to three digits.

    ``tied`` has the winner first; it is empty where the point is undecided, and ``contenders`` then names who is left
    out as too long. ``search`` is the best risk of the public grid searches.
    """
    winner = next((method for method in row.methods if method.method == row.winner), None)
    held_out = winner.held_out_loss if winner else None
    return {
        **dict(zip(PLACE, (board, row.instance, row.n, row.d, row.epsilon), strict=True)),
        "least": row.winner,
        "tied": [] if row.contenders else list(row.tied),
        "contenders": [one.method for one in row.contenders],
        "risk": _rounded(winner.risk if winner else row.trivial),
        "trivial": _rounded(row.trivial),
        "search": _rounded(row.search.risk) if row.search else None,
        "held_out_loss": None if held_out is None else _rounded(held_out),
    }


def record_board(path: Path, board: str, rows: Sequence[Standing | Skipped]) -> None:
    """Write the points of a board, a line each; other boards, and instances whose data are absent, stay recorded."""
    absent = {row.instance for row in rows if isinstance(row, Skipped)}
    kept = [row for row in read_boards(path) if row["board"] != board or row["instance"] in absent]
    kept += [recorded_row(board, row) for row in rows if isinstance(row, Standing)]
    lines = [dumps_canonical(row) for row in sorted(kept, key=_place)]
    write_atomic(path, "[\n" + ",\n".join(lines) + "\n]\n")


def read_boards(path: Path) -> list[dict[str, Any]]:
    """What was recorded; empty if nothing was."""
    rows: list[dict[str, Any]] = loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return rows


def changed(recorded: Sequence[Mapping[str, Any]], board: str, rows: Sequence[Standing | Skipped]) -> list[str]:
    """A line for each recorded point whose methods in the first place share no name with those of a fresh run.

    What was tied then and is best alone now is no change: nobody was told apart.
    """
    known = {_place(row): row for row in recorded}
    found = []
    for row in rows:
        if not isinstance(row, Standing):
            continue
        fresh = recorded_row(board, row)
        old = known.get(_place(fresh))
        if old and old["tied"] and fresh["tied"] and not {*old["tied"]} & {*fresh["tied"]}:
            where = f"{board} {row.instance}, n = {row.n}, d = {row.d}, epsilon = {row.epsilon:g}"
            found.append(f"{where}: {old['least']} -> {fresh['least']}")
    return found


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in PLACE)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else value
