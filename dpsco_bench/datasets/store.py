"""Where data sets live and how a file gets there: discovery, SHA-256, downloads that appear whole."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.errors import DpscoError
from dpsco_bench.jsonio import whole

DEFAULT_ROOT = Path("data")
_CHUNK = 1 << 20

Opener = Callable[..., Any]


class DataCorrupt(DpscoError):
    """A file whose content is not the data set it is named after."""

    def __init__(self, path: Path, finding: str) -> None:
        super().__init__(f"{path}: {' '.join(finding.split())}")
        self.path, self.finding = path, finding


class FetchError(DpscoError):
    """A download that failed; nothing of it is left behind."""

    def __init__(self, url: str, reason: object) -> None:
        super().__init__(f"could not fetch {url}: {' '.join(str(reason).split())}")
        self.url, self.reason = url, reason


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded.

    Attributes
    ----------
    sha256 : str or None
        Digest of the file as distributed; None where it is not known, so that only the parsed content can be
        held to a digest.
    """

    name: str
    url: str
    sha256: str | None = None


def find_file(root: Path, folders: Sequence[str], names: Sequence[str]) -> Path | None:
    """Find the first of `names`, in their order, in ``root/folder`` for any of the folders, or None."""
    paths = (Path(root) / folder / name for name in names for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file as hexadecimal text, read in pieces of 1 MiB."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_of_array(array: np.ndarray) -> str:
    """SHA-256 of an array's values as little-endian bytes in C order (shape and type are not part of it)."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little.data).hexdigest()


def check_sha256(path: Path, expected: str) -> None:
    """Compare a file's SHA-256 with the expected one. Raises DataCorrupt if they differ."""
    found = sha256_of_file(path)
    if found != expected:
        raise DataCorrupt(path, f"sha256 is {found}, expected {expected}")


def download(
    remote: RemoteFile,
    folder: Path,
    *,
    check: Callable[[Path], object] | None = None,
    opener: Opener = urllib.request.urlopen,
    timeout: float = 60.0,
) -> Path:
    """Download a file under a temporary name, verify it, and only then give it its final name.

    Raises FetchError without a network, for a short or wrong file, or if the folder cannot be written.

    Parameters
    ----------
    remote : RemoteFile, what to fetch; its digest, if known, is verified
    folder : Path, where the file goes; created if need be, and removed again if it was created and the download failed
    check : callable, optional
        Verification of the content; gets the temporary path and raises `DpscoError` where it fails.
    opener : callable, optional, opens an address: ``opener(url, timeout=seconds)`` gives a readable context manager
    """
    target = Path(folder) / remote.name
    missing = [path for path in (target.parent, *target.parent.parents) if not path.exists()]
    try:
        with whole(target) as partial:
            _receive(remote.url, partial, opener, timeout)
            if remote.sha256 is not None:
                check_sha256(partial, remote.sha256)
            if check is not None:
                check(partial)
    except DataCorrupt as error:
        raise FetchError(remote.url, f"the file received is not the expected one: {error.finding}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise FetchError(remote.url, _reason(error)) from error
    finally:
        if not target.exists():
            _remove_empty(missing)
    return target


def _receive(url: str, path: Path, opener: Opener, timeout: float) -> None:
    with opener(url, timeout=timeout) as response, open(path, "wb") as stream:
        announced = response.headers.get("Content-Length")
        received = 0
        while piece := response.read(_CHUNK):
            received += stream.write(piece)
    # Reading in pieces does not notice a connection that was closed early.
    if announced is not None and received != int(announced):
        raise OSError(f"connection closed after {received} of {announced} bytes")


def _reason(error: BaseException) -> object:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return f"no answer ({error.reason})"
    return str(error) or type(error).__name__


def _remove_empty(folders: Sequence[Path]) -> None:
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()
