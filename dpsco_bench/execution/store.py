"""The content-addressed store: results by the digest of all that affects them, checked when they are read.

One store serves every profile, the workflow and the verbs. Beside each item lies a manifest with the digest of its
bytes and what its cells cost. A damaged item is named in one line and counts as absent: whoever needs it makes it anew.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.errors import DpscoError
from dpsco_bench.jsonio import dumps_canonical, unsealed, write_atomic
from dpsco_bench.plain import Plain, Record

if TYPE_CHECKING:
    from filelock import FileLock

SUFFIXES = {"calibrations": ".json", "runs": ".parquet", "pieces": ".parquet", "timings": ".json", "stages": ".json"}
"""Kinds of items and what their files are called."""
_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_NAMED: set[Path] = set()
"""Damaged files that this process has named."""
COMPILING = "compiling, once"


@dataclass(frozen=True)
class Cost(Record):
    """Cost of a cell: CPU seconds without compiling, and the most memory of the process meanwhile, in MB.

    Cells that are run at once share the seconds equally.
    """

    cell: int
    cpu_s: float
    peak_mb: float


class Meter:
    """Collects costs."""

    def __init__(self) -> None:
        self.costs: list[Cost] = []

    @contextmanager
    def measure(self, cells: Sequence[int]) -> Iterator[None]:
        """Charge the work done inside to cells, which share it equally."""
        with suppress(OSError):
            _RESET.write_text("5")  # Linux: the peak starts anew
        begun, compiled = time.process_time(), compiled_seconds()
        yield
        spent = time.process_time() - begun - (compiled_seconds() - compiled)
        seconds, peak = spent / len(cells), _peak_mb()
        self.costs += [Cost(cell, seconds, peak) for cell in cells]


def _peak_mb() -> float:
    """Most memory of this process so far, or since the last reset."""
    try:
        line = next(line for line in _PEAK.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024.0
    except (OSError, StopIteration):
        import resource

        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def merged(costs: Iterable[Cost]) -> list[Cost]:
    """Merge costs to one a cell: seconds add up, peaks do not."""
    found: dict[int, Cost] = {}
    for cost in costs:
        known = found.get(cost.cell, Cost(cost.cell, 0.0, 0.0))
        found[cost.cell] = Cost(cost.cell, known.cpu_s + cost.cpu_s, max(known.peak_mb, cost.peak_mb))
    return [found[cell] for cell in sorted(found)]


def damaged(path: Path, why: object) -> None:
    """Name a damaged file once, in one line on stderr."""
    if path not in _NAMED:
        _NAMED.add(path)
        print(f"dpsco: {path} is damaged ({why}): it counts as absent", file=sys.stderr, flush=True)


def read_sealed(path: Path) -> Plain | None:
    """Read a sealed file, infinities still strings; None where it is absent, or damaged, which is then told."""
    try:
        return unsealed(path.read_bytes())
    except FileNotFoundError:
        pass
    except ValueError as error:
        damaged(path, error)
    return None


@dataclass(frozen=True)
class Store:
    """Items of a folder by kind and key; it is safe to delete."""

    root: Path

    def path(self, kind: str, key: str) -> Path:
        return self.root / kind / f"{key}{SUFFIXES[kind]}"

    def manifest(self, kind: str, key: str) -> Path:
        """Path of an item's manifest; an item without one does not count."""
        return self.root / kind / f"{key}.manifest"

    def _described(self, kind: str, key: str) -> Plain:
        """Read the manifest of an item; empty where it is absent or damaged."""
        path = self.manifest(kind, key)
        try:
            found = json.loads(path.read_bytes())
            return {"content": found["content"], "cells": [Cost.from_json(cell) for cell in found["cells"]]}
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError) as error:
            damaged(path, error)
        return {}

    def read(self, kind: str, key: str) -> bytes | None:
        """Read an item; None where it is absent or damaged."""
        manifest, path = self._described(kind, key), self.path(kind, key)
        try:
            content = path.read_bytes() if manifest else None
        except FileNotFoundError:
            return None
        if content is not None and hashlib.sha256(content).hexdigest() != manifest["content"]:
            damaged(path, "its digest is not that of its manifest")
            return None
        return content

    def has(self, kind: str, key: str) -> bool:
        return self.read(kind, key) is not None

    def costs(self, kind: str, key: str) -> list[Cost]:
        """Read the costs of an item's cells; none if it is absent."""
        return list(self._described(kind, key).get("cells", ()))

    def write(self, kind: str, key: str, content: str | bytes, costs: Collection[Cost] = ()) -> None:
        """Add or replace an item; it counts once its manifest is there, which comes last."""
        data, manifest = content.encode() if isinstance(content, str) else content, self.manifest(kind, key)
        cells = [Cost(cost.cell, round(cost.cpu_s, 4), round(cost.peak_mb, 1)) for cost in merged(costs)]
        manifest.unlink(missing_ok=True)
        write_atomic(self.path(kind, key), data)
        write_atomic(manifest, dumps_canonical({"content": hashlib.sha256(data).hexdigest(), "cells": cells}))
        _NAMED.difference_update((manifest, self.path(kind, key)))

    def remove(self, kind: str, key: str) -> None:
        self.manifest(kind, key).unlink(missing_ok=True)
        self.path(kind, key).unlink(missing_ok=True)

    @contextmanager
    def lock(self, kind: str, key: str) -> Iterator[None]:
        """Hold while an item is made, so that no two processes make the same one. The lock's file goes with it."""
        from filelock import FileLock

        path = self.root / "locks" / f"{kind}.{key}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path):
            try:
                yield
            finally:
                path.unlink(missing_ok=True)  # who waits for it opens a new one

    def files(self) -> Iterator[tuple[str, str, Path]]:
        """(kind, key, path) of every file of the store."""
        for path in sorted(self.root.glob("*/*")):
            if path.is_file():
                yield path.parent.name, path.name.rsplit(".", 1)[0], path


