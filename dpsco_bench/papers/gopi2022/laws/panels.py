"""The marginal of axis laws without their tilt, on panels that serve every tilt."""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.nodes import gauss_legendre

Array = np.ndarray
PER_PANEL = 16
_SMALLEST, _KINK = 60, 20
"""Panels are halved so often towards the ends of the axis, where the density starts as a power, and towards 0."""


def axis_panels(p: float, d: int, c: float) -> tuple[Array, Array, Array]:
    """Panels in the gap ``1 - x_1`` for densities ``exp(kap x_1 - c ||x||_p^2)`` on the unit l_p ball, any ``kap``.

    Returns
    -------
    edges : array ``(P + 1,)``, increasing from 0 to 2
    gaps : array ``(P, PER_PANEL)``, at the Gauss-Legendre nodes of each panel
    log_marginal : array ``(P, PER_PANEL)``, log density of x_1 at ``kap = 0``, up to a constant
    """
    width = min(0.5, 1.0 / math.sqrt(2.0 * c)) if c > 0 else 0.5
    powers = 0.5 ** np.arange(_SMALLEST + 1.0)
    uniform = np.linspace(0.0, 1.0, 1 + math.ceil(1.0 / width))
    half = np.unique(np.concatenate([uniform, powers, 1.0 - powers[1 : _KINK + 1]]))
    nodes, _ = gauss_legendre(PER_PANEL)
    depth = half[:-1, None] + np.diff(half)[:, None] * nodes
    log_marginal = AxisLaw(p, d, 0.0, c).log_marginal(depth.ravel()).reshape(depth.shape)
    edges = np.concatenate([half, 2.0 - half[-2::-1]])
    gaps = np.concatenate([depth, 2.0 - depth[::-1, ::-1]])
    return edges, gaps, np.concatenate([log_marginal, log_marginal[::-1, ::-1]])
