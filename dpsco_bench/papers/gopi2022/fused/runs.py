"""Runs of fused chains: tiles of sweeps, after each of which the states are shown as the listing shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_bench.fused import tiles
from dpsco_bench.papers.gopi2022.algorithms.chains import ChainWatch

Array = np.ndarray


def run_sweeps(watch: ChainWatch, x: Array, sweeps: int, advance: Callable[[int, Array], None]) -> Array:
    """Last states ``(rows, d)`` of chains that ``advance`` moves.

    Parameters
    ----------
    watch : shown the state after each sweep; it keeps few of them
    advance : callable, (number of the first sweep, states (k, rows, d) to fill), after which ``states[-1]`` is the
        state of the chains
    """
    at_once, first = max(1, tiles.NUMBERS // x.size), 0
    states = x[None]
    while first < sweeps:
        states = np.empty((min(at_once, sweeps - first), *x.shape))
        advance(first, states)
        for state in states:
            watch(state)
        first += len(states)
    return np.array(states[-1])


def words(draws: Any, name: str) -> tuple[int, int]:
    """Return the key of a named stream of a draw."""
    first, second = draws.stream(name).key
    return int(first), int(second)
