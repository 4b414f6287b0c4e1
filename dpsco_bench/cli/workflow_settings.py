"""What ``snakemake --config`` takes, and where Snakemake can work: checked before it begins, in one line each."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsco_bench.backend.namespace import BACKENDS
from dpsco_bench.claims.grids import PROFILES
from dpsco_bench.cli.main import failed_file
from dpsco_bench.cli.overrides import file_list
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.plain import Plain

_CORES = re.compile(r"(?:^|\s)(--cores|--jobs|-c|-j)[ =]?([+-]?\d+)(?=\s|$)")
LISTING = ("--list", "-l", "--lt", "--lint")
"""Options of Snakemake, or how they begin, with which it only reads the rules."""


@contextmanager
def one_line() -> Iterator[None]:
    """Turn a user's error into one line and exit code 2, without Snakemake's traceback."""
    try:
        yield
    except DpscoError as error:
        print(f"dpsco: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"dpsco: {failed_file(error)}", file=sys.stderr)
        sys.exit(2)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    return all(map(_is_text, value)) if isinstance(value, list) else _is_text(value)


CONFIG: dict[str, tuple[Callable[[Any], bool], str]] = {
    "profile": (lambda value: value in PROFILES, "one of " + ", ".join(PROFILES)),
    "data_root": (_is_text, "a folder (the one that contains covertype/)"),
    "backend": (lambda value: value in BACKENDS, "one of " + ", ".join(BACKENDS)),
    "overrides": (
        lambda value: value == "" or _are_texts(value),
        "Hydra overrides of conf/plan.yaml, a string or list of KEY=VALUE",
    ),
    "plugins": (_are_texts, "a Python file or a list of them, with one's own algorithms, problems and bounds"),
    "claims": (_are_texts, "a YAML file or a list of them, with one's own claims"),
    "boards": (_are_texts, "a YAML file or a list of them, with one's own leaderboards"),
}
"""What ``snakemake --config KEY=VALUE`` takes: key -> whether it takes a value, and what it takes in words."""


@dataclass(frozen=True)
class Configuration:
    """What ``--config`` says; empty where it says nothing."""

    profile: str = "ci"
    data_root: str = ""
    backend: str = ""
    overrides: str | Sequence[str] = ()
    plugins: str | Sequence[str] = ()
    claims: str | Sequence[str] = ()
    boards: str | Sequence[str] = ()


def check_config(config: Plain) -> Configuration:
    """Check ``--config``.

    Raises
    ------
    InputError
        Naming the first bad key, its value and what is allowed.
    """
    for key, value in config.items():
        if key not in CONFIG:
            raise InputError("--config", key, nearest(key, CONFIG))
        takes, allowed = CONFIG[key]
        if not takes(value):
            raise InputError(key, value, allowed, "--config")
    return Configuration(**config)


def config_overrides(settings: Configuration) -> list[str]:
    """Hydra overrides that the configuration asks for."""
    overrides = settings.overrides
    try:
        result = shlex.split(overrides) if isinstance(overrides, str) else list(overrides)
    except ValueError as error:
        raise InputError("overrides", overrides, f"KEY=VALUE ... ({str(error).lower()})", "--config") from None
    if settings.backend:
        if settings.backend == "cupy" and find_spec("cupy") is None:
            allowed = "numpy here: CuPy is not installed (extra cuda12 or cuda13)"
            raise InputError("backend", "cupy", allowed, "--config")
        result.append(f"backend={settings.backend}")
    for key in ("plugins", "claims", "boards"):
        given: str | Sequence[str] = getattr(settings, key)
        if given:
            result.append(file_list(key, [given] if isinstance(given, str) else list(given)))
    if settings.data_root:
        if not Path(settings.data_root).is_dir():
            raise InputError("data_root", settings.data_root, "an existing folder", "--config")
        result.append("data.root='" + settings.data_root.replace("'", "\\'") + "'")
    keys = [text.partition("=")[0] for text in result]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError("overrides", key, "given once", "--config")
    return result


def check_cores(arguments: Sequence[str]) -> None:
    """Refuse a number of cores below 1, with which Snakemake waits for ever; what is no number it refuses itself.

    Raises
    ------
    InputError
        Naming the option.
    """
    text = " ".join(itertools.takewhile(lambda word: word != "--", arguments))
    for option, number in _CORES.findall(text):
        if int(number) < 1:
            raise InputError(option, number, "an integer >= 1, or all")


def check_folder(arguments: Sequence[str]) -> None:
    """Refuse a working folder in which Snakemake cannot keep its notes: by itself it ends in a traceback.

    Raises
    ------
    InputError
        Naming the folder; not where nothing but rules is listed, which needs no notes.
    """
    if not any(word.startswith(LISTING) for word in arguments):
        check_writable(Path(".snakemake").resolve())


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made."""
    if not is_writable(folder):
        there = next(place for place in (folder, *folder.parents) if place.exists())
        named = there.resolve() if there == Path() else there  # "." says nothing to who started it elsewhere
        raise InputError("folder", str(named), "a folder that can be written to")


def is_writable(path: Path) -> bool:
    there = next(place for place in (path, *path.parents) if place.exists())
    return os.access(there, os.W_OK | (os.X_OK if there.is_dir() else 0))
