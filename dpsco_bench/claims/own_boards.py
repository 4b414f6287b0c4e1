"""Leaderboards in files of one's own: those of ``conf/leaderboard``, with less to say where all is alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpsco_bench.claims.board import PREFIX, Board, board_ids, load_board, parse_board
from dpsco_bench.claims.choice import contestants
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.model import PROFILES
from dpsco_bench.errors import DpscoError, InputError, checked_count
from dpsco_bench.plain import Plain

SUFFIXES = (".yaml", ".yml")
EVERY = "all"
"""In place of the methods: every one that is registered, with the settings of the boards that ship."""
BY_PROFILE = ("grids", "replicates", "data_sets", "most_seconds", "most_seconds_at_smallest_n", "quadratic_to")
"""Keys whose values are one for each profile; a value alone is that of all profiles."""
USUAL = {"replicates": 16, "data_sets": 1, "most_seconds": 60.0}
"""What these are where a file does not say it."""


def is_board_file(text: str) -> bool:
    """Whether an argument of a verb means a file."""
    return text.endswith(SUFFIXES)


def own_boards(files: Sequence[str | Path]) -> dict[str, Board]:
    """Boards in a user's own files, by id: ``leaderboard.<name of the file>``, unless the file has an ``id``.

    Raises InputError for something that is no such file, an id that is taken, or as `parse_board`.
    """
    found: dict[str, Board] = {}
    for file in files:
        if not isinstance(file, str | Path) or not is_board_file(str(file)) or not Path(file).is_file():
            raise InputError("boards", file, "a list of existing YAML files (.yaml)")
        try:
            board = parse_board(_located(complete(read_yaml(Path(file), "boards"), Path(file).stem), Path(file).parent))
            _check_numbers(board)
        except DpscoError as error:
            if str(file) in str(error):
                raise  # an error that is its own cause has no end
            raise DpscoError(f"{file}: {error}") from error
        if board.id in (*board_ids(), *found):
            raise InputError(f"id in {file}", board.id, "one that no other leaderboard has")
        found[board.id] = board
    return found


def _located(values: Any, folder: Path) -> Any:
    """With the data files of its instances found beside the board, where they do not lie in the working directory."""
    instances = values.get("instances")
    for instance in instances if isinstance(instances, list) else ():
        options = instance.get("problem_options") if isinstance(instance, Mapping) else None
        if not isinstance(options, Mapping):
            continue
        path = options.get("path")
        if isinstance(path, str) and not Path(path).is_file() and (folder / path).is_file():
            instance["problem_options"] = {**options, "path": str(folder / path)}
    return values


@contextmanager
def naming_file(id: str, files: Sequence[str | Path]) -> Iterator[None]:
    """Name the file of one's own board in an error that arises from its plan; other boards have none."""
    try:
        yield
    except DpscoError as error:
        file = next((str(file) for file in files if id in own_boards([file])), "")
        if file in str(error):
            raise
        raise DpscoError(f"{file}: {error}") from error


def _check_numbers(board: Board) -> None:
    """Refuse numbers out of range, which boards of the house have been tested not to have.

    Raises InputError naming the board, the key, its value and what is allowed.
    """
    if not 0 < board.delta < 1:
        raise InputError(f"{board.id}: delta", board.delta, "in (0, 1)")
    for key in ("replicates", "data_sets"):
        for number in getattr(board, key).values():
            checked_count(f"{board.id}: {key}", number)
    for key in ("most_seconds", "most_seconds_at_smallest_n"):
        for number in getattr(board, key).values():
            if not number > 0:
                raise InputError(f"{board.id}: {key}", number, "a number > 0")
    for instance in board.instances:
        grids = dict.fromkeys((*board.grids, *instance.grids))
        blocks = [block for profile in grids for block in board.blocks(instance, profile)]
        for key in ("n", "d"):
            for number in (number for block in blocks for number in block.get(key, [])):
                checked_count(f"{board.id}, {instance.id}, grid: {key}", number)


def all_boards(files: Sequence[str | Path]) -> dict[str, Board]:
    """The boards that ship, and those of one's own."""
    return {**{id: load_board(id) for id in board_ids()}, **own_boards(files)}


def complete(entry: Any, name: str) -> Plain:
    """The content of a file with what it leaves out.

    Parameters
    ----------
    entry : mapping
        As the file has it.
    name : str
        What the board is called where the file does not say it.
    """
    if not isinstance(entry, Mapping):
        raise InputError("leaderboard", entry, "a mapping of keys to values")
    id = str(entry.get("id", name))
    id = id if id.startswith(PREFIX) else PREFIX + id
    if not re.fullmatch(r"leaderboard\.[\w-]+", id):
        raise InputError("id", id, "letters, digits, - and _")
    values = {**USUAL, "title": id.removeprefix(PREFIX).replace("_", " "), **entry, "id": id}
    values.setdefault("most_seconds_at_smallest_n", values["most_seconds"])
    if values.get("methods") == EVERY:
        values["methods"] = [asdict(method) for method in contestants()]
    if isinstance(values.get("instances"), list):
        values["instances"] = [_instance(instance) for instance in values["instances"]]
    return {key: _by_profile(value) if key in BY_PROFILE else value for key, value in values.items()}


def _instance(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    values = {"title": str(entry.get("id", "")), **entry}
    return {**values, "grids": _by_profile(values["grids"])} if "grids" in values else values


def _by_profile(value: Any) -> Any:
    return value if isinstance(value, Mapping) else dict.fromkeys(PROFILES, value)
