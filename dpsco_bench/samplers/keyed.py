"""Random numbers of a sampler: named streams of one mechanism, addressed by step, replicate and coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.rng.streams import Stream

SPARSE = 4
"""Share of replicates, one in so many, below which their numbers are drawn one by one."""


@dataclass(frozen=True)
class KeyedDraws:
    """Uniform numbers for R replicates, on the host: the same ones however replicates are split between runs.

    Attributes
    ----------
    copies : int, how often the replicates' numbers are repeated, for rows that share them (signal-major)
    """

    stream: Callable[[str], Stream]
    first_replicate: int
    replicates: int
    copies: int = 1

    @property
    def rows(self) -> int:
        return self.copies * self.replicates

    def uniform(self, name: str, step: int, dim: int) -> np.ndarray:
        """Uniform numbers in (0, 1), shape ``(rows, dim)``."""
        drawn = self.stream(name).uniform(step, 1, self.first_replicate, self.replicates, dim)[0]
        return drawn if self.copies == 1 else np.tile(drawn, (self.copies, 1))

    def uniform_steps(self, name: str, first_step: int, steps: int, dim: int, rows: np.ndarray) -> np.ndarray:
        """Uniform numbers of several steps for some rows ``(m,)``, shape ``(steps, m, dim)``: those of `uniform`."""
        numbers, back = np.unique(rows % self.replicates, return_inverse=True)
        first, count = int(numbers[0]), int(numbers[-1] - numbers[0]) + 1
        stream = self.stream(name)
        if SPARSE * len(numbers) < count:
            one_by_one = [stream.uniform(first_step, steps, self.first_replicate + int(r), 1, dim) for r in numbers]
            return np.concatenate(one_by_one, axis=1)[:, back]
        drawn = stream.uniform(first_step, steps, self.first_replicate + first, count, dim)
        return drawn[:, (numbers - first)[back]]

    def integers(self, name: str, step: int, dim: int, high: int) -> np.ndarray:
        """Integers in [0, high), shape ``(rows, dim)``."""
        drawn = self.stream(name).integers(step, 1, self.first_replicate, self.replicates, dim, high=high)[0]
        return drawn if self.copies == 1 else np.tile(drawn, (self.copies, 1))
