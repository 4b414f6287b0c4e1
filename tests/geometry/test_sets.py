"""Feasible sets and polytopes: projection, norm, support function, linear minimiser, radii and widths; all arrays."""

import math

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import Ball, feasible_set, mean_largest
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.geometry.polytope import CrossPolytope, Polytope, Simplex

from .vectors import DRAWN, KINDS, vectors

NAMES = (
    "l1_ball", "l2_ball", "linf_ball", "lp_ball:1.01", "lp_ball:1.5", "lp_ball:3", "lp_ball:50", "k_support_ball:1",
    "k_support_ball:2", "k_support_ball:5", "k_support_ball:11", "k_support_ball:12", "group_ball:1", "group_ball:3",
    "group_ball:12", "subspace_ball:1", "subspace_ball:5", "subspace_ball:12", "schatten_ball:1.0:3",
    "schatten_ball:1.5:3", "schatten_ball:4.0:2", "schatten_ball:inf:1",
)  # fmt: skip
DIMENSION = 12


def drawn(rng, kind, rows=2):
    return vectors(rng, DIMENSION, kind, rows, least=-40)


CASES = {**DRAWN, "name": st.sampled_from(NAMES)}


@given(**CASES)
def test_projections_obey_the_variational_inequality(seed, name, kind, scale, radius):
    """``gauge(w) = 1`` and ``h(y - w) = <y - w, w>`` outside; nothing moves inside."""
    C, y = feasible_set(name, radius), scale * drawn(np.random.default_rng(seed), kind)
    w = C.project(y)
    assert np.isfinite(w).all() and np.all(C.norm(w) <= radius * (1 + 1e-12))
    inside = C.norm(y)[:, 0] <= radius
    np.testing.assert_array_equal(w[inside], y[inside])
    residual = (y - w) / np.maximum(np.abs(y).max(axis=-1, keepdims=True), 1e-300)
    gap = C.support(residual)[:, 0] / radius - (residual * (w / radius)).sum(axis=-1)
    assert np.all(gap <= 1e-11)
    y = drawn(np.random.default_rng(seed), kind)
    w = feasible_set(name, 0.4).project(y)
    mirrored = feasible_set(name, 0.4).project(-y)
    if name.startswith("schatten"):  # a decomposition need not round alike
        np.testing.assert_allclose(mirrored, -w, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(mirrored, -w)
    np.testing.assert_allclose(feasible_set(name, 0.4 * scale).project(scale * y) / scale, w, rtol=1e-9, atol=1e-12)


@given(**CASES)
def test_linear_minimisers_reach_the_support_function(seed, name, kind, scale, radius):
    C, g = feasible_set(name, radius), drawn(np.random.default_rng(seed), kind)
    v = C.minimise_linear(scale * g)
    assert np.all(C.norm(v) <= radius * (1 + 1e-12))
    np.testing.assert_allclose((g * v).sum(-1), -C.support(g)[:, 0], rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(C.support(scale * g), scale * C.support(g), rtol=1e-12)


@given(**CASES, other=st.sampled_from(KINDS))
def test_norm_and_support_function_are_dual(seed, name, kind, scale, radius, other):
    """Hoelder's inequality, the triangle inequality and homogeneity."""
    rng, C = np.random.default_rng(seed), feasible_set(name, 1.0)
    x, z = drawn(rng, kind), drawn(rng, other)
    if name.startswith("subspace"):
        x[:, C.k :] = 0.0
    assert np.all((x * z).sum(-1, keepdims=True) <= C.norm(x) * C.support(z) * (1 + 1e-12) + 1e-300)
    assert np.all(C.support(x + z) <= (C.support(x) + C.support(z)) * (1 + 1e-12))
    np.testing.assert_allclose(C.norm(scale * x), scale * C.norm(x), rtol=1e-12)
    bounds = C.inradius(DIMENSION), 0.5 * C.euclidean_diameter(DIMENSION)
    length, gauge = np.linalg.norm(x, axis=-1), C.norm(x)[:, 0]
    assert np.all(bounds[0] * gauge <= length * (1 + 1e-12)) and np.all(length <= bounds[1] * gauge * (1 + 1e-12))


@pytest.mark.parametrize("name", NAMES)
def test_radii_are_attained(name):
    C, d = feasible_set(name, 2.0), DIMENSION
    flat, first = np.ones((1, d)), np.eye(1, d)
    if name.startswith("schatten"):  # equal singular values
        flat = np.eye(d // C.columns, C.columns).reshape(1, d)
    longest = max(np.linalg.norm(C.minimise_linear(z)) for z in (flat, first))
    assert 0.5 * C.euclidean_diameter(d) == pytest.approx(longest)
    narrowest = min(C.support(z)[0, 0] / np.linalg.norm(z) for z in (flat, first, np.eye(d)[-1:]))
    assert C.inradius(d) == pytest.approx(narrowest)
    assert C.diameter == 4.0 and C.name == name and C.radius == 2.0


SAME = [(f"{kind}:1", "l1_ball") for kind in ("k_support_ball", "group_ball")]
SAME += [(f"{kind}:12", "l2_ball") for kind in ("k_support_ball", "group_ball", "subspace_ball")]


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), scale=st.sampled_from((0.1, 1.0, 1e8)))
def test_special_cases_coincide(seed, kind, scale):
    y = scale * drawn(np.random.default_rng(seed), kind)
    for name, same in SAME:
        C, B = feasible_set(name, 1.3), feasible_set(same, 1.3)
        np.testing.assert_allclose(C.project(y), B.project(y), rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(C.norm(y), B.norm(y), rtol=1e-13)
        np.testing.assert_allclose(C.support(y), B.support(y), rtol=1e-13)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 12), kind=st.sampled_from(KINDS))
