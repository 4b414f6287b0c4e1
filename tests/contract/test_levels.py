"""Compiled runs cut what is longer than its level as their definition says; a measure along the run sees each step."""

import numpy as np
import pytest

from dpsco_bench.execution.request import make_cell
from dpsco_bench.execution.run import get_measure, run_block
from dpsco_bench.fused import compiled


@pytest.mark.skipif(not compiled.available(), reason="Numba is missing or switched off: reference implementations run")
@pytest.mark.parametrize(
    ("method", "problem", "noise", "keys"),
    [
        ("dp_otb", "quad", 0.3, {"spread": 0.3, "sensitivity": "eq6", "strong_convexity": 0.1}),
        ("dp_otb_lp", "lp_ball", 0.3, {}),
        ("parameter_free", "anchored_ball", 3e3, {"spread": 0.3}),
        ("parameter_free", "anchored_ball", 3e4, {"spread": 0.3, "initial_wealth": 100.0}),  # leaves its ball, too
    ],
)
def test_what_is_longer_than_its_level_is_cut_as_in_the_listing(method, problem, noise, keys):
    """Constants are ten times too small, or noise is large, so that levels bind; without one the output is another."""
    given = {"n": 60, "d": 5, "lipschitz": 0.1, "smoothness": 0.1, **keys}
    cut, free = (
        make_cell(f"zhang2022.{method}", problem, {**given, "clip_differences": cuts}) for cuts in (True, False)
    )

    def found(cell, fused):
        plan, data = cell.plan("none", 1)[1], cut.draw_data(1, 0)
        return run_block(cell, plan, {"node": noise}, data, root_seed=1, replicates=3, fused=fused)

    got, expected = (found(cut, fused) for fused in (True, False))
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)
    assert np.abs(expected.output - found(free, False).output).max() > 1e-6
    if method == "parameter_free":
        assert (expected.extras["clips"] > 0).all()
        np.testing.assert_array_equal(got.extras["clips"], expected.extras["clips"])


def test_a_measure_along_the_run_sees_every_iterate():
    along, at_the_end = (get_measure(name) for name in ("mean_squared_gradient", "excess_risk"))
    assert along.unseen(None) == 1 and at_the_end.unseen(None) > 2**60
