"""Compiled steps against their reference implementations on one small cell each: what each piece of a loop is for.

`tests/contract/test_fused.py` goes through all methods and problems; these are asked for when a piece changes.
"""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.fused import compiled, tiles

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)

SGD, SFW = "wang2017.noisy_sgd_bst14", "bassily2021.poly_sfw"
HUBER = {"loss": "huber", "width": 0.4, "domain": "l2_ball"}
LEADERS, EPOCHS = {"learner": "ftrl_adagrad"}, {"epochs": 2, "inner_steps": 20}
WIDE = {"loss": "logistic", "domain": "l2_ball", "radius": 1.5}
LEARNERS = ("ogd_fixed", "ogd_adagrad", "ftrl_adagrad", "optimistic_ftrl", "optimistic_omd")
CASES = {
    "single records and a ridge": (SGD, "ridge_logistic", 20, 5, {"steps": 60}, {}, 0.3),
    "the l2 ball": (SGD, "logistic_glm", 20, 5, {"steps": 60}, {"domain": "l2_ball"}, 0.3),
    "the l1 ball": (SGD, "logistic_glm", 20, 5, {"steps": 60}, {"domain": "l1_ball"}, 0.3),
    "the slope of huber": (SGD, "data_twin", 20, 5, {"steps": 60}, HUBER, 0.3),
    "batches with replacement": ("bassily2021.noisy_sgd", "logistic_glm", 20, 16, {"steps": 30}, {}, 0.3),
    "a mean that begins at the start": ("bassily2021.noisy_sgd", "anchored_ball", 20, 5, {"steps": 30}, {}, 0.3),
    "few vertices": (SFW, "gaps_l1", 60, 5, {}, {}, 0.3),
    "many vertices, little noise drawn": (SFW, "gaps_l1", 60, 150, {}, {}, 0.3),
    "many vertices, all noise drawn": (SFW, "gaps_l1", 60, 150, {}, {}, 0.005),
    "variance reduction": ("wang2017.dp_svrg", "ridge_logistic", 20, 5, EPOCHS, {}, 0.3),
    "variance reduction in a ball": ("wang2017.dp_svrg", "ridge_logistic", 20, 5, EPOCHS, {"radius": 1.0}, 0.1),
    "a bettor": ("zhang2022.parameter_free", "quad", 40, 5, {}, {}, 0.3),
    "eight numbers at once and three more, a bettor": ("zhang2022.parameter_free", "logistic_glm", 40, 11, {}, {}, 0.3),
    "eight numbers at once and three more": ("zhang2022.dp_otb", "logistic_glm", 40, 11, {}, {}, 0.3),
    "sixteen numbers and three more, leaders": ("zhang2022.dp_otb", "quad", 40, 19, LEADERS, {}, 0.3),
    "an inner solver": ("su2023.kj16", "logistic_glm", 20, 5, {"steps": 6, "projection": 3}, {}, 0.3),
    "vertices and a slope": (SFW, "data_twin", 60, 5, {}, {**WIDE, "domain": "l1_ball"}, 0.02),
    **{name: ("zhang2022.dp_otb", "data_twin", 40, 5, {"learner": name}, WIDE, 0.3) for name in LEARNERS},
}


@pytest.mark.parametrize("name", CASES)
def test_a_few_steps_are_those_of_the_listing(name, monkeypatch):
    monkeypatch.setattr(tiles, "NUMBERS", 20)  # tiles of a few steps
    id, problem, n, d, options, problem_options, scale = CASES[name]
    cell = Cell(id, problem, n, 0.9, 1e-5, d, options=options, problem_options=problem_options)
    plan = cell.plan("none", 1)[1]
    scales, data = {query.name: scale for query in plan.queries}, cell.draw_data(1, 0)
    got, expected = (run_block(cell, plan, scales, data, root_seed=1, replicates=4, fused=f) for f in (True, False))
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10 * np.abs(expected.output).max())
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
    assert np.unique(got.output, axis=0).shape[0] == 4, "replicates have noise of their own"


@pytest.mark.parametrize("replicates", [1, 2])
@pytest.mark.parametrize("record", [None, 0.25])
def test_poisson_batches_count_what_they_have(replicates, record):
    cell = Cell("wang2017.dp_svrg", "ridge_logistic", 64, 1.0, 1e-5, 3, options={"epochs": 2, "inner_steps": 9})
    plan = cell.plan("accounted", 1)[1]
    scales, data = {query.name: 0.3 for query in plan.queries}, cell.draw_data(1, 0)
    got, expected = (
        run_block(cell, plan, scales, data, root_seed=1, replicates=replicates, fused=fused, record=record)
        for fused in (True, False)
    )
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("id", "problem", "options", "problem_options", "scale"),
    [(SGD, "ridge_logistic", {"steps": 13}, {}, 0.3), (SFW, "logistic_glm", {}, {"domain": "l1_ball"}, 1e-3)],
)
def test_tiles_of_two_steps(id, problem, options, problem_options, scale, monkeypatch):
    """Batches of rows of 16 numbers are drawn ahead of two tiles; a step's slope is found in the step before."""
    cell = Cell(id, problem, 40, 0.9, 1e-5, 16, options=options, problem_options=problem_options)
    plan = cell.plan("none", 1)[1]
    scales, data = {query.name: scale for query in plan.queries}, cell.draw_data(1, 0)
    given = dict(root_seed=1, replicates=3)
    expected = run_block(cell, plan, scales, data, fused=False, **given).output
    monkeypatch.setattr(tiles, "NUMBERS", 32)
    monkeypatch.setattr(tiles, "LEAST_STEPS", 1)
    np.testing.assert_allclose(run_block(cell, plan, scales, data, **given).output, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("id", "problem", "options"),
    [
        ("zhang2022.dp_sgd", "linear_ball", {"steps": 7}),
        ("wang2017.dp_svrg_pp", "anchored_ball", {"epochs": 1, "inner_steps": 9}),
    ],
)
def test_several_signals_of_own_samples(id, problem, options):
    """In batches of one size and, by Poisson sampling, of several."""
    cell = Cell(id, problem, 64, 0.9, 1e-5, 4, options=options)
    plan = cell.plan("accounted", 1)[1]
    scales, data = {query.name: 0.3 for query in plan.queries}, cell.draw_data(1, 0)
    given = dict(root_seed=1, replicates=3, signals=(0.2, 1.0))
    got, expected = (run_block(cell, plan, scales, data, fused=fused, **given) for fused in (True, False))
    assert len(got.output) == 6
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10 * np.abs(expected.output).max())
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
