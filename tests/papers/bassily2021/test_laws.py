"""Laws of the methods by simulation, check vectors of the errata, and what observers note."""

import math

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.laws import largest_excess, largest_excess_without_noise, winning_probabilities
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon


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
