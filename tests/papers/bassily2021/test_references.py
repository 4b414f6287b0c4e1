"""The references of the leaderboard: the sample's minimiser of linear losses, and projected descent on all records."""

import math

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec

MINIMISER, DESCENT = "bassily2021.sample_minimiser", "bassily2021.projected_gd"
CUBE = {"problem": "cube_iid", "problem_options": {"p": 1.5, "unit": "statistical"}}
HEAVY = {"problem": "heavy_linear_t", "problem_options": {"p": 2.0}}
LINF = {"problem": "onehot", "problem_options": {"p": "inf", "unit": "statistical"}}


def output(algorithm, where, epsilon=1.0, calibration="none", **options):
    cell = Cell(algorithm, n=200, epsilon=epsilon, delta=1e-6, d=8, options=options, **where)
    _, made = cell.plan(calibration, 0)
    silent = {query.name: 0.0 for query in made.queries}
    scales = silent if calibration == "none" else calibrate(made, PrivacySpec(epsilon, 1e-6), calibration).scales
    return run_block(cell, made, scales, cell.draw_data(0, 0), root_seed=1, replicates=3).output


@pytest.mark.parametrize("where", [CUBE, HEAVY, LINF], ids=lambda w: w["problem"])
def test_the_sample_minimiser_does_not_depend_on_epsilon(where):
    found = [output(MINIMISER, where, epsilon) for epsilon in (0.25, 4.0)]
    assert np.array_equal(*found)
    p = {"cube_iid": 1.5, "heavy_linear_t": 2.0, "onehot": math.inf}[where["problem"]]
    np.testing.assert_allclose(
        np.linalg.norm(found[0], ord=p, axis=1) if p == math.inf else (np.abs(found[0]) ** p).sum(axis=1),
        1.0,
        rtol=1e-9,
    )


def test_one_long_step_of_descent_without_noise_is_the_sample_minimiser():
    np.testing.assert_allclose(output(DESCENT, LINF, steps=1, step=1e9), output(MINIMISER, LINF), atol=1e-12)
