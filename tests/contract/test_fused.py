"""Fused runs against the listings that define them: the same words, the same numbers to 1e-10."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import SharedNoise, call_run, get_measure, run_block
from dpsco_bench.fused import compiled, tiles
from dpsco_bench.fused.registry import FUSED, run_of
from dpsco_bench.privacy.transcript import Recorder

from .cases import CASES

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)

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


def close(got, expected, unit=1e-300):
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * max(np.abs(expected).max(initial=0.0), unit))


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
"""Methods whose schedules ask for far more records, or whose listings take long."""
LONG = [
    ("bassily2021.noisy_sgd", "onehot", 100, {}),
    ("bassily2021.noisy_sgd", "logistic_glm", 100, {}),
    ("bassily2021.noisy_smd", "cube_iid", 400, {"steps": 10_001, "norm_rule": "sec2"}),
    ("bassily2021.poly_sfw", "gaps_l1", 20_002, {}),
    ("bassily2021.poly_sfw", "logistic_glm", 20_002, {}, {"domain": "l1_ball"}),
    ("gopi2022.proximal_sampler", "cube_onehot", 40, {"sweeps": 200, "delta_in": 0.05}),
    ("su2023.kj16", "logistic_glm", 40, {"steps": 10_000}),
    ("su2023.pda_dpmd", "public_quadratic", 40, {"steps": 10_000}),
    ("su2023.phased_dp_sgd", "logistic_plain", 20_002, {}),
    ("su2023.shuffled_truncated_md", "heavy_linear_t", 4096, {"steps": 500, "range_constant": 100.0}),
    ("su2023.truncated_batched_md", "heavy_linear_t", 20_000, {"steps": 10_000}),
    ("su2023.ttz14", "pointmass_linear", 400, {"steps": 10_000}),
    ("su2023.ttz14", "pointmass_linear", 400, {"steps": 10_000, "mirror": "entropy"}, {"domain": "l1_ball"}),
    ("wang2017.dp_gd", "ridge_logistic", 100, {"steps": 10_000}),
    ("wang2017.dp_gd_pl", "ridge_logistic", 100, {"steps": 10_000}),
    ("wang2017.dp_svrg", "ridge_logistic", 500, {"epochs": 1, "inner_steps": 10_000}),
    ("wang2017.dp_svrg_pp", "soft_quadratic_pp", 500, {"epochs": 1, "inner_steps": 5_000}),
    ("wang2017.noisy_md_ttz14", "pointmass_linear", 400, {"steps": 10_000}),
    ("wang2017.noisy_sgd_bst14", "ridge_logistic", 100, {}),
    ("zhang2022.bftt19_noisy_sgd", "logistic_glm", 2_000, {"steps": 10_000}),
    *(("zhang2022.dp_otb", "quad", 10_002, {"learner": learner}) for learner in OTB),
    ("zhang2022.dp_otb", "linear_ball", 10_002, {"learner": "optimistic_omd"}),
    ("zhang2022.dp_otb_lp", "lp_ball", 10_002, {}),
    ("zhang2022.dp_otb_pure", "linear_ball", 10_002, {}),
    ("zhang2022.dp_sgd", "logistic_glm", 2_000, {"steps": 10_000}),
    ("zhang2022.fkt20_phased_sgd", "logistic_glm", 20_002, {}),
    ("zhang2022.parameter_free", "anchored_ball", 10_002, {}),
]
"""Runs of every fused run that make 10,000 steps: method, problem, records, options, and those of the problem."""
AT_NIGHT = {"su2023.kj16", "su2023.pda_dpmd", "bassily2021.noisy_smd"}
"""Their listings take seconds."""
RUNS = [pytest.param(run, marks=[pytest.mark.long] * (run[0] in AT_NIGHT)) for run in LONG]


@pytest.mark.parametrize("run", RUNS, ids=["-".join([run[0], run[1], *map(str, run[3].values())]) for run in LONG])
def test_ten_thousand_steps(run):
    id, problem, n, options, *further = run
    cell = Cell(id, problem, n, 0.9, 1e-5, 5, options=options, problem_options=dict(*further))
    calibrations = [c for allowed in cell.algorithm_entry.variants.values() for c in allowed]
    plan = cell.plan("none" if "none" in calibrations else calibrations[0], 1)[1]
    lengths = (*(query.releases for query in plan.queries), *getattr(plan, "sizes", ()), options.get("sweeps", 0))
    assert max(lengths) >= 10_000 or id in SHORTER
    scales, data = {query.name: 0.3 for query in plan.queries}, cell.draw_data(1, 0)
    given = dict(root_seed=1, replicates=2, record=max(1.0, plan.gradient_evaluations / n / 20))
    got, expected = (run_block(cell, plan, scales, data, fused=fused, **given) for fused in (True, False))
    close(got.output, expected.output)
    close(got.risk, expected.risk, unit=1e-3)
    np.testing.assert_array_equal(got.evaluations, expected.evaluations)
    assert got.extras.keys() == expected.extras.keys()
    for name, values in expected.extras.items():
        close(got.extras[name], values, unit=CANCELLED if any(word in name for word in CANCEL) else 1e-12)


CANCEL, CANCELLED = ("regret", "noise", "statistical"), 100.0
"""Sums over the rounds whose terms cancel, and the size of these terms together: they are as exact as that."""


@pytest.mark.parametrize("fused_case", list({c.algorithm.id: c for c in FUSES}.values()), ids=lambda case: case.id)
def test_tiles_change_no_bit(fused_case, monkeypatch):
    whole = fused_case.run(replicates=5).output
    monkeypatch.setattr(tiles, "NUMBERS", 2 * fused_case.problem.dimension)
    monkeypatch.setattr(tiles, "LEAST_STEPS", 1)
    np.testing.assert_array_equal(fused_case.run(replicates=5).output, whole)
    # Full gradients are matrix products, which some kernels round by how many rows there are.
    np.testing.assert_allclose(fused_case.run(first=2, replicates=3).output, whole[2:], rtol=1e-12, atol=1e-12)


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
