import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.pld import add_remove_epsilon
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.records import SingleIndex, WithReplacement
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SGD = get_algorithm("bassily2021.noisy_sgd")
PRIVACY = PrivacySpec(1.0, 1e-6)
L = math.log(1e6)


def constants(p=math.inf, radius=1.0):
    domain = {2: "l2_ball", math.inf: "linf_ball"}.get(p, f"lp_ball:{p}")
    return Constants(1.0, 1.0, diameter=2 * radius, domain=domain, norm=p)


def planned(n, d=8, privacy=PRIVACY, p=math.inf, **options):
    return SGD.plan(constants(p), n, d, privacy, "standard", **options)


def test_check_vector(sine):
    problem = sine.problem(3, "lp_ball:4", 4.0, radius=0.1)
    made = SGD.plan(problem.constants, 6, 3, PRIVACY, "standard", steps=6, step=0.5)
    output, objective = sine.run(SGD, made, problem, [[t] for t in range(6)])
    np.testing.assert_allclose(output, [-0.009657335702, -0.015291039448, -0.011172989109], atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 6 and not made.warnings


@pytest.mark.parametrize("p", [2, 4.0, math.inf])
def test_one_record_a_step(p):
    made = planned(100, p=p)
    (query,) = made.queries
    R2 = 8 ** (0.5 - 1 / p) * 2
    assert pytest.approx(constants(p).ball.euclidean_diameter(8)) == R2
    assert (made.steps, made.batch, made.gradient_evaluations) == (10**4, 1, 10**4)
    assert query.records == SingleIndex(100) and query.sensitivity == 2
    assert query.paper_scale == pytest.approx(math.sqrt(8 * L))
    assert made.step == pytest.approx(R2 / (100 * max(10.0, math.sqrt(8 * L))))
    assert planned(100, p=p, extent="radius").step == pytest.approx(0.5 * made.step)


def test_minibatch_form():
    made = planned(1024, p=4.0, steps=1024)
    (query,) = made.queries
    scale = math.sqrt(8 * 1024 * L) / 1024
    assert (made.steps, made.batch) == (1024, 16) and query.records == WithReplacement(1024, 16)
    assert query.paper_scale == pytest.approx(scale) and query.sensitivity == 2 / 16
    R2 = 8**0.25 * 2
    assert made.step == pytest.approx(R2 / 32 / math.sqrt(max(1, 1 + 8 * scale**2)))
    assert planned(1024, steps=1000).warnings and not made.warnings


@pytest.mark.parametrize(
    ("epsilon", "upper", "lower"),
    [(1, 0.861, 0.80), (2, 2.004, 1.75), (3, 3.49, 2.88), (4, 5.46, 4.30), (8, 25.7, 18.9)],
)
def test_privacy_facts(epsilon, upper, lower):
    """Certified at 1, refuted from 4 on, open between: the lower bound is attained by the transcript."""
    privacy = PrivacySpec(epsilon, 1e-6)
    made = planned(200, privacy=privacy)
    paper = calibrate(made, privacy, "paper")
    expected = {1: ("upper", "proven", upper), 2: ("upper", "unproven", upper), 3: ("upper", "unproven", upper)}
    kind, status, real = expected.get(epsilon, ("lower", "unproven", lower))
    assert (paper.charge.kind, paper.privacy_status) == (kind, status)
    assert paper.charge.epsilon == pytest.approx(real, rel=0.01)
    shift = 2 / made.queries[0].paper_scale
    found = opposed_epsilon(shift, 200**2, 1 / 200, 1e-6)
    assert found == pytest.approx(lower, rel=0.01)
    assert found <= add_remove_epsilon(1 / shift, 1 / 200, 200**2, 1e-6) <= found * 1.01


def test_accounted_noise_meets_the_claim():
    made = planned(64)
    found = calibrate(made, PRIVACY, "accounted")
    assert found.privacy_status == "proven" and 0.99 < found.charge.epsilon <= 1


def test_refusals():
    with pytest.raises(InputError, match="^p = 1.5: must be in"):
        planned(100, p=1.5)
    with pytest.raises(InputError, match="^extent = 'size': must be diameter or radius"):
        planned(100, extent="size")
    with pytest.raises(InputError, match="^step = 0.0: must be > 0"):
        planned(100, step=0.0)
