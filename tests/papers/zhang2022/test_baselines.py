"""Baselines of the comparison table of chapter zhang2022, and the accountant of their batches."""

from math import sqrt

import numpy as np
import pytest

FKT, BFTT, SGD = "zhang2022.fkt20_phased_sgd", "zhang2022.bftt19_noisy_sgd", "zhang2022.dp_sgd"


def unit_vectors(n, d, seed=0):
    z = np.random.default_rng(seed).standard_normal((n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def test_the_result_lies_in_the_ball(points):
    for calibration in ("paper", "accounted"):
        output = points.run(FKT, unit_vectors(32, 3), calibration, epsilon=0.01, replicates=20, step=1.0).output
        assert np.linalg.norm(output, axis=1).max() <= 1 + 1e-12


def test_steps_up_to_two_over_the_smoothness_do_not_drive_runs_apart(points):
    """The last phase's average moves by at most 2 L eta_i where its only record changes."""
    records = unit_vectors(16, 2)
    found = points.run(FKT, records, curvature=1.0, step=2.0)
    assert found.plan.sizes == (8, 4, 2, 1)
    last = found.plan.step / 4 ** len(found.plan.sizes)
    changed = records.copy()
    changed[14] = -records[14]  # the only record of the last phase
    moved = np.linalg.norm(points.run(FKT, changed, curvature=1.0, step=2.0).output - found.output)
    assert 0 < moved <= 2 * 2.0 * last


@pytest.mark.parametrize("algorithm", [BFTT, SGD])
def test_mini_batch_sgd_returns_the_mean_of_its_iterates(points, algorithm):
    """One record and no noise: projected gradient descent by hand."""
    z = np.array([[0.6, -0.2]])
    keys = {"batch": 1} if algorithm == SGD else {}
    found = points.run(algorithm, np.tile(z, (8, 1)), curvature=1.0, steps=5, **keys)
    step = found.plan.step if algorithm == BFTT else 2.0 / (2.0 * sqrt(5))
    x, seen = np.zeros((1, 2)), []
    for _ in range(5):
        seen.append(x)
        x = x - step * (x - z)
        x = x / max(1.0, float(np.linalg.norm(x)))
    np.testing.assert_allclose(found.output, np.mean(seen, axis=0), rtol=1e-12)
