"""Content-addressed cache of solved values: one small JSON file per call, shared by any number of processes."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpsco_bench import jsonio
from dpsco_bench.errors import InputError

_ACCOUNTANTS = Path(__file__).resolve().parent


def cached(function: Callable[..., Any], cache_dir: str | Path | None, **arguments: Any) -> Any:
    """``function(**arguments)``, read from a file if the same call of the same code was made before.

    Returns the function's result as it comes back from JSON.

    Parameters
    ----------
    function : callable
        A pure function of this package; its result must survive JSON (numbers, strings, lists, dicts; not NaN).
    cache_dir : path-like or None, directory of the cache, made where missing; None computes without one

    Notes
    -----
    Files are written whole or not at all, so that processes need no lock: at worst two of them compute the same value.
    A file that is damaged, or that answers another request, is computed anew.
    """
    request = {
        "function": f"{function.__module__}.{function.__qualname__}",
        "arguments": arguments,
        "dp-accounting": _library_version(),
        "code": _code_digest(inspect.getsourcefile(function)),
    }
    if cache_dir is None:
        return function(**arguments)
    text = jsonio.dumps_canonical(request)
    path = Path(cache_dir) / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
    known = _read(path)
    if known is None or jsonio.dumps_canonical(known["request"]) != text:
        jsonio.write_atomic(path, jsonio.dumps_pretty({"request": request, "value": function(**arguments)}))
        known = _read(path)
    return known["value"] if known is not None else function(**arguments)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        entry = jsonio.loads(path.read_text(encoding="utf-8"))
    except (OSError, InputError, UnicodeDecodeError):
        return None
    return entry if isinstance(entry, dict) and {"request", "value"} <= entry.keys() else None


@cache
def _code_digest(source: str | None) -> str:
    """Digest of the function's file and of all accountants."""
    digest = hashlib.sha256()
    for path in [*sorted(_ACCOUNTANTS.glob("*.py")), *([Path(source)] if source else [])]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def _library_version() -> str:
    try:
        return version("dp-accounting")
    except PackageNotFoundError:
        return "absent"
