"""The outline of a profile as data: what the Snakefile reads, and the state of the files that it was made from.

Nothing here loads a numerical library.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.paths import shared_dir
from dpsco_bench.plain import Plain, Record
from dpsco_bench.registry import paper_folders


@dataclass(frozen=True)
class Outlined(Record):
    """A claim or leaderboard.

    Attributes
    ----------
    digest, figure : str, digests of what its verdicts or standings, and its figures, are made from
    parts : mapping, parts that are jobs of their own -> digests of what they are measured by
    timed : str, digest of what is timed; empty if nothing is
    seconds : mapping, predicted CPU seconds by part; "" stands for the rest
    """

    title: str
    digest: str
    figure: str
    parts: Mapping[str, str] = field(default_factory=dict)
    timed: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outline(Record):
    """A profile: its claims and leaderboards by id, and the figures of papers that belong to no claim (``chapters``).

    ``made_from`` is the state of the files that it was made from, of which ``watched`` are the user's.
    """

    made_from: str
    watched: tuple[str, ...]
    claims: Mapping[str, Outlined]
    boards: Mapping[str, Outlined]
    chapters: tuple[str, ...]
    site: str


def state(config: Plain, watched: Iterable[str]) -> str:
    """Digest of the configuration, and of names, sizes and times of all files that a plan is made from."""
    folders = [Path(__file__).parents[1], *paper_folders().values(), Path(config.get("data_root", "data"))]
    folders += map(shared_dir, ("conf", "docs", "workflows", "requirements"))
    files = [*config.get("plugins", ()), *config.get("claims", ()), *config.get("boards", ()), *watched]
    found = sorted({line for place in (*folders, *map(Path, files)) for line in _stats(place)})
    return hashlib.sha256(dumps_canonical([config, found]).encode()).hexdigest()


def _stats(place: Path) -> Iterator[str]:
    files = [str(place)] if place.is_file() else []
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != "__pycache__"]
        files += [f"{folder}/{name}" for name in names]
    for file in files:
        found = os.stat(file)
        yield f"{file} {found.st_size} {found.st_mtime_ns}"


def read_outline(path: Path) -> Outline | None:
    """Read an outline; None where it is absent or of another form."""
    try:
        return Outline.from_json(loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, InputError, UnicodeDecodeError, TypeError):
        return None
