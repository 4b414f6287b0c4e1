"""The references of the leaderboard: the sample's minimiser of linear losses, and projected descent on all records."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

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


def test_it_is_the_linear_minimiser_without_noise():
    assert np.array_equal(output(MINIMISER, CUBE), output("bassily2021.gg_lmo", CUBE))


def test_one_long_step_of_descent_without_noise_is_the_sample_minimiser():
    np.testing.assert_allclose(output(DESCENT, LINF, steps=1, step=1e9), output(MINIMISER, LINF), atol=1e-12)


def test_noise_of_descent_is_that_of_a_composed_gaussian():
    c, privacy = Constants(1.0, 1.0, diameter=2.0, domain="linf_ball", norm=math.inf), PrivacySpec(1.0, 1e-6)
    entry = get_algorithm(DESCENT)
    one, four = (calibrate(entry.plan(c, 100, 8, privacy, "standard", steps=T), privacy, "accounted") for T in (1, 4))
    assert four.scales["gradient"] == pytest.approx(2 * one.scales["gradient"], rel=1e-9)
    assert (one.charge.kind, one.privacy_status) == ("exact", "proven")
    assert entry.plan(c, 100, 8, privacy, "standard", steps=4).gradient_evaluations == 400
    assert np.isfinite(output(DESCENT, LINF, calibration="accounted", steps=4)).all()


def test_refusals():
    entry, privacy = get_algorithm(DESCENT), PrivacySpec(1.0, 1e-6)
    ball = Constants(1.0, 1.0, diameter=2.0, domain="lp_ball:1.5", norm=1.5)
    with pytest.raises(InputError, match="^p = 1.5: must be in \\[2, inf\\]"):
        entry.plan(ball, 100, 8, privacy, "standard")
    with pytest.raises(InputError, match="^steps = 0"):
        entry.plan(Constants(1.0, 1.0, diameter=2.0, domain="l2_ball"), 100, 8, privacy, "standard", steps=0)
