"""Covertype (Blackard 1998): read from any distribution, held to one content, sampled as in Wang, Ye, Xu 2017.

Source of the data: J. Blackard, Covertype, UCI Machine Learning Repository, data set 31, doi:10.24432/C50K5N. Files
of several names and formats are read; the digest of the content decides whether one is Covertype.

The stand-in has invented records with the same 54 columns, for tests and quick profiles. Ranges, shares of the types
and the one-class soil types resemble the real data; nothing else does, and no result on it says anything about
Covertype.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dpsco_bench.datasets import store
from dpsco_bench.datasets.distribution import Table
from dpsco_bench.datasets.store import DataCorrupt, permutation, uniforms
from dpsco_bench.datasets.texts import parse_libsvm, text_of
from dpsco_bench.errors import DataAbsent, InputError
from dpsco_bench.plain import Plain

CONTINUOUS, WILDERNESS, SOIL = 10, 4, 40
COLUMNS = CONTINUOUS + WILDERNESS + SOIL
_BROKEN = (OSError, EOFError, ValueError, LookupError, zlib.error, zipfile.BadZipFile)
LOWEST = np.array([1859, 0, 0, 0, -173, 0, 0, 0, 0, 0])
HIGHEST = np.array([3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173])
"""Ranges of the measurements in the whole data set, as its description has them."""
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
FOLDERS = ("covertype", "covtype")
ROWS = 581_012
FEATURES_SHA256 = "1d8ed656c88560e0f10ec542ecfd4b4b2f1dbd17ec145c29918aebb63a8c0e6f"
LABELS_SHA256 = "362aabbef69e7d57470c0d8c9df0a244f130b8a0dcf3cdc409d72bd1da18ad87"
"""Digests of the features, in C order, and of the labels, as `read` returns them."""
UCI = ("covtype.data.gz", "covtype.data")
LIBSVM = ("covtype.libsvm.binary.bz2", "covtype.libsvm.binary")
SCALED = ("covtype.libsvm.binary.scale.bz2", "covtype.libsvm.binary.scale")
FILES = ("covtype.npz", *UCI, *LIBSVM)
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
    """Expand the compact form to the 54 columns of the original file: int16, shape (n, 54), C order.

    ``numeric (10, n)`` are the measurements, ``wilderness (n,)`` and ``soil (n,)`` types 1..4 and 1..40.
    """
    dense = np.zeros((numeric.shape[1], COLUMNS), dtype="<i2")
    dense[:, :CONTINUOUS] = numeric.T
    for types, offset in ((wilderness, CONTINUOUS), (soil, CONTINUOUS + WILDERNESS)):
        dense[np.arange(len(dense)), offset - 1 + types.astype(np.int64)] = 1
    return dense


def _parsed(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read features ``(n, 54)`` and the label column ``(n,)`` as it stands in the file, whose name tells the format."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            compact = (arrays[name] for name in ("numeric", "wilderness_area", "soil_type"))
            return one_hot_columns(*compact), arrays["is_class_2"]
    text = text_of(path)
    if ".data" not in path.name:
        lines = parse_libsvm(text, path.name)
        return lines.dense(COLUMNS).astype(np.int16), lines.labels
    names = [str(column) for column in range(COLUMNS + 1)]
    kinds = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.int16()))
    table = pa.csv.read_csv(io.BytesIO(text), pa.csv.ReadOptions(column_names=names), convert_options=kinds)
    *features, cover_type = (column.to_numpy() for column in table.columns)
    return np.stack(features, axis=1), cover_type


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


def sample_from(integers: np.ndarray, is_class_2: np.ndarray) -> Table:
    """Min-max scale the 10 measurements within the sample, and divide all rows by the largest row norm.

    Takes ``integers (n, 54)``, measurements, of which a constant one becomes 0, and then the one-hot columns, and
    ``is_class_2 (n,)``, 0 and 1.
    """
    features = integers.astype(np.float64)
    measured = features[:, :CONTINUOUS]
    least, span = measured.min(axis=0), np.ptp(measured, axis=0)
    measured -= least
    measured /= np.where(span > 0, span, 1.0)
    features /= float(np.sqrt(np.einsum("ij,ij->i", features, features).max()))
    return Table(features, np.where(is_class_2 == 1, 1.0, -1.0))


def covertype_records(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Invent integer records in the layout of the original file; fewer rows are a prefix of more.

    Returns features ``(rows, 54)``, int16, and labels ``(rows,)``, uint8, 1 = class 2.
    """
    u = uniforms("covertype_synthetic/records", rows, 16)
    area = _drawn_types(u[:, 0], _AREA_SHARES)
    soil = np.where(area == 4, _drawn_types(u[:, 1], _LOW_SOIL_SHARES), _drawn_types(u[:, 1], _SOIL_SHARES))
    numeric = _measurements(u[:, 2:15], area, soil)
    return one_hot_columns(numeric, area, soil), _labels(u[:, 15], numeric[0], area, soil)


