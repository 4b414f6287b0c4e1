"""Check what ``snakemake --config`` takes, and that Snakemake can work here: an error is one line."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpsco_bench.backend.namespace import BACKENDS
from dpsco_bench.claims.grids import PROFILES
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.plain import Plain

FILES = ("plugins", "claims", "boards")
"""Keys that take a file or a list of files."""


def _are_texts(value: Any) -> bool:
    return bool(value) and all(
        isinstance(text, str) and text for text in (value if isinstance(value, list) else [value])
    )


CONFIG: dict[str, tuple[Callable[[Any], bool], str]] = {
    "profile": (lambda value: value in PROFILES, "one of " + ", ".join(PROFILES)),
    "data_root": (
        lambda value: isinstance(value, str) and bool(value),
        "a folder (the one that contains covertype/)",
    ),
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


@contextmanager
def one_line() -> Iterator[None]:
    """Turn a user's error into one line and exit code 2, without Snakemake's traceback."""
    try:
        yield
    except (DpscoError, OSError) as error:
        print(f"dpsco: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


def check_config(config: Plain) -> Plain:
    """Check ``--config``, with files as lists.

    Raises InputError, naming the first bad key, its value and what is allowed.
    """
    for key, value in config.items():
        if key not in CONFIG:
            raise InputError("--config", key, nearest(key, CONFIG))
        takes, allowed = CONFIG[key]
        if not takes(value):
            raise InputError(key, value, allowed, "--config")
    if config.get("backend") == "cupy" and find_spec("cupy") is None:
        raise InputError("backend", "cupy", "numpy here: CuPy is not installed (extra cuda12 or cuda13)", "--config")
    if "data_root" in config and not Path(config["data_root"]).is_dir():
        raise InputError("data_root", config["data_root"], "an existing folder", "--config")
    lists = {key: [config[key]] if isinstance(config[key], str) else config[key] for key in FILES if key in config}
    return {"profile": "ci", **config, **lists}


def config_overrides(config: Plain) -> list[str]:
    """Hydra overrides that a checked configuration asks for."""
    from dpsco_bench.cli.overrides import file_list

    overrides = config.get("overrides", "")
    try:
        result = shlex.split(overrides) if isinstance(overrides, str) else list(overrides)
    except ValueError as error:
        raise InputError("overrides", overrides, f"KEY=VALUE ... ({str(error).lower()})", "--config") from None
    if "backend" in config:
        result.append(f"backend={config['backend']}")
    result += [file_list(key, config[key]) for key in FILES if key in config]
    if "data_root" in config:
        result.append("data.root='" + config["data_root"].replace("'", "\\'") + "'")
    keys = [text.partition("=")[0] for text in result]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError("overrides", key, "given once", "--config")
    return result


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        named = there.resolve() if there == Path() else there  # "." says nothing to who started it elsewhere
        raise InputError("folder", str(named), "a folder that can be written to")
