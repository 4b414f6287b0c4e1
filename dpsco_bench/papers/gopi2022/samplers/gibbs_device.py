"""Gibbs chains on a GPU: the states of `gibbs.sample_gibbs`, a thread for each chain."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.backend.device import kernel, launch
from dpsco_bench.rng.cuda import key_words
from dpsco_bench.samplers.draws import KeyedDraws

KERNELS = Path(__file__).with_name("gibbs.cu")
THREADS = 32
STATES = 1 << 22
"""Most numbers of the states that one launch leaves."""


def takes(xp: Any, q: float, p: float) -> bool:
    """Check that the run is on a device and the kernel knows the law: its conditionals are truncated exponentials."""
    return bool(xp.__name__ == "cupy" and q < 2.0 and math.isfinite(p))


def sample_gibbs_there(
    xp: Any,
    draws: KeyedDraws,
    v: np.ndarray,
    c: float,
    q: float,
    p: float,
    radius: float,
    sweeps: int,
    observe: Callable[[np.ndarray], None] = lambda x: None,
) -> np.ndarray:
    """Draw as `gibbs.sample_gibbs` does from the origin with scale moves, on the host, for a CuPy ``xp``."""
    rows, d = v.shape
    x, tilts, powers = xp.zeros((rows, d)), xp.asarray(v), xp.empty((rows, 2, d))
    keys = (*key_words(draws.stream("gibbs").key), *key_words(draws.stream("scale").key))
    most, state = max(1, STATES // (rows * d)), np.zeros((rows, d))
    for first in range(0, sweeps, most):
        states = xp.empty((min(most, sweeps - first), rows, d))
        sizes = (rows, d, first, len(states), float(c), float(q), float(p), float(radius))
        told = (x, states, powers, tilts, *sizes, *keys, draws.first_replicate, draws.replicates)
        launch(kernel(KERNELS, "gibbs_sweeps"), -(-rows // THREADS), THREADS, *told)
        for state in states.get():
            observe(state)
    return np.array(state)
