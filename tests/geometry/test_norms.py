"""l_p norms, smooth norms and mirror steps: optimality, duality and convexity at extreme exponents and scales."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.geometry import norms
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import RULES, SmoothNorm, dual_exponent, lp_norm, project_lp, square_gradient

from .vectors import DRAWN, KINDS, RADII, vectors

EXPONENTS = (1.0, 1.01, 1.5, 1.999, 2.0, 2.001, 3.0, 4.0, 50.0, math.inf)
DIMENSIONS = (1, 2, 3, 8, 50)


@given(**DRAWN, p=st.sampled_from(EXPONENTS), d=st.sampled_from(DIMENSIONS))
def test_norms_against_numpy_and_the_duality_of_square_gradients(seed, p, d, kind, scale, radius):
    x = vectors(np.random.default_rng(seed), d, kind)
    top = np.maximum(np.abs(x).max(axis=-1), 1e-300)  # NumPy's powers underflow
    expected = top * np.linalg.norm(x / top[:, None], ord=p, axis=-1)
    np.testing.assert_allclose(lp_norm(scale * x, p)[:, 0], scale * expected, rtol=1e-12)
    # ``<grad, x> = ||x||^2`` and ``||grad||_q = ||x||_p`` for the gradient of half the squared norm.
    if p == 1 or math.isinf(p):
        return
    gradient = square_gradient(scale * x, p, 1.0) / scale
    length = lp_norm(x, p)
    np.testing.assert_allclose((gradient * x).sum(-1, keepdims=True), length**2, rtol=1e-10)
    np.testing.assert_allclose(lp_norm(gradient, dual_exponent(p)), length, rtol=1e-10)


def test_check_vectors_and_ties():
    """Projections and linear minimisers; on the cross-polytope, ties go to the lowest coordinate."""
    g = np.array([[1.0, -2.0, 2.0], [0.0, 0.0, 0.0], [-3.0, 3.0, -3.0]])
    expected = 2.0 * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(norms.minimise_linear_lp(g, 1, 2.0), expected)
    flat = norms.minimise_linear_lp(np.array([[2.0, 0.0, -1e-300]]), math.inf, 3.0)  # of a cube flat coordinates stay
    np.testing.assert_array_equal(flat, [[-3.0, 0, 3.0]])
    expected = (0.534241367570, -0.743676946490, 0.884721165334)
    np.testing.assert_allclose(project_lp(np.array([[1.0, -2.0, 3.0]]), 4, 1.0)[0], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(norms.project_l1(np.array([[0.9, -0.6, 0.2]]), 1.0), [[0.65, -0.35, 0.0]], atol=1e-15)
    np.testing.assert_allclose(norms.project_l1(np.array([[1e300, -1e300, 3.0]]), 1.0), [[0.5, -0.5, 0.0]])


def normal_gap(y, image, x, p, radius):
    """``max_v <y - image, v - x>`` over the ball, in units of its radius and of y; without entries that underflow."""
    residual = (y - image) / np.maximum(np.abs(y).max(axis=-1, keepdims=True), 1e-300)
    residual = np.where((p > 1) & (np.abs(x) < 1e-250), 0.0, residual)
    return lp_norm(residual, dual_exponent(p))[:, 0] - (residual * (x / radius)).sum(axis=-1)


@given(seed=st.integers(0, 10**6), p=st.sampled_from(EXPONENTS), power=st.integers(1, 15), d=st.sampled_from([2, 30]))
def test_projections_of_points_just_outside(seed, p, power, d):
    x = vectors(np.random.default_rng(seed), d, "dense")
    x = x / lp_norm(x, p) * (1 + 10.0**-power)
    y = project_lp(x, p, 1.0)
    np.testing.assert_allclose(lp_norm(y, p), 1.0, rtol=1e-12)
    assert np.abs(y - x).max() <= 2 * 10.0**-power + 1e-14 and np.all(normal_gap(x, y, y, p, 1.0) <= 1e-13)


@pytest.mark.parametrize("p", EXPONENTS)
def test_ties_stay_ties_and_zeros_stay_zeros(p):
    for scale in (1.0, 1e-200, 1e300):
        y = project_lp(scale * np.array([[3.0, -3.0, 0.0, 3.0]]), p, scale)[0] / scale
        assert y[0] == -y[1] == y[3] == pytest.approx(3.0 ** (-1.0 / p), rel=1e-13) and y[2] == 0


POWERS = (1.0, 1.01, 1.05, 1.2, 1.3, 1.5, 1.999, 2.0)


def mirror(p, d, rule):
    return SmoothMirror(SmoothNorm(p, d, "best" if p == 1 and rule == "q" else rule))


def potential(geometry, x):
    """``Phi(x) = (kappa/2) ||x||_s^2``, whose gradient the map is."""
    return 0.5 * geometry.norm.kappa * lp_norm(x, geometry.norm.dual) ** 2


MAPS = {
    "seed": st.integers(0, 10**6), "p": st.sampled_from(POWERS), "d": st.sampled_from((1, 2, 3, 9, 64)),
    "kind": st.sampled_from(KINDS), "rule": st.sampled_from(RULES),
}  # fmt: skip


@given(**MAPS, scale=st.sampled_from([1e-150, 1e-8, 1.0, 1e8, 1e150]))
def test_the_maps_are_inverse_to_each_other(seed, p, d, kind, rule, scale):
    geometry = mirror(p, d, rule)
    x = vectors(np.random.default_rng(seed), d, kind if kind != "wild" else "dense")
    y = geometry.gradient(scale * x) / scale
    np.testing.assert_allclose(geometry.inverse(y), x, rtol=1e-10, atol=1e-15)
    # Fenchel's equality with Phi* = ||.||_r^2/(2 kappa)
    conjugate = lp_norm(y, geometry.norm.r) ** 2 / (2 * geometry.norm.kappa)
    np.testing.assert_allclose(potential(geometry, x) + conjugate, (x * y).sum(-1, keepdims=True), rtol=1e-10)


@given(**MAPS, other=st.sampled_from(KINDS), scale=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_potential_is_strongly_convex_in_the_lp_norm(seed, p, d, kind, rule, other, scale):
    geometry, rng = mirror(p, d, rule), np.random.default_rng(seed)
    x, z = vectors(rng, d, kind), scale * vectors(rng, d, other)
    linear = (geometry.gradient(z) * (x - z)).sum(-1, keepdims=True)
    size = potential(geometry, x) + potential(geometry, z)
    gap = potential(geometry, x) - potential(geometry, z) - linear
    assert np.all(gap >= 0.5 * lp_norm(x - z, p) ** 2 - 1e-12 * size)


@given(
    **MAPS, scale=st.sampled_from([1e-200, 1e-6, 0.3, 1.0, 30.0, 1e6, 1e200, 1e300]), radius=st.sampled_from(RADII),
    larger=st.booleans(),
)  # fmt: skip
def test_steps_are_exact_maximisers(seed, p, d, kind, rule, scale, radius, larger):
    """``y - grad Phi(x)`` is normal to the ball at x, 0 for a feasible free step; ``larger``: the ball's exponent."""
    geometry = mirror(p, d, rule)
    if larger and 1e-6 <= scale <= 1e6:
        p = 0.5 * (p + geometry.norm.dual)
    y = scale * vectors(np.random.default_rng(seed), d, kind)
    x = geometry.step(y, p, radius)
    assert np.isfinite(x).all() and np.all(lp_norm(x, p) <= radius * (1 + 1e-12))
    assert np.all(np.sign(x) * np.sign(y) >= 0)
    assert np.all(normal_gap(y, geometry.gradient(x), x, p, radius) <= 1e-11)
    free = geometry.inverse(y)
    inside = lp_norm(free, p)[:, 0] <= radius * (1 - 1e-12)
    np.testing.assert_allclose(x[inside], free[inside], rtol=1e-13)


