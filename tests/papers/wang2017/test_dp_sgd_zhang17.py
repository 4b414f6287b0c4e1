import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.registry import get_problem

SGD, PRIVACY, L = get_algorithm("wang2017.dp_sgd_zhang17"), PrivacySpec(1.0, 1e-5), math.log(1e5)


def plan(calibration="paper", n=64, **options):
    return SGD.plan(Constants(0.5, 2.0, initial_gap=0.4), n, 8, PRIVACY, "standard", calibration, **options)


def test_the_accounted_step_is_made_for_the_accounted_noise():
    made = plan("accounted", n=256)
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    assert made.step == pytest.approx(math.sqrt(0.8 / (2 * 256**2 * (0.25 + 8 * sigma**2))), rel=0.15)


def test_the_mean_along_the_run_is_the_sum_over_its_steps():
    """In closed form, against every step's ``a^k e^2 + sigma^2 eta^2 (1 - a^k)/(1 - a)``."""
    problem = get_problem("diag_quadratic", d=5)
    h, error = problem.spectrum, problem.start - problem.optimum
    for step, sigma in ((1.0, 0.0), (1.0, 0.3), (0.01, 0.3)):
        k, a = np.arange(50)[:, None], (1 - step * h) ** 2
        squares = a**k * error**2 + (sigma * step) ** 2 * (1 - a**k) / (1 - a)
        expected = float((h**2 * squares).sum(axis=1).mean())
        assert problem.expected_mean_squared_gradient(step, 50, sigma) == pytest.approx(expected, rel=1e-12)
