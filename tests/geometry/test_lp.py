"""l_p norms, linear minimisation and Euclidean projection: optimality and duality at extreme exponents and scales."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.geometry.norms import (
    dual_exponent,
    lp_norm,
    minimise_linear_lp,
    project_l1,
    project_lp,
    square_gradient,
)

from .vectors import KINDS, RADII, SCALES, vectors

EXPONENTS = (1.0, 1.01, 1.5, 1.999, 2.0, 2.001, 3.0, 4.0, 50.0, math.inf)
DIMENSIONS = (1, 2, 3, 8, 50)
CASES = {
    "seed": st.integers(0, 10**6), "p": st.sampled_from(EXPONENTS), "d": st.sampled_from(DIMENSIONS),
    "kind": st.sampled_from(KINDS), "scale": st.sampled_from(SCALES), "radius": st.sampled_from(RADII),
}  # fmt: skip


@given(**CASES)
def test_norms_against_numpy(seed, p, d, kind, scale, radius):
    x = vectors(np.random.default_rng(seed), d, kind)
    top = np.maximum(np.abs(x).max(axis=-1), 1e-300)  # NumPy's powers underflow
    expected = top * np.linalg.norm(x / top[:, None], ord=p, axis=-1)
    np.testing.assert_allclose(lp_norm(scale * x, p)[:, 0], scale * expected, rtol=1e-12)


@given(**CASES)
def test_square_gradients_are_dual(seed, p, d, kind, scale, radius):
    """``<grad, x> = ||x||^2`` and ``||grad||_q = ||x||_p`` for the gradient of half the squared norm."""
    if p == 1 or math.isinf(p):
        return
    x = vectors(np.random.default_rng(seed), d, kind)
    gradient = square_gradient(scale * x, p, 1.0) / scale
    length = lp_norm(x, p)
    np.testing.assert_allclose((gradient * x).sum(-1, keepdims=True), length**2, rtol=1e-10)
    np.testing.assert_allclose(lp_norm(gradient, dual_exponent(p)), length, rtol=1e-10)


def test_ties_of_the_cross_polytope_go_to_the_lowest_coordinate():
    g = np.array([[1.0, -2.0, 2.0], [0.0, 0.0, 0.0], [-3.0, 3.0, -3.0]])
    expected = 2.0 * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(minimise_linear_lp(g, 1, 2.0), expected)
    flat = minimise_linear_lp(np.array([[2.0, 0.0, -1e-300]]), math.inf, 3.0)  # of a cube flat coordinates stay
    np.testing.assert_array_equal(flat, [[-3.0, 0, 3.0]])


def variational_gap(x, y, p, radius):
    """``max_v <x - y, v - y>`` over the ball, in units of its radius and of the largest entry of x."""
    residual = (x - y) / np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1e-300)
    return lp_norm(residual, dual_exponent(p))[:, 0] - (residual * (y / radius)).sum(axis=-1)


@given(seed=st.integers(0, 10**6), p=st.sampled_from(EXPONENTS), power=st.integers(1, 15), d=st.sampled_from([2, 30]))
def test_projections_of_points_just_outside(seed, p, power, d):
    x = vectors(np.random.default_rng(seed), d, "dense")
    x = x / lp_norm(x, p) * (1 + 10.0**-power)
    y = project_lp(x, p, 1.0)
    np.testing.assert_allclose(lp_norm(y, p), 1.0, rtol=1e-12)
    assert np.abs(y - x).max() <= 2 * 10.0**-power + 1e-14 and np.all(variational_gap(x, y, p, 1.0) <= 1e-13)


def test_check_vectors_of_projections():
    expected = (0.534241367570, -0.743676946490, 0.884721165334)
    np.testing.assert_allclose(project_lp(np.array([[1.0, -2.0, 3.0]]), 4, 1.0)[0], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(project_l1(np.array([[0.9, -0.6, 0.2]]), 1.0), [[0.65, -0.35, 0.0]], atol=1e-15)
    np.testing.assert_allclose(project_l1(np.array([[1e300, -1e300, 3.0]]), 1.0), [[0.5, -0.5, 0.0]])


@pytest.mark.parametrize("p", EXPONENTS)
def test_ties_stay_ties_and_zeros_stay_zeros(p):
    for scale in (1.0, 1e-200, 1e300):
        y = project_lp(scale * np.array([[3.0, -3.0, 0.0, 3.0]]), p, scale)[0] / scale
        assert y[0] == -y[1] == y[3] == pytest.approx(3.0 ** (-1.0 / p), rel=1e-13) and y[2] == 0
