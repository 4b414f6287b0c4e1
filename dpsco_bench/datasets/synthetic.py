"""A stand-in for Covertype: invented records with the same 54 columns, for tests and quick profiles.

Ranges, shares of the types and the one-class soil types resemble the real data; nothing else does, and no
result on it says anything about Covertype. Every sample carries ``synthetic: True``.
"""

from __future__ import annotations

import numpy as np

from dpsco_bench.datasets.formats import one_hot_columns
from dpsco_bench.datasets.preprocess import Sample, sample_from
from dpsco_bench.datasets.seeding import uniforms
from dpsco_bench.errors import InputError

_KEY = "covertype_synthetic/records"
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


def covertype_records(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Invent integer records in the layout of the original file.

    Raises InputError for a number of rows or a seed out of range.

    Parameters
    ----------
    rows : int, number of records, >= 1; fewer records of the same seed are a prefix

    Returns
    -------
    features : ndarray of int16, shape (rows, 54)
    labels : ndarray of uint8, shape (rows,), 1 = class 2
    """
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or rows < 1:
        raise InputError("rows", rows, "an integer >= 1")
    u = uniforms(seed, _KEY, int(rows), _WORDS)
    area = _types(u[:, 0], _AREA_SHARES)
    soil = np.where(area == 4, _types(u[:, 1], _LOW_SOIL_SHARES), _types(u[:, 1], _SOIL_SHARES))
    numeric = _measurements(u[:, 2:15], area, soil)
    return one_hot_columns(numeric, area, soil), _labels(u[:, 15], numeric[0], area, soil)


def covertype_synthetic(rows: int, seed: int = 0) -> Sample:
    """Generate the scaled stand-in sample, by the same preprocessing as the real data set.

    Raises InputError for a number of rows or a seed out of range.
    """
    features, labels = covertype_records(rows, seed)
    return sample_from(features, labels, np.arange(int(rows)))


def _types(u: np.ndarray, shares: np.ndarray) -> np.ndarray:
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
    lower = (1859, 0, 0, 0, -173, 0, 0, 0, 0, 0)
    upper = (3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173)
    return np.stack([np.clip(np.rint(c), a, b) for c, a, b in zip(columns, lower, upper, strict=True)]).astype(np.int16)


def _labels(u: np.ndarray, elevation: np.ndarray, area: np.ndarray, soil: np.ndarray) -> np.ndarray:
    """Class 2 is likeliest near 2,850 m and depends on area and soil; some soil types hold one class only."""
    chance = 0.75 - np.abs(elevation - 2850.0) / 700.0 + 0.1 * (area == 1) + 0.15 * (soil % 3 - 1)
    labels = u < np.clip(chance, 0.05, 0.95)
    labels |= np.isin(soil, ALWAYS_CLASS_2)
    labels &= ~np.isin(soil, NEVER_CLASS_2)
    return labels.astype(np.uint8)
