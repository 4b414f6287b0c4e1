"""Compiled steps against their reference implementations on one small cell each: what each piece of a loop is for.

`tests/contract/test_fused.py` goes through all methods and problems; these are asked for when a piece changes.
"""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.fused import tiles

from ..runs import both, close, needs_numba, run

needs_numba()

SGD, SFW, SVRG = "wang2017.noisy_sgd_bst14", "bassily2021.poly_sfw", "wang2017.dp_svrg"
OTB, BATCHES = "zhang2022.dp_otb", "bassily2021.noisy_sgd"
HUBER = {"loss": "huber", "width": 0.4, "domain": "l2_ball"}
EPOCHS, FEW, SIXTY = {"epochs": 2, "inner_steps": 20}, {"epochs": 1, "inner_steps": 9}, {"steps": 60}
WIDE = {"loss": "logistic", "domain": "l2_ball", "radius": 1.5}
LEARNERS = ("ogd_fixed", "ogd_adagrad", "ftrl_adagrad", "optimistic_ftrl", "optimistic_omd")
BALL, L1, CHARGED = {"domain": "l2_ball"}, {"domain": "l1_ball"}, {"calibration": "accounted"}
SIGNALS = {**CHARGED, "replicates": 3, "signals": (0.2, 1.0)}
STRONG = {"constants": {"strong_convexity": 0.5}}
TWO = {"tile": (32, 1), "replicates": 3}
"""Tiles of two steps: batches of rows of 16 numbers are drawn ahead, a step's slope is found in the step before."""


def case(id, problem, n, d, options, problem_options=None, scale=0.3, tile=(20, tiles.LEAST_STEPS), **given):
    """A cell, its noise, the size of tiles, and what else is given to its runs."""
    cell = Cell(id, problem, n, 0.9, 1e-5, d, options=options, problem_options=problem_options or {})
    return cell, scale, tile, {"replicates": 4, **given}


CASES = {
    "single records and a ridge": case(SGD, "ridge_logistic", 20, 5, SIXTY),
    "the l2 ball": case(SGD, "logistic_glm", 20, 5, SIXTY, BALL),
    "the l1 ball": case(SGD, "logistic_glm", 20, 5, SIXTY, L1),
    "the slope of huber": case(SGD, "data_twin", 20, 5, SIXTY, HUBER),
    "batches with replacement": case(BATCHES, "logistic_glm", 20, 16, {"steps": 30}),
    "a mean that begins at the start": case(BATCHES, "anchored_ball", 20, 5, {"steps": 30}),
    "few vertices": case(SFW, "gaps_l1", 60, 5, {}),
    "many vertices, little noise drawn": case(SFW, "gaps_l1", 60, 150, {}),
    "many vertices, all noise drawn": case(SFW, "gaps_l1", 60, 150, {}, scale=0.005),
    "variance reduction": case(SVRG, "ridge_logistic", 20, 5, EPOCHS),
    "variance reduction in a ball": case(SVRG, "ridge_logistic", 20, 5, EPOCHS, {"radius": 1.0}, 0.1),
    "a bettor": case("zhang2022.parameter_free", "quad", 40, 5, {}),
    "eight numbers at once and three more, a bettor": case("zhang2022.parameter_free", "logistic_glm", 40, 11, {}),
    "eight numbers at once and three more": case(OTB, "logistic_glm", 40, 11, {}),
    "sixteen numbers and three more, leaders": case(OTB, "quad", 40, 19, {"learner": "ftrl_adagrad"}),
    "an inner solver": case("su2023.kj16", "logistic_glm", 20, 5, {"steps": 6, "projection": 3}),
    "vertices and a slope": case(SFW, "data_twin", 60, 5, {}, WIDE | L1, 0.02),
    **{name: case(OTB, "data_twin", 40, 5, {"learner": name}, WIDE) for name in LEARNERS},
    "steps by strong convexity": case(OTB, "quad", 40, 5, {"learner": "osd", "k": 2}, STRONG),
    "tiles of two steps": case(SGD, "ridge_logistic", 40, 16, {"steps": 13}, **TWO),
    "tiles of two vertices": case(SFW, "logistic_glm", 40, 16, {}, L1, 1e-3, **TWO),
    "signals of own samples": case("zhang2022.dp_sgd", "linear_ball", 64, 4, {"steps": 7}, **SIGNALS),
    "signals in batches of several sizes": case("wang2017.dp_svrg_pp", "anchored_ball", 64, 4, FEW, **SIGNALS),
    "poisson batches of 1, None": case(SVRG, "ridge_logistic", 64, 3, EPOCHS, replicates=1, record=None, **CHARGED),
    "poisson batches of 1, 0.25": case(SVRG, "ridge_logistic", 64, 3, EPOCHS, replicates=1, record=0.25, **CHARGED),
    "poisson batches of 2, None": case(SVRG, "ridge_logistic", 64, 3, EPOCHS, replicates=2, record=None, **CHARGED),
    "poisson batches of 2, 0.25": case(SVRG, "ridge_logistic", 64, 3, EPOCHS, replicates=2, record=0.25, **CHARGED),
}


@pytest.mark.parametrize(("cell", "scale", "tile", "given"), CASES.values(), ids=CASES)
def test_a_few_steps_are_those_of_the_listing(cell, scale, tile, given, monkeypatch):
    monkeypatch.setattr(tiles, "NUMBERS", tile[0])
    monkeypatch.setattr(tiles, "LEAST_STEPS", tile[1])
    got, expected = both(cell, scale, **given)
    close(got.output, expected.output)
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
    rows = given["replicates"] * len(given.get("signals", (1.0,)))
    assert scale < 2e-3 or len(np.unique(got.output, axis=0)) == rows, "replicates have noise of their own"


@pytest.mark.parametrize("d", [5, 8, 11, 54])
def test_tiles_change_no_bit(d, monkeypatch):
    """Whatever is left of a row after lanes of eight. `tests/contract` asks it of all methods in few dimensions."""
    cell, scale, _, given = case(SGD, "logistic_glm", 40, d, {"steps": 13}, BALL, replicates=26)
    whole = run(cell, scale, fused=True, **given).output
    monkeypatch.setattr(tiles, "NUMBERS", 2 * d)
    monkeypatch.setattr(tiles, "LEAST_STEPS", 1)
    np.testing.assert_array_equal(run(cell, scale, fused=True, **given).output, whole)
