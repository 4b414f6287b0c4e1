"""Numba's cache on disk, checked: compiled code of this package is loaded only where its file has its own digest.

Numba trusts what it finds. A digest is the end of the file that it is of, which Numba's reader never looks at: both are
written at once, whatever other processes write. Files are called otherwise than Numba's own, so that a cache without
digests is never read.
"""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

from numba.core import caching

OURS, MARK = "dpsco_bench.", ".checked"
DIGEST = hashlib.sha256().digest_size


class CheckedFile(caching.IndexDataCacheFile):
    """Numba's index of a function and its data files, with a digest at the end of each."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        whole = io.BytesIO()
        yield whole
        with super()._open_for_write(filepath) as file:
            file.write(whole.getvalue() + hashlib.sha256(whole.getvalue()).digest())

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _is_whole(Path(self._data_path(name))) else None


def guard() -> None:
    """Make caches of this package's functions read and write checked files, also of those decorated before."""
    for name in ("_load_overload", "_save_overload"):
        method = getattr(caching.Cache, name)
        if not hasattr(method, "__wrapped__"):
            setattr(caching.Cache, name, _guarded(method))


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of Numba's cache, to give the cache its checked file first."""

    @wraps(method)
    def guarded(self: Any, *args: Any) -> Any:
        plain = self._cache_file
        ours = any(module.startswith(OURS) for module in (self._py_func.__module__, type(self).__module__))
        if ours and not isinstance(plain, CheckedFile):
            base = plain._index_name.removesuffix(".nbi") + MARK
            self._cache_file = CheckedFile(plain._cache_path, base, plain._source_stamp)
        return method(self, *args)

    return guarded


def _is_whole(path: Path) -> bool:
    """Check that a file ends with its digest; name it in one line and remove it if not. Numba handles missing ones."""
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return True
    if hashlib.sha256(found[:-DIGEST]).digest() == found[-DIGEST:]:
        return True
    with suppress(OSError):
        path.unlink()
    print(f"dpsco: {path} is damaged (not its digest): removed, to be compiled anew", file=sys.stderr, flush=True)
    return False
