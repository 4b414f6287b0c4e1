"""Location of the configuration tree: beside a checkout, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def shared_dir(name: str) -> Path:
    """Find a folder that ships with the project (``conf``, ``workflows``). Raises InputError if neither has it."""
    for folder in (_PACKAGE.parent / name, _PACKAGE / "_share" / name):
        if folder.is_dir():
            return folder
    raise InputError(name, str(_PACKAGE.parent), f"a project folder that contains {name}")


def documents() -> dict[str, Path]:
    """Pages of the documentation by name."""
    return {path.stem: path for path in sorted(shared_dir("docs").glob("*.md"))}


def conf_dir() -> Path:
    return shared_dir("conf")