def test_k_support_norm_is_its_variational_form(seed, k, kind):
    """No theta in [0, 1]^d of sum k gives less than the norm, and the theta of the projection gives it."""
    rng, C = np.random.default_rng(seed), feasible_set(f"k_support_ball:{k}", 1.0)
    w = drawn(rng, kind, rows=1)[0]
    square = float(C.norm(w[None])[0, 0] ** 2)
    for _ in range(20):
        theta = rng.random(DIMENSION) ** rng.integers(1, 6)
        theta = np.clip(theta * k / theta.sum(), 1e-12, 1.0)  # of sum at most k
        assert square <= (w**2 / theta).sum() * (1 + 1e-9)
    sparse = np.where(np.arange(DIMENSION) < k, w, 0.0)
    assert C.norm(sparse[None])[0, 0] == pytest.approx(np.linalg.norm(sparse))


@pytest.mark.parametrize(
    ("name", "y", "expected"),
    [
        ("l1_ball", [1.8, -0.6, 0.3, 1.2], [0.8, 0, 0, 0.2]),
        ("group_ball:2", [1.8, -0.6, 0.3, 1.2], [0.787613432557, -0.262537810852, 0.041178315864, 0.164713263456]),
        ("k_support_ball:3", [1.8, -0.6, 0.3, 1.2], [0.801783725737, -0.267261241912, 0, 0.534522483825]),
        ("k_support_ball:2", [1, -0.9, 0.8, 0.5, 0.1], [0.553553390593, -0.453553390593, 0.353553390593,
                                                        0.0535533905933, 0]),
    ],
)  # fmt: skip
def test_check_vectors_of_the_projections(name, y, expected):
    np.testing.assert_allclose(feasible_set(name, 1.0).project(np.array([y]))[0], expected, rtol=0, atol=1e-12)


def test_special_cases():
    """Ties go to the lowest coordinates, points off the subspace have infinite norm; widths in closed form."""
    g = np.array([[1.0, -1.0, 1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    half = math.sqrt(0.5)
    for name in ("k_support_ball:2", "group_ball:2"):
        np.testing.assert_allclose(feasible_set(name, 1.0).minimise_linear(g), [[-half, half, 0, 0], [0, 0, 0, 0]])
    C = feasible_set("subspace_ball:2", 1.0)
    assert C.norm(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 1e-300]]))[:, 0].tolist() == [5.0, math.inf]
    assert mean_largest(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-10)
    assert mean_largest(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-10)
    assert Ball(2.0, 3.0).width(2) == pytest.approx(3 * math.sqrt(math.pi / 2), rel=1e-12)
    assert Ball(2.0, 1.0).width(3) == pytest.approx(math.sqrt(8 / math.pi), rel=1e-12)
    for name, same in SAME:
        assert feasible_set(name, 2.0).width(12) == pytest.approx(feasible_set(same, 2.0).width(12), rel=1e-10)


WIDE = (
    *("l1_ball", "l2_ball", "linf_ball", "lp_ball:1.5", "lp_ball:4", "subspace_ball:9"),
    *("k_support_ball:1", "k_support_ball:7", "k_support_ball:40", "group_ball:1", "group_ball:5", "group_ball:40"),
)


@pytest.mark.parametrize("name", WIDE)
def test_widths_against_simulation(name):
    C = feasible_set(name, 0.5)
    values = C.support(np.random.default_rng(3).standard_normal((20_000, 40)))[:, 0]
    simulated = values.std() * math.sqrt(1 / 20_000 + 1 / 4000)
    assert abs(values.mean() - C.width(40)) < 3.5 * simulated
    assert C.width(40) == C.width(40)


@pytest.mark.parametrize(("d", "radius"), [(1, 1.0), (4, 0.5), (7, 3.0)])
def test_the_implicit_vertices_are_those_of_the_l1_ball_in_order(d, radius):
    cross = CrossPolytope(d, radius)
    explicit = Polytope(cross.vertex(np.arange(cross.count), np.float64))
    vertices = explicit.vertices
    assert cross.count == len(vertices) == 2 * d
    np.testing.assert_array_equal(vertices[0::2], radius * np.eye(d))
    np.testing.assert_array_equal(vertices[1::2], -radius * np.eye(d))
    e = np.random.default_rng(0).standard_normal((5, d))
    np.testing.assert_array_equal(cross.scores(e), explicit.scores(e))


