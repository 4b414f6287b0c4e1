"""Compiled steps on few records against the formula that they stand for, for all shapes of what they are given."""

import numpy as np
import pytest

from dpsco_bench.fused.descent import TOGETHER, projected_steps
from dpsco_bench.fused.pieces import L1_BALL, L2_BALL, LINF_BALL, LP_BALL, SPACE
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.problems.data import HUBER, LOGISTIC, PSEUDO_HUBER, SQUARED

from ..runs import needs_numba

needs_numba()

EXPONENTS = {L2_BALL: 2.0, L1_BALL: 1.0, LINF_BALL: np.inf, LP_BALL: 3.0}
FORMS = [(LOGISTIC, -1.0, 0.0), (LOGISTIC, 1.0, 1.0), (SQUARED, 0.0, 0.0), (PSEUDO_HUBER, 0.3, 0.0), (HUBER, 2.0, 0.0)]
SHAPES = [(1, 3, 1, False, True), (TOGETHER + 5, 8, 1, True, True), (4, 11, 2, False, True), (5, 16, 1, False, False)]
STEPS, RADIUS, NO_WIDTHS = 7, 0.8, (np.zeros(0), np.zeros(0))


def slope(kind, a, b, m, y):
    if kind == LOGISTIC:
        return 0.5 * (a * y + np.tanh(0.5 * (m + b * a * y)))
    if kind == SQUARED:
        return m - y
    return (m - y) / np.sqrt((m - y) ** 2 + a * a) if kind == PSEUDO_HUBER else np.clip(a * (m - y), -1.0, 1.0)


def given(rows, d, copies, shared, width, noise, seed=0):
    """Iterates of so many replicates and copies, records, batches of at most ``width``, and noise."""
    rng = np.random.default_rng(seed)
    n, columns = 50, 1 if shared else copies * rows
    index = rng.integers(0, n, (STEPS, columns, width))
    counts = rng.integers(0, width + 1, (STEPS, columns)) if width > 1 else np.array([[1]])
    drawn = rng.standard_normal((STEPS, rows, d)).astype(np.float32) if noise else np.zeros((1, 1, d), np.float32)
    features, labels = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    records = features, labels, index, counts, 1.0 / width, 0 if shared else rows
    return rng.standard_normal((copies * rows, d)), records, drawn


def listed(x, total, rows, records, form, told, domain):
    (features, labels, index, counts, share, stride), (noise, scale, eta, weights, ridge) = records, told
    for row in range(len(x)):
        copy, r = divmod(row, rows)
        chosen = r + copy * stride if index.shape[1] > 1 else 0
        for s in range(STEPS):
            g = ridge * x[row]
            for i in index[s, chosen, : counts[s, chosen] if counts.size > 1 else 1]:
                g = g + share * slope(*form, features[i] @ x[row], labels[i]) * features[i]
            z = noise[s, r] if len(noise) > 1 else 0.0
            x[row] = x[row] - eta[s] * (g + scale[s] * z)
            x[row] = x[row] if domain is None else domain.project(x[row : row + 1])[0]
            total[row] += weights[s] * x[row]


@pytest.mark.parametrize("ball", [SPACE, L2_BALL, L1_BALL, LINF_BALL, LP_BALL])
@pytest.mark.parametrize("width", [1, 3, 2 * TOGETHER])
@pytest.mark.parametrize(("rows", "d", "copies", "shared", "noise"), SHAPES)
def test_steps_are_those_of_the_formula(ball, width, rows, d, copies, shared, noise):
    for kind, a, b in FORMS:
        x, records, drawn = given(rows, d, copies, shared, width, noise)
        expected, total, sums, numbers = x.copy(), np.zeros_like(x), np.zeros_like(x), np.arange(1.0, STEPS + 1)
        told = drawn, 0.3 / numbers, 0.5 / numbers, numbers, 0.1
        domain = Ball(EXPONENTS[ball], RADIUS) if ball in EXPONENTS else None
        listed(expected, sums, rows, records, (kind, a, b), told, domain)
        form = kind, a, b, *NO_WIDTHS
        projected_steps(x, total, (0, rows, rows, copies), records, form, *told, (ball, RADIUS, 3.0))
        np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(total, sums, rtol=1e-10, atol=1e-12)
