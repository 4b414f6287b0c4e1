"""Known laws that draws are held against."""

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.stats import kstest


def quadrature(law):
    """Distribution function of x_1 for a law along an axis, smooth between 100 quantiles and the ends.

    Straight lines between quantiles would be wrong by a good part of what 2e5 draws resolve.
    """
    levels = np.array([1, 2, 5, 10, *range(20, 1981, 20), 1990, 1995, 1998, 1999])
    grid = np.unique(np.concatenate([law.quantiles(2000)[levels], [-1.0, 1.0]]))
    return PchipInterpolator(grid, [1.0 - law.tail(t) for t in grid])


def in_plane(x, logs, p, size=1501):
    """Hold coordinates of draws and their sum against a log density on the l_p ball, by a grid."""
    grid = (np.arange(size) + 0.5) / size * 2 - 1
    first, second = np.meshgrid(grid, grid, indexing="ij")
    inside = np.abs(first) ** p + np.abs(second) ** p <= 1
    density = np.where(inside, logs(first, second), -np.inf)
    density = np.exp(density - density.max())
    density /= density.sum()
    places = np.add.outer(np.arange(size), np.arange(size)).ravel()
    sums = np.bincount(places, density.ravel())
    at = (np.arange(2 * size - 1) + 1) / size * 2 - 2
    laws = [(x[:, axis], grid, density.sum(axis=1 - axis)) for axis in (0, 1)] + [(x.sum(axis=1), at, sums)]
    for values, points, masses in laws:
        below = np.cumsum(masses)
        assert kstest(values, lambda t, a=points, b=below: np.interp(t, a + 1 / size, b, 0.0, 1.0)).pvalue > 1e-3
