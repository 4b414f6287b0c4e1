"""Compiled runs against the reference implementations that define them: the same words, the same numbers to 1e-10."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.execution.run import SharedNoise, call_run, get_measure
from dpsco_bench.fused import compiled, tiles
from dpsco_bench.fused.registry import FUSED, run_of
from dpsco_bench.privacy.transcript import Recorder

from ..runs import both, close, needs_numba, run
from .cases import CASES

needs_numba()
IDS = FUSED.names()


def fuses(case, **keys):
    """Whether a compiled run takes the listing's place."""
    objective = case.subject.objective(replicates=2, **keys)
    return run_of(case.algorithm, objective, case.plan, case.mechanism(replicates=2)) != case.algorithm.run_function


FUSES = [case for case in CASES if case.algorithm.id in IDS and fuses(case)]
SHARED = [case for case in FUSES if not case.problem.draws_per_replicate]


def seen_by(case, fused):
    """A run with a checkpoint for every n gradients, and what it leaves behind."""
    checkpoints = get_measure(case.algorithm.measure, float(case.n))
    run = case.run(replicates=5, observer=checkpoints, fused=fused)
    return run, checkpoints


@pytest.mark.parametrize("fused_case", FUSES, ids=lambda case: case.id)
def test_a_fused_run_is_its_listing(fused_case):
    (got, seen), (expected, due) = seen_by(fused_case, True), seen_by(fused_case, False)
    close(got.output, expected.output)
    assert got.mechanism.released == expected.mechanism.released
    np.testing.assert_array_equal(got.objective.evaluations, expected.objective.evaluations)
    np.testing.assert_array_equal(seen.evaluations, due.evaluations)
    close(np.array(seen.risk), np.array(due.risk), unit=1e-3)


@pytest.mark.parametrize("fused_case", SHARED, ids=lambda case: case.id)
def test_every_signal_is_run(fused_case):

    def rows(fused):
        source = fused_case.subject.mechanism(partial(SharedNoise, 3), replicates=2)
        objective = fused_case.subject.objective(replicates=6)
        return call_run(fused_case.algorithm, objective, fused_case.plan, source, counted=False, fused=fused)[0]

    got = rows(True)
    close(got, rows(False))
    close(got, np.tile(got[:2], (3, 1)))


def test_every_fused_run_is_covered():
    assert {case.algorithm.id for case in FUSES} == {id for id, *_ in LONG} == set(IDS)