@pytest.mark.parametrize(
    ("rule", "y", "expected"),
    [
        ("q", (3, -1, 0.5, 0.1), (0.973129252661, -0.108125472518, 0.027031368129, 0.001081254725)),
        ("two_ln_d", (3, -2, 6), (0.226183035609, -0.100525793604, 0.904732142438)),
    ],
)
def test_check_vectors_of_the_step_into_the_ball(rule, y, expected):
    geometry = SmoothMirror(SmoothNorm(1.5, len(y), rule))
    assert (geometry.norm.r, geometry.norm.dual, geometry.norm.kappa) == (3.0, 1.5, 2.0)
    np.testing.assert_allclose(geometry.step(np.array([y]), 1.5, 1.0)[0], expected, rtol=0, atol=1e-12)


def test_check_vector_of_the_best_rule():
    norm = SmoothNorm(1.0, 64)
    assert norm.r == pytest.approx(7.15530467158, abs=1e-11)
    assert norm.kappa == pytest.approx(19.6834022139, abs=1e-10)
    assert norm.kappa_plus == norm.r - 1 and norm.dual == pytest.approx(norm.r / (norm.r - 1))
    for rule in RULES:
        norm = SmoothNorm(2, 100, rule)
        assert (norm.r, norm.kappa, norm.kappa_plus, norm.dual) == (2.0, 1.0, 1.0, 2.0)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("d", [1, 2, 7, 8, 64, 4096])
def test_every_rule_keeps_the_exponent_in_range_and_best_is_best(p, d):
    for rule in (rule for rule in RULES if rule != "q" or p > 1):
        norm = SmoothNorm(p, d, rule)
        assert 2 <= norm.r <= norm.q and math.isfinite(norm.r)
        assert p <= norm.dual <= 2 and norm.kappa >= norm.kappa_plus * (1 - 1e-12) > 0
    norm = SmoothNorm(p, d)
    grid = 2 + (min(norm.q, 60.0) - 2) * np.linspace(0, 1, 2001)
    kappas = (grid - 1) * d ** (2 * (1 / grid - 1 / norm.q))
    assert norm.kappa <= kappas.min() * (1 + 1e-12)
    if norm.q <= math.log(d):
        assert norm.r == norm.q and norm.kappa == pytest.approx(1 / (p - 1)) and norm.dual == p


@given(**MAPS, other=st.sampled_from(KINDS), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_smoothness_and_norm_equivalence(seed, p, d, kind, rule, other, scale):
    norm, rng = mirror(p, d, rule).norm, np.random.default_rng(seed)
    x, y = vectors(rng, d, kind, rows=1), scale * vectors(rng, d, other, rows=1)

    def square(z):
        return float(lp_norm(z, norm.r)[0, 0] ** 2)

    bound = square(x) + float((square_gradient(x, norm.r, 2.0) * y).sum()) + norm.kappa_plus * square(y)
    assert square(x + y) <= bound + 1e-11 * (square(x) + square(y)) * norm.kappa
    dual = float(lp_norm(x, norm.q)[0, 0] ** 2)
    assert dual <= square(x) * (1 + 1e-12)
    assert square(x) <= norm.kappa / norm.kappa_plus * dual * (1 + 1e-12)
