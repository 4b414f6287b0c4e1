"""One's own algorithms and problems: Python files whose decorators register them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from dpsco_bench.errors import InputError


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file once per process.

    Parameters
    ----------
    paths : iterable of path-like
        Python files that use ``@algorithm`` and ``@problem``.

    Raises
    ------
    InputError
        For a path that is not a Python file.
    """
    for path in paths:
        if not isinstance(path, str | Path) or Path(path).suffix != ".py" or not Path(path).is_file():
            raise InputError("plugins", path, "a list of existing Python files (.py)")
        _load(Path(path).resolve())


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
    except BaseException:
        del sys.modules[name]
        raise
