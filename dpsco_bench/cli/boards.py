"""A leaderboard from its file to its standings in one process; finished jobs are kept, so that it resumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsco_bench.analysis.ranking import Skipped, Standing
from dpsco_bench.analysis.standings import standings
from dpsco_bench.claims.board import PREFIX
from dpsco_bench.claims.board_jobs import board_plan
from dpsco_bench.claims.compose import plan_settings
from dpsco_bench.claims.own_boards import all_boards, is_board_file, naming_file, own_boards
from dpsco_bench.claims.plan import BoardEntry, LeftOut
from dpsco_bench.cli.claiming import check_settings, measure, say
from dpsco_bench.cli.overrides import extended, listed_by
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job


def asked_boards(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort the arguments of a verb into ids of boards (all where none is named) and settings.

    Raises InputError for an unknown board or setting.

    Parameters
    ----------
    arguments : sequence of str, ids, files of one's own boards (``.yaml``), and settings ``key=value``
    """
    files = [text for text in arguments if is_board_file(text) and "=" not in text]
    settings = extended([text for text in arguments if "=" in text], "plugins", plugins)
    check_settings(settings)  # plugins come first: boards may name what they register
    settings = check_settings(extended(settings, "boards", files))
    known = list(all_boards(listed_by(settings, "boards")))
    ids: list[str] = []
    for name in (text for text in arguments if "=" not in text):
        id = name if name.startswith(PREFIX) else PREFIX + name
        if name in files:
            ids += own_boards([name])
        elif id in known:
            ids.append(id)
        else:
            raise InputError("leaderboard", name, nearest(name, known))
    return list(dict.fromkeys(ids)) or known, settings


def board_entries(ids: Sequence[str], profile: str, overrides: Sequence[str]) -> list[BoardEntry]:
    """Plan entries of boards.

    Raises InputError for one that has no points in the profile, or asks for what is not there.
    """
    settings = plan_settings(profile, overrides)
    boards = all_boards(settings.boards)
    for id in ids:
        if not any(boards[id].points(instance, profile) for instance in boards[id].instances):
            raise InputError("profile", profile, f"one in whose grids {id} has points: {', '.join(boards[id].grids)}")
    entries = []
    for id in ids:
        with naming_file(id, settings.boards):
            entries.append(board_plan(boards[id], profile, settings))
    return entries


def run_board(entry: BoardEntry, measured: Measured) -> list[Standing | Skipped]:
    """Calibrate, run and rank one board; a method that fails is told on stderr, left out, and ends no other.

    Returns what `analysis.standings.standings` gives.

    Raises
    ------
    DpscoError
        As the first method fails, where all do.
    """
    failed: list[tuple[Job, DpscoError]] = []

    def lost(job: Job, error: DpscoError) -> None:
        say(f"{job.title}: failed: {error}")
        failed.append((job, error))

    entry = measure(entry, measured, lost)
    errors = {job.key: error for job, error in reversed(failed)}  # jobs with one key are made once
    jobs = tuple(job for job in entry.jobs if job.key not in errors)
    if failed and not jobs:
        raise failed[0][1]
    gone = (job for job in entry.jobs if job.key in errors)
    left_out = (*entry.left_out, *(item for job in gone for item in _failed(job, errors[job.key])))
    return standings(replace(entry, jobs=jobs, left_out=left_out), measured.load)


def _failed(job: Job, error: DpscoError) -> Iterator[LeftOut]:
    """Every cell of a job that failed, each method at a point once."""
    reason, seen = " ".join(str(error).split()), set()
    for cell in job.cells:
        instance, _, method = cell.method.partition("/")
        if (method, cell.value) not in seen:  # of a grid of signals each is a cell
            seen.add((method, cell.value))
            yield LeftOut(
                instance, method, cell.algorithm, cell.n, cell.d, cell.epsilon, float(cell.value), "failed", reason
            )
