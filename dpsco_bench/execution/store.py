"""The content-addressed store: results by the digest of all that affects them, each checked whenever it is read.

One store serves every profile, the workflow and the verbs. Beside each item lies a manifest with its kind and key, the
digest of its bytes and what its cells cost. A damaged file, or an item in the place of another, is named in one line,
set aside, and made anew by whoever needs it; who only looks (`looking`) leaves it where it is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.compiling import compiled_seconds
from dpsco_bench.execution.lock import key_lock, looped
from dpsco_bench.jsonio import dumps_canonical, sealed, unsealed, write_atomic
from dpsco_bench.plain import Plain, Record

SUFFIXES = {"calibrations": ".json", "runs": ".parquet", "pieces": ".parquet", "timings": ".json"}
"""Kinds of items and what their files are called."""
MANIFEST, DAMAGED = ".manifest", ".damaged"
FOLDER, FILE = "a folder stands in its place", "a file stands in its place"
NO_FILE = "a pipe or a device stands in its place"
LOOP, NOWHERE = "a link to itself stands in its place", "a link to nothing stands in its place"
_SEEN: ContextVar[list[Path] | None] = ContextVar("seen", default=None)
_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Cost(Record):
    """What a cell cost.

    Attributes
    ----------
    cell : int
        Its number within the job.
    cpu_s : float
        CPU seconds without those of compiling; cells that are run at once share them equally.
    peak_mb : float
        Most memory of the process while it was at the cell, in MB.
    """

    cell: int
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True)
class Manifest(Record):
    """What lies beside an item.

    Attributes
    ----------
    content : str, sha256 of its bytes
    cells : tuple of Cost
    item : str, ``<kind>/<key>``; one that has none says nothing of its place
    """

    content: str
    cells: tuple[Cost, ...] = ()
    item: str = ""

    @classmethod
    def of(cls, kind: str, key: str, content: bytes, costs: Iterable[Cost]) -> Manifest:
        """Of an item that is to be written; costs are rounded."""
        cells = (Cost(c.cell, round(c.cpu_s, 4), round(c.peak_mb, 1)) for c in merged(costs))
        return cls(hashlib.sha256(content).hexdigest(), tuple(cells), f"{kind}/{key}")


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
    """One cost a cell: seconds add up, peaks do not."""
    found: dict[int, Cost] = {}
    for cost in costs:
        known = found.get(cost.cell, Cost(cost.cell, 0.0, 0.0))
        found[cost.cell] = Cost(cost.cell, known.cpu_s + cost.cpu_s, max(known.peak_mb, cost.peak_mb))
    return [found[cell] for cell in sorted(found)]


def total(costs: Collection[Cost]) -> tuple[float, float] | None:
    """CPU seconds in all and the largest peak in MB; None where nothing was measured."""
    return (sum(c.cpu_s for c in costs), max(c.peak_mb for c in costs)) if costs else None


@contextmanager
def looking() -> Iterator[list[Path]]:
    """Look at files without a change to any: damaged ones are named once, and listed here, but stay where they are."""
    seen: list[Path] = []
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def damaged(path: Path, why: object) -> None:
    """Name a damaged file in one line on stderr and set it aside; what it held is made anew when it is needed."""
    seen, what = _SEEN.get(), f"set aside as {path.name}{DAMAGED}, to be made anew"
    if seen is None:
        set_aside(path)
    elif path in seen:
        return
    else:
        seen.append(path)
        what = "to be set aside and made anew"
    print(f"dpsco: {path} is damaged ({why}): {what}", file=sys.stderr, flush=True)


def misplaced(path: Path) -> str:
    """What stands in the place of a file and is none: a folder, or what would keep its reader waiting; else empty."""
    if path.is_file() or not path.exists():
        return ""
    return FOLDER if path.is_dir() else NO_FILE


def is_misplaced(path: Path) -> bool:
    """Whether something else stands in the place of a file; it is `damaged`."""
    why = misplaced(path)
    if why:
        damaged(path, why)
    return bool(why)


def is_looped(path: Path) -> bool:
    """Whether a link on the way to a file leads to itself; it is `damaged`, a folder's with all that was below it."""
    link = looped(path)
    if link is not None:
        damaged(link, LOOP)
    return link is not None


def set_loops_aside(folder: Path, dead: bool = False) -> None:
    """Name each link to itself in a folder, or on the way to it, and set it aside.

    Parameters
    ----------
    dead : bool, whether also each link in the folder that leads to nothing
    """
    is_looped(folder)
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink() and not is_looped(path) and dead and not path.exists():
                damaged(path, NOWHERE)


