"""Projected gradient steps on few records, compiled: one text for all methods that make such steps."""

from __future__ import annotations

from pathlib import Path

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.in_turn import NUMBERS, TOGETHER, steps_in_turn
from dpsco_bench.fused.machine import launch_steps
from dpsco_bench.fused.tiles import on_device

KERNELS = Path(__file__).with_name("descent.cu")


@compiled
def projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    """Make steps ``x <- P(x - eta_s (g + ridge x + scale z))`` of all rows, and a weighted sum of the iterates.

    Parameters
    ----------
    x, total : array (S R, d), iterates and the sums, changed in place
    rows : tuple, replicates ``first .. last - 1`` of R, and S copies of them that share records and noise
    records : tuple, ``features, labels, index, counts, share, stride``: see `tiles.Tile`
    form : tuple, see `problems.data.RecordForm`
    noise : array (k, last - first, d) of float32, or (1, 1, d) of zeros without any; scale : array (k,)
    eta, weights : array (k,), step sizes, and weights in the sum
    domain : tuple, see `fused.tiles.domain_of`
    """
    first, last, replicates, copies = rows
    features, labels, index, counts, share, stride = records
    apart, drawn = index.shape[1] > 1, noise.shape[0] == eta.size and noise.shape[1] == last - first
    together = max(1, min(TOGETHER, NUMBERS // x.shape[1]))
    for copy in range(copies):
        for low in range(first, last, together):
            told = copy * replicates + low, low - first, min(together, last - low)
            looked = features, labels, index, counts, share, (low - first) * apart + copy * stride, apart
            steps_in_turn(x, total, told, looked, form, noise, drawn, scale, eta, weights, ridge, domain)


@on_device(projected_steps)
def launch_projected_steps(x, total, rows, records, form, noise, scale, eta, weights, ridge, domain):
    tile = (scale.size, rows, records, form, noise)
    launch_steps(KERNELS, "projected_steps", x, (total,), tile, scale, eta, weights, float(ridge), *domain[:2])
