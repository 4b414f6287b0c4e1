"""Student noise from pairs of uniform numbers, compiled: NumPy takes a pass for each function."""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.pieces import cosine_of_turns, exponential_minus_one, logarithm
from dpsco_bench.problems.slopes import FREEDOM, StudentSample, student_scale

ROWS = 64
"""Rows whose numbers are worked on at once: a row of a few numbers is too short for vectors."""


def quick(data: Any) -> Any:
    """Give data Student noise from the compiled transform; other data stay as they are."""
    if not isinstance(data, StudentSample):
        return data
    found = copy(data)
    found.transform = student_noise
    return found


def student_noise(drawn: np.ndarray) -> np.ndarray:
    """Draw the noise of `problems.slopes.student_noise`."""
    d = drawn.shape[-1] // 2
    out = np.empty((*drawn.shape[:-1], d))
    given = np.ascontiguousarray(drawn, dtype=np.float64).reshape(-1, 2 * d)
    student(out.reshape(-1, d), given, FREEDOM, student_scale(d))
    return out


@compiled
def student(out, drawn, freedom, scale):
    """``scale sqrt(f (u^(-2/f) - 1)) cos(2 pi v)`` to ``out (rows, d)``, of ``drawn (rows, 2 d)``: u, then v."""
    rows, d = out.shape
    u, v = np.empty(ROWS * d), np.empty(ROWS * d)
    power = 2.0 / freedom
    for first in range(0, rows, ROWS):
        some = min(ROWS, rows - first)
        for i in range(some):
            for j in range(d):
                u[i * d + j], v[i * d + j] = drawn[first + i, j], drawn[first + i, d + j]
        for q in range(some * d):
            radius = math.sqrt(freedom * exponential_minus_one(-power * logarithm(u[q])))
            u[q] = scale * radius * cosine_of_turns(v[q])
        for i in range(some):
            for j in range(d):
                out[first + i, j] = u[i * d + j]
