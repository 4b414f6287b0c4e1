"""The instances are the ones of the specification."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

from dpsco_bench import run
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.ball import mean_largest_square
from dpsco_bench.geometry.mirror import L1Geometry, ball_geometry
from dpsco_bench.papers.wang2017.algorithms.mirror_descent import least_noise_constant
from dpsco_bench.papers.wang2017.figures import bias_and_variance, reach_of, risk_parts
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ...runs import run as short


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
    x = np.random.default_rng(0).standard_normal((50, 32))  # ||grad F||^2 >= 2 mu (F - F*), flat in 24 directions
    square, gap = (problem.mean_gradient(x, data) ** 2).sum(axis=1), problem.risk(x, data) - problem.optimal_risk(data)
    assert np.all(square >= 2 * c.strong_convexity * gap * (1 - 1e-9))


def test_closed_forms_of_quadratics():
    problem = get_problem("diag_quadratic")

    def gap(step, steps, sigma):
        return problem.expected_gap("gradient_descent", {"step": step, "steps": steps}, {"gradient": sigma})

    assert gap(1.0, 0, 3.0) == pytest.approx(problem.constants.initial_gap)
    # One step from a point: decay of the error plus one draw of noise.
    h, eta, sigma = problem.spectrum, 0.5, 0.3
    expected = 0.5 * np.sum(h * ((1 - eta * h) ** 2 * problem.start**2 + eta**2 * sigma**2))
    assert gap(eta, 1, sigma) == pytest.approx(expected, rel=1e-14)
    with pytest.raises(InputError, match="a closed form for wang2017.dp_svrg"):
        problem.expected_gap("wang2017.dp_svrg", {}, {})
    # Against the law written out: exact steps on every coordinate, then one draw of noise.
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


def test_the_printed_loss_of_covertype_is_a_margin_1_logistic_with_the_flipped_sign():
    """Erratum E14."""
    standard, literal = (get_problem("covertype_synthetic", loss=loss) for loss in ("standard", "literal"))
    margins, labels = np.array([0.3, -2.0]), np.array([1.0, -1.0])
    np.testing.assert_allclose(standard.loss(margins, labels), np.log1p(np.exp(-labels * margins)))
    np.testing.assert_allclose(literal.loss(margins, labels), np.log1p(np.exp(1 + labels * margins)))
    gaps = [problem.constants.initial_gap for problem in (standard, literal)]
    assert gaps == pytest.approx([math.log(2), math.log1p(math.e)])


def schedule(algorithm, problem, cell, variant, **options):
    n, epsilon, delta = cell
    entry = get_algorithm(f"wang2017.{algorithm}")
    return entry.plan(problem.constants, n, problem.dimension, PrivacySpec(epsilon, delta), variant, **options)


@pytest.mark.parametrize("cell", [(256, 1.0, 1e-5), (4096, 0.25, 1e-5), (2**17, 4.0, 1e-3)])
def test_families_are_matched_to_their_schedules(cell):
    """Theorems 4.4, 5.4 and 6.3."""
    for d in (8, 128):
        problem = get_problem("soft_quadratic_pp", d).at(*cell)
        made = schedule("dp_svrg_pp", problem, cell, "literal", inner_steps=4)
        h = min(1.0, 1 / (made.step * 2**made.epochs * 4))
        np.testing.assert_allclose(problem.spectrum, h, rtol=1e-12)
        assert problem.constants.initial_gap == pytest.approx(h / 2) and problem.constants.initial_distance == 1
    for signal in (0.5, 1.0):
        problem = get_problem("soft_quadratic_l2", signal=signal).at(*cell)
        T = schedule("dp_accmd", problem, cell, "acsa", horizon="optimal").steps
        np.testing.assert_allclose(problem.spectrum, min(1.0, 4 * 4 / T**2), rtol=1e-12)
        assert np.linalg.norm(problem.optimum) == pytest.approx(signal)
        assert problem.constants.status == ("global" if problem.spectrum[0] * (1 + signal) <= 1 else "nominal")
    for ball in ("l1_ball", "l2_ball"):
        problem = get_problem("l1_linear", ball=ball).at(*cell)
        T, B = schedule("dp_accmd", problem, cell, "acsa").steps, ball_geometry(problem.ball).bregman_radius(64)
        np.testing.assert_allclose(problem.mean_record(), 4 * 4 * B / T**2 * np.eye(64)[0], rtol=1e-12)
        gap = problem.risk(0.25 * np.eye(1, 64), None)[0] - problem.optimal_risk(None)
        assert gap == pytest.approx(0.75 * problem.mean_record()[0])


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1.0), (64, 0.5)])
def test_md_linear_has_the_bounds_scale_built_in(n, epsilon):
    problem = get_problem("md_linear").at(n, epsilon, 1e-6)
    B, W = 0.5 * math.e * (2 * math.log(64) - 1), mean_largest_square(64)
    c = 2 * math.sqrt(B * W) * math.log(n / 1e-6) / (n * epsilon)
    np.testing.assert_allclose(problem.mean_record(), c * np.eye(64)[0], rtol=1e-12)
    assert problem.optimal_risk(None) == pytest.approx(-c)
    assert problem.constants.status == ("global" if c <= 1 else "nominal")


def test_resolved_quadratic_l1():
    """The printed number of steps, and ``(s/2) (signal 16^(1/q - 1))^2`` at d = 64: 0.0143 for .02, and s = 19.9."""
    problem, q = get_problem("resolved_quadratic_l1", d=64), 2 * math.log(64) / (2 * math.log(64) - 1)
    length = 0.02 * 16 ** (1 / q - 1)
    found = problem.beside(np.zeros((3, 64)), Data(4))["minimiser_divergence"]
    assert length == pytest.approx(0.0143, abs=5e-5) and found.shape == (3,)
    np.testing.assert_allclose(found, 0.5 * math.e * (2 * math.log(64) - 1) * length**2, rtol=1e-12)
    member, geometry = problem.at(65536, 1.0, 1e-5), L1Geometry(1.0)
    gain = 65536 / math.sqrt(math.log(1e5) * geometry.squared_width(64))
    T = round(math.sqrt(4 * math.sqrt(geometry.bregman_radius(64)) * gain))
    assert set(member.spectrum) == {120 / T} and np.abs(member.optimum).sum() == pytest.approx(0.02)


def test_geman_mcclure(draw):
    problem = get_problem("geman_mcclure")
    data = draw(problem, 40_000)
    residual = data.labels - data.features.sum(axis=1)
    assert residual.var() == pytest.approx(0.01 + 0.2 * 9, rel=0.05)
    assert np.mean(np.abs(residual) > 0.5) == pytest.approx(0.2 * math.erfc(0.5 / (3.0017 * math.sqrt(2))), rel=0.05)
    c, u = problem.constants_of(data), np.linspace(-3, 3, 10_001)
    assert c.initial_gap == pytest.approx(np.mean(data.labels**2 / (1 + data.labels**2)))
    assert np.abs(problem.slope(u, 0.0)).max() == pytest.approx(c.lipschitz, rel=1e-6)
    assert np.abs(np.gradient(problem.slope(u, 0.0), u)).max() == pytest.approx(c.smoothness, rel=1e-5)
    with pytest.raises(InputError, match="convex, for its exact minimum"):
        problem.optimal_risk(data)


@pytest.mark.parametrize("radius", [None, 0.6])
def test_the_proximal_map_minimises(radius):
    """Against 20,000 feasible points about it, of three sizes, on the whole space and on a ball that binds."""
    problem, step, rng = get_problem("elastic_net_logistic", d=3, l1=0.3, ridge=0.4, radius=radius), 0.7, default_rng(5)
    objective, y = Objective(problem, Data(1), 1), np.array([[1.4, -0.2, 0.5]])

    def value(x):
        return 0.5 * ((x - y) ** 2).sum(axis=1) + step * (0.3 * np.abs(x).sum(axis=1) + 0.2 * (x**2).sum(axis=1))

    found = objective.prox(y, step)
    others = np.concatenate([found + size * rng.standard_normal((20_000, 3)) for size in (1e-3, 0.05, 0.5)])
    assert found[0, 1] == 0.0 and (value(objective.project(others)) >= value(found) - 1e-12).all()
    assert radius is None or np.linalg.norm(found) == pytest.approx(radius)


@pytest.mark.parametrize("name", ["elastic_net_logistic", "soft_lasso_pp"])
def test_minimisers_satisfy_the_condition_of_first_order(name):
    """Minus the smooth part's gradient is ``l1 sign(x_j)``, or within l1 where ``x_j = 0``; some are zero, some not."""
    cell = Cell("wang2017.dp_svrg_pp", name, 500, 1.0, 1e-5, d=10)
    problem, data = cell.problem_entry, cell.draw_data(3, 0)
    x = problem.minimiser(data)
    smooth = problem.mean_gradient(x[None], data)[0] + problem.constants.regularisation * x
    at_zero = x == 0.0
    assert 0 < at_zero.sum() < 10 and (np.abs(smooth[at_zero]) <= problem.l1).all()
    np.testing.assert_allclose(smooth[~at_zero], -problem.l1 * np.sign(x[~at_zero]), atol=1e-12)
    points = x + 0.1 * default_rng(5).standard_normal((50, 10))
    risks, known = problem.risk(points, data) - problem.optimal_risk(data), problem.excess_risk(points, data)
    assert (risks > 0).all() and (known is None or np.allclose(known, risks, rtol=1e-9))


