"""A leaderboard from its file to its standings in one process; finished jobs are kept, so that it resumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsco_bench.analysis.standings import standings
from dpsco_bench.claims.board import PREFIX, board_ids, load_board
from dpsco_bench.claims.board_jobs import board_plan
from dpsco_bench.claims.compose import plan_settings
from dpsco_bench.cli.claiming import JobCache, check_settings, extended
from dpsco_bench.errors import InputError
from dpsco_bench.execution.present import present_results


def asked_boards(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort the arguments of a verb into ids of boards (all where none is named) and settings.

    Raises
    ------
    InputError
        For an unknown board or setting.
    """
    known = board_ids()
    ids = []
    for name in (text for text in arguments if "=" not in text):
        id = name if name.startswith(PREFIX) else PREFIX + name
        if id not in known:
            raise InputError("leaderboard", name, "one of " + ", ".join(known))
        ids.append(id)
    settings = check_settings(extended([text for text in arguments if "=" in text], "plugins", plugins))
    return list(dict.fromkeys(ids)) or known, settings


def board_entries(ids: Sequence[str], profile: str, overrides: Sequence[str]) -> list[dict[str, Any]]:
    """Plan entries of boards."""
    settings = plan_settings(profile, overrides)
    return [board_plan(load_board(id), profile, settings) for id in ids]


def run_board(entry: Mapping[str, Any], cache: JobCache) -> list[dict[str, Any]]:
    """Calibrate, run and rank one board.

    Parameters
    ----------
    entry : mapping
        Its entry of a plan.
    cache : JobCache
        Where finished jobs are kept.

    Returns
    -------
    list of dict
        See `analysis.standings.standings`.
    """
    entry = present_results(entry, cache.calibrations_path, cache.table_path)
    return standings(entry, cache.load)