def test_the_least_score_is_the_linear_minimum_with_its_ties():
    cross, ball = CrossPolytope(4, 2.0), feasible_set("l1_ball", 2.0)
    e = np.array([[0.1, -3.0, 3.0, 0.0], [2.0, 2.0, -2.0, 2.0], [0.5, 0.0, 0.0, -0.7]])
    chosen = cross.vertex(cross.scores(e).argmin(axis=-1), np.float64)
    np.testing.assert_array_equal(chosen, ball.minimise_linear(e))
    assert cross.scores(np.zeros((1, 4))).argmin() == 0  # +e_1 before -e_1


POLYTOPES = {"listed": Polytope(np.random.default_rng(1).standard_normal((7, 12))), "cross": CrossPolytope(12, 2)}


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e12])
def test_projections_on_the_simplex_obey_the_variational_inequality(d, scale):
    """``<x - P(x), v - P(x)> <= 0`` for every vertex v, for points on either side of the set."""
    simplex = Simplex(d, 1.7)
    x = scale * np.random.default_rng(d).standard_normal((200, d))
    found = simplex.project(x)
    assert found.min() >= 0 and found.sum(axis=1) == pytest.approx(1.7, rel=1e-14)
    away = np.einsum("ri,rvi->rv", x - found, 1.7 * np.eye(d) - found[:, None])
    assert away.max() <= 1e-12 * scale * d
    np.testing.assert_allclose(simplex.project(found), found, atol=1e-15)
    np.testing.assert_allclose(simplex.project(x + 3.0), found, atol=1e-12 * max(1.0, scale))


def test_the_simplex_by_its_vertices():
    simplex, g = Simplex(3, 2.0), np.array([[0.5, -1.0, -1.0], [0.0, 0.0, 3.0]])
    explicit = Polytope(2.0 * np.eye(3))
    np.testing.assert_array_equal(simplex.scores(g), explicit.scores(g))
    chosen = np.array([2, 0]), np.float64
    np.testing.assert_array_equal(simplex.vertex(*chosen), explicit.vertex(*chosen))
    np.testing.assert_array_equal(simplex.minimise_linear(g), [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]])
    assert simplex.support(g).ravel().tolist() == [1.0, 6.0] and simplex.centre.tolist() == [2 / 3] * 3
    with pytest.raises(InputError):
        Simplex(1, 1.0)


SOME = (
    "l1_ball", "l2_ball", "linf_ball", "lp_ball:1.01", "lp_ball:1.5", "lp_ball:4", "k_support_ball:1",
    "k_support_ball:5", "k_support_ball:12", "group_ball:4", "subspace_ball:5", "schatten_ball:1.5:3",
)  # fmt: skip
MIRRORS = ((1.0, "best"), (1.01, "best"), (1.5, "q"), (1.3, "sec2"), (2.0, "best"))


def operations():
    """Name -> function of one array ``(R, d)``."""
    calls = {f"{name} polytope.scores": polytope.scores for name, polytope in POLYTOPES.items()}
    for name in SOME:
        C = feasible_set(name, 1.0)
        for method in ("norm", "project", "support", "minimise_linear"):
            calls[f"{name}.{method}"] = getattr(C, method)
    for p, rule in MIRRORS:
        mirror = SmoothMirror(SmoothNorm(p, DIMENSION, rule))
        calls |= {f"mirror {p}.{method}": getattr(mirror, method) for method in ("gradient", "inverse")}
        calls[f"mirror {p}.step"] = lambda y, mirror=mirror, p=p: mirror.step(y, p, 1.0)
    return calls


CALLS = operations()


def sample(dtype=np.float64):
    """Replicates inside and outside all sets, sparse, tied, zero, tiny and huge."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, DIMENSION))
    x[1] *= rng.random(DIMENSION) < 0.4
    x[2] = np.sign(x[2])
    x[3] = 0.0
    x *= np.array([0.01, 1.0, 3.0, 1.0, 1e-8, 0.3, 30.0, 1e6, 1e15])[:, None]
    return x.astype(dtype)


@pytest.mark.parametrize("name", CALLS)
def test_replicates_are_independent_and_nothing_overflows(name):
    for dtype in (np.float64, np.float32):
        x = sample(dtype)
        alone = [CALLS[name](x[i : i + 1]) for i in range(len(x))]
        np.testing.assert_array_equal(CALLS[name](x), np.concatenate(alone))
    x = np.concatenate([sample(), 1e-300 * sample()[:4], 1e280 * sample()])
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(CALLS[name](x)).all() or "subspace_ball" in name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CALLS)
def test_strict_array_api_gives_the_numbers_of_numpy(name, dtype):
    x = sample(dtype)
    found = CALLS[name](strict.asarray(x))
    assert found.__array_namespace__() is strict
    expected = CALLS[name](x)
    assert expected.dtype == dtype
    same = 0.0 if name.endswith("scores") else 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.asarray(found), expected, rtol=same, atol=0)