def covertype_synthetic(rows: int) -> Table:
    """Generate the scaled stand-in sample, by the same preprocessing as the real data set."""
    return sample_from(*covertype_records(rows))


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


def find(root: Path) -> Path:
    """Find a source file in ``root/covertype`` or ``covtype``. Raises DataAbsent, or InputError for a scaled file."""
    if path := store.find_file(root, FOLDERS, FILES):
        return path
    if scaled := store.find_file(root, FOLDERS, SCALED):
        raise InputError(
            f"data set {NAME}", scaled.name, f"the unscaled file; get one with `python -m dpsco_bench data {NAME}`"
        )
    raise DataAbsent(NAME, root)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read a source file: ``features (n, 54)``, int16, and labels ``(n,)``, uint8, 1 = class 2.

    Features are 10 measurements, 4 wilderness areas one-hot and 40 soil types one-hot. Raises DataCorrupt for a damaged
    file, and for any content but that of the whole data set.
    """
    try:
        features, labels = _parsed(path)
    except _BROKEN as error:
        raise DataCorrupt(path, f"damaged: {str(error) or type(error).__name__}") from error
    found = store.sha256_of_array(features)
    if found != FEATURES_SHA256:
        raise DataCorrupt(path, f"{len(features)} rows of sha256 {found}, expected {ROWS} of {FEATURES_SHA256}")
    for value in np.unique(labels)[::-1]:  # 2 is class 2 in the copies known
        is_class_2 = (labels == value).astype(np.uint8)
        if store.sha256_of_array(is_class_2) == LABELS_SHA256:
            return features, is_class_2
    raise DataCorrupt(path, f"no label whose rows are those of class 2, of sha256 {LABELS_SHA256}")


def load(root: Path) -> tuple[np.ndarray, np.ndarray]:
    """Find and read the data set. Raises DataAbsent if there is no source file, and what `read` raises."""
    return read(find(root))


def covertype(rows: int, root: Path) -> Table:
    """Take the training sample of Wang, Ye, Xu 2017, Figures 1 and 2: a prefix of a fixed permutation, scaled.

    The features have Euclidean norm at most 1, the labels are +1 (class 2) and -1. A smaller sample is contained in a
    larger one; the paper does not state its selection. Raises DataAbsent or DataCorrupt as in `load`.
    """
    features, labels = load(root)
    chosen = permutation("covertype/rows", ROWS)[:rows]
    return sample_from(features[chosen], labels[chosen])


def verify(root: Path) -> Plain:
    """Read the source file under `root`, and say what it holds; errors as of `load`.

    Returns ``status`` ("verified"), ``file``, ``rows``, ``columns``, ``class_2`` and the two content digests.
    """
    path = find(root)
    features, labels = read(path)
    return {
        "status": "verified",
        "file": str(path),
        "rows": len(labels),
        "columns": features.shape[1],
        "class_2": int(labels.sum()),
        "features_sha256": FEATURES_SHA256,
        "labels_sha256": LABELS_SHA256,
    }


def fetch(root: Path) -> Plain:
    """Download the data set unless a verified copy is there; the addresses are tried in turn.

    Returns the same as `verify`, with ``fetched``: whether anything was downloaded. Raises FetchError if no address
    gave the file, naming the first failure, and DataCorrupt if a file is there with another content; it is left as is.
    A download must have the content before it gets its final name.
    """
    with suppress(DataAbsent, InputError):
        return {**verify(root), "fetched": False}
    failures = []
    for remote in REMOTE_FILES:
        try:
            store.download(remote, root / FOLDERS[0], check=read)
            return {**verify(root), "fetched": True}
        except store.FetchError as error:
            failures.append(error)
    raise failures[0]
