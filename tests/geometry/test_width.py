import math

import numpy as np
import pytest

from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.width import gaussian_width, mean_largest


def test_small_dimensions_in_closed_form():
    assert mean_largest(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-10)
    assert mean_largest(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-10)
    assert gaussian_width(Ball("l2_ball", 3.0), 2) == pytest.approx(3 * math.sqrt(math.pi / 2), rel=1e-12)
    assert gaussian_width(Ball("l2_ball", 1.0), 3) == pytest.approx(math.sqrt(8 / math.pi), rel=1e-12)


@pytest.mark.parametrize(("name", "order"), [("l1_ball", np.inf), ("l2_ball", 2)])
@pytest.mark.parametrize("d", [5, 64])
def test_against_simulation(name, order, d):
    b = np.linalg.norm(np.random.default_rng(0).standard_normal((40_000, d)), ord=order, axis=1)
    assert abs(0.5 * b.mean() - gaussian_width(Ball(name, 0.5), d)) < 2.5 * b.std() / math.sqrt(len(b))


def test_growth():
    assert gaussian_width(Ball("l1_ball", 1.0), 10**6) < math.sqrt(2 * math.log(2e6))
    assert gaussian_width(Ball("l2_ball", 1.0), 10**6) == pytest.approx(1000.0, rel=1e-6)
