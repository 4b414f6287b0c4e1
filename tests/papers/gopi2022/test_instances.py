"""The instances of Gopi, Lee, Liu, Shen, Tian 2022: mean risks of the target law against other calculations."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_bench.errors import InputError
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.registry import get_problem


def at(name, n, d, epsilon=1.0, delta=1e-6, **options):
    return get_problem(name, d, **options).at(n, epsilon, delta)


@pytest.mark.parametrize("p", [1.2, 1.5, 2.0])
def test_cold_axis_and_radial_laws_have_their_limits(p):
    d, k = 8, 1e7
    mu = 1e-7 * (p - 1)
    assert at("axis_linear", 100, d, p=p).mean_excess(k, mu) * k == pytest.approx(1 + (d - 1) / p, rel=1e-5)
    assert at("radial_norm", 100, d, p=p).mean_excess(k, mu) * k == pytest.approx(d, rel=1e-5)
    assert at("schatten_radial", 100, 12, p=p).mean_excess(k, mu) * k == pytest.approx(12, rel=1e-5)


def test_cube_law_is_a_sum_over_coordinates():
    problem, k, mu = at("cube_onehot", 10, 4), 30.0, 0.2  # shares .3, .3, .2, .2
    x = np.linspace(-1, 1, 200_001)
    total = 0.0
    for share in (0.3, 0.3, 0.2, 0.2):
        density = np.exp(k * share * (x - 1) - 0.5 * k * mu * x * x)
        total += share * np.sum((1 - x) * density) / np.sum(density)
    assert problem.mean_excess(k, mu) == pytest.approx(total, rel=1e-4)
    data = problem.draw(10, None)
    assert problem.optimal_risk(data) == pytest.approx(-1.0)
    assert problem.shares(10) == pytest.approx(problem.mean_record(data))


def test_biased_axis_is_the_sum_over_all_data_sets():
    n, k, mu, bias = 40, 60.0, 0.3, 2 / math.sqrt(40)
    problem = at("bias_axis", n, 3, p=1.5, signal=2.0)
    heads = np.arange(n + 1)
    gaps = [AxisLaw(1.5, 3, k * (2 * h / n - 1), k * mu).mean_gap() for h in heads]
    wanted = bias * np.sum(binom.pmf(heads, n, 0.5 + 0.5 * bias) * gaps)
    assert problem.mean_excess(k, mu) == pytest.approx(wanted, rel=1e-6)


def test_strongly_convex_laws():
    k, d = 1e5, 16
    assert at("quadratic_ball", 100, d).mean_excess(k, 1.0) * k == pytest.approx(d / 2, rel=1e-10)
    assert at("norm_plus_quadratic", 100, d).mean_excess(k, 1.0) * k == pytest.approx(d, rel=1e-3)
    sphere = at("quadratic_ball", 100, d, records="sphere")
    assert sphere.mean_excess(k, 1.0) == pytest.approx(1 / (2 * 100) + d / (2 * k))
    with pytest.raises(InputError, match=r"^d/k = .*: must be at most 0.25 mu"):
        sphere.mean_excess(10.0, 1.0)
    c = sphere.constants
    assert (c.lipschitz, c.loss_difference, c.diameter) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize("bias", [0.5, 2.0])
def test_a_swapped_record_gives_the_generalisation_error(bias):
    """Proposition 6 on the minimiser's plain sum over 7 coins, and Corollary 1's bound."""
    n = 7
    problem = at("bias_axis", n, 2, p=2.0, signal=bias)
    law = Temperature("sco", n, 2, 1.0, 1.0, theta=0.5)
    scale = 1.3
    k, mu = law.at(scale)
    extras = problem.expected_extras("gopi2022.reg_exp_mech", law.entries, {"draw": scale})
    b, heads = float(problem.strengths[0]), np.arange(n + 1)
    means, chances = 2 * heads / n - 1, binom.pmf(heads, n, 0.5 + b / 2)
    total = np.sum(chances * (means - b) * [AxisLaw(2.0, 2, k * mean, 0.5 * k * mu).mean() for mean in means])
    assert extras["generalisation"] == pytest.approx(total, rel=1e-5) and extras["swap_error"] < 1e-5
    assert 0 < total <= 2 / (n * mu)
