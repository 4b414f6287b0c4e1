"""What the batched loop is compared with: only drawing the noise, and a script that runs one replicate at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpsco_bench.bench.noisy_sgd import Task

Draw = Callable[[int], np.ndarray]


def draw_only(task: Task, generator: np.random.Generator) -> None:
    """Draw the noise of a whole batched run into one array and do nothing with it."""
    noise = np.empty((task.replicates, task.d))
    for _ in range(task.steps):
        generator.standard_normal(out=noise)


def single_run(task: Task, curvature: np.ndarray, start: np.ndarray, draw: Draw) -> np.ndarray:
    """One replicate as a careful script runs it: no batching, no bookkeeping, the cheapest NumPy calls."""
    x = start
    for t in range(task.steps):
        x = x - task.step * (curvature * x + task.scale * draw(t))
        norm = math.sqrt(x @ x)
        if norm > task.radius:
            x *= task.radius / norm
    return x
