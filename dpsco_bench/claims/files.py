"""Configuration files as plain values. They are read as Hydra reads them: by OmegaConf, and by nothing else."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import kept_beside

MOST_VALUES = 100_000
MOST_BYTES = 4_000_000
MOST_REFERENCES = 20
"""Largest file that is read: as it is written, and with what references between its values repeat."""
LONGEST_REASON = 300
RESOLVER = re.compile(r"\$\{[^{}:]*:")
"""A reference to a function, such as of an environment variable, and not to another value of the file."""


def read_yaml(path: Path, key: str = "file") -> Any:
    """Parse a YAML file.

    Returns a list or dict with interpolations resolved. Raises InputError if it is no YAML file.
    """
    from omegaconf import OmegaConf

    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(key, str(path), f"a file of at most {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        if not _is_small(text):
            raise InputError(key, str(path), f"a file of at most {MOST_VALUES} values, with what its aliases repeat")
        read = OmegaConf.load(path)
        if text.count("${") > MOST_REFERENCES:
            raise InputError(key, str(path), f"a file with at most {MOST_REFERENCES} references ${{...}}")
        if found := RESOLVER.search(text):  # which names are known depends on what else has run
            raise InputError(key, str(path), f"a YAML file whose references name its own keys, not {found[0]}...}}")
        return OmegaConf.to_container(read, resolve=True)
    except InputError:
        raise
    except Exception as error:  # the parser's own errors have no name in OmegaConf
        raise InputError(key, str(path), "a YAML file", _shown(error)) from error


def _shown(error: Exception) -> str:
    """What an error says, in one line that is not long."""
    reason = " ".join(str(error).split())
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + " ..."


def _is_small(text: str) -> bool:
    """Whether the text stands for at most `MOST_VALUES` values: a few lines of aliases to aliases stand for billions.

    One that contains itself stands for no end of them. Aliases are read without what they stand for.
    """
    if "*" not in text and len(text) <= MOST_VALUES:  # as most files are
        return True
    from omegaconf._utils import get_yaml_loader  # PyYAML is no dependency of its own

    loader = get_yaml_loader()(text)
    try:
        root, sizes = loader.get_single_node(), dict[int, float]()
        return root is None or _size(root, sizes) <= MOST_VALUES
    finally:
        loader.dispose()


def _size(node: Any, sizes: dict[int, float]) -> float:
    """How many values a node of a YAML file stands for; infinite for one that contains itself."""
    if id(node) not in sizes:
        sizes[id(node)] = math.inf
        held = node.value if isinstance(node.value, list) else []
        nodes = [part for entry in held for part in (entry if isinstance(entry, tuple) else (entry,))]
        sizes[id(node)] = 1.0 + sum(_size(part, sizes) for part in nodes)
    return sizes[id(node)]


def read_shipped(path: Path) -> Any:
    """Parse a file of the configuration tree, once: reading a hundred claims takes OmegaConf two seconds.

    Raises InputError for a file that cannot be read, or holds what JSON cannot.
    """
    try:
        return kept_beside(path, ".json", lambda _: read_yaml(path))
    except InputError:
        raise
    except Exception as error:  # the system's, or of bytes and of halves of characters
        raise InputError("file", str(path), "a YAML file of plain values that can be read", _shown(error)) from error
