"""A data set that is distributed as some compressed text files, each held to the digest of its text."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.datasets import store
from dpsco_bench.errors import DataAbsent
from dpsco_bench.plain import Plain

OPENERS: Mapping[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open}


@dataclass(frozen=True)
class Table:
    """Records of a data set, the same wherever they come from.

    Attributes
    ----------
    features : ndarray of float64, shape (n, d), rows of Euclidean norm at most 1, whatever the other rows are
    labels : ndarray of float64, shape (n,), +1 and -1
    """

    features: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class Distribution:
    """A data set in files.

    Attributes
    ----------
    name : str
    folders : tuple of str, folders under the data root, in the order in which they are searched
    texts : tuple of (str, str), file names, all of them needed, and the sha256 of their decompressed texts
    remote_files : tuple of RemoteFile, an address for each
    parse : callable, the texts in that order to the table
    """

    name: str
    folders: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    remote_files: tuple[store.RemoteFile, ...]
    parse: Callable[..., Table]

    @property
    def command(self) -> str:
        """Command that fetches the set."""
        return f"python -m dpsco_bench data {self.name}"

    def find(self, root: Path) -> list[Path]:
        """Find the files under `root`. Raises DataAbsent if one is missing."""
        found = [store.find_file(root, self.folders, [name]) for name, _ in self.texts]
        if None in found:
            raise DataAbsent(self.name, root, self.command)
        return [path for path in found if path is not None]

    def load(self, root: Path = store.DEFAULT_ROOT) -> Table:
        """Find, verify and parse, once per process.

        Raises DataAbsent as `find`, DataCorrupt for a damaged file or one with another text.
        """
        paths = tuple(self.find(root))
        return _load(self, paths, tuple(path.stat().st_mtime_ns for path in paths))

    def read(self, path: Path, name: str = "") -> bytes:
        """Read the text of a file, of that name where its own is another.

        Raises DataCorrupt for a damaged file or one with another text.
        """
        name = name or path.name
        try:
            with OPENERS[Path(name).suffix](path, "rb") as stream:
                text: bytes = stream.read()
        except (OSError, EOFError, zlib.error) as error:
            raise store.DataCorrupt(path, f"damaged: {str(error) or type(error).__name__}") from error
        expected, found = dict(self.texts)[name], hashlib.sha256(text).hexdigest()
        if found != expected:
            raise store.DataCorrupt(path, f"its text has sha256 {found}, expected {expected}")
        return text

    def verify(self, root: Path = store.DEFAULT_ROOT) -> Plain:
        """Read the files under `root`, and say what they hold; errors as of `load`.

        Returns ``status`` ("verified"), ``file``, ``rows``, ``columns``, ``positive`` and the digests of the texts.
        """
        paths, table = self.find(root), self.load(root)
        return {
            "status": "verified",
            "file": ", ".join(map(str, paths)),
            "rows": len(table.labels),
            "columns": table.features.shape[1],
            "positive": int((table.labels > 0).sum()),
            **{f"{name}_sha256": digest for name, digest in self.texts},
        }

    def fetch(self, root: Path = store.DEFAULT_ROOT, **options: Any) -> Plain:
        """Download what is missing; the same as `verify`, with ``fetched``: whether anything was downloaded.

        Raises FetchError for an address that did not give its file, DataCorrupt for a file with another content, which
        is left as it is.
        """
        missing = [one for one in self.remote_files if store.find_file(root, self.folders, [one.name]) is None]
        for remote in missing:
            check = partial(self.read, name=remote.name)
            store.download(remote, Path(root) / self.folders[0], check=check, **options)
        return {**self.verify(root), "fetched": bool(missing)}


@lru_cache(maxsize=2)
def _load(source: Distribution, paths: tuple[Path, ...], stamps: tuple[int, ...]) -> Table:
    """Parse files, and keep the result while they stay as they are."""
    return source.parse(*map(source.read, paths))


def unit_rows(features: np.ndarray) -> np.ndarray:
    """Rows ``(n, d)``, each divided by its own norm where that is larger than 1: no other record has a part in it."""
    norms = np.linalg.norm(features, axis=1)
    return features / np.maximum(norms, 1.0)[:, None]
