"""Configuration files as plain values. They are read as Hydra reads them: by OmegaConf, and by nothing else."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import write_atomic


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
    """Parse a file of the configuration tree, once: reading a hundred claims takes OmegaConf two seconds.

    What came out is kept in the ``__pycache__`` beside the file, as Python keeps its modules, with a digest of both.
    """
    content = path.read_bytes()
    kept = path.parent / "__pycache__" / f"{path.stem}.json"
    with suppress(OSError, ValueError):
        digest, _, body = kept.read_text(encoding="utf-8").partition("\n")
        if digest == _digest(content, body):
            return json.loads(body)
    value = read_yaml(path)
    body = json.dumps(value, ensure_ascii=False)
    if json.loads(body) != value:  # keys that are no text
        return value
    with suppress(OSError):  # a read-only installation parses each time
        kept.parent.mkdir(exist_ok=True)
        write_atomic(kept, f"{_digest(content, body)}\n{body}")
    return value


def _digest(content: bytes, body: str) -> str:
    return hashlib.sha256(hashlib.sha256(content).digest() + body.encode()).hexdigest()
