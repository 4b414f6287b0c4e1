"""Short runs of a cell with noise of a given scale, compiled ones beside their reference implementations; samples."""

import numpy as np
import pytest

from dpsco_bench.execution.run import run_block
from dpsco_bench.fused import compiled
from dpsco_bench.problems.base import Draws
from dpsco_bench.rng.streams import Stream, stream_key


def needs_numba():
    """Skip a module where nothing is compiled."""
    if not compiled.available():
        pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)


def drawn(problem, n, replicates=4, first=0):
    """Records of each replicate's own, from fixed streams."""
    return problem.sample(n, Draws(lambda name: Stream(stream_key(7, "tests", name)), first, replicates))


def run(cell, scale, calibration="none", **given):
    """A run of the cell's plan with one scale for all queries, or one for each name."""
    plan = cell.plan(calibration, 1)[1]
    scales = scale if isinstance(scale, dict) else {query.name: scale for query in plan.queries}
    return run_block(cell, plan, scales, cell.draw_data(1, 0), root_seed=1, **given)


def both(cell, scale, calibration="none", **given):
    """The compiled run and its reference."""
    return [run(cell, scale, calibration, fused=fused, **given) for fused in (True, False)]


def close(got, expected, unit=1e-300, rtol=1e-10):
    """Arrays agree to ``rtol`` of the largest entry, or of a unit where that is larger."""
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * max(np.abs(expected).max(initial=0.0), unit))
