"""Compiled Student noise: that of NumPy, for the same uniform numbers."""

import numpy as np
import pytest

from dpsco_bench.fused import compiled
from dpsco_bench.papers.su2023.fused import student_noise
from dpsco_bench.problems import slopes

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)


def test_student_noise_is_that_of_numpy():
    """The ends of the interval, where the radius is 0 or largest, and quarters of a turn."""
    rng = np.random.default_rng(6)
    for d in (1, 4, 7):
        drawn = rng.random((40, 5, 2 * d))
        drawn[0, 0], drawn[0, 1], drawn[1, 0], drawn[1, 1] = 2.0**-33, 1.0 - 2.0**-33, 0.25, 0.75
        largest = np.abs(slopes.student_noise(np.concatenate([drawn[..., :d], 0.0 * drawn[..., :d]], axis=-1)))
        difference = student_noise(drawn) - slopes.student_noise(drawn)
        assert np.all(np.abs(difference) <= 4e-15 * largest)
