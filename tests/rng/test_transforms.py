import numpy as np
import pytest

from dpsco_bench.rng import transforms

EDGES = np.array([0, 1, 2, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 2, 2**32 - 1], np.uint32)


def some_words(count, seed=1):
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def units_in_the_last_place(value, exact):
    return np.abs(value.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32))


def exact_normals(w, v):
    """Box-Muller in float64 from the uniform number that the float32 code sees."""
    u = w.astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33)
    radius = np.sqrt(-2 * np.log(u.astype(np.float64)))
    fraction = ((v << np.uint32(2)) | np.uint32(2)).view(np.int32) * 2.0**-32
    angle = (np.pi / 2) * ((v >> np.uint32(30)) + fraction)
    return radius * np.cos(angle), radius * np.sin(angle)


def test_minus_log_is_within_one_unit_in_the_last_place():
    near_one = np.float32(1) - np.arange(1 << 16, dtype=np.float32) * np.float32(2.0**-24)
    small = (some_words(1 << 20).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
    tiny = np.ldexp(np.float32(1), -np.arange(34)).astype(np.float32)
    u = np.concatenate([near_one, small, tiny])
    assert units_in_the_last_place(transforms.minus_log(u), -np.log(u.astype(np.float64))).max() < 1


def test_normals_are_within_five_units_in_the_last_place():
    w, v = some_words(1 << 20, seed=2), some_words(1 << 20, seed=3)
    w[: EDGES.size], v[-EDGES.size :] = EDGES, EDGES
    exact = exact_normals(w, v)
    for value, reference in zip(transforms.box_muller(w, v), exact, strict=True):
        # cos and sin of the float64 angle lose a few 1e-16 near their zeros: allow for that absolutely
        error = np.abs(value - reference) - 1e-14
        assert np.all(error <= 5 * np.spacing(np.abs(reference).astype(np.float32)))


def test_cosine_and_sine_cover_the_circle():
    quarters = np.array([0, 1, 2, 3], np.uint32) << np.uint32(30)
    cosine, sine = transforms.cos_sin(quarters)
    np.testing.assert_allclose(cosine, [1, 0, -1, 0], atol=1e-8)
    np.testing.assert_allclose(sine, [0, 1, 0, -1], atol=1e-8)


def test_extreme_words_give_finite_variates():
    w, v = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    normals = np.stack(transforms.box_muller(w, v))
    assert np.isfinite(normals).all()
    assert np.abs(normals).max() < 6.77
    laplaces = transforms.laplaces(EDGES)
    assert np.isfinite(laplaces).all()
    assert np.abs(laplaces).max() == pytest.approx(32 * np.log(2))


def test_laplace_is_the_inverse_distribution_function():
    w = np.sort(np.concatenate([some_words(1 << 18), EDGES]))
    x = transforms.laplaces(w).astype(np.float64)
    assert np.all(np.diff(x) >= 0)
    distribution = np.where(x < 0, np.exp(x) / 2, 1 - np.exp(-x) / 2)
    np.testing.assert_allclose(distribution, (w + 0.5) / 2**32, atol=5e-8)


def test_uniforms_are_in_the_open_interval():
    ones = 2**32 - 1
    words = np.array([[0, 0, 2**31, ones], [0, 2**11, 0, ones]], np.uint32)
    expected = [[2.0**-54, 2.0**-53, 0.5, 1 - 2.0**-53]]
    np.testing.assert_array_equal(transforms.uniforms(words), expected)


def test_uniforms_have_53_bits():
    w, v = some_words(1 << 10, seed=4), some_words(1 << 10, seed=5)
    exact = [(int(a) << 32 | int(b)) >> 11 for a, b in zip(w, v, strict=True)]
    np.testing.assert_array_equal(transforms.uniforms(np.stack([w, v]))[0] * 2.0**53, exact)


@pytest.mark.parametrize("high", [1, 2, 7, 581012, 2**31 + 11, 2**32, 2**53 + 1, 2**63 - 1])
def test_integers_are_the_upper_half_of_an_exact_product(high):
    w, v = np.concatenate([EDGES, some_words(500, seed=6)]), np.concatenate([EDGES[::-1], some_words(500, seed=7)])
    exact = [((int(a) << 32 | int(b)) * high) >> 64 for a, b in zip(w, v, strict=True)]
    result = transforms.integers(np.stack([w, v]), high)[0]
    assert result.dtype == np.int64
    assert result.tolist() == exact
    assert result.min() >= 0 and result.max() < high
