"""Theorems 4.1 and 4.3 inside their range of eps: the law of the output, and the proof's two parts."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.accountants import fixed_size, gaussian
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.registry import get_problem

PRIVACY = PrivacySpec(1.0, 1e-5)
LINEAR = get_problem("signed_linear", ridge=0.05)
SVRG, SVRG_PP = (get_algorithm(f"wang2017.{name}") for name in ("dp_svrg", "dp_svrg_pp"))


def plan(entry, n=5, problem=LINEAR, **options):
    constants = entry.visible_constants(problem.constants, problem)
    return entry.plan(constants, n, 1, PRIVACY, "literal", **options)


@pytest.mark.parametrize(
    ("entry", "options"), [(SVRG, {"epochs": 3, "inner_steps": 4}), (SVRG_PP, {"epochs": 2, "inner_steps": 3})]
)
def test_the_law_of_the_output_is_that_of_the_literal_run(entry, options, execute):
    """Mean and variance of 40,000 literal runs on linear losses, a step of 1/2 and a ridge of 1/20."""
    literal, law = (plan(entry, step=0.5, charge=charge, **options) for charge in ("query", "output"))
    data = LINEAR.draw(5, None)
    runs = execute(entry, literal, LINEAR, data, scale=0.7, replicates=40_000)
    spread = 0.7 * law.queries[0].paper_scale / literal.queries[0].paper_scale * law.reach
    assert abs(runs.mean() + law.reach * 0.2) < 5 * spread / 200  # three signs of five are +
    assert abs(runs.std() / spread - 1) < 5 / math.sqrt(2 * 40_000)
    drawn = execute(entry, law, LINEAR, data, scale=0.0)
    assert drawn[0, 0] == pytest.approx(float(execute(entry, literal, LINEAR, data)[0, 0]), rel=1e-12)


def test_the_output_refutes_a_constant_of_one_inside_the_range():
    """A flat average of many steps has the level ``2 eps sqrt(3/4)/sqrt(l)``: 2.039 for 1, and 1 from c = 3.62 on."""
    flat = get_problem("signed_linear", ridge=1e-9)
    for c, expected in ((1.0, 2.039), (3.62, 1.001)):
        made = plan(SVRG, n=100, problem=flat, epochs=10, inner_steps=6000, charge="output", noise_constant=c)
        found = calibrate(made, PRIVACY, "paper", attained=True)
        assert found.charge.kind == "exact" and found.charge.epsilon == pytest.approx(expected, abs=2e-3)


def test_both_parts_are_charged_from_above():
    options = {"epochs": 10, "inner_steps": 800, "noise_constant": 48.0}
    whole, parts = (plan(SVRG, n=64, charge=charge, **options) for charge in ("query", "parts"))
    d, v = parts.queries
    assert math.hypot(d.paper_scale, v.paper_scale) == pytest.approx(whole.queries[0].paper_scale)
    found = calibrate(parts, PRIVACY, "paper").charge
    alone = fixed_size.batch_epsilon(4 / d.paper_scale, 64, 1, 8000, 1e-5)
    rest = gaussian.gdp_epsilon(2 / 64 * math.sqrt(8000) / v.paper_scale, 1e-5)
    assert found.kind == "upper" and max(alone, rest) < found.epsilon < alone + rest
    assert fixed_size.batch_epsilon(0.3, 1, 1, 4, 1e-5, gdp_mu=0.8) == pytest.approx(gaussian.gdp_epsilon(1.0, 1e-5))


def test_parts_move_iterates_as_sums_do(vectors):
    problem = vectors.FourRecords()
    options = dict(epochs=2, inner_steps=3, step=0.5)
    made = [SVRG.plan(problem.constants, 4, 2, PRIVACY, "literal", charge=c, **options) for c in ("query", "parts")]
    runs = [vectors.run(SVRG, one, problem, (0, 2, 3, 1, 1, 0)) for one in made]
    np.testing.assert_allclose(*runs, rtol=0, atol=1e-14)
