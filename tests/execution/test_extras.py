"""What runs note beside their risk reaches the result table, row by row, and nothing of it reaches the run."""

import math

import numpy as np
import pytest

from dpsco_bench.algorithms.info import Info
from dpsco_bench.algorithms.registry import ALGORITHMS, algorithm, get_algorithm, list_algorithms
from dpsco_bench.errors import InputError
from dpsco_bench.execution import run as run_module
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.job_results import summarise
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.request import config_cell, config_job, read_config
from dpsco_bench.execution.results import FINAL, RESULT_FIELDS, build_block, join_blocks, read_extras
from dpsco_bench.execution.run import MEASURES, RoundObserver, get_measure
from dpsco_bench.privacy.plan import GaussianQuery, Plan
from dpsco_bench.problems.objective import Objective
from tests import runs

from .parts import table_of

STEPS = 3


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    ALGORITHMS.add("noting.gd", plan, __name__)
    monkeypatch.setattr(run_module, "OBSERVERS", {"sums": Sums})


@algorithm("noting.gd", source="this test", rounds="sums")
def plan(given):
    """Gradient steps that show their rounds, and say how far they went."""
    n = given.n
    query = GaussianQuery("gradient", sensitivity=2 / n, releases=STEPS, paper_scale=1 / n)
    return Plan(queries=(query,), gradient_evaluations=n * STEPS, schedule={"steps": STEPS, "n": n})


@plan.run
def run(objective, plan, mechanism):
    x = objective.start
    for t in range(STEPS):
        x = x - 0.1 * mechanism.release("gradient", objective.full_gradient(x), t)
        objective.observe(x)
        objective.observe_round(step=t, x=x)
    extras = {"length": np.sqrt((x * x).sum(axis=-1)), "steps": STEPS}
    extras["unknown"] = np.where(x[:, 0] > x[:, 1], 1.0, math.nan)
    return x, Info(extras, demoted=x[:, 0] > x[:, 1])


ALGORITHMS.forget("noting.gd")


class Sums(RoundObserver):
    """Gives the sum of the rounds' numbers, and the norm of the output."""

    def __init__(self):
        self.total = 0

    def __call__(self, objective, **state):
        self.total += state["step"]

    def finish(self, objective, output):
        return {"total": self.total, "output": np.sqrt((output * output).sum(axis=-1))}


CELL = Cell("noting.gd", "ridge_logistic", 32, 1.0, 1e-5, 3, "standard", method="gd", parameter="n", value=32.0)
JOB = {"claim": "noting.test", "part": "p", "kind": "rate", "calibration": "accounted", "profile": "smoke", "seed": 5}
JOB |= {"replicates": 8, "data_sets": 2, "cells": (CELL,)}


def made(**changes):
    return table_of(Job(**{**JOB, **changes}))


def test_extras_lie_beside_the_risk_and_the_observer_changes_no_number():
    table = made()
    extras = read_extras(table)
    assert set(extras) == {"length", "steps", "total", "unknown", "output"}
    np.testing.assert_array_equal(extras["length"], extras["output"])
    assert len(set(extras["length"])) == table.num_rows == 16
    assert set(extras["steps"]) == {3.0} and set(extras["total"]) == {0.0 + 1 + 2}
    unseen = made(rounds="none")
    assert table["risk"].equals(unseen["risk"])
    assert set(read_extras(unseen)) == {"length", "steps", "unknown"}
    table = made(record=1.0)
    final = np.array(table["checkpoint"]) == FINAL
    assert 0 < final.sum() < table.num_rows
    np.testing.assert_array_equal(np.isnan(read_extras(table)["length"]), ~final)


def test_demoted_replicates_lose_their_proof_and_no_others():
    table = made()
    lost = ~np.isnan(read_extras(table)["unknown"])
    assert lost.any() and not lost.all()
    assert [status == "target_law_only" for status in table["privacy_status"].to_pylist()] == lost.tolist()
    assert np.isnan(table["epsilon_real"].to_numpy()).tolist() == lost.tolist()
    assert set(made(calibration="none")["privacy_status"].to_pylist()) == {"none"}


def test_extras_of_joined_blocks_and_slices():
    blank = {name: {"string": "", "bool": False}.get(str(kind), 0) for name, kind in RESULT_FIELDS}
    rows = {**blank, "risk": np.zeros(3)}
    blocks = [build_block({**rows, "extras": {"a": np.array([1.0, math.nan, math.inf])}}), build_block(rows)]
    blocks.append(build_block({**rows, "extras": {"b": np.arange(3.0), "a": np.arange(3.0) - 1}}))
    joined = join_blocks(blocks, {})
    np.testing.assert_array_equal(read_extras(joined)["a"], [1, np.nan, np.inf, *[np.nan] * 3, -1, 0, 1])
    np.testing.assert_array_equal(read_extras(joined.slice(5, 3))["b"], [np.nan, 0, 1])
    assert read_extras(joined.slice(0, 0)) == read_extras(join_blocks([], {})) == {}


