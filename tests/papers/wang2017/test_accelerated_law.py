"""The closed form of accelerated mirror descent on quadratics, against runs; and the instances that it found."""

import numpy as np
import pytest

from dpsco_bench import run
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.wang2017.algorithms.mirror_descent import least_noise_constant
from dpsco_bench.papers.wang2017.laws import bias_and_variance, noise_share, reach_of

WHERE = dict(variant="acsa", epsilon=1.0, delta=1e-5)


def test_one_step_by_hand():
    """x = z = 0 at first, a = 1/8, r = 1: y = z = (1 - h/8) e - b/8."""
    bias, variance = bias_and_variance(1, [1.0, 0.25])
    np.testing.assert_allclose(bias, [7 / 8, 31 / 32])
    np.testing.assert_allclose(variance, 1 / 64)


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
    law = noise_share(reach_of(n, 64, 1.0, 1e-5, 0.5), 1.0, constant=constant)
    start = 0.5 * 0.25**2
    silent = run("wang2017.dp_accmd", "round_quadratic", n, 64, calibration="none", replicates=1, **WHERE)
    assert silent.risk[0] == pytest.approx(law.bias[0] * start, rel=1e-9)
    noisy = run("wang2017.dp_accmd", "round_quadratic", n, 64, calibration=calibration, replicates=256, **WHERE)
    assert abs(noisy.mean - law.risk[0] * start) < 5 * noisy.stderr


def test_the_share_depends_on_the_reach_alone():
    for n, d, radius in ((40_000, 64, 0.5), (40_000, 16, 0.25)):
        reach = reach_of(n, d, 1.0, 1e-5, radius)
        at = dict(problem_options={"radius": radius}, n=n, d=d, epsilon=1.0, delta=1e-5)
        cell = Cell("wang2017.dp_accmd", "round_quadratic", **at)
        assert cell.plan("accounted", 0)[1].steps == noise_share(reach, 1.0).steps
    assert reach_of(40_000, 64, 1.0, 1e-5, 0.5) == pytest.approx(reach_of(40_000, 16, 1.0, 1e-5, 0.25))
