from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.papers.wang2017.algorithms.svrg import barzilai_borwein_step

LAM, L, M = 0.1, 0.25, 20
LOW, HIGH = 1 / (M * (L + LAM)), 5 / (M * LAM)


def plan(exact):
    return SimpleNamespace(inner_steps=M, exact_anchor=exact, bb_range=(LOW, HIGH))


@pytest.mark.parametrize("xp", [np, strict])
def test_value(xp):
    move, change = xp.asarray([[1.0, 2.0], [3.0, 0.0]]), xp.asarray([[0.5, 0.25], [-1.0, 7.0]])
    step = barzilai_borwein_step(move, change, 0.1, plan(True))
    np.testing.assert_allclose(np.asarray(step), [[5 / (M * 1.0)], [9 / (M * 3.0)]])


def test_noise_cannot_take_the_private_step_out_of_its_range():
    rng = np.random.default_rng(0)
    move, change = rng.standard_normal((2, 1000, 3))
    free, clipped = (barzilai_borwein_step(move, change, 0.1, plan(exact)) for exact in (True, False))
    assert np.all(free > 0) and free.max() > HIGH and free.min() < LOW
    np.testing.assert_array_equal(clipped, np.clip(free, LOW, HIGH))


def test_exact_steps_lie_between_the_curvatures():
    """For gradients of an objective with curvature in [lambda, L + lambda]: 1/(m(L+lambda)) <= eta <= 1/(m lambda)."""
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    hessian = basis @ np.diag([LAM, 0.2, 0.3, L + LAM]) @ basis.T
    move = rng.standard_normal((500, 4))
    step = barzilai_borwein_step(move, move @ hessian, 0.1, plan(True))
    assert np.all(step >= LOW * (1 - 1e-12)) and np.all(step <= 1 / (M * LAM) * (1 + 1e-12))
