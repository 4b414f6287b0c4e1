"""One's own algorithms and problems: Python files whose decorators register them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpsco_bench.errors import DpscoError, InputError


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file once per process.

    Parameters
    ----------
    paths : iterable of path-like
        Python files that use ``@algorithm`` and ``@problem``.

    Raises
    ------
    InputError
        For a path that is not a Python file, or a file that cannot be imported.
    """
    for path in paths:
        if not isinstance(path, str | Path) or Path(path).suffix != ".py" or not Path(path).is_file():
            raise InputError("plugins", path, "a list of existing Python files (.py)")
        _load(Path(path).resolve())


def job_plugins(jobs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The files that any of these jobs of a plan needs, each once."""
    return list(dict.fromkeys(path for job in jobs for path in job["plugins"]))


def _load(path: Path) -> None:
    # The digest keeps two files of the same name apart.
    name = f"dpsco_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception) and not isinstance(error, DpscoError):
            reason = f"{type(error).__name__}: {error}{_line(error, path)}"
            raise InputError("plugins", str(path), "a Python file that can be imported", reason) from error
        raise


def _line(error: Exception, path: Path) -> str:
    """Where in the file an error arose."""
    if isinstance(error, SyntaxError):
        return ""  # says it itself
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""
