"""What a run shows to `Objective.observe`. A measure along the run judges it, so that it is made of releases too."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy

FACTOR = np.uint64(6364136223846793005)
"""Odd, so that no shown value is forgotten: a multiplier of linear congruential generators (Knuth)."""


class Shown:
    """An observer that keeps a digest of all iterates, bit for bit.

    Attributes
    ----------
    digest : array (R, ...) of uint64, or None before anything is shown
    """

    def __init__(self) -> None:
        self.digest: np.ndarray | None = None

    def __call__(self, objective: Any, x: Any) -> None:
        bits = np.ascontiguousarray(to_numpy(x), dtype=np.float64).view(np.uint64)
        before = np.zeros_like(bits) if self.digest is None else self.digest
        with np.errstate(over="ignore"):
            self.digest = before * FACTOR + bits + np.uint64(1)

    def unseen(self, objective: Any) -> int:
        """Compiled steps need not stop: it is one's own listing that is looked at."""
        return 1 << 30


def differing(one: Shown, other: Shown, runs: int) -> np.ndarray:
    """Which of some runs show something else, bool ``(R,)``."""
    if one.digest is None or other.digest is None:
        return np.full(runs, one.digest is not other.digest)
    if one.digest.shape != other.digest.shape:
        return np.ones(runs, dtype=bool)
    found: np.ndarray = (one.digest != other.digest).reshape(runs, -1).any(axis=1)
    return found
