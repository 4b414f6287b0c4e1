"""The instances are the ones of the specification."""

import math

import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import get_problem


def test_ridge_logistic_draws_the_declared_law(draw):
    problem = get_problem("ridge_logistic", 3)
    data = draw(problem, 40_000)
    np.testing.assert_allclose(np.linalg.norm(data.features, axis=1), 1.0, rtol=1e-12)
    # Uniform on the sphere: mean 0, second moments 1/d; in three dimensions each coordinate is uniform on [-1, 1].
    assert np.abs(data.features.mean(axis=0)).max() < 5 / math.sqrt(3 * data.n)
    second = data.features.T @ data.features / data.n
    np.testing.assert_allclose(second, np.eye(3) / 3, atol=5 * 0.3 / math.sqrt(data.n))
    counts = np.histogram(data.features[:, 1], bins=20, range=(-1, 1))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 60  # chi-square with 19 degrees of freedom, p = 4e-6
    assert set(np.unique(data.labels)) == {-1.0, 1.0}
    chance = 1 / (1 + np.exp(-2 * data.features.sum(axis=1)))
    z = ((data.labels > 0) - chance) / np.sqrt(chance * (1 - chance))
    for weight in (np.ones(data.n), data.features[:, 0], np.sign(data.features.sum(axis=1))):
        assert abs((z * weight).sum()) < 5 * np.sqrt((weight**2).sum())


def test_records_do_not_depend_on_their_number(draw):
    problem = get_problem("ridge_logistic", 3)
    few, many = draw(problem, 10), draw(problem, 1000)
    np.testing.assert_array_equal(few.features, many.features[:10])
    np.testing.assert_array_equal(few.labels, many.labels[:10])
    assert not np.array_equal(few.features, draw(problem, 10, data_set=1).features)


def test_rank8_least_squares(draw):
    problem = get_problem("rank8_least_squares")
    data = draw(problem, 500)
    values = np.linalg.eigvalsh(data.features.T @ data.features / data.n)
    assert problem.dimension == 32 and problem.effective_dimension == 8
    assert np.abs(values[:-8]).max() < 1e-14 and values[-8] > 0.05
    c = problem.constants_of(data)
    np.testing.assert_allclose([c.strong_convexity, c.smoothness], values[[-8, -1]], rtol=1e-12)
    assert c.status == problem.constants.status == "nominal" and problem.data_dependent_constants
    assert np.abs(data.labels).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(data.features, axis=1), 1.0, rtol=1e-6)
    truth = np.linalg.lstsq(data.features, data.labels, rcond=None)[0]
    np.testing.assert_allclose(np.linalg.norm(truth), 0.5 * math.sqrt(8), rtol=0.1)


def test_rank8_least_squares_satisfies_the_inequality_with_its_constant(draw):
    """``||grad F||^2 >= 2 mu (F - F*)`` although F is flat in 24 directions."""
    problem = get_problem("rank8_least_squares")
    data = draw(problem, 200)
    mu = problem.constants_of(data).strong_convexity
    x = np.random.default_rng(0).standard_normal((50, 32))
    square = (problem.mean_gradient(x, data) ** 2).sum(axis=1)
    assert np.all(square >= 2 * mu * (problem.risk(x, data) - problem.optimal_risk(data)) * (1 - 1e-9))


def test_diag_quadratic_closed_form_at_its_ends():
    problem = get_problem("diag_quadratic")

    def gap(step, steps, sigma):
        return problem.expected_gap("gradient_descent", {"step": step, "steps": steps}, {"gradient": sigma})

    assert gap(1.0, 0, 3.0) == pytest.approx(problem.constants.initial_gap)
    # One step from a point: decay of the error plus one draw of noise.
    h, eta, sigma = problem.spectrum, 0.5, 0.3
    expected = 0.5 * np.sum(h * ((1 - eta * h) ** 2 * problem.start**2 + eta**2 * sigma**2))
    assert gap(eta, 1, sigma) == pytest.approx(expected, rel=1e-14)
    # Stationary law: eta sigma^2 / (2 (2 - eta h_j)) per coordinate.
    limit = np.sum(eta * sigma**2 / (2 * (2 - eta * h)))
    assert gap(eta, 10_000, sigma) == pytest.approx(limit, rel=1e-12)
    with pytest.raises(InputError, match="a closed form for wang2017.dp_svrg"):
        problem.expected_gap("wang2017.dp_svrg", {}, {})


def test_covertype_losses(draw):
    """The printed loss is a margin-1 logistic with the flipped sign (erratum E14)."""
    standard = get_problem("covertype_synthetic")
    literal = get_problem("covertype_synthetic", loss="literal")
    margins, labels = np.array([0.3, -2.0]), np.array([1.0, -1.0])
    np.testing.assert_allclose(standard.loss(margins, labels), np.log1p(np.exp(-labels * margins)))
    np.testing.assert_allclose(literal.loss(margins, labels), np.log1p(np.exp(1 + labels * margins)))
    assert standard.constants.initial_gap == pytest.approx(math.log(2))
    assert literal.constants.initial_gap == pytest.approx(math.log1p(math.e))
    data = draw(standard, 100)
    assert data.features.shape == (100, 54) and np.linalg.norm(data.features, axis=1).max() <= 1
    np.testing.assert_array_equal(draw(standard, 100, data_set=3).features, data.features)


def test_op_spectrum_and_its_closed_form():
    """Against the law written out: exact steps on every coordinate, then one draw of noise."""
    problem = get_problem("op_spectrum")
    h, e = problem.spectrum, problem.start
    assert problem.dimension == 24 and h[0] == 1.0 and h[-1] == 2.0**-23
    assert np.linalg.norm(e) == pytest.approx(1.0) and problem.constants.strong_convexity == 0.0
    x = np.array(e)
    for _ in range(5):
        x = x - 0.7 * problem.mean_gradient(x[None], None)[0]
    expected = problem.risk(x[None], None)[0] + 0.5 * np.sum(h) * 0.3**2
    gap = problem.expected_gap("wang2017.output_perturbation_zhang17", {"step": 0.7, "steps": 5}, {"output": 0.3})
    assert gap == pytest.approx(expected, rel=1e-13)
    with pytest.raises(InputError, match="a closed form for wang2017.dp_svrg"):
        problem.expected_gap("wang2017.dp_svrg", {}, {})


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1.0), (64, 0.5)])
def test_md_linear_has_the_bounds_scale_built_in(n, epsilon):
    from dpsco_bench.geometry.mirror import mean_largest_square

    problem = get_problem("md_linear").at(n, epsilon, 1e-6)
    B, W = 0.5 * math.e * (2 * math.log(64) - 1), mean_largest_square(64)
    c = 2 * math.sqrt(B * W) * math.log(n / 1e-6) / (n * epsilon)
    np.testing.assert_allclose(problem.slope, c * np.eye(64)[0], rtol=1e-12)
    assert problem.optimal_risk(None) == pytest.approx(-c)
    assert problem.constants.status == ("global" if c <= 1 else "nominal")
