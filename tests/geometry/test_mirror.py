"""Mirror steps are exact minimisers: optimality conditions on random, tied, zero and extreme points."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpsco_bench.geometry.ball import feasible_set, mean_largest_square
from dpsco_bench.geometry.mirror import L1Geometry, L2Geometry, ball_geometry

from .vectors import vectors

RADII = st.sampled_from([1.0, 0.25, 30.0])
DIMENSIONS = st.sampled_from([1, 2, 3, 4, 7, 20])
KINDS = st.sampled_from(["dense", "sparse", "tied", "zero"])
vector = partial(vectors, rows=1)


def inside(rng, d, kind, radius, norm):
    """A feasible point, on the boundary half of the time."""
    x = vector(rng, d, kind)
    size = norm(x)
    share = 1.0 if rng.random() < 0.5 else rng.random()
    return x * (share * radius / size) if size > 0 else x


def gradient_of_w(geometry, x):
    d = x.shape[-1]
    p, s = geometry.dual_exponent(d), geometry.curvature(d)
    q = p / (p - 1)
    norm = (np.abs(x) ** q).sum() ** (1 / q)
    return s * norm ** (2 - q) * np.sign(x) * np.abs(x) ** (q - 1) if norm > 0 else 0 * x


@given(
    seed=st.integers(0, 10**6), d=DIMENSIONS, kinds=st.tuples(KINDS, KINDS), radius=RADII,
    scale=st.sampled_from([1e-8, 0.1, 1.0, 30.0, 1e6, 1e200]),
)  # fmt: skip
def test_l1_bregman_step_is_optimal(seed, d, kinds, radius, scale):
    """``theta - grad w(u)`` is a multiple lam >= 0 of a subgradient of the l1 norm, with lam = 0 in the interior."""
    rng, geometry = np.random.default_rng(seed), L1Geometry(radius)
    z = inside(rng, d, kinds[0], radius, lambda x: np.abs(x).sum())
    direction = scale * vector(rng, d, kinds[1])
    u = geometry.bregman_step(z, direction)
    assert np.isfinite(u).all() and np.abs(u).sum() <= radius * (1 + 1e-12)
    residual = gradient_of_w(geometry, z) - direction - gradient_of_w(geometry, u)
    size = 1e-9 * (np.abs(direction).max() + geometry.curvature(d) * radius)
    lam = np.abs(residual).max()
    if np.abs(u).sum() < radius * (1 - 1e-9):
        assert lam <= size
    # entries of u below rounding carry no sign information
    support = np.abs(u) > 1e-14 * radius
    np.testing.assert_allclose(residual[support], lam * np.sign(u[support]), atol=size)


@given(
    seed=st.integers(0, 10**6), d=DIMENSIONS, radius=RADII, scale=st.sampled_from([1e-3, 1.0, 1e5]),
    coefficient=st.sampled_from([None, 0.01, 1.0, 50.0]),
)  # fmt: skip
def test_l2_steps_are_optimal(seed, d, radius, scale, coefficient):
    """Minus the gradient lies in the normal cone: ``<gradient, v - u> >= 0`` for the worst v of the ball."""
    rng, geometry = np.random.default_rng(seed), L2Geometry(radius)
    z, direction = inside(rng, d, "dense", radius, np.linalg.norm), scale * rng.standard_normal((1, d))
    if coefficient is None:
        u, weight = geometry.bregman_step(z, direction), 1.0 / radius**2
    else:
        u, weight = geometry.norm_step(z, direction, coefficient), 2.0 * coefficient / radius**2
    gradient = weight * (u - z) + direction
    assert np.linalg.norm(u) <= radius * (1 + 1e-12)
    worst = -radius * np.linalg.norm(gradient)
    assert worst - (gradient * u).sum() >= -1e-9 * radius * (np.linalg.norm(direction) + weight * radius)


def test_check_vectors_v4():
    x = np.array([[0.3, -0.2, 0.1, 0, 0, 0, 0, -0.4]])
    g = np.array([[0.5, 0.1, -0.7, 0.2, 0, 0.65, -0.1, -0.6]])
    expected = (0, -0.076706626329, 0.831904381519, -0.000002096511, 0, -0.091386895641, 0, 0)
    np.testing.assert_allclose(L1Geometry(1.0).bregman_step(x, 8 * g)[0], expected, rtol=0, atol=1e-12)
    step = L1Geometry(1.0).norm_step
    np.testing.assert_allclose(step(x, g, 0.4), [[0.3, -0.2, 0.5, 0, 0, 0, 0, 0]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(step(x, g, 2.0), [[0.3, -0.2, 0.18125, 0, 0, 0, 0, -0.31875]], rtol=0, atol=1e-15)


def linear_optimum(x, g, radius, budget):
    """``min <g, v>`` over ``||v||_1 <= budget`` and ``||x + v||_1 <= radius``, by linear programming."""
    d = x.size
    # v = up - down, |x + v| <= t
    cost = np.concatenate([g, -g, np.zeros(d)])
    eye = np.eye(d)
    sums = np.kron([[1, 1, 0], [0, 0, 1]], np.ones(d))
    A = np.vstack([sums, np.hstack([eye, -eye, -eye]), np.hstack([-eye, eye, -eye])])
    b = np.concatenate([[budget], [radius], -x, x])
    return linprog(cost, A_ub=A, b_ub=b, bounds=(0, None)).fun


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), d=st.integers(1, 7), kinds=st.tuples(KINDS, KINDS), radius=RADII,
    coefficient=st.sampled_from([1e-3, 0.1, 1.0, 20.0]),
)  # fmt: skip
def test_l1_norm_step_is_optimal(seed, d, kinds, radius, coefficient):
    rng = np.random.default_rng(seed)
    x = inside(rng, d, kinds[0], radius, lambda x: np.abs(x).sum())
    g = vector(rng, d, kinds[1])
    assume(np.abs(g).max() > 0)
    y = L1Geometry(radius).norm_step(x, g, coefficient)
    assert np.abs(y).sum() <= radius * (1 + 1e-12)
    a, length = 2 * coefficient / radius**2, np.abs(y - x).sum()
    value = 0.5 * a * length**2 + (g * (y - x)).sum()
    for budget in (*np.linspace(0, 2 * radius, 9), 0.98 * length, length, 1.02 * length):
        best = linear_optimum(x[0], g[0], radius, budget) + 0.5 * a * budget**2
        assert value <= best + 1e-7 * (np.abs(g).max() * radius + a * radius**2)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("name", ["l1_ball", "l2_ball"])
def test_w_is_strongly_convex_and_b_bounds_its_divergence(name, d):
    """``D_w(x, y) >= ||x - y||_C^2/2`` on random pairs, and ``D_w(x, 0) <= B`` on the ball."""
    rng, ball = np.random.default_rng(d), feasible_set(name, 1.7)
    geometry = ball_geometry(ball)

    def w(x):
        if name == "l2_ball":
            return 0.5 * (x**2).sum() / 1.7**2
        p = geometry.dual_exponent(d)
        q = p / (p - 1)
        return 0.5 * geometry.curvature(d) * (np.abs(x) ** q).sum() ** (2 / q)

    for _ in range(200):
        x, y = (vector(rng, d, rng.choice(["dense", "sparse"])) for _ in range(2))
        slope = y / 1.7**2 if name == "l2_ball" else gradient_of_w(geometry, y)
        divergence = w(x) - w(y) - (slope * (x - y)).sum()
        assert divergence >= 0.5 * (ball.norm(x - y)[0, 0] / 1.7) ** 2 * (1 - 1e-9) - 1e-12
    worst = max(w(1.7 * np.eye(d)[:1]), w(1.7 * np.full((1, d), 1 / (d if name == "l1_ball" else math.sqrt(d)))))
    assert worst <= geometry.bregman_radius(d) * (1 + 1e-12)


def test_mean_largest_square():
    assert mean_largest_square(1) == pytest.approx(1.0, rel=1e-10)
    assert mean_largest_square(2) == pytest.approx(1 + 2 / math.pi, rel=1e-10)
    draws = np.random.default_rng(0).standard_normal((200_000, 30))
    largest = (draws**2).max(axis=1)
    assert abs(largest.mean() - mean_largest_square(30)) < 5 * largest.std() / math.sqrt(200_000)
    assert mean_largest_square(10**6) < 2 * math.log(2 * 10**6)
