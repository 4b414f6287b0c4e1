import math
from functools import partial

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.papers.wang2017.algorithms.perturbation import perturbation_parameters
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

CMS, KST, TTZ = (get_algorithm(f"wang2017.objective_perturbation_{name}") for name in ("cms11", "kst12", "ttz14"))
PRIVACY = PrivacySpec(1.0, 1e-5)
RIDGE = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1)


class LinearRecords(GeneralisedLinear):
    """``f_i(x) = y_i <a_i, x>`` and a ridge: the perturbed minimiser is an affine function of the noise."""

    name = "linear_records"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.STRONGLY_CONVEX})
    own_constants = RIDGE

    def loss(self, margins, labels):
        return labels * margins

    def slope(self, margins, labels):
        return labels + 0.0 * margins

    def curvature(self, margins, labels):
        return 0.0 * margins


@pytest.mark.parametrize(
    ("epsilon", "n", "expected"), [(1.0, 1000, (0.9506147748, 0.0)), (0.01, 100, (0.005, 0.9887505208))]
)
def test_check_vector_v9(epsilon, n, expected):
    np.testing.assert_allclose(perturbation_parameters(epsilon, n, 0.25, 0.01), expected, atol=5e-11)


def linear_outputs(algorithm, scale, replicates, d=5, n=20):
    problem = LinearRecords(d)
    data = Data(n, np.tile(np.eye(d)[0], (n, 1)), np.ones(n))
    made = algorithm.plan(RIDGE, n, d, PRIVACY, "standard")
    source = Mechanism(made, {"linear term": scale}, "linear", 3, 0, replicates)
    x, _ = split(algorithm.run_function(Objective(problem, data, replicates), made, source))
    ridge = 0.1 + made.weight / n
    return -(x * ridge * n + n * np.eye(d)[0])  # the noise behind each output


def test_cms11_moments_of_the_noise_behind_the_outputs():
    """E||b|| = 2d/eps', E||b||^2 = 4d(d+1)/eps'^2."""
    share = CMS.plan(RIDGE, 20, 5, PRIVACY, "standard").epsilon_noise
    norm = np.linalg.norm(linear_outputs(CMS, 2 / share, 4000), axis=1)
    for power, moment in ((1, 2 * 5 / share), (2, 4 * 5 * 6 / share**2)):
        assert abs(np.mean(norm**power) - moment) < 5 * np.std(norm**power) / math.sqrt(len(norm))


def test_the_released_minimiser_moves_the_gradient_sum_by_at_most_2g(draw):
    """Given the output, neighbours explain it by noise that differs by at most 2G; opposite records attain it."""
    problem = LinearRecords(3)
    rows = np.tile([0.0, 1.0, 0.0], (8, 1))
    data, other = Data(8, rows, np.ones(8)), Data(8, rows, np.where(np.arange(8) == 3, -1.0, 1.0))
    made = KST.plan(RIDGE, 8, 3, PRIVACY, "standard")
    arguments = (made, {"linear term": 2.0}, "x", 1, 0, 4)
    recorder = Recorder(*arguments)
    x, _ = KST.run_function(Objective(problem, data, 4), made, recorder)
    replay = partial(Replay, recorder.transcript)(*arguments)
    np.testing.assert_array_equal(KST.run_function(Objective(problem, other, 4), made, replay)[0], x)
    changes = recorder.transcript.value("linear term") - replay.transcript.value("linear term")
    np.testing.assert_allclose(np.linalg.norm(changes, axis=-1), made.queries[0].sensitivity, rtol=1e-12)


def test_ttz14_is_kst12_over_a_ball(execute, draw):
    free, bounded = get_problem("ridge_logistic", 4), get_problem("ridge_logistic", 4, radius=50.0)
    data = draw(free, 40)
    made = [a.plan(p.constants, 40, 4, PRIVACY, "standard") for a, p in ((KST, free), (TTZ, bounded))]
    assert made[0].queries == made[1].queries and made[0].weight == made[1].weight
    outputs = [
        execute(a, m, p, data, scale=5.0, replicates=3)
        for a, m, p in zip((KST, TTZ), made, (free, bounded), strict=True)
    ]
    np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-12)
    tight = get_problem("ridge_logistic", 4, radius=0.1)
    output = execute(TTZ, made[1], tight, data, scale=5.0, replicates=3)
    np.testing.assert_allclose(np.linalg.norm(output, axis=1), 0.1, rtol=1e-9)
