"""Mean gradients of squared losses by the moments of the records: those of the definition, and where they pay."""

import numpy as np
import pytest

from dpsco_bench.fused.gradients import moments_gradient
from dpsco_bench.problems.glm import PublicQuadratic, RidgeLogistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key


def objective(problem, n=300, rows=6):
    data = problem.draw(n, lambda name: Stream(stream_key(0, "moments", name)))
    return Objective(problem, data, rows)


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_it_is_the_gradient_of_the_records(size):
    ours = objective(PublicQuadratic(20))
    x = size * np.random.default_rng(0).standard_normal((6, 20))
    np.testing.assert_allclose(moments_gradient(ours, 100)(x), ours.mean_gradient(x), rtol=1e-12, atol=1e-15)


def test_where_it_is_taken():
    assert moments_gradient(objective(PublicQuadratic(20)), 4) is not None
    assert moments_gradient(objective(PublicQuadratic(20)), 3) is None
    assert moments_gradient(objective(PublicQuadratic(20), n=20), 100) is None
    assert moments_gradient(objective(RidgeLogistic(20)), 100) is None