def test_no_compiled_run_forgets_the_term():
    """Iterates keep exact zeros only where the soft threshold is made; the average of an epoch of one step is one."""
    keys = {"options": {"epochs": 1, "inner_steps": 1}, "problem_options": {"l1": 0.2}}
    cell = Cell("wang2017.dp_svrg", "elastic_net_logistic", 64, 1.0, 1e-5, d=10, **keys)
    assert (short(cell, 0.0).output == 0.0).all()


@pytest.mark.parametrize("curvature", [1.0, 0.1, 0.003])
def test_moments_are_those_of_the_linear_recursion(curvature):
    """Against the product of its matrices, and the sum of its responses to one unit of noise in each step."""
    T = 23

    def respond(error, noise):
        y = z = error
        for k in range(T):
            a, r = (k + 2) / 16, 2 / (k + 2)
            z = z - a * (curvature * (r * z + (1 - r) * y) + noise[k])
            y = r * z + (1 - r) * y
        return y

    bias, variance = bias_and_variance(T, curvature)
    assert bias[0] == pytest.approx(respond(1.0, np.zeros(T)), rel=1e-12)
    assert variance[0] == pytest.approx(sum(respond(0.0, unit) ** 2 for unit in np.eye(T)), rel=1e-12)


@pytest.mark.parametrize(("n", "calibration"), [(4096, "paper"), (16384, "accounted")])
def test_runs_have_the_closed_form(n, calibration):
    """With noise off exactly; with it within five standard errors, the projection being all but idle."""
    constant = 1.0 if calibration == "paper" else least_noise_constant(1.0, 1e-5)
    bias, noise = risk_parts(reach_of(n, 64, 1.0, 1e-5, 0.5), 1.0, constant)
    start, where = 0.5 * 0.25**2, {"variant": "acsa", "epsilon": 1.0, "delta": 1e-5}
    silent = run("wang2017.dp_accmd", "round_quadratic", n, 64, calibration="none", replicates=1, **where)
    assert silent.risk[0] == pytest.approx(bias[0] * start, rel=1e-9)
    noisy = run("wang2017.dp_accmd", "round_quadratic", n, 64, calibration=calibration, replicates=256, **where)
    assert abs(noisy.mean - (bias[0] + noise[0]) * start) < 5 * noisy.stderr
