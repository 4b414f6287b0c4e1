"""Covertype (Blackard 1998): read from any distribution, held to one content, sampled as in Wang, Ye, Xu 2017.

Source of the data: J. Blackard, Covertype, UCI Machine Learning Repository, data set 31, doi:10.24432/C50K5N.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.datasets import store
from dpsco_bench.datasets.formats import CONTINUOUS, WILDERNESS, Parsed, parse
from dpsco_bench.datasets.preprocess import Sample, sample_from
from dpsco_bench.datasets.seeding import permutation
from dpsco_bench.errors import DataAbsent, InputError
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.plain import Plain

NAME = "covertype"
COMMAND = "python -m dpsco_bench data covertype"
FOLDERS = ("covertype", "covtype")
ROWS = 581_012
PAPER_ROWS = 200_000
COMPACT = "covtype.npz"
UCI = ("covtype.data.gz", "covtype.data")
LIBSVM = ("covtype.libsvm.binary.bz2", "covtype.libsvm.binary")
SCALED = ("covtype.libsvm.binary.scale.bz2", "covtype.libsvm.binary.scale")
FILES = (COMPACT, *UCI, *LIBSVM)
# Frozen: the key of the row permutation.
_ROW_KEY = "covertype/rows"


@dataclass(frozen=True)
class Content:
    """Content that a source must have after parsing: records, and digests of its values whatever its format.

    Those of the dense (rows, 54) int16 little-endian C-order bytes, and of the labels as uint8, 1 = class 2 (lodgepole
    pine).
    """

    rows: int
    features_sha256: str
    labels_sha256: str


CONTENT = Content(
    rows=ROWS,
    features_sha256="1d8ed656c88560e0f10ec542ecfd4b4b2f1dbd17ec145c29918aebb63a8c0e6f",
    labels_sha256="362aabbef69e7d57470c0d8c9df0a244f130b8a0dcf3cdc409d72bd1da18ad87",
)
REMOTE_FILES = (
    store.RemoteFile(
        UCI[0],
        "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
        "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    ),
    store.RemoteFile(
        LIBSVM[0],
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/covtype.libsvm.binary.bz2",
    ),
)


@dataclass(frozen=True)
class Raw:
    """The verified content: ``features (n, 54)`` int16, ``labels (n,)`` uint8 (1 = class 2), and its file."""

    features: np.ndarray
    labels: np.ndarray
    path: Path


def find(root: Path = store.DEFAULT_ROOT) -> Path:
    """Find a source file under ``root/covertype`` or ``root/covtype``.

    Raises DataAbsent if there is none. Raises InputError if there is only LIBSVM's scaled file.
    """
    path = store.find_file(root, FOLDERS, FILES)
    if path is not None:
        return path
    scaled = store.find_file(root, FOLDERS, SCALED)
    if scaled is not None:
        raise InputError(f"data set {NAME}", scaled.name, "the unscaled file; get one with `" + COMMAND + "`")
    raise DataAbsent(NAME, root, COMMAND)


def read(path: Path, content: Content = CONTENT) -> Raw:
    """Parse one source file and hold it to its content.

    Raises DataCorrupt if the content differs or the file is damaged. Raises InputError for LIBSVM's scaled file.
    """
    parsed = parse(path, content.rows)
    features = store.sha256_of_array(parsed.features)
    if features != content.features_sha256:
        raise store.DataCorrupt(path, f"features have sha256 {features}, expected {content.features_sha256}")
    return Raw(parsed.features, _matching_labels(path, parsed, content), path)


def load(root: Path = store.DEFAULT_ROOT, *, content: Content = CONTENT, cache: bool = True) -> Raw:
    """Find, parse and verify the data set.

    The parse of a text format is kept as a small array file in ``root/.cache``, where that can be written; what is read
    back from there is verified like any other source. Raises DataAbsent if there is no source file. Raises DataCorrupt
    or InputError as in `read`.
    """
    path = find(root)
    if not cache or path.name == COMPACT:
        return read(path, content)
    cached = Path(root) / ".cache" / f"covertype-{content.features_sha256[:16]}.npz"
    try:
        return replace(read(cached, content), path=path)
    except (store.DataCorrupt, InputError):
        raw = read(path, content)
        _write_cache(cached, raw)
        return raw


def covertype(
    rows: int = PAPER_ROWS, seed: int = 0, root: Path = store.DEFAULT_ROOT, *, content: Content = CONTENT
) -> Sample:
    """Draw the training sample of Wang, Ye, Xu 2017, Figures 1 and 2: a prefix of a fixed-seed permutation, scaled.

    Returns a sample, features of Euclidean norm at most 1, labels +1 (class 2) and -1. Raises InputError for a size or
    seed out of range. Raises DataAbsent or DataCorrupt as in `load`.

    Parameters
    ----------
    rows : int, sample size, 1 to 581,012; a smaller sample is contained in a larger one of the same seed
    seed : int, seed of the permutation, >= 0 (the paper does not state its selection)
    """
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or not 1 <= rows <= content.rows:
        raise InputError("rows", rows, f"an integer from 1 to {content.rows}", "Wang, Ye, Xu 2017, Section 6: 200000")
    indices = permutation(seed, _ROW_KEY, content.rows)[:rows]
    raw = load(root, content=content)
    return sample_from(raw.features[indices], raw.labels[indices], indices)


def verify(root: Path = store.DEFAULT_ROOT, content: Content = CONTENT) -> Plain:
    """Parse the source file under `root`, without the cache, and say what it holds.

    Raises DataAbsent, DataCorrupt, InputError as in `load`. Returns ``status`` ("verified"), ``file``, ``rows``,
    ``columns``, ``class_2`` and the two content digests.
    """
    raw = load(root, content=content, cache=False)
    return {
        "status": "verified",
        "file": str(raw.path),
        "rows": len(raw.labels),
        "columns": raw.features.shape[1],
        "class_2": int(raw.labels.sum()),
        "features_sha256": content.features_sha256,
        "labels_sha256": content.labels_sha256,
    }


def fetch(
    root: Path = store.DEFAULT_ROOT,
    *,
    content: Content = CONTENT,
    remote_files: tuple[store.RemoteFile, ...] = REMOTE_FILES,
    **options: Any,
) -> Plain:
    """Download the data set unless a verified copy is there; the addresses are tried in turn.

    Returns the same as `verify`, with ``fetched``: whether anything was downloaded. Raises FetchError if no address
    gave the file, naming the first failure, and DataCorrupt if a file is there with another content; it is left as is.

    Parameters
    ----------
    content : Content, optional, what the download must contain before it gets its final name
    """
    try:
        return {**verify(root, content), "fetched": False}
    except (DataAbsent, InputError):
        pass
    failures: list[store.FetchError] = []
    for remote in remote_files:
        try:
            store.download(remote, Path(root) / FOLDERS[0], check=lambda path: read(path, content), **options)
        except store.FetchError as error:
            failures.append(error)
        else:
            return {**verify(root, content), "fetched": True}
    raise failures[0]


def _matching_labels(path: Path, parsed: Parsed, content: Content) -> np.ndarray:
    for labels in parsed.labels:
        if store.sha256_of_array(labels) == content.labels_sha256:
            return labels
    found = store.sha256_of_array(parsed.labels[0])
    raise store.DataCorrupt(path, f"labels have sha256 {found}, expected {content.labels_sha256}")


def _write_cache(path: Path, raw: Raw) -> None:
    """Keep a verified parse in the compact layout; a root that cannot be written is no error."""
    compact: dict[str, Any] = {
        "numeric": raw.features[:, :CONTINUOUS].T,
        "wilderness_area": _types(raw.features[:, CONTINUOUS : CONTINUOUS + WILDERNESS]),
        "soil_type": _types(raw.features[:, CONTINUOUS + WILDERNESS :]),
        "is_class_2": raw.labels,
    }
    stream = io.BytesIO()
    np.savez(stream, **compact)
    try:
        write_atomic(path, stream.getvalue())
    except OSError:
        return


def _types(one_hot: np.ndarray) -> np.ndarray:
    return (one_hot.argmax(axis=1) + 1).astype(np.uint8)
