"""Methods without noise against vectors computed by hand, laws by simulation, and what runs look at."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.laws import largest_excess, largest_excess_without_noise, winning_probabilities
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants

SFW, SGD, SMD, POLY = (
    get_algorithm(f"bassily2021.{name}") for name in ("noisy_sfw", "noisy_sgd", "noisy_smd", "poly_sfw")
)
Q = {"norm_rule": "q"}
ONE_BY_ONE = [[t] for t in range(6)]
PAIRS = [[t % 6, 2 * t % 6] for t in range(1, 6)]


def planned(entry, n, constants, d=3, variant="standard", **options):
    return entry.plan(constants, n, d, PrivacySpec(1.0, 1e-6), variant, **options)


@pytest.mark.parametrize(
    ("entry", "n", "p", "radius", "options", "batches", "evaluations", "expected"),
    [
        (SFW, 16, 1.5, 1.0, Q, (), 24, (0.509774938037, 0.212695167852, 0.017227686051)),
        (
            *(SGD, 6, 4.0, 0.1, {"steps": 6, "step": 0.5}, ONE_BY_ONE, 6),
            (-0.009657335702, -0.015291039448, -0.011172989109),
        ),
        (
            *(SMD, 6, 1.5, 1.0, Q | {"variant": "corrected", "steps": 6, "batch": 2, "step": 0.3}, PAIRS, 10),
            (-0.009947463449, -0.050263886151, -0.022422710831, 0.005268959215),
        ),
    ],
    ids=["noisy_sfw", "noisy_sgd", "noisy_smd"],
)
def test_check_vectors(sine, entry, n, p, radius, options, batches, evaluations, expected):
    problem = sine.problem(len(expected), f"lp_ball:{p:g}", p, radius=radius)
    made = planned(entry, n, problem.constants, len(expected), **options)
    output, objective = sine.run(entry, made, problem, batches)
    np.testing.assert_allclose(output, expected, atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == evaluations and not made.warnings


def test_check_vector(sine):
    problem = sine.problem(3, "l1_ball", 1.0)
    made = planned(POLY, 8, problem.constants)
    assert made.step == pytest.approx(0.187030432612, rel=1e-11) and made.vertices == 6 and made.steps == 4
    output, objective = sine.run(POLY, made, problem)
    np.testing.assert_allclose(output, [0, 0.233747675109, -0.411135341500], atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 12


LINEAR = Constants(1.0, 0.0, diameter=2.0, domain="l1_ball", norm=1.0)


@pytest.mark.parametrize("n", [1000, 1001])
def test_schedule_and_scales_of_poly_sfw(n):
    made = planned(POLY, n, LINEAR, 32)
    (query,), eta, N = made.queries, math.log(n / math.log(64)) / n, n // 2
    assert (made.step, made.steps, query.releases, made.gradient_evaluations) == (eta, N, N + 1, 3 * N)
    first, unit = 2 * 1.0 * 2.0 / n, 2 * math.sqrt(n * math.log(1e6))
    printed = np.maximum((1 - eta) ** np.arange(1, N + 1) * first, 2 * eta * 2.0)
    scales = query.paper_scale * query.factors(0, N + 1)
    np.testing.assert_allclose(scales, unit * np.append(first, printed), rtol=1e-12)


def test_the_worst_record_moves_scores_as_declared():
    """L1 > 0: a record of the second half enters with both gradients of its step."""
    query = planned(POLY, 100, Constants(1.5, 0.5, diameter=2.0, domain="l1_ball", norm=1.0), 32).queries[0]
    eta = math.log(100 / math.log(64)) / 100
    assert query.first == pytest.approx(2 * 1.5 * 2 / 50)
    assert query.later == pytest.approx(2 * eta * ((1 - eta) * 0.5 * 4 + 1.5 * 2))


def test_the_minimiser_of_a_linear_loss_without_noise():
    """cube_fixed has the same mean everywhere: x = d^(-1/p) everywhere, with no excess risk."""
    cell = Cell("bassily2021.gg_lmo", "cube_fixed", 1000, 1.0, 1e-6, 8, problem_options={"signal": 3.0})
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": 0.0}, cell.draw_data(0, 0), root_seed=1, replicates=2)
    np.testing.assert_allclose(trace.output, 8 ** (-1 / 1.5), rtol=1e-12)
    assert np.abs(trace.risk).max() < 1e-15


@pytest.mark.parametrize(("p", "d"), [(1.5, 6), (1.0, 64), (2.0, 3), (1.25, 1)])
def test_the_risk_of_a_noisy_point_is_the_second_moment(p, d):
    """E||z||_r^2 = d sigma^2 for the generalised Gaussian, whatever p."""
    cell = Cell("bassily2021.gg_mechanism", "squared_norm", 10, 1.0, 1e-6, d, problem_options={"p": p})
    made = cell.plan("paper", 0)[1]
    trace = run_block(cell, made, {"release": 0.5}, cell.draw_data(0, 0), root_seed=4, replicates=4000)
    risk = trace.risk[:, -1]
    assert abs(risk.mean() - 0.25 * d) < 4 * risk.std() / np.sqrt(4000)
    np.testing.assert_allclose(risk, np.linalg.norm(trace.output, ord=made.r, axis=1) ** 2, rtol=1e-12)


# references of the leaderboard: the sample's minimiser of linear losses, and projected descent on all records
MINIMISER, DESCENT = "bassily2021.sample_minimiser", "bassily2021.projected_gd"
EXPONENTS = {"cube_iid": 1.5, "heavy_linear_t": 2.0, "onehot": math.inf}


def output(algorithm, problem, epsilon=1.0, **options):
    p = "inf" if problem == "onehot" else EXPONENTS[problem]
    own = {"p": p} | ({} if problem == "heavy_linear_t" else {"unit": "statistical"})
    cell = Cell(algorithm, problem, 200, epsilon, 1e-6, 8, options=options, problem_options=own)
    made = cell.plan("none", 0)[1]
    silent = {query.name: 0.0 for query in made.queries}
    return run_block(cell, made, silent, cell.draw_data(0, 0), root_seed=1, replicates=3).output


@pytest.mark.parametrize("problem", EXPONENTS)
def test_the_sample_minimiser_is_on_the_sphere_and_does_not_depend_on_epsilon(problem):
    found = [output(MINIMISER, problem, epsilon) for epsilon in (0.25, 4.0)]
    assert np.array_equal(*found)
    np.testing.assert_allclose(np.linalg.norm(found[0], ord=EXPONENTS[problem], axis=1), 1.0, rtol=1e-9)


def test_one_long_step_of_descent_without_noise_is_the_sample_minimiser():
    np.testing.assert_allclose(output(DESCENT, "onehot", steps=1, step=1e9), output(MINIMISER, "onehot"), atol=1e-12)


# laws of the methods by simulation, check vectors of the errata, and what observers note


@pytest.mark.parametrize(("K", "h"), [(32, 1.670), (128, 2.649), (512, 3.732), (2048, 4.879), (8192, 6.070)])
def test_check_vector_of_the_law(K, h):
    assert largest_excess(K) == pytest.approx(h, abs=6e-4)


def test_e5_closed_forms_for_kappa():
    paper = SmoothNorm(1.0, 64, "two_ln_d")
    assert paper.kappa == pytest.approx(20.3, rel=0.01) and paper.kappa < math.e * 2 * math.log(64)
    for rule, real in (("two_ln_d", 1.223), ("best", 1.203)):
        ratio = SmoothNorm(1.01, 64, rule).kappa / (2 * math.log(64))
        assert gdp_epsilon(math.sqrt(ratio / (2 * math.log(1e6))), 1e-6) == pytest.approx(real, abs=6e-4)


def test_winning_probabilities_by_simulation():
    scores = np.random.default_rng(5).laplace(size=(200_000, 8))
    scores[:, 0] -= 1.2
    scores[:, 1] += 1.2
    counts = np.bincount(scores.argmin(axis=1), minlength=8) / len(scores)
    plus, minus = winning_probabilities(1.2, 8)
    assert plus == pytest.approx(counts[0], abs=5e-3) and minus == pytest.approx(counts[1], abs=2e-3)
    assert winning_probabilities(0.0, 8) == pytest.approx((1 / 8, 1 / 8), abs=1e-9)


def test_the_law_without_noise_by_simulation():
    """Steps of Algorithm 1 on normal records, at the best of a grid of signals."""
    n, d, rng = 512, 8, np.random.default_rng(2)
    step, last = math.log(n / math.log(2 * d)) / n, n // 2
    signals = np.linspace(0.5, 2.0, 7)[:, None] * math.sqrt(step)
    estimate, x = rng.normal(size=(7, 4000, d)) * math.sqrt(2 / n), np.zeros((7, 4000))
    estimate[..., 0] += signals
    for t in range(last + 1):
        if t:
            estimate = (1 - step) * estimate + step * rng.normal(size=(4000, d))
            estimate[..., 0] += step * signals
        chosen = np.abs(estimate).argmax(axis=-1) == 0
        x = (1 - step) * x + step * chosen * np.sign(estimate[..., 0])
    assert largest_excess_without_noise(n, d) == pytest.approx((signals[:, 0] * (1 - x.mean(axis=1))).max(), rel=0.03)


def observed(algorithm, problem, n, observer, scale=0.0, replicates=3, **options):
    cell = Cell(f"bassily2021.{algorithm}", problem, n=n, epsilon=1.0, delta=1e-6, d=4, problem_options=options)
    made, data = cell.plan("paper", 0)[1], cell.draw_data(0, 0)
    scales = {query.name: scale for query in made.queries}
    rounds = f"bassily2021.{observer}"
    return run_block(cell, made, scales, data, root_seed=3, replicates=replicates, rounds=rounds), made


@pytest.mark.parametrize(("algorithm", "problem"), [("poly_sfw", "needle_l1"), ("noisy_sfw", "cube_iid")])
def test_errors_of_the_estimates_are_of_the_order_of_the_sampling_error(algorithm, problem):
    trace, made = observed(algorithm, problem, 4096, "estimates", replicates=400)
    entry = 4**0 if algorithm == "poly_sfw" else 4 ** (-1 / 3)  # absolute value of a record's entries
    first, last = trace.extras["first_error"], trace.extras["last_error"]
    assert 1.0 < first.mean() / (entry * np.sqrt(2 / 4096)) < 2.0  # a mean of n/2 records, in l_q of four entries
    if algorithm == "noisy_sfw":  # linear losses: the increments vanish
        np.testing.assert_array_equal(first, last)
    else:
        assert 1.0 < last.mean() / np.sqrt(made.step / (2 - made.step)) < 2.0


def test_distances_are_those_of_the_outputs():
    trace, _ = observed("gg_lmo", "cube_fixed", 1000, "distance", 0.1, 50, signal=5.0)
    best = 4 ** (-1 / 1.5)
    np.testing.assert_allclose(trace.extras["distance"], np.linalg.norm(trace.output - best, ord=1.5, axis=1))
    np.testing.assert_allclose(trace.extras["alpha"], trace.risk[:, -1], atol=1e-12)
    assert (trace.extras["distance"] <= np.sqrt(8 * trace.extras["alpha"] / (0.5 * trace.extras["mean_norm"]))).all()
