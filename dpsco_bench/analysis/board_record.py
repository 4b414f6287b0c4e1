"""What is recorded of leaderboards: who wins at every point, and how a fresh run differs; that fails nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.ranking import Skipped, Standing
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic
from dpsco_bench.plain import Record

DIGITS = 3


@dataclass(frozen=True)
class RecordedPoint(Record):
    """A point as it is recorded, numbers to three digits.

    Attributes
    ----------
    board, instance, n, d, epsilon : whose it is
    least : str, method of least risk
    tied : tuple of str, the winner first; empty where the point is undecided
    contenders : tuple of str, who is left out as too long at a point that is undecided
    risk, trivial : float, the winner's, and that of the starting point
    search : float or None, best risk of the public grid searches
    held_out_loss : float or None, the winner's
    """

    board: str
    instance: str
    n: int
    d: int
    epsilon: float
    least: str
    tied: tuple[str, ...]
    contenders: tuple[str, ...]
    risk: float
    trivial: float
    search: float | None
    held_out_loss: float | None

    @classmethod
    def of(cls, board: str, row: Standing) -> RecordedPoint:
        """That of a row of standings."""
        winner = next((method for method in row.methods if method.method == row.winner), None)
        held_out = winner.held_out_loss if winner else None
        return cls(
            *(board, row.instance, row.n, row.d, row.epsilon),
            least=row.winner,
            tied=() if row.contenders else row.tied,
            contenders=tuple(one.method for one in row.contenders),
            risk=_rounded(winner.risk if winner else row.trivial),
            trivial=_rounded(row.trivial),
            search=_rounded(row.search.risk) if row.search else None,
            held_out_loss=None if held_out is None else _rounded(held_out),
        )

    @property
    def place(self) -> tuple[Any, ...]:
        """What no two points share."""
        return self.board, self.instance, self.n, self.d, self.epsilon


def record_board(path: Path, board: str, rows: Sequence[Standing | Skipped]) -> None:
    """Write the points of a board, a line each; other boards, and instances whose data are absent, stay recorded."""
    ran = {row.instance for row in rows if isinstance(row, Standing)}
    absent = {row.instance for row in rows if isinstance(row, Skipped)} - ran
    kept = [point for point in read_boards(path) if point.board != board or point.instance in absent]
    kept += [RecordedPoint.of(board, row) for row in rows if isinstance(row, Standing)]
    lines = [dumps_canonical(point) for point in sorted(kept, key=lambda point: point.place)]
    write_atomic(path, "[\n" + ",\n".join(lines) + "\n]\n")


def read_boards(path: Path) -> list[RecordedPoint]:
    """What was recorded; empty if nothing was."""
    return [*map(RecordedPoint.from_json, loads(path.read_text(encoding="utf-8")))] if path.is_file() else []


def changed(recorded: Iterable[RecordedPoint], board: str, rows: Sequence[Standing | Skipped]) -> list[str]:
    """A line for each recorded point whose methods in the first place share no name with those of a fresh run.

    What was tied then and is best alone now is no change: nobody was told apart.
    """
    known = {point.place: point for point in recorded}
    found = []
    for fresh in (RecordedPoint.of(board, row) for row in rows if isinstance(row, Standing)):
        old = known.get(fresh.place)
        if old and old.tied and fresh.tied and not {*old.tied} & {*fresh.tied}:
            where = f"{board} {fresh.instance}, n = {fresh.n}, d = {fresh.d}, epsilon = {fresh.epsilon:g}"
            found.append(f"{where}: {old.least} -> {fresh.least}")
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else value
