"""Find, download and verify the files of data sets, and choose among their records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpsco_bench.errors import DpscoError


def raw_words(what: str, count: int) -> np.ndarray:
    """Random uint64 words for a purpose such as ``covertype/rows``; the first k of them do not depend on `count`."""
    key = np.frombuffer(hashlib.sha256(what.encode()).digest(), dtype="<u4")
    sequence = np.random.SeedSequence(0, spawn_key=tuple(int(word) for word in key))
    return np.random.PCG64(sequence).random_raw(count)


def permutation(what: str, size: int) -> np.ndarray:
    """Random permutation of ``0 .. size-1`` as int64: the order of `size` random words, ties by position."""
    return np.argsort(raw_words(what, size), kind="stable")


def uniforms(what: str, rows: int, columns: int) -> np.ndarray:
    """Uniform numbers in [0, 1) with 53 bits, shape (rows, columns); fewer rows are a prefix of more."""
    return (raw_words(what, rows * columns) >> np.uint64(11)).reshape(rows, columns) * 2.0**-53


class DataCorrupt(DpscoError):
    """A file whose content is not the data set it is named after."""

    def __init__(self, path: Path, finding: str) -> None:
        super().__init__(f"{path}: {' '.join(finding.split())}")
        self.path, self.finding = path, finding


class FetchError(DpscoError):
    """A download that failed; nothing of it is left behind."""

    def __init__(self, url: str, reason: object, target: Path) -> None:
        super().__init__(f"could not fetch {url} ({' '.join(str(reason).split())}); by hand, it belongs in {target}")


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    `sha256` is None where only the parsed content can be held to a digest, `text_sha256` that of the decompressed text.
    """

    name: str
    url: str
    sha256: str | None = None
    text_sha256: str = ""


def find_file(root: Path, folders: Sequence[str], names: Sequence[str]) -> Path | None:
    """Find the first of `names`, in their order, in ``root/folder`` for any of the folders, or None."""
    paths = (root / folder / name for name in names for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file as hexadecimal text, read in pieces of 1 MiB."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_of_array(array: np.ndarray) -> str:
    """SHA-256 of an array's values as little-endian bytes in C order (shape and type are not part of it)."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little.data).hexdigest()


def download(remote: RemoteFile, folder: Path, check: Callable[[Path], object]) -> None:
    """Download a file, which gets its name once its digest is right; a file that is there and right stays.

    Raises FetchError without a network, for a wrong file, or if the folder cannot be written. ``check`` gets the path
    and raises DataCorrupt for a content that is not the expected one; the file is removed then.
    """
    import pooch

    target = folder / remote.name
    try:
        pooch.retrieve(remote.url, remote.sha256, remote.name, folder)
        check(target)
    except DataCorrupt as error:
        target.unlink()
        raise FetchError(remote.url, f"the file received is not the expected one: {error.finding}", target) from error
    except (OSError, ValueError) as error:  # requests' errors are OSErrors, and a wrong digest is a ValueError
        inner = next((one for one in error.args if isinstance(one, Exception)), error)
        raise FetchError(remote.url, getattr(inner, "reason", inner), target) from error
