"""Steps in tiles for a GPU: a kernel in place of each compiled loop, a block of threads for each row of iterates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.backend.device import kernel, launch
from dpsco_bench.fused.tiles import LAUNCHERS, Steps, Tile
from dpsco_bench.rng.cuda import key_words

Array = Any
WIDTHS = {128: (32, 1), 256: (32, 2), 1024: (128, 2), 4096: (256, 4)}
"""Largest dimension -> threads of a row, and blocks of four coordinates of a thread.

Twice the threads with half the blocks would have half the registers each, and spill for sm_100.
"""
SHARE = 1 / 4
"""Share of the free memory of the card that the records of a tile may take."""
NUMBERS = 1 << 24
"""Most indices of a tile: those of Poisson batches are drawn on the host."""
NO_NOISE = (np.uint32(0), np.uint32(0), 0, 0)


def fits(objective: Any, plan: Any) -> bool:
    """Check that rows are narrow enough for the kernels, and that they draw all laws of noise."""
    narrow = objective.start.shape[1] <= max(WIDTHS)
    return narrow and all(getattr(query, "law", "") in ("normal", "laplace") for query in plan.queries)


def launch_rows(file: Path, name: str, x: Array, *arguments: Any) -> None:
    """Launch a kernel of ``x (rows, ..., d)`` compiled for its width."""
    threads, blocks = next(size for most, size in WIDTHS.items() if x.shape[-1] <= most)
    launch(kernel(file, name, f"THREADS={threads}", f"BLOCKS={blocks}"), x.shape[0], threads, x, *arguments)


def step_arguments(steps: int, x: Array, rows: Any, records: Any, form: Any, noise: Any) -> tuple[Any, ...]:
    """Collect the tile's arguments of every kernel of steps: ``STEP_PARAMETERS`` of `row.cuh`."""
    features, labels, index, counts, share, _ = records
    kind, a, b, hessian, centre = form
    sizes = (x.shape[-1], rows[2], steps)
    told = (*sizes, features, labels, index, counts, *index.shape[1:], *counts.shape, share)
    return (*told, kind, a, b, hessian, centre, hessian.size, *noise)


class DeviceSteps(Steps):
    """As `tiles.Steps`, with records on the device; kernels draw the noise, of which a tile has the words' place.

    A tile has all replicates and as many steps as memory allows: indices are uploaded, or drawn, once for all.
    """

    def __init__(self, objective: Any, *arguments: Any, **keys: Any) -> None:
        super().__init__(objective, *arguments, **keys)
        kind, a, b, hessian, centre = self.form
        self.form = kind, a, b, self.xp.asarray(hessian), self.xp.asarray(centre)

    def run(self, loop: Callable[..., None], *arguments: Any) -> None:
        """Launch the kernel that stands for a loop, on the arguments of the loop; host arrays are uploaded."""
        LAUNCHERS[loop](*(self.xp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments))

    def tiles(
        self, first: int, steps: int, record: int | None = None, variates: bool = True, whole: bool = False
    ) -> Iterator[Tile]:
        """Yield tiles as `tiles.Steps.tiles` does."""
        self._begin(first, steps)
        length, rows = self._most_steps(), (0, self.replicates)
        for t in range(0, steps, length):
            k = min(length, steps - t)
            if self.sampled:
                records = self._records(*self._batches(first + t, k, rows))
            else:
                records = self._range(record, first, t, k)
            yield Tile(slice(t, t + k), (*rows, self.replicates, self.copies), records, self._place(first + t))

    def _place(self, step: int) -> tuple[Any, ...]:
        """Key, step and replicate of the first words of a tile's noise."""
        if self.query is None:
            return NO_NOISE
        first, *key = self.mechanism.address(self.query.name)
        return (*key_words((key[0], key[1])), step, first)

    def _most_steps(self) -> int:
        free = SHARE * self.xp.cuda.Device().mem_info[0] / 8
        rows = self.replicates if self._shared else self.replicates * self.copies
        return max(1, int(min(free, NUMBERS) / (rows * self.width * (1 if self._shared else 2 + self.d))))

    def _batches(self, first: int, k: int, rows: tuple[int, int]) -> tuple[Array, Array]:
        indices, mask = self.mechanism.batches(self.query, first, k, rows, self.xp)
        if mask.all():
            self.objective.count(self.looks * k * self.width)
            return self.xp.asarray(indices), self.xp.asarray([[self.width]])
        counts = mask.sum(axis=-1)
        done = np.tile(self.looks * counts.sum(axis=0, dtype=np.float64), self.copies)
        self.objective.evaluations = self.objective.evaluations + self.xp.asarray(done)
        return self.xp.asarray(indices), self.xp.asarray(counts)

    def _gathered(self, found: Any, k: int) -> tuple[Array, Array, Array]:
        xp, rows, numbers = self.xp, self.objective.replicates, found.features.shape[1]
        features = xp.ascontiguousarray(xp.asarray(found.features, dtype=xp.float64))
        labels = xp.zeros(rows * numbers)
        if found.labels is not None:
            labels = xp.ascontiguousarray(xp.asarray(found.labels, dtype=xp.float64))
        index = xp.reshape(xp.arange(rows * numbers, dtype=xp.int64), (rows, numbers))
        wide = xp.broadcast_to(index, (rows, k * self.width)) if numbers == 1 else index
        return features, labels, xp.ascontiguousarray(xp.swapaxes(xp.reshape(wide, (rows, k, self.width)), 0, 1))
