"""One's own algorithms and problems: Python files whose decorators register them."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.own_code import PLUGIN, check_registered, own_line, registered


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file once per process.

    Parameters
    ----------
    paths : iterable of path-like
        Python files that use ``@algorithm`` and ``@problem``.

    Raises
    ------
    DpscoError
        For a path that is not a Python file, a file that cannot be imported, or something registered that cannot be
        used; naming the file.
    """
    for path in paths:
        if not isinstance(path, str | Path) or Path(path).suffix != ".py" or not Path(path).is_file():
            raise InputError("plugins", path, "a list of existing Python files (.py)")
        _load(Path(path).resolve())


def _load(path: Path) -> None:
    # The digest keeps two files of the same name apart.
    name = f"{PLUGIN}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before = registered()
    try:
        spec.loader.exec_module(module)
        check_registered(before)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, DpscoError):
            line = own_line(error, str(path))
            raise DpscoError(f"{path.name}{f', line {line}' if line else ''}: {error}") from error
        if isinstance(error, Exception | SystemExit):
            line = None if isinstance(error, SyntaxError) else own_line(error, str(path))  # that one says it itself
            reason = f"{type(error).__name__}: {error}" + (f", line {line}" if line else "")
            raise InputError("plugins", str(path), "a Python file that can be imported", reason) from error
        raise
