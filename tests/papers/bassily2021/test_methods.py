"""Methods without noise against vectors computed by hand, laws by simulation, and what runs look at."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.laws import largest_excess, largest_excess_without_noise, winning_probabilities
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants

from ...runs import run
from ..conftest import SineLeastSquares, run_batches

METHODS = ("noisy_sfw", "noisy_sgd", "noisy_smd", "poly_sfw")
SFW, SGD, SMD, POLY = (get_algorithm(f"bassily2021.{name}") for name in METHODS)
Q = {"norm_rule": "q"}
ONE_BY_ONE, PAIRS = [[t] for t in range(6)], [[t % 6, 2 * t % 6] for t in range(1, 6)]


def planned(entry, n, constants, d=3, variant="standard", **options):
    return entry.plan(constants, n, d, PrivacySpec(1.0, 1e-6), variant, **options)


SMALL, BATCHES = {"steps": 6, "step": 0.5}, Q | {"variant": "corrected", "steps": 6, "batch": 2, "step": 0.3}
VECTORS = [
    (SFW, 16, 1.5, 1.0, Q, (), 24, (0.509774938037, 0.212695167852, 0.017227686051)),
    (SGD, 6, 4.0, 0.1, SMALL, ONE_BY_ONE, 6, (-0.009657335702, -0.015291039448, -0.011172989109)),
    (SMD, 6, 1.5, 1.0, BATCHES, PAIRS, 10, (-0.009947463449, -0.050263886151, -0.022422710831, 0.005268959215)),
    (POLY, 8, 1.0, 1.0, {}, (), 12, (0, 0.233747675109, -0.411135341500)),
]


@pytest.mark.parametrize(("entry", "n", "p", "radius", "options", "batches", "evaluations", "expected"), VECTORS)
def test_check_vectors(entry, n, p, radius, options, batches, evaluations, expected):
    problem = SineLeastSquares(len(expected), f"lp_ball:{p:g}", p, radius)
    made = planned(entry, n, problem.constants, len(expected), **options)
    output, objective = run_batches(entry, made, problem, batches)
    np.testing.assert_allclose(output, expected, atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == evaluations and not made.warnings


@pytest.mark.parametrize("n", [8, 1000, 1001])
def test_schedule_and_scales_of_poly_sfw(n):
    made = planned(POLY, n, Constants(1.0, 0.0, diameter=2.0, domain="l1_ball", norm=1.0), 32)
    (query,), eta, N = made.queries, math.log(n / math.log(64)) / n, n // 2
    assert (made.step, made.steps, query.releases, made.gradient_evaluations) == (eta, N, N + 1, 3 * N)
    first, unit = 2 * 1.0 * 2.0 / n, 2 * math.sqrt(n * math.log(1e6))
    printed = np.maximum((1 - eta) ** np.arange(1, N + 1) * first, 2 * eta * 2.0)
    scales = query.paper_scale * query.factors(0, N + 1)
    np.testing.assert_allclose(scales, unit * np.append(first, printed), rtol=1e-12)
    assert made.vertices == 64


def test_the_worst_record_moves_scores_as_declared():
    """L1 > 0: a record of the second half enters with both gradients of its step."""
    query = planned(POLY, 100, Constants(1.5, 0.5, diameter=2.0, domain="l1_ball", norm=1.0), 32).queries[0]
    eta = math.log(100 / math.log(64)) / 100
    assert query.first == pytest.approx(2 * 1.5 * 2 / 50)
    assert query.later == pytest.approx(2 * eta * ((1 - eta) * 0.5 * 4 + 1.5 * 2))


def cell(algorithm, problem, n, d, epsilon=1.0, options=None, **own):
    return Cell(f"bassily2021.{algorithm}", problem, n, epsilon, 1e-6, d, options=options or {}, problem_options=own)


def test_minimisers_of_linear_losses_without_noise():
    """cube_fixed has the same mean everywhere: x = d^(-1/p) everywhere, with no excess risk."""
    trace = run(cell("gg_lmo", "cube_fixed", 1000, 8, signal=3.0), 0.0, replicates=2)
    np.testing.assert_allclose(trace.output, 8 ** (-1 / 1.5), rtol=1e-12)
    assert np.abs(trace.risk).max() < 1e-15
    methods = {"projected_gd": {"steps": 1, "step": 1e9}, "sample_minimiser": {}}
    cells = [cell(name, "onehot", 200, 8, options=o, **REFERENCES["onehot"]) for name, o in methods.items()]
    np.testing.assert_allclose(*(run(given, 0.0, replicates=3).output for given in cells), atol=1e-12)


@pytest.mark.parametrize(("p", "d"), [(1.5, 6), (1.0, 64), (2.0, 3), (1.25, 1)])
def test_the_risk_of_a_noisy_point_is_the_second_moment(p, d):
    """E||z||_r^2 = d sigma^2 for the generalised Gaussian, whatever p."""
    given = cell("gg_mechanism", "squared_norm", 10, d, p=p)
    trace, r = run(given, 0.5, "paper", replicates=4000), given.plan("paper", 0)[1].r
    risk = trace.risk[:, -1]
    assert abs(risk.mean() - 0.25 * d) < 4 * risk.std() / np.sqrt(4000)
    np.testing.assert_allclose(risk, np.linalg.norm(trace.output, ord=r, axis=1) ** 2, rtol=1e-12)


# references of the leaderboard: the sample's minimiser of linear losses, and projected descent on all records
UNIT = {"unit": "statistical"}
REFERENCES = {"cube_iid": {"p": 1.5, **UNIT}, "heavy_linear_t": {"p": 2.0}, "onehot": {"p": "inf", **UNIT}}


@pytest.mark.parametrize("problem", REFERENCES)
def test_the_sample_minimiser_is_on_the_sphere_and_does_not_depend_on_epsilon(problem):
    own = REFERENCES[problem]
    cells = [cell("sample_minimiser", problem, 200, 8, epsilon, **own) for epsilon in (0.25, 4.0)]
    found = [run(given, 0.0, replicates=3).output for given in cells]
    assert np.array_equal(*found)
    np.testing.assert_allclose(np.linalg.norm(found[0], ord=float(own["p"]), axis=1), 1.0, rtol=1e-9)


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


@pytest.mark.parametrize(("algorithm", "problem"), [("poly_sfw", "needle_l1"), ("noisy_sfw", "cube_iid")])
def test_errors_of_the_estimates_are_of_the_order_of_the_sampling_error(algorithm, problem):
    given = cell(algorithm, problem, 4096, 4)
    trace = run(given, 0.0, "paper", replicates=400, rounds="bassily2021.estimates")
    entry = 4**0 if algorithm == "poly_sfw" else 4 ** (-1 / 3)  # absolute value of a record's entries
    first, last = trace.extras["first_error"], trace.extras["last_error"]
    assert 1.0 < first.mean() / (entry * np.sqrt(2 / 4096)) < 2.0  # a mean of n/2 records, in l_q of four entries
    if algorithm == "noisy_sfw":  # linear losses: the increments vanish
        np.testing.assert_array_equal(first, last)
    else:
        step = given.plan("paper", 0)[1].step
        assert 1.0 < last.mean() / np.sqrt(step / (2 - step)) < 2.0


def test_distances_are_those_of_the_outputs():
    given = cell("gg_lmo", "cube_fixed", 1000, 4, signal=5.0)
    trace = run(given, 0.1, "paper", replicates=50, rounds="bassily2021.distance")
    distance, alpha, best = trace.extras["distance"], trace.extras["alpha"], 4 ** (-1 / 1.5)
    np.testing.assert_allclose(distance, np.linalg.norm(trace.output - best, ord=1.5, axis=1))
    np.testing.assert_allclose(alpha, trace.risk[:, -1], atol=1e-12)
    assert (distance <= np.sqrt(8 * alpha / (0.5 * trace.extras["mean_norm"]))).all()
