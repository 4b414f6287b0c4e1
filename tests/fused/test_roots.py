"""Powers and roots of compiled loops against those of the array code, at every size of their arguments."""

import math

import numpy as np
import pytest

from dpsco_bench.fused import compiled
from dpsco_bench.fused.pieces import in_bracket, jointly, lp_length, mirror_point, penalised_point, power, project_lp
from dpsco_bench.geometry import norms
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm, penalised_step, square_gradient

from ..runs import needs_numba

needs_numba()

RNG = np.random.default_rng(5)


@compiled.compiled
def all_powers(out, x, exponent):
    for i in range(x.size):
        out[i] = power(x[i], exponent)


@compiled.compiled
def moved(points, y, mirror, ball):
    """Mirror steps of rows one after the other, each with the root of the one before as its guess."""
    work, guess = np.empty((3, y.shape[1])), 0.0
    for row in range(len(y)):
        guess = mirror_point(points[row], y[row], work, mirror, ball, guess)


@compiled.compiled
def projected(points, p, radius):
    for row in range(len(points)):
        project_lp(points[row], np.empty((4, points.shape[1])), p, radius)


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 0.1, 0.5, 1.0, 2.0, 9.3, 30.0])
def test_powers(exponent):
    x = np.concatenate([RNG.random(300), 10.0 ** RNG.uniform(-30, 3, 300), [1.0, 0.5, 2.0]])
    out = np.empty_like(x)
    all_powers(out, x, exponent)
    known = np.abs(exponent * np.log(x)) < 600
    np.testing.assert_allclose(out[known], x[known] ** exponent, rtol=3e-14 * max(1.0, exponent))
    all_powers(out[:2], np.array([0.0, 1e-305]), exponent)
    assert not out[:2].any()


@compiled.compiled
def both_ways(level, rho, limits, p, s):
    """The multiplier and the point, over its length, by all equations at once and by one within another."""
    least = min(p, s) - 1.0
    ratio, (u, v, work) = (max(p, s) - 1.0) / least, np.empty((3, 2, level.size))
    at_once = jointly(u[0], v[0], level, work[0], limits[0], rho, p, s, least, ratio)
    nested = in_bracket(u[1], v[1], level, work[1], limits[0], limits, rho, p, s, least, ratio)
    for way in range(2):
        u[way] /= lp_length(u[way], p)
    return at_once, nested, u


@compiled.compiled
def from_outside(point, y, work, p, s, radius, guess):
    penalised_point(point, y, work, p, s, 1.0, radius, guess)


def directions(d):
    """Rows ``(24, d)`` from far inside of the unit ball to far outside, some with zeros and ties."""
    y = RNG.standard_normal((24, d)) * 10.0 ** RNG.uniform(-9, 9, (24, 1))
    y[3], y[5, : d // 2], y[7] = 0.0, 0.0, 2.5
    return y


@pytest.mark.parametrize("d", [1, 2, 3, 40])
@pytest.mark.parametrize(("p", "rule"), [(1.0, "best"), (1.2, "sec2"), (1.2, "q"), (1.7, "sec2"), (2.0, "q")])
@pytest.mark.parametrize("radius", [1.0, 30.0, math.inf])
def test_mirror_steps(d, p, rule, radius):
    if math.isinf(radius) and p == 1.0:
        p = 1.5
    mirror, y = SmoothMirror(SmoothNorm(p, d, rule)), directions(d)
    norm, points = mirror.norm, np.empty_like(y)
    expected = mirror.inverse(y) if math.isinf(radius) else mirror.step(y, p, radius)
    moved(points, y, (norm.dual, norm.r, norm.kappa), (p, radius))
    np.testing.assert_allclose(points, expected, rtol=1e-11, atol=1e-12 * min(radius, 1.0))
    there = square_gradient(points, norm.dual, norm.kappa)  # where entries are so small that they are 0, y has more
    assert np.all(np.abs(y - there) <= 1e-10 * np.abs(there) + 1e-9 * np.abs(there).max(axis=1, keepdims=True))


@pytest.mark.parametrize(("p", "s"), [(1.01, 2.0), (1.2, 1.5), (3.0, 2.0), (30.0, 2.0)])
@pytest.mark.parametrize("outside", [1e-12, 1e-10, 1e-8])
@pytest.mark.parametrize("guess", [0.0, 0.5, 2.0])
def test_points_just_outside_of_the_ball(p, s, outside, guess):
    y = RNG.standard_normal((40, 16)) * 10.0 ** RNG.uniform(-12, 0, (40, 16))
    free = square_gradient(y, s / (s - 1.0), 1.0)
    for row, radius in enumerate((1.0 - outside) * np.linalg.norm(free, ord=p, axis=1)):
        point, work = np.empty(16), np.empty((3, 16))
        from_outside(point, y[row], work, p, s, radius, guess)
        (expected,) = penalised_step(y[row : row + 1], free[row : row + 1], p, s, 1.0, radius)
        np.testing.assert_allclose(point, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("d", [2, 17, 64])
@pytest.mark.parametrize(("p", "s"), [(1.2, 1.3), (1.5, 1.67), (1.1, 2.0), (2.5, 2.0), (8.0, 2.0)])
@pytest.mark.parametrize("rho", [1e-3, 0.3, 0.9])
def test_both_ways_to_a_multiplier(d, p, s, rho):
    level = RNG.random(d) ** 3
    level[0] = 1.0
    shrunk = d ** (2.0 / s - 1.0 - 1.0 / p)
    high = (1.0 - rho * shrunk) * shrunk ** (-(p - 1.0) / (s - 1.0))
    at_once, nested, u = both_ways(level, rho, (1.0 - rho, max(high, 2.0 * (1.0 - rho))), p, s)
    assert at_once > 0.0  # few steps are enough
    assert at_once == pytest.approx(nested, rel=1e-11)
    np.testing.assert_allclose(*u, rtol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 17])
@pytest.mark.parametrize("p", [2.001, 2.5, 4.0, 30.0])
@pytest.mark.parametrize("radius", [0.5, 1e3])
def test_projections(d, p, radius):
    points = directions(d)
    expected = norms.project_lp(points, p, radius)
    projected(points, p, radius)
    np.testing.assert_allclose(points, expected, rtol=1e-11, atol=1e-12 * radius)
