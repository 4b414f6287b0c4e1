"""Vectors of several kinds."""

import numpy as np
from hypothesis import strategies as st

KINDS = ("dense", "sparse", "tied", "flat", "wild", "zero")
RADII = (1.0, 1e-3, 40.0)
SCALES = (1e-200, 1e-8, 0.1, 1.0, 1.0000001, 30.0, 1e8, 1e200, 1e300)
DRAWN = {
    "seed": st.integers(0, 10**6), "kind": st.sampled_from(KINDS), "scale": st.sampled_from(SCALES),
    "radius": st.sampled_from(RADII),
}  # fmt: skip


def vectors(rng, d, kind, rows=2, least=-25):
    """Rows ``(rows, d)``; entries of a wild one are of sizes from ``10^least`` to 1."""
    x = rng.standard_normal((rows, d))
    if kind == "sparse":
        return x * (rng.random((rows, d)) < 0.4)
    if kind == "tied":
        return np.sign(x) * rng.choice([1.0, 1.0, 0.5], (rows, d))
    if kind == "wild":
        return np.sign(x) * 10.0 ** rng.uniform(least, 0, (rows, d))
    return np.ones((rows, d)) if kind == "flat" else x * (kind == "dense")
