import math

import numpy as np
import pytest

from dpsco_bench.geometry.mirror import L1Geometry
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem


def test_the_divergence_of_the_minimiser():
    """``(s/2) (signal 16^(1/q - 1))^2`` at d = 64: 0.0143 for .02, and s = 19.9; far below the ball's 9.95."""
    problem, q = get_problem("resolved_quadratic_l1", d=64), 2 * math.log(64) / (2 * math.log(64) - 1)
    length = 0.02 * 16 ** (1 / q - 1)
    found = problem.beside(np.zeros((3, 64)), Data(4))["minimiser_divergence"]
    assert length == pytest.approx(0.0143, abs=5e-5) and found.shape == (3,)
    np.testing.assert_allclose(found, 0.5 * math.e * (2 * math.log(64) - 1) * length**2, rtol=1e-12)
    assert L1Geometry(1.0).bregman_radius(64) == pytest.approx(9.95, abs=5e-3)


def test_the_family_follows_the_printed_number_of_steps():
    problem = get_problem("resolved_quadratic_l1", d=64).at(65536, 1.0, 1e-5)
    geometry, l = L1Geometry(1.0), math.log(1e5)
    gain = 65536 / math.sqrt(l * geometry.squared_width(64))
    T = round(math.sqrt(4 * math.sqrt(geometry.bregman_radius(64)) * gain))
    assert set(problem.spectrum) == {120 / T} and np.abs(problem.optimum).sum() == pytest.approx(0.02)
