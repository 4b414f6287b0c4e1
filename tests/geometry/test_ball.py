"""Euclidean projections: the optimality conditions on random, tied, zero and extreme points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsco_bench.geometry.ball import BALLS, Ball
from dpsco_bench.geometry.norms import l1_norm, l2_norm, project_l1

MODERATE = st.floats(-1e3, 1e3, allow_subnormal=False)
SOME = st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e-300, 1e300, -1e300, 1e150])


def points(elements):
    shapes = st.tuples(st.integers(1, 3), st.integers(1, 9))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=elements))


@pytest.mark.parametrize("name", BALLS)
@given(x=points(st.one_of(MODERATE, SOME)), radius=st.sampled_from([1.0, 0.3, 40.0, 1e-3]))
def test_projections_obey_the_variational_inequality(name, x, radius):
    """``<x - P(x), v - P(x)> <= 0`` for the vertices (l1) or the worst point (l2) of the ball, and P(x) is feasible."""
    ball = Ball(name, radius)
    y = ball.project(x)
    assert np.isfinite(y).all()
    assert np.all(ball.norm(y) <= radius * (1 + 1e-12))
    residual = x - y
    scale = np.abs(residual).max(axis=-1)
    unit = residual / np.where(scale > 0, scale, 1.0)[:, None]
    dual = np.abs(unit).max(axis=-1) if name == "l1_ball" else np.sqrt((unit**2).sum(axis=-1))
    rounded = 8 * np.finfo(np.float64).eps * np.abs(x).max(axis=-1) / np.where(scale > 0, scale, 1.0)  # of the residual
    assert np.all(radius * dual - (unit * y).sum(axis=-1) <= (1e-9 + rounded) * radius)
    inside = ball.norm(x)[:, 0] <= radius
    np.testing.assert_array_equal(y[inside], x[inside])


@pytest.mark.parametrize("name", BALLS)
@given(x=points(MODERATE))
def test_projections_are_idempotent_and_symmetric(name, x):
    ball = Ball(name, 2.0)
    y = ball.project(x)
    np.testing.assert_allclose(ball.project(y), y, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(ball.project(-x), -y)


def test_v7_projection_on_the_l1_ball():
    np.testing.assert_allclose(project_l1(np.array([[0.9, -0.6, 0.2]]), 1.0), [[0.65, -0.35, 0.0]], atol=1e-15)


def test_ties_stay_ties_at_any_scale():
    for scale in (1.0, 1e-200, 1e300):
        x = scale * np.array([[1.0, -1.0, 1.0, 0.25]])
        y = project_l1(x, 0.5 * scale)
        assert y[0, 0] == -y[0, 1] == y[0, 2] and l1_norm(y)[0, 0] == pytest.approx(0.5 * scale)
    np.testing.assert_allclose(project_l1(np.array([[1e300, -1e300, 3.0]]), 1.0), [[0.5, -0.5, 0.0]])


def test_norms_at_extreme_scales():
    x = np.array([[3e200, -4e200], [3e-200, 4e-200], [0.0, 0.0]])
    np.testing.assert_allclose(l2_norm(x)[:, 0], [5e200, 5e-200, 0.0])