@pytest.mark.parametrize(
    ("problem", "sweeps", "said"),
    [
        ("axis_linear", 1500, ""),
        ("axis_linear", 20, "chains not certified: R-hat up to"),
        ("vertex_linear_p1", 3000, "is not known to compare with"),
    ],
)
def test_a_run_of_chains_says_whether_they_are_certified(problem, sweeps, said):
    config = {
        "algorithm": {"id": "gopi2022.gibbs", "variant": None, "options": {"sweeps": sweeps}},
        "problem": {"options": {"root": "there"}, "name": problem},
        "calibration": {"name": "accounted"},
        "backend": {"name": "numpy", "dtype": "float64", "fused": True},
        "data": {"root": "absent"},
        **{"n": 20, "d": 3, "epsilon": 1.0, "delta": 1e-6, "replicates": 32, "data_sets": 1, "seed": 1},
        **{"record": None, "plugins": [], "out": None},
    }
    with pytest.raises(InputError, match="^out is missing: must be given$"):
        read_config({key: value for key, value in config.items() if key != "out"})
    asked = read_config(config)
    job = config_job(asked, config_cell(asked))
    assert job.cells[0].problem_options == {}, "data that are made lie nowhere"
    table = execute(job, calibrate_job(job))
    assert set(table["method"].to_pylist()) == {job.cells[0].method} == {"gibbs"}
    warnings = summarise(job, table).warnings
    assert said in warnings and ("not certified" in warnings) == bool(said)


def test_the_certificate_is_that_of_the_worst_minimiser():
    info = Info()
    for norm, worst in ((1e-9, 1e-9), (1e-7, 1e-7), (1e-8, 1e-7)):
        info.certify(norm)
        assert info.certificate == worst


MEASURED = Cell("wang2017.dp_gd_nonconvex", "geman_mcclure", n=40, d=4, epsilon=1.0, delta=1e-5, options={"steps": 6})


def test_every_algorithm_declares_a_known_measure():
    assert {get_algorithm(id).measure for id in list_algorithms()} <= set(MEASURES)
    with pytest.raises(InputError, match="^measure = 'luck': must be one of excess_risk, mean_squared_gradient"):
        get_measure("luck")


def test_the_mean_squared_gradient_is_that_of_the_observed_iterates_with_the_regulariser():
    data, measure, seen = MEASURED.draw_data(0, 0), get_measure("mean_squared_gradient"), []
    objective = Objective(MEASURED.problem_entry, data, 3)
    for x in np.random.default_rng(0).standard_normal((4, 3, 4)):
        measure.observe(objective, x)
        seen.append((MEASURED.problem_entry.mean_gradient(x, data) ** 2).sum(axis=1))
    np.testing.assert_allclose(measure.value(objective, np.zeros((3, 4))), np.mean(seen, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(objective.evaluations, 0.0)
    cell = Cell("wang2017.dp_gd_nonconvex", "ridge_logistic", n=20, d=4, epsilon=1.0, delta=1e-5)
    data, x = cell.draw_data(0, 0), np.ones((1, 4))
    expected = cell.problem_entry.mean_gradient(x, data) + 0.1 * x
    found = get_measure("mean_squared_gradient").value(Objective(cell.problem_entry, data, 1), x)
    np.testing.assert_allclose(found, (expected**2).sum())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_record_it(dtype):
    once, curve = (runs.run(MEASURED, 0.3, "paper", replicates=3, dtype=dtype, record=every) for every in (None, 1.0))
    assert once.risk.shape == (3, 1) and once.risk.dtype == np.float64
    np.testing.assert_array_equal(curve.risk[:, -1], once.risk[:, 0])
    assert curve.risk.shape[1] == 7
    np.testing.assert_allclose(curve.risk[:, 0], once.start_risk, rtol=1e-6)
    np.testing.assert_array_equal(once.evaluations[:, 0], 6 * 40)


def test_closed_forms_follow_the_measure():
    problem = Cell("wang2017.dp_gd", "isotropic_quadratic", n=9, d=4, epsilon=1.0, delta=1e-5).problem_entry
    known = ("gradient_descent", {"step": 1.0, "steps": 5}, {"gradient": 0.1})
    risk, gradient = (get_measure(name).closed_form(problem, *known) for name in MEASURES)
    assert risk == pytest.approx(0.5 * 4 * 0.01) and gradient == pytest.approx((1 + 4 * 4 * 0.01) / 5)