def take(path: Path) -> FileLock:
    """Take the lock of some results until `release` or the end of the process.

    Raises DpscoError at once if another process holds it.
    """
    from filelock import FileLock, Timeout  # it loads asyncio, and most verbs lock nothing

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DpscoError(f"{path.parent} is in use by another run: wait for it to end, or stop it") from None
    return lock


class CompileClock:
    """Seconds in which this process compiles; what is compiled for the sake of something else is counted once.

    The first of ``noted`` gets the seconds so far, the second the clock's time since when it compiles, NaN while it
    does not; another process may read along.
    """

    def __init__(self, clock: Callable[[], float], noted: MutableSequence[float] | None = None) -> None:
        self._clock, self._depth = clock, 0
        self.noted: MutableSequence[float] = [0.0, math.nan] if noted is None else noted

    def begin(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self.noted[1] = self._clock()

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            since, self.noted[1] = self.noted[1], math.nan
            self.noted[0] += self._clock() - since

    def listen(self) -> CompileClock:
        """Begin and end with Numba's compiler from now on; without Numba nothing compiles."""
        try:
            from numba.core import event
        except ImportError:
            return self
        events = {"on_start": lambda *_: self.begin(), "on_end": lambda *_: self.end()}
        event.register("numba:compile", type("Listener", (event.Listener,), events)())  # to read its cache is none
        return self


@cache
def listen() -> CompileClock:
    """Have `compiled_seconds` count in this process; Numba is loaded for it."""
    return CompileClock(time.process_time).listen()


def compiled_seconds() -> float:
    """CPU seconds that this process has compiled since `listen`, or since Numba was there when this was asked."""
    if "numba" not in sys.modules:
        return 0.0
    # Two threads that import Numba at once can wait for each other for ever: only the main one may be the first.
    listening = threading.current_thread() is threading.main_thread() or listen.cache_info().currsize
    return listen().noted[0] if listening else 0.0