OTB = ("ogd_fixed", "ogd_adagrad", "osd", "ftrl_adagrad", "optimistic_ftrl", "optimistic_omd")
SHORTER = {"su2023.shuffled_truncated_md", "gopi2022.proximal_sampler"}
"""Methods whose schedules ask for far more records, or whose reference implementations take long."""
STEPS = 10_000
LONG = [
    ("bassily2021.noisy_sgd", "onehot", 100, {}),
    ("bassily2021.noisy_sgd", "logistic_glm", 100, {}),
    ("bassily2021.noisy_smd", "cube_iid", 400, {"steps": STEPS + 1, "norm_rule": "sec2"}),
    ("bassily2021.poly_sfw", "gaps_l1", 2 * STEPS, {}),
    ("bassily2021.poly_sfw", "logistic_glm", 2 * STEPS, {}, {"domain": "l1_ball"}),
    ("gopi2022.proximal_sampler", "cube_onehot", 40, {"sweeps": 200, "delta_in": 0.05}),
    ("su2023.kj16", "logistic_glm", 40, {"steps": STEPS}),
    ("su2023.pda_dpmd", "public_quadratic", 40, {"steps": STEPS}),
    ("su2023.phased_dp_sgd", "logistic_plain", 2 * STEPS, {}),
    ("su2023.shuffled_truncated_md", "heavy_linear_t", 4096, {"steps": 500, "range_constant": 100.0}),
    ("su2023.truncated_batched_md", "heavy_linear_t", 2 * STEPS, {"steps": STEPS}),
    ("su2023.ttz14", "pointmass_linear", 400, {"steps": STEPS}),
    ("su2023.ttz14", "pointmass_linear", 400, {"steps": STEPS, "mirror": "entropy"}, {"domain": "l1_ball"}),
    ("wang2017.dp_gd", "ridge_logistic", 100, {"steps": STEPS}),
    ("wang2017.dp_gd_pl", "ridge_logistic", 100, {"steps": STEPS}),
    ("wang2017.dp_svrg", "ridge_logistic", 500, {"epochs": 1, "inner_steps": STEPS}),
    ("wang2017.dp_svrg_pp", "soft_quadratic_pp", 500, {"epochs": 1, "inner_steps": STEPS // 2}),
    ("wang2017.noisy_md_ttz14", "pointmass_linear", 400, {"steps": STEPS}),
    ("wang2017.noisy_sgd_bst14", "ridge_logistic", 100, {}),
    ("zhang2022.bftt19_noisy_sgd", "logistic_glm", 2_000, {"steps": STEPS}),
    *(("zhang2022.dp_otb", "quad", STEPS + 1, {"learner": learner}) for learner in OTB),
    ("zhang2022.dp_otb", "linear_ball", STEPS + 1, {"learner": "optimistic_omd"}),
    ("zhang2022.dp_otb_lp", "lp_ball", STEPS + 1, {}),
    ("zhang2022.dp_otb_pure", "linear_ball", STEPS + 1, {}),
    ("zhang2022.dp_sgd", "logistic_glm", 2_000, {"steps": STEPS}),
    ("zhang2022.fkt20_phased_sgd", "logistic_glm", 2 * STEPS, {}),
    ("zhang2022.parameter_free", "anchored_ball", STEPS + 1, {}),
]
"""Runs of every compiled run that make many steps: method, problem, records, options, and those of the problem."""
AT_NIGHT = {"su2023.kj16", "su2023.pda_dpmd", "bassily2021.noisy_smd"}
"""Their reference implementations take seconds."""
RUNS = [pytest.param(given, marks=[pytest.mark.long] * (given[0] in AT_NIGHT)) for given in LONG]
CANCEL, CANCELLED = ("regret", "noise", "statistical"), 100.0
"""Sums over the rounds whose terms cancel, and the size of these terms together: they are as exact as that."""


@pytest.mark.parametrize(
    "given", RUNS, ids=["-".join([id, name, *map(str, o.values())]) for id, name, _, o, *_ in LONG]
)
def test_thousands_of_steps(given):
    id, problem, n, options, *further = given
    cell = Cell(id, problem, n, 0.9, 1e-5, 5, options=options, problem_options=dict(*further))
    calibrations = [c for allowed in cell.algorithm_entry.variants.values() for c in allowed]
    calibration = "none" if "none" in calibrations else calibrations[0]
    plan = cell.plan(calibration, 1)[1]
    lengths = (*(query.releases for query in plan.queries), *getattr(plan, "sizes", ()), options.get("sweeps", 0))
    assert max(lengths) >= STEPS or id in SHORTER
    often = max(1.0, plan.gradient_evaluations / n / 20)
    got, expected = both(cell, 0.3, calibration, replicates=2, record=often)
    close(got.output, expected.output)
    close(got.risk, expected.risk, unit=1e-3)
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
    assert got.extras.keys() == expected.extras.keys()
    for name, values in expected.extras.items():
        close(got.extras[name], values, unit=CANCELLED if any(word in name for word in CANCEL) else 1e-12)


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
    id, keys = f"zhang2022.{method}", {"n": 60, "d": 5, "lipschitz": 0.1, "smoothness": 0.1, **keys}
    cut, free = (make_cell(id, problem, {**keys, "clip_differences": cuts}) for cuts in (True, False))
    got, expected = both(cut, noise, replicates=3)
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)
    assert np.abs(expected.output - run(free, noise, replicates=3, fused=False).output).max() > 1e-6
    if method == "parameter_free":
        assert (expected.extras["clips"] > 0).all()
        np.testing.assert_array_equal(got.extras["clips"], expected.extras["clips"])


@pytest.mark.parametrize("fused_case", list({c.algorithm.id: c for c in FUSES}.values()), ids=lambda case: case.id)
def test_tiles_change_no_bit(fused_case, monkeypatch):
    whole = fused_case.run(replicates=5).output
    monkeypatch.setattr(tiles, "NUMBERS", 2 * fused_case.problem.dimension)
    monkeypatch.setattr(tiles, "LEAST_STEPS", 1)
    np.testing.assert_array_equal(fused_case.run(replicates=5).output, whole)
    # Full gradients are matrix products, which some kernels round by how many rows there are.
    np.testing.assert_allclose(fused_case.run(first=3, replicates=2).output, whole[3:], rtol=1e-12, atol=1e-12)


def test_the_listing_runs_where_it_must(monkeypatch):
    case = next(case for case in FUSES if case.algorithm.id == "bassily2021.noisy_sgd")
    listing = case.algorithm.run_function

    def chosen(algorithm=case.algorithm, mechanism=None, allowed=True, **keys):
        objective = case.subject.objective(replicates=4, **keys)
        return run_of(algorithm, objective, case.plan, mechanism or case.mechanism(), allowed)

    assert chosen() != listing
    for told in ({"allowed": False}, {"dtype": "float32"}, {"mechanism": case.mechanism(factory=Recorder)}):
        assert chosen(**told) == listing
    other = get_algorithm("wang2017.dp_gd").run_function
    assert chosen(replace(case.algorithm, run_function=other)) == other
    monkeypatch.setattr(compiled, "available", lambda: False)
    assert chosen() == listing


def test_a_measure_along_the_run_sees_every_iterate():
    along, at_the_end = (get_measure(name) for name in ("mean_squared_gradient", "excess_risk"))
    assert along.unseen(None) == 1 and at_the_end.unseen(None) > 2**60
