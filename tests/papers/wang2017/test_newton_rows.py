"""Minimisers of many rows at once are those of one row at a time."""

import numpy as np
import pytest

from dpsco_bench.papers.wang2017.perturbed import minimise_rows, suits
from dpsco_bench.problems.minimisers import MeanTerms, minimise_glm_in_ball
from dpsco_bench.problems.registry import get_problem

CASES = [
    ("canary_huber", 2, {}, np.inf, 0.01),
    ("canary_curved", 3, {}, 1.0, 1e-3),
    ("ridge_logistic", 4, {}, np.inf, 0.0),
    ("logistic_plain", 4, {}, 0.3, 0.02),
]


@pytest.mark.parametrize(("name", "d", "options", "radius", "weight"), CASES, ids=[case[0] for case in CASES])
def test_rows_are_minimised_as_one_at_a_time(draw, name, d, options, radius, weight):
    problem = get_problem(name, d, **options)
    mean = MeanTerms(problem, draw(problem, 60))
    assert suits(mean, weight)
    rng = np.random.default_rng(4)
    terms = rng.standard_normal((400, d)) * 10.0 ** rng.uniform(-3, 1.0, (400, 1))
    points, norms, settled = minimise_rows(mean, radius, terms, weight, problem.start)
    assert settled.mean() > 0.99
    for row in np.flatnonzero(settled):
        one = minimise_glm_in_ball(
            problem, mean.data, radius, linear=terms[row], weight=weight, start=problem.start, mean=mean
        )
        np.testing.assert_allclose(points[row], one.point, rtol=1e-10, atol=1e-11)
        assert norms[row] <= 1e-11 * (1.0 + np.linalg.norm(terms[row]))
