import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

MD = get_algorithm("wang2017.noisy_md_ttz14")
PRIVACY = PrivacySpec(1.0, 1e-5)
ON_L2 = Constants(2.0, 1.0, diameter=6.0, domain="l2_ball")


def test_schedule_and_noise():
    n, d = 2000, 10
    made, logarithm = MD.plan(ON_L2, n, d, PRIVACY, "standard"), math.log(2000 / 1e-5)
    T = round(36 * n**2 / (9 * d * logarithm**2))
    (query,) = made.queries
    assert (made.steps, query.releases, made.gradient_evaluations) == (T, T, n * T)
    assert query.sensitivity == 2 * 2.0 / n
    assert query.paper_scale == pytest.approx(math.sqrt(32 * T) * 2.0 * logarithm / n)
    capped = MD.plan(ON_L2, n, d, PRIVACY, "standard", most_steps=100)
    assert capped.steps == 100 and MD.plan(ON_L2, n, d, PRIVACY, "standard", steps=7, most_steps=100).steps == 7


@pytest.mark.parametrize(("n", "real"), [(2**10, 0.056), (2**14, 0.048)])
def test_privacy_fact_of_the_printed_noise(n, real):
    result = calibrate(MD.plan(ON_L2, n, 10, PRIVACY, "standard"), PRIVACY, "paper")
    assert result.charge.kind == "exact" and result.privacy_status == "proven"
    assert result.charge.epsilon == pytest.approx(real, abs=6e-4)


def test_accounted_noise_is_exact():
    made = MD.plan(ON_L2, 2000, 10, PRIVACY, "standard")
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    assert sigma == pytest.approx(4 * math.sqrt(made.steps) / (2000 * gdp_mu(1.0, 1e-5)))


def test_on_an_l2_ball_it_is_averaged_projected_gradient_descent(execute, draw):
    problem = get_problem("ridge_logistic", 4, radius=1.5)
    data = draw(problem, 30)
    made = MD.plan(problem.constants, 30, 4, PRIVACY, "standard", steps=9)
    step = math.sqrt(2 * 0.5 / (9 * (1.0 * 3.0) ** 2)) * 1.5**2
    z, total = np.zeros((1, 4)), np.zeros((1, 4))
    for _ in range(9):
        z = z - step * (problem.mean_gradient(z, data) + 0.1 * z)
        z = z * min(1.0, 1.5 / np.linalg.norm(z))
        total = total + z
    np.testing.assert_allclose(execute(MD, made, problem, data), total / 9, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 0.02])
def test_mirror_descents_guarantee_on_a_linear_loss(execute, scale):
    """Mean gap at most ``sqrt(2B (G^2 diam^2 + sigma^2 W)/T)`` on the l1 ball."""
    problem = get_problem("md_linear").at(50, 1.0, 1e-5)
    made = MD.plan(problem.constants, 50, 64, PRIVACY, "standard", steps=200)
    output = execute(MD, made, problem, Data(50), scale=scale, replicates=50)
    gap = problem.risk(output, None) - problem.optimal_risk(None)
    bound = math.sqrt(2 * made.bregman_radius * (made.slope**2 + scale**2 * made.squared_width) / 200)
    assert gap.mean() <= bound
    assert np.all(np.abs(output).sum(axis=1) <= 1 + 1e-9)


def test_refusals():
    for key in ("steps", "most_steps"):
        with pytest.raises(InputError, match=f"^{key} = 0"):
            MD.plan(ON_L2, 100, 3, PRIVACY, "standard", **{key: 0})
    with pytest.raises(Refusal, match="lacks an l1 or l2 ball as domain"):
        Cell(MD.id, "ridge_logistic", n=100, epsilon=1.0, delta=1e-5).plan("paper", 0)
