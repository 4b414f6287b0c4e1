"""Records that are looked up, compiled: by number of their kind, or written out from signs or about a mean."""

from __future__ import annotations

import numpy as np

from dpsco_bench.fused.compiled import compiled


@compiled
def kinds_in(found, kinds, indices):
    """Kinds of the records of batches.

    Parameters
    ----------
    found : array (k, S R, W) of int64, overwritten
    kinds : array (S R, n) of uint8
    indices : array (k, R, W), the records that all signals share
    """
    replicates = indices.shape[1]
    for s in range(found.shape[0]):
        for row in range(found.shape[1]):
            for w in range(found.shape[2]):
                found[s, row, w] = np.int64(kinds[row, indices[s, row % replicates, w]])


@compiled
def write_signs(found, levels, ranks, scale, indices):
    """Write records with two values: ``scale`` where a level is above the signal's rank, else ``-scale``.

    Parameters
    ----------
    found : array (S R, k, W, d), overwritten
    levels : array (R, n, d) of uint8; ranks : array (S,) of uint8
    indices : array (k, R, W)
    """
    replicates = indices.shape[1]
    for row in range(found.shape[0]):
        r, rank = row % replicates, ranks[row // replicates]
        for s in range(found.shape[1]):
            for w in range(found.shape[2]):
                i = indices[s, r, w]
                for j in range(found.shape[3]):
                    found[row, s, w, j] = scale if levels[r, i, j] > rank else -scale


@compiled
def write_about(found, means, signs, scale, indices):
    """Write records ``means[row] + scale signs[r, i]`` about the mean of their row.

    Parameters
    ----------
    found : array (S R, k, W, d), overwritten
    means : array (S R, d); signs : array (R, n, d) of int8
    indices : array (k, R, W)
    """
    replicates = indices.shape[1]
    for row in range(found.shape[0]):
        r = row % replicates
        for s in range(found.shape[1]):
            for w in range(found.shape[2]):
                i = indices[s, r, w]
                for j in range(found.shape[3]):
                    found[row, s, w, j] = means[row, j] + scale * signs[r, i, j]
