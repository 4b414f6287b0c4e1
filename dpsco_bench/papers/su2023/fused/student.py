"""Student noise from pairs of uniform numbers, compiled: NumPy takes a pass for each function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled, vector_piece
from dpsco_bench.fused.powers import LN2, LN2_HIGH, LN2_LOW, ROUND, exponential_tail, logarithm
from dpsco_bench.problems.heavy_linear_t import FREEDOM, StudentSample, student_scale

ROWS = 64
"""Rows whose numbers are worked on at once: a row of a few numbers is too short for vectors."""
TURN = 2.0 * math.pi


def quicken(data: Any) -> None:
    """Records of Student noise are drawn by the compiled transform from now on."""
    if isinstance(data, StudentSample):
        data.transform = student_noise


def student_noise(drawn: np.ndarray) -> np.ndarray:
    """As `heavy_linear_t.student_noise`."""
    d = drawn.shape[-1] // 2
    out = np.empty((*drawn.shape[:-1], d))
    given = np.ascontiguousarray(drawn, dtype=np.float64).reshape(-1, 2 * d)
    student(out.reshape(-1, d), given, FREEDOM, student_scale(d))
    return out


@vector_piece
def exponential_minus_one(y):
    """``e^y - 1`` of y in [0, 700], to 1e-15 relative."""
    shifted = y * (1.0 / LN2) + ROUND
    k = shifted - ROUND
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    q = exponential_tail(r) * r * r + r
    power = np.int64((np.int64(1023) + np.int64(k)) << 52).view(np.float64)
    return power * q + (power - 1.0)


@vector_piece
def cosine_of_turns(v):
    """``cos(2 pi v)`` of v in [0, 1], by its series on a quarter of a turn to either side."""
    half = math.floor(2.0 * v + 0.5)
    x = TURN * (v - 0.5 * half)
    z = x * x
    p = (-1.0 / 1124000727777607680000.0) * z + 1.0 / 2432902008176640000.0
    p = p * z - 1.0 / 6402373705728000.0
    p = p * z + 1.0 / 20922789888000.0
    p = p * z - 1.0 / 87178291200.0
    p = p * z + 1.0 / 479001600.0
    p = p * z - 1.0 / 3628800.0
    p = p * z + 1.0 / 40320.0
    p = p * z - 1.0 / 720.0
    p = p * z + 1.0 / 24.0
    p = p * z - 0.5
    value = p * z + 1.0
    return value if half != 1.0 else -value


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
