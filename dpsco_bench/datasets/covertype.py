"""Covertype (Blackard 1998): read from any distribution, held to one content, sampled as in Wang, Ye, Xu 2017.

Source of the data: J. Blackard, Covertype, UCI Machine Learning Repository, data set 31, doi:10.24432/C50K5N. Nothing
is trusted of a file beyond its form: whether it is Covertype is decided by the digest of its content.

The stand-in has invented records with the same 54 columns, for tests and quick profiles. Ranges, shares of the types
and the one-class soil types resemble the real data; nothing else does, and no result on it says anything about
Covertype.
"""

from __future__ import annotations

import bz2
import gzip
import io
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dpsco_bench.datasets import libsvm, store
from dpsco_bench.datasets.distribution import Table
from dpsco_bench.datasets.store import DataCorrupt, permutation, uniforms
from dpsco_bench.errors import DataAbsent, InputError
from dpsco_bench.jsonio import write_atomic
from dpsco_bench.plain import Plain

CONTINUOUS, WILDERNESS, SOIL = 10, 4, 40
COLUMNS = CONTINUOUS + WILDERNESS + SOIL
_BLOCK = 1 << 24
_LIBSVM_SCALED = "those of the unscaled file covtype.libsvm.binary, which are integers"
_BROKEN = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile, DeprecationWarning)
LOWEST = np.array([1859, 0, 0, 0, -173, 0, 0, 0, 0, 0])
HIGHEST = np.array([3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173])
"""Ranges of the measurements in the whole data set, as its description has them."""
Block = tuple[np.ndarray, np.ndarray]
Parsed = tuple[np.ndarray, list[np.ndarray]]
"""Content of a source file: features ``(n, 54)``, int16, 10 measurements, 4 wilderness areas one-hot and 40 soil types
one-hot; and readings of the label column as 1 = class 2, uint8 ``(n,)``, likeliest first, several where the format does
not say."""
_SYNTHETIC_KEY = "covertype_synthetic/records"
_WORDS = 16
# Shares in per cent of wilderness areas 1..4, and mean elevation in metres there.
_AREA_SHARES = np.array([45.0, 5.0, 43.5, 6.5])
_AREA_ELEVATION = np.array([2960.0, 3230.0, 2970.0, 2290.0])
# Shares in per mille of soil types 1..40 outside area 4 and within it.
_SOIL_SHARES = np.array(
    [0, 4, 2, 9, 0, 0, 8, 1, 2, 25, 22, 55, 31, 0, 1, 4, 6, 1, 7, 16]
    + [2, 60, 103, 38, 2, 5, 2, 2, 205, 54, 46, 94, 81, 29, 4, 2, 8, 28, 25, 16],
    dtype=np.float64,
)
_LOW_SOIL_SHARES = np.array([90, 120, 110, 110, 60, 130, 0, 0, 0, 250, 0, 0, 0, 40, 5, 30, 55] + [0] * 23, float)
# As in the real data: soil type 7 holds only class 2; types 1, 5, 14, 15 and 37 hold none.
ALWAYS_CLASS_2, NEVER_CLASS_2 = (7,), (1, 5, 14, 15, 37)
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
REMOTE_FILES = (
    store.RemoteFile(
        UCI[0],
        "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
        "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    ),
    store.RemoteFile(
        LIBSVM[0], "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/covtype.libsvm.binary.bz2"
    ),
)


def one_hot_columns(numeric: np.ndarray, wilderness: np.ndarray, soil: np.ndarray) -> np.ndarray:
    """Expand the compact form to the 54 columns of the original file. Raises ValueError if shapes or types do not fit.

    Returns int16, shape (n, 54), C order. ``numeric (10, n)`` are the measurements, ``wilderness (n,)`` and
    ``soil (n,)`` types 1..4 and 1..40.
    """
    n = numeric.shape[-1]
    if numeric.shape != (CONTINUOUS, n) or wilderness.shape != (n,) or soil.shape != (n,):
        raise ValueError(f"arrays of shapes {numeric.shape}, {wilderness.shape}, {soil.shape}")
    dense = np.zeros((n, COLUMNS), dtype="<i2")
    dense[:, :CONTINUOUS] = numeric.T
    for types, count, offset in ((wilderness, WILDERNESS, CONTINUOUS), (soil, SOIL, CONTINUOUS + WILDERNESS)):
        index = types.astype(np.int64)
        if n and not (index.min() >= 1 and index.max() <= count):
            raise ValueError(f"a type outside 1..{count}")
        dense[np.arange(n), offset - 1 + index] = 1
    return dense


def parse(path: Path, rows: int) -> Parsed:
    """Parse a source file; the format follows from the name's ending.

    Raises DataCorrupt if the file is damaged or has another form or another number of rows. Raises InputError for
    LIBSVM's scaled file. It is ``*.npz``, ``*.data``, ``*.data.gz``, or LIBSVM's file, plain or ``*.bz2``.
    """
    text = _parse_uci if path.name.endswith((".data", ".data.gz")) else _parse_libsvm
    reader = _parse_npz if path.name.endswith(".npz") else text
    try:
        with warnings.catch_warnings():
            # Some NumPy releases only warn about text that is not a number of the wanted kind.
            warnings.filterwarnings("error", "string or file could not be read|loadtxt", DeprecationWarning)
            return reader(path, rows)
    except (DataCorrupt, InputError):
        raise
    except _BROKEN as error:
        raise DataCorrupt(path, f"damaged: {str(error) or type(error).__name__}") from error


def _parse_npz(path: Path, rows: int) -> Parsed:
    with np.load(path, allow_pickle=False) as arrays:
        names = ("numeric", "wilderness_area", "soil_type", "is_class_2")
        numeric, wilderness, soil, label = (arrays[name] for name in names)
    dense = one_hot_columns(numeric, wilderness, soil)
    if label.shape != (rows,) or len(dense) != rows:
        raise DataCorrupt(path, f"{len(dense)} rows and {label.size} labels, expected {rows}")
    return dense, [label.astype(np.uint8)]


def _parse_uci(path: Path, rows: int) -> Parsed:
    dense, cover_type = _assemble(path, rows, _uci_block)
    return dense, [(cover_type == 2).astype(np.uint8)]


def _parse_libsvm(path: Path, rows: int) -> Parsed:
    dense, label = _assemble(path, rows, _libsvm_block)
    values = np.unique(label)
    if len(values) != 2:
        raise DataCorrupt(path, f"labels take {len(values)} values, expected 2")
    # The labels are 1 and 2 with 2 for class 2 in the copies known; the label digest decides.
    return dense, [(label == value).astype(np.uint8) for value in values[::-1]]


def _assemble(path: Path, rows: int, read_block: Callable[[bytes, Path], Block]) -> Block:
    """Fill the dense array block by block, so that the text is never in memory as a whole."""
    dense, label = np.zeros((rows, COLUMNS), dtype="<i2"), np.zeros(rows, dtype=np.int16)
    filled = 0
    for text in _blocks(path):
        features, values = read_block(text, path)
        end = filled + len(values)
        if end > rows:
            raise DataCorrupt(path, f"more than the expected {rows} rows")
        dense[filled:end], label[filled:end] = features, values
        filled = end
    if filled != rows:
        raise DataCorrupt(path, f"{filled} rows, expected {rows}")
    return dense, label


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield pieces of about 16 MB that end with a line, without empty lines at their ends."""
    with _open(path) as stream:
        rest = b""
        while piece := stream.read(_BLOCK):
            head, newline, tail = (rest + piece).rpartition(b"\n")
            rest = tail
            if newline and head.strip():
                yield head.strip()
        if rest.strip():
            yield rest.strip()


def _open(path: Path) -> IO[bytes]:
    # By content rather than by name: a browser may have unpacked the file without renaming it.
    with open(path, "rb") as probe:
        magic = probe.read(3)
    opener: Any = gzip.open if magic[:2] == b"\x1f\x8b" else bz2.open if magic == b"BZh" else open
    return opener(path, "rb")


def _uci_block(text: bytes, path: Path) -> Block:
    values = np.loadtxt(io.BytesIO(text), dtype=np.int16, delimiter=",", ndmin=2, comments=None)
    if values.shape[1] != COLUMNS + 1:
        raise DataCorrupt(path, f"{values.shape[1]} columns, expected {COLUMNS + 1}")
    return values[:, :COLUMNS], values[:, COLUMNS]


def _libsvm_block(text: bytes, path: Path) -> Block:
    lines = libsvm.parse(text)
    numbers = np.concatenate([lines.labels, lines.values])
    if not np.array_equal(numbers, np.trunc(numbers)):
        raise InputError(f"values of {path.name}", "scaled", _LIBSVM_SCALED)
    if len(numbers) and np.abs(numbers).max() > np.iinfo(np.int16).max:
        raise DataCorrupt(path, "a value outside 16 bits")
    if len(lines.indices) and not (lines.indices.min() >= 1 and lines.indices.max() <= COLUMNS):
        raise DataCorrupt(path, f"an index outside 1..{COLUMNS}")
    return libsvm.dense(lines, COLUMNS).astype(np.int16), lines.labels.astype(np.int16)


def one_class_rows(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Tell which rows have an entry in a column whose non-zero rows all have one class, ``(n,)`` of bool.

    If ``labels[i] * features[i, j]`` has one sign over all rows, the unregularised logistic loss falls along
    coordinate j without end; the rows concerned contribute nothing to the infimum: their loss tends to 0. Without them
    further columns can turn one-class (their coefficients run to infinity more slowly), so the search repeats until
    it finds none.
    """
    signed = features * labels[:, None]
    rows = np.zeros(len(labels), dtype=bool)
    while True:
        rest = signed[~rows]
        new = np.flatnonzero((rest > 0).any(axis=0) ^ (rest < 0).any(axis=0))
        if not len(new):
            return rows
        rows |= (features[:, new] != 0).any(axis=1)


def scale_rows(integers: np.ndarray) -> tuple[np.ndarray, float]:
    """Min-max scale the 10 measurements within the sample and divide all rows by the largest row norm.

    Takes ``integers (n, 54)``, measurements and then the one-hot columns; returns the features, where a constant
    measurement is 0, and the largest row norm before the division.
    """
    features = integers.astype(np.float64)
    measured = features[:, :CONTINUOUS]
    least, span = measured.min(axis=0), np.ptp(measured, axis=0)
    measured -= least
    measured /= np.where(span > 0, span, 1.0)
    scale = float(np.sqrt(np.einsum("ij,ij->i", features, features).max()))
    features /= scale
    return features, scale


def sample_from(integers: np.ndarray, is_class_2: np.ndarray) -> Table:
    """Scale selected records, the largest norm of a row to 1; `is_class_2` holds 0 and 1."""
    return Table(scale_rows(integers)[0], np.where(is_class_2 == 1, 1.0, -1.0))


def covertype_records(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Invent integer records in the layout of the original file.

    Raises InputError for a number of rows or a seed out of range. Fewer rows of the same seed are a prefix of more.
    Returns features ``(rows, 54)``, int16, and labels ``(rows,)``, uint8, 1 = class 2.
    """
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or rows < 1:
        raise InputError("rows", rows, "an integer >= 1")
    u = uniforms(seed, _SYNTHETIC_KEY, int(rows), _WORDS)
    area = _drawn_types(u[:, 0], _AREA_SHARES)
    soil = np.where(area == 4, _drawn_types(u[:, 1], _LOW_SOIL_SHARES), _drawn_types(u[:, 1], _SOIL_SHARES))
    numeric = _measurements(u[:, 2:15], area, soil)
    return one_hot_columns(numeric, area, soil), _labels(u[:, 15], numeric[0], area, soil)


def covertype_synthetic(rows: int, seed: int = 0) -> Table:
    """Generate the scaled stand-in sample, by the same preprocessing as the real data set."""
    return sample_from(*covertype_records(rows, seed))


def _drawn_types(u: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Types 1.. with probabilities proportional to `shares`."""
    bounds = np.cumsum(shares) / shares.sum()
    return np.searchsorted(bounds[:-1], u, side="right") + 1


def _measurements(u: np.ndarray, area: np.ndarray, soil: np.ndarray) -> np.ndarray:
    """Ten integer measurements (10, n) from 13 uniforms, by arithmetic that is the same on every machine."""
    bell = u[:, 0] + u[:, 1] + u[:, 2] - 1.5
    elevation = _AREA_ELEVATION[area - 1] + 4.0 * (soil - 20) * (area != 4) + 380.0 * bell
    aspect = 360.0 * u[:, 3]
    slope = 66.0 * u[:, 4] * u[:, 5]
    # A triangle wave instead of a cosine: +1 facing east, -1 facing west.
    east = 1.0 - np.abs((aspect - 90.0 + 180.0) % 360.0 - 180.0) / 90.0
    water = 1397.0 * u[:, 6] * u[:, 7]
    rise = 0.15 * water + 120.0 * (u[:, 8] + u[:, 9] - 1.0)
    roads, fires = 7117.0 * u[:, 10] * u[:, 11], 7173.0 * u[:, 12] * (1.0 - 0.6 * u[:, 0])
    morning = 220.0 + 1.9 * slope * east - 0.8 * slope
    noon = 228.0 - 0.6 * slope + 20.0 * (u[:, 2] - 0.5)
    evening = 142.0 - 2.2 * slope * east - 0.4 * slope
    columns = (elevation, aspect, slope, water, rise, roads, morning, noon, evening, fires)
    return np.clip(np.rint(np.stack(columns, axis=1)), LOWEST, HIGHEST).astype(np.int16).T


def _labels(u: np.ndarray, elevation: np.ndarray, area: np.ndarray, soil: np.ndarray) -> np.ndarray:
    """Class 2 is likeliest near 2,850 m and depends on area and soil; some soil types hold one class only."""
    chance = 0.75 - np.abs(elevation - 2850.0) / 700.0 + 0.1 * (area == 1) + 0.15 * (soil % 3 - 1)
    labels = u < np.clip(chance, 0.05, 0.95)
    labels |= np.isin(soil, ALWAYS_CLASS_2)
    labels &= ~np.isin(soil, NEVER_CLASS_2)
    return labels.astype(np.uint8)


@dataclass(frozen=True)
class Content:
    """Content that a source must have: digests of (rows, 54) int16 in C order and of uint8 labels, 1 = class 2."""

    rows: int
    features_sha256: str
    labels_sha256: str


CONTENT = Content(
    rows=ROWS,
    features_sha256="1d8ed656c88560e0f10ec542ecfd4b4b2f1dbd17ec145c29918aebb63a8c0e6f",
    labels_sha256="362aabbef69e7d57470c0d8c9df0a244f130b8a0dcf3cdc409d72bd1da18ad87",
)


@dataclass(frozen=True)
class Raw:
    """The verified content: ``features (n, 54)`` int16, ``labels (n,)`` uint8 (1 = class 2), and its file."""

    features: np.ndarray
    labels: np.ndarray
    path: Path


def find(root: Path = store.DEFAULT_ROOT) -> Path:
    """Find a source file in ``root/covertype`` or ``covtype``. Raises DataAbsent, or InputError for a scaled file."""
    if path := store.find_file(root, FOLDERS, FILES):
        return path
    if scaled := store.find_file(root, FOLDERS, SCALED):
        raise InputError(f"data set {NAME}", scaled.name, f"the unscaled file; get one with `{COMMAND}`")
    raise DataAbsent(NAME, root, COMMAND)


def read(path: Path, content: Content = CONTENT) -> Raw:
    """Parse one source file, held to its content. Raises DataCorrupt, or InputError for LIBSVM's scaled file."""
    features, readings = parse(path, content.rows)
    found = store.sha256_of_array(features)
    if found != content.features_sha256:
        raise DataCorrupt(path, f"features have sha256 {found}, expected {content.features_sha256}")
    digests = [store.sha256_of_array(labels) for labels in readings]
    if content.labels_sha256 not in digests:
        raise DataCorrupt(path, f"labels have sha256 {digests[0]}, expected {content.labels_sha256}")
    return Raw(features, readings[digests.index(content.labels_sha256)], path)


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
) -> Table:
    """Draw the training sample of Wang, Ye, Xu 2017, Figures 1 and 2: a prefix of a fixed-seed permutation, scaled.

    Returns a sample, features of Euclidean norm at most 1, labels +1 (class 2) and -1. Raises InputError for a size or
    seed out of range. Raises DataAbsent or DataCorrupt as in `load`. A smaller sample is contained in a larger one of
    the same seed; the paper does not state its selection.
    """
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or not 1 <= rows <= content.rows:
        raise InputError("rows", rows, f"an integer from 1 to {content.rows}", "Wang, Ye, Xu 2017, Section 6: 200000")
    indices = permutation(seed, _ROW_KEY, content.rows)[:rows]
    raw = load(root, content=content)
    return sample_from(raw.features[indices], raw.labels[indices])


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
    A download must have the ``content`` before it gets its final name.
    """
    with suppress(DataAbsent, InputError):
        return {**verify(root, content), "fetched": False}
    failures: list[store.FetchError] = []
    for remote in remote_files:
        try:
            store.download(remote, Path(root) / FOLDERS[0], check=lambda path: read(path, content), **options)
        except store.FetchError as error:
            failures.append(error)
        else:
            return {**verify(root, content), "fetched": True}
    raise failures[0]


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
    with suppress(OSError):
        write_atomic(path, stream.getvalue())


def _types(one_hot: np.ndarray) -> np.ndarray:
    return (one_hot.argmax(axis=1) + 1).astype(np.uint8)
