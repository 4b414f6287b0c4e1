import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

ACCMD = get_algorithm("wang2017.dp_accmd")
PRIVACY = PrivacySpec(1.0, 1e-5)
UNIT = Constants(1.0, 1.0, diameter=2.0, domain="l2_ball")
L = math.log(1e5)


def plan(constants=UNIT, n=4096, d=64, privacy=PRIVACY, variant="acsa", **options):
    return ACCMD.plan(constants, n, d, privacy, variant, **options)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("proof", (-0.290287882234, 0.388709387083)),
        ("literal", (-0.290287882234, 0.388709387083)),
        ("noisy_y", (-0.195759990282, 0.259442041576)),
        ("acsa", (-0.195759990282, 0.259442041576)),
    ],
)
def test_v3_outputs(vectors, variant, expected):
    """Unit l2 ball, T=3, Lc=1, start 0, the usual logistic loss."""

    class OnBall(vectors.FourRecords):
        @property
        def own_constants(self):
            return Constants(1.0, 0.25, diameter=2.0, domain="l2_ball")

        @property
        def start(self):
            return np.zeros(2)

    problem = OnBall(0.0)
    made = ACCMD.plan(problem.constants, 4, 2, PRIVACY, variant, steps=3)
    assert made.norm_smoothness == 1.0
    np.testing.assert_allclose(vectors.run(ACCMD, made, problem, ()), expected, rtol=0, atol=1e-12)


def test_the_optimal_horizon_is_that_of_the_noise_in_force():
    """Under accounted noise c is 4 eps^2/(mu^2 l), 4.835 here: T is shorter by its fourth root and the bound least."""
    n = 10**6
    printed, made = plan(horizon="optimal", n=n), plan(horizon="optimal", n=n, calibration="accounted")
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    constant = sigma**2 * n**2 / (made.steps * L)
    assert constant == pytest.approx(4.835, abs=1e-3)
    assert printed.steps / made.steps == pytest.approx(constant**0.25, rel=5e-3)

    def bound(T):
        return 8 * 4 * 0.5 / T**2 + constant * T * L / n**2 * 64 * T / (6 * 4)

    assert bound(made.steps) <= min(bound(made.steps - 3), bound(made.steps + 3))
    assert bound(printed.steps) / bound(made.steps) == pytest.approx(1.33, abs=0.01)
    assert plan(n=n, calibration="accounted").steps == plan(n=n).steps


@pytest.mark.parametrize("variant", ["acsa", "noisy_y", "proof"])
@pytest.mark.parametrize("ball", ["l1_ball", "l2_ball"])
def test_noise_free_convergence_obeys_the_bound(execute, variant, ball):
    """8 Lc B/(T+1)^2 with the exact B, and feasibility of every iterate."""
    problem = get_problem("l1_geometric", 32, ball=ball)
    made = plan(problem.constants, d=32, variant=variant, steps=60)
    norms = []
    output = execute(ACCMD, made, problem, Data(4), observer=lambda o, x: norms.append(float(o.domain.norm(x).max())))
    gap = problem.risk(output, Data(4))[0]
    assert 0 <= gap <= 8 * made.norm_smoothness * made.bregman_radius / 61**2
    assert max(norms) <= 1 + 1e-12


def test_one_step_of_the_proof_ignores_its_noise(execute):
    """Erratum E6: for T = 1 the output is a deterministic function of the data."""
    problem = get_problem("l1_geometric", 32)
    made = plan(problem.constants, d=32, variant="proof", steps=1)
    outputs = execute(ACCMD, made, problem, Data(4), scale=10.0, replicates=3)
    np.testing.assert_array_equal(outputs, np.broadcast_to(outputs[0], outputs.shape))
