"""Configuration files as plain values. They are read as Hydra reads them: by OmegaConf, and by nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import kept_beside

LONGEST_REASON = 300


def read_yaml(path: Path, key: str = "file") -> Any:
    """Parse a YAML file.

    Returns a list or dict with interpolations resolved. Raises InputError if it is no YAML file.
    """
    from omegaconf import OmegaConf

    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    except Exception as error:  # the parser's own errors have no name in OmegaConf
        raise InputError(key, str(path), "a YAML file", _shown(error)) from error


def _shown(error: Exception) -> str:
    """Put an error into one line that is not long."""
    reason = " ".join(str(error).split())
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + " ..."


def read_shipped(path: Path) -> Any:
    """Parse a file of the configuration tree, once: reading a hundred claims takes OmegaConf two seconds.

    Raises InputError for a file that cannot be read.
    """
    try:
        return kept_beside(path, ".json", lambda _: read_yaml(path))
    except OSError as error:
        raise InputError("file", str(path), "a YAML file that can be read", _shown(error)) from error
