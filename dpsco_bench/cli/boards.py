"""A leaderboard from its file to its standings in one process; finished jobs are kept, so that it resumes."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_bench.analysis.ranking import Skipped, Standing
from dpsco_bench.analysis.standings import standings
from dpsco_bench.claims.board import PREFIX, board_ids, load_board
from dpsco_bench.claims.board_jobs import board_plan
from dpsco_bench.claims.compose import plan_settings
from dpsco_bench.claims.plan import BoardEntry
from dpsco_bench.cli.claiming import check_settings, extended, measure
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.measured import Measured


def asked_boards(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort the arguments of a verb into ids of boards (all where none is named) and settings.

    Raises InputError for an unknown board or setting.
    """
    known = board_ids()
    ids = []
    for name in (text for text in arguments if "=" not in text):
        id = name if name.startswith(PREFIX) else PREFIX + name
        if id not in known:
            raise InputError("leaderboard", name, nearest(name, known))
        ids.append(id)
    settings = check_settings(extended([text for text in arguments if "=" in text], "plugins", plugins))
    return list(dict.fromkeys(ids)) or known, settings


def board_entries(ids: Sequence[str], profile: str, overrides: Sequence[str]) -> list[BoardEntry]:
    """Plan entries of boards."""
    settings = plan_settings(profile, overrides)
    return [board_plan(load_board(id), profile, settings) for id in ids]


def run_board(entry: BoardEntry, measured: Measured) -> list[Standing | Skipped]:
    """Calibrate, run and rank one board.

    Returns what `analysis.standings.standings` gives.
    """
    return standings(measure(entry, measured), measured.load)