def set_aside(path: Path) -> None:
    """Move a damaged file, or a folder in its place, out of the way, and the manifest of an item with it.

    What was set aside under that name before goes: no file can take a folder's name, nor a folder that of anything. A
    link to itself, or to nothing, may lead to what is made anew. So a text that says where it led stands for it.
    """
    for item in dict.fromkeys((path, path.with_suffix(MANIFEST))):
        if not item.exists() and not item.is_symlink():
            continue
        aside = item.with_name(item.name + DAMAGED)
        leads = os.readlink(item) if item.is_symlink() and not item.exists() else ""
        with suppress(FileNotFoundError):
            if aside.is_dir() and not aside.is_symlink():
                shutil.rmtree(aside)
            elif item.is_dir():
                aside.unlink(missing_ok=True)
            if leads:
                item.unlink()
                aside.unlink(missing_ok=True)
                aside.write_text(f"a link to {leads}\n", encoding="utf-8")
            else:
                item.replace(aside)


def read_sealed(path: Path) -> Plain | None:
    """A sealed file, infinities still strings; None where it is absent, or damaged and now set aside."""
    try:
        return None if is_misplaced(path) else unsealed(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        damaged(path, error)
        return None
    except OSError:
        if is_looped(path):
            return None
        raise


@dataclass(frozen=True)
class Store:
    """Items of a folder by kind and key.

    Parameters
    ----------
    root : Path
        ``results/store``; safe to delete.
    """

    root: Path

    def path(self, kind: str, key: str) -> Path:
        """Where an item lies."""
        return self.root / kind / f"{key}{SUFFIXES[kind]}"

    def manifest(self, kind: str, key: str) -> Path:
        """Where an item's manifest lies; an item without one does not count."""
        return self.root / kind / f"{key}{MANIFEST}"

    def _described(self, kind: str, key: str) -> Manifest | None:
        """The manifest of an item; None where it is absent, damaged, or that of another item and now set aside."""
        try:
            entry = read_sealed(self.manifest(kind, key))
            found = Manifest.from_json(entry) if entry else None
        except (DpscoError, TypeError, AttributeError) as error:  # of another form, with a right seal
            damaged(self.path(kind, key), f"its manifest: {error}")
            return None
        if found is None or not found.item:  # it says nothing of its place: made anew without a word
            return None
        if found.item != f"{kind}/{key}":
            damaged(self.path(kind, key), f"it is item {found.item} in a wrong place")
            return None
        return found

    def read(self, kind: str, key: str) -> bytes | None:
        """Content of an item; None where it is absent, or damaged or misplaced and now set aside."""
        manifest, path = self._described(kind, key), self.path(kind, key)
        try:
            content = path.read_bytes() if manifest and not is_misplaced(path) else None
        except FileNotFoundError:
            return None
        except OSError:
            if is_looped(path):
                return None
            raise
        if content is None or manifest is None:
            return None
        if hashlib.sha256(content).hexdigest() != manifest.content:
            damaged(path, "its digest is not that of its manifest")
            return None
        return content

    def has(self, kind: str, key: str) -> bool:
        """Whether an item is there, undamaged."""
        return self.read(kind, key) is not None

    def costs(self, kind: str, key: str) -> list[Cost]:
        """What the cells of an item cost; none where it is absent."""
        manifest = self._described(kind, key)
        return list(manifest.cells) if manifest else []

    def write(self, kind: str, key: str, content: str | bytes, costs: Collection[Cost] = ()) -> None:
        """Add or replace an item; it counts once its manifest is there, which comes last."""
        data = content.encode() if isinstance(content, str) else content
        manifest = self.manifest(kind, key)
        for path in (manifest, self.path(kind, key)):
            is_misplaced(path)
            is_looped(path)
        manifest.unlink(missing_ok=True)
        write_atomic(self.path(kind, key), data)
        write_atomic(manifest, sealed(dumps_canonical(Manifest.of(kind, key, data, costs))))

    def remove(self, kind: str, key: str) -> None:
        """Remove an item if it is there."""
        self.manifest(kind, key).unlink(missing_ok=True)
        self.path(kind, key).unlink(missing_ok=True)

    def lock(self, kind: str, key: str) -> AbstractContextManager[None]:
        """Held while an item is made, so that no two processes make the same one."""
        path = self.root / "locks" / f"{kind}.{key}"
        is_misplaced(path)
        is_looped(path)
        return key_lock(path)

    def files(self) -> Iterator[tuple[str, str, Path]]:
        """(kind, key, path) of every file of the store, and of folders that were set aside."""
        for path in sorted(self.root.glob("*/*")):
            if path.is_file() or path.name.endswith(DAMAGED):
                name = path.name.removesuffix(DAMAGED)
                kind, key = path.parent.name, name.rsplit(".", 1)[0]
                yield (kind, key, path)
