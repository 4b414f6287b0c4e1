"""Configuration files as plain values. They are read as Hydra reads them: by OmegaConf, and by nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import kept_beside


def read_yaml(path: Path, key: str = "file") -> Any:
    """Parse a YAML file.

    Returns a list or dict with interpolations resolved. Raises InputError if it is no YAML file.
    """
    from omegaconf import OmegaConf

    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    except Exception as error:  # the parser's own errors have no name in OmegaConf
        raise InputError(key, str(path), "a YAML file", " ".join(str(error).split())) from error


def read_shipped(path: Path) -> Any:
    """Parse a file of the configuration tree, once: reading a hundred claims takes OmegaConf two seconds."""
    return kept_beside(path, ".json", lambda _: read_yaml(path))
