"""Runs and jobs: tables, files, the library, and what cells with one objective share."""

import math
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import dpsco_bench
from dpsco_bench.algorithms.info import Info
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.errors import NumericalFailure
from dpsco_bench.execution import run
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.job_results import summarise
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.request import GROUPS, place_of
from dpsco_bench.execution.results import DEMOTED, FINAL, RESULT_SCHEMA, ROUNDED, read_table, write_table
from dpsco_bench.execution.run import BLOCK_SCORES, Reuse, replicate_blocks, run_block
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.paths import conf_dir
from dpsco_bench.problems import minimisers
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import problem_class
from tests import runs

from .parts import calibrations, reread, table_of

CELL = Cell("wang2017.dp_gd_pl", "ridge_logistic", n=32, d=3, epsilon=1.0, delta=1e-5, variant="standard")
CELL = replace(CELL, options={"steps": 4}, method="dp_gd", parameter="n", value=32.0)
IDS = {"claim": "wang2017.test", "part": "p", "kind": "rate", "calibration": "accounted", "profile": "smoke"}
CELLS = (CELL, replace(CELL, cell=1, n=64, value=64.0, delta=0.02))
JOB = Job(**IDS, seed=5, replicates=6, data_sets=2, cells=CELLS)


def ran(**changes):
    return table_of(replace(JOB, **changes))


@pytest.fixture(scope="module")
def table():
    return ran()


def test_a_row_per_cell_data_set_and_replicate_says_what_was_run(table):
    assert table.schema.equals(RESULT_SCHEMA, check_metadata=False) and table.num_rows == 2 * 2 * 6
    keys = set(zip(*(table[name].to_pylist() for name in ("cell", "data_set", "replicate", "checkpoint")), strict=True))
    assert keys == {(c, s, r, FINAL) for c in range(2) for s in range(2) for r in range(6)}
    first = table.slice(0, 1).to_pylist()[0]
    named = [first[name] for name in ("algorithm", "variant", "problem")]
    assert named == ["wang2017.dp_gd_pl", "standard", "ridge_logistic"]
    assert (first["n"], first["d"], first["value"], first["method"]) == (32, 3, 32.0, "dp_gd")
    assert first["gradient_evaluations"] == first["planned_evaluations"] == 32 * 4
    assert first["epsilon_sequence"] == pytest.approx(1.0) and first["privacy_status"] == "proven"
    assert first["epsilon_real"] == first["epsilon_output"] < 1 and first["epsilon_of"] == "output"
    assert first["risk"] >= 0 and first["start_risk"] > 0
    large = {row["n"]: (row["delta_large"], row["warnings"]) for row in table.to_pylist()}
    assert large == {32: (False, ""), 64: (True, "delta >= 1/n")}


@pytest.mark.parametrize("delta", [1e-5, 0.04])
def test_rows_of_an_exact_minimiser_carry_its_certificate(delta):
    cell = replace(CELL, algorithm="wang2017.objective_perturbation_kst12", options={}, delta=delta)
    rows = ran(cells=(cell,)).to_pylist()
    expected = "minimiser certified: gradient below 1e-12 of the linear term and G"
    assert {row["warnings"] for row in rows} == {"delta >= 1/n; " * (delta > 1 / 32) + expected}
    assert {row["privacy_status"] for row in rows} == {"target_law_only"}


def test_metadata_hold_the_job_without_places_and_the_bytes_are_reproducible(table, tmp_path):
    write_table(table, tmp_path / "deep" / "t.parquet")
    read, metadata = read_table(tmp_path / "deep" / "t.parquet")
    assert read.equals(table)
    names = {"claim", "part", "kind", "profile", "data_root", "plugins", "timing", "seconds", "skipped", "present"}
    names |= {"run_key", "group", "decisions", "pilot"}  # its key has the first; others say how far it is run
    plain = loads(dumps_canonical(JOB))
    assert metadata["job"] == {key: value for key, value in plain.items() if key not in names}
    assert dumps_canonical(metadata["calibrations"]) == dumps_canonical(calibrations(JOB)) and metadata["schema"] == "3"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["t.parquet"]
    write_table(table, tmp_path / "a")
    write_table(ran(), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_infinite_and_unknown_values_survive_the_files(tmp_path):
    """JSON says ``"inf"`` and null; nothing else may read them as text or fail on them."""
    table = ran(calibration="none")
    assert table["epsilon_real"].to_pylist() == [math.inf] * table.num_rows
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")[1]["calibrations"][0]["epsilon_real"] == math.inf
    assert b"Infinity" not in pa.parquet.read_schema(tmp_path / "t.parquet").metadata[b"dpsco.calibrations"]
    first, second = calibrate_job(JOB)
    unknown = reread((replace(first, epsilon_real=math.nan), second))
    assert math.isnan(execute(JOB, unknown)["epsilon_real"][0].as_py())


def test_closed_form_jobs_agree_with_runs():
    cells = (replace(CELL, problem="diag_quadratic", d=4),)
    (row,) = ran(cells=cells, evaluation="closed_form").to_pylist()
    assert row["gradient_evaluations"] == 32 * 4
    risk = ran(cells=cells, replicates=4000, data_sets=1)["risk"].to_numpy()
    assert abs(risk.mean() - row["risk"]) < 5 * risk.std() / math.sqrt(risk.size)


def test_a_minimiser_that_rounding_stopped_says_so_in_its_rows_and_is_not_proven(monkeypatch):
    solved = replace(CELL, algorithm="su2023.app_objp", options={}, problem="logistic_glm")
    given = {"cells": (solved,), "replicates": 2, "data_sets": 1}
    assert all(row["privacy_status"] == "proven" and ROUNDED not in row["warnings"] for row in ran(**given).to_pylist())
    monkeypatch.setattr(minimisers, "ROUNDING", 1e-2)
    rows = ran(**given).to_pylist()
    assert len(rows) == 2 and all(row["privacy_status"] == DEMOTED for row in rows)
    assert all(row["warnings"].split("; ")[-1] == ROUNDED for row in rows)


def test_complexity_parts_are_planned_but_not_charged():
    counted = calibrate_job(replace(JOB, charged=False, evaluation="plan_only"))[0]
    assert counted.gradient_evaluations == 32 * 4 and math.isnan(counted.epsilon_real)
    assert counted.privacy_status == "unproven" and counted.accountant == "not charged"


def test_checkpoints_every_fraction_of_n_change_no_run():
    trace = runs.run(CELL, 0.0, replicates=2, record=2.0)
    np.testing.assert_array_equal(trace.evaluations, [[32, 64, 128, 128]] * 2)
    assert np.all(np.diff(trace.risk[0]) <= 0) and trace.output.shape == (2, 3)
    np.testing.assert_array_equal(runs.run(CELL, 0.0, replicates=2).risk[:, 0], trace.risk[:, -1])
    plain, watched = (runs.run(CELL, 0.1, "paper", replicates=3, record=record) for record in (None, 0.5))
    np.testing.assert_array_equal(plain.output, watched.output)


@pytest.mark.parametrize("where", ["output and risk", "output alone", "risk alone"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_replicate_that_is_not_finite_fails_the_cell(monkeypatch, where, value):
    """Whatever the others are: a mean over those that are left would be one of other runs."""
    output, risk = np.zeros((4, 3)), np.ones(4)
    output[2, 1] = value if "output" in where else 0.0
    risk[2] = value if "risk" in where else 1.0
    monkeypatch.setattr(run, "call_run", lambda *_, **__: (output, Info()))
    monkeypatch.setattr(Objective, "excess_risk", lambda *_: risk)
    message = "^non-finite iterates: wang2017.dp_gd_pl on ridge_logistic, n = 32, d = 3, epsilon = 1, delta"
    with np.errstate(all="ignore"), pytest.raises(NumericalFailure, match=message):
        runs.run(CELL, 0.0, replicates=4)


RUN = partial(dpsco_bench.run, "wang2017.dp_gd_pl", "ridge_logistic", 64)


def test_result_has_arrays_per_replicate():
    result = RUN(3, replicates=5, steps=4)
    assert result.risk.shape == (5,) and result.output.shape == (5, 3) and result.risk.min() > -1e-12
    assert np.array_equal(result.gradient_evaluations, np.full(5, 256.0))
    assert result.calibration.epsilon_sequence == pytest.approx(1) and result.calibration.calibration == "accounted"
    assert result.calibration.scales["gradient"] > 0
    base, other_seed, other_data = (RUN(replicates=1, **change) for change in ({}, {"seed": 1}, {"data_set": 1}))
    assert base.risk not in (other_seed.risk, other_data.risk) and np.isnan(base.stderr)
    by_id = dpsco_bench.run("wang2017.dp_gd_pl", "diag_quadratic", 64, replicates=2, kappa=8)
    given = (get_algorithm("wang2017/dp_gd_pl"), problem_class("diag_quadratic"), 64)
    by_object = dpsco_bench.run(*given, replicates=2, kappa=8.0)
    assert np.array_equal(by_id.output, by_object.output)


def test_every_key_has_one_place():
    svrg, covertype = get_algorithm("wang2017.dp_svrg"), problem_class("covertype")
    assert place_of("theta", svrg, covertype) == "algorithm.options"
    assert place_of("loss", svrg, covertype) == "problem.options"
    assert place_of("regularisation", svrg, covertype) == "problem.options"  # the option builds the objective
    assert place_of("smoothness", svrg, covertype) == "problem.options.constants"
    assert place_of("variant", svrg, covertype) == "algorithm"
    assert place_of("nothing", svrg, covertype) == ""


def test_defaults_of_a_backend_are_those_of_its_file():
    for path in (conf_dir() / "backend").glob("*.yaml"):
        assert read_yaml(path) == GROUPS["backend"] | {"name": path.stem}


SHARED = Cell(algorithm="wang2017.dp_gd_pl", problem="ridge_logistic", n=64, d=3, epsilon=1.0, delta=1e-6)
SAME = [replace(SHARED, epsilon=0.5), replace(SHARED, algorithm="wang2017.dp_svrg"), replace(SHARED, delta=1e-4)]
OTHER = [replace(SHARED, n=65), replace(SHARED, d=4)]
OTHER += [replace(SHARED, problem_options={"constants": {"regularisation": 0.5}})]


def test_objectives_are_told_apart_by_all_that_they_depend_on():
    for same in SAME:
        assert same.objective_key(0) == SHARED.objective_key(0)
    assert len({cell.objective_key(0) for cell in (SHARED, *OTHER)} | {SHARED.objective_key(1)}) == 5
    family = type(SHARED.problem_entry)
    with mock.patch.object(family, "at", lambda problem, n, epsilon, delta: problem):
        assert len({cell.objective_key(0) for cell in (SHARED, *SAME)}) == 3


def risks(cell, data_set=0, reuse=None):
    data = reuse.data(cell, data_set) if reuse else cell.draw_data(0, data_set)
    given = {"root_seed": 0, "data_set": data_set, "reuse": reuse}
    return run_block(cell, cell.plan("paper", 0)[1], {"gradient": 1.0}, data, **given).risk


def test_data_and_minimum_are_made_once_and_no_number_changes():
    kind, reuse, cells = problem_class(SHARED.problem), Reuse(0), [SHARED, replace(SHARED, epsilon=0.5)]
    draw = mock.patch.object(kind, "draw", autospec=True, side_effect=kind.draw)
    minimum = mock.patch.object(kind, "optimal_risk", autospec=True, side_effect=kind.optimal_risk)
    with draw as drawn, minimum as minimised:
        shared = [risks(cell, reuse=reuse) for cell in cells]
    assert drawn.call_count == minimised.call_count == 1
    np.testing.assert_array_equal(shared, [risks(cell) for cell in cells])


def test_other_objectives_have_minima_of_their_own():
    reuse = Reuse(0)
    for given in [(SHARED, 0), (SHARED, 1), *((cell, 0) for cell in OTHER), (SHARED, 0)]:
        np.testing.assert_array_equal(risks(*given, reuse=reuse), risks(*given))


@pytest.mark.parametrize("data_sets", [1, 2])
def test_a_summary_has_the_error_of_data_sets_where_there_are_several(data_sets):
    one = replace(JOB, cells=CELLS[:1], data_sets=data_sets)
    rows = table_of(one)
    risks = rows["risk"].to_numpy().reshape(data_sets, 6)
    units, found = (risks.mean(axis=1) if data_sets > 1 else risks[0]), summarise(one, rows)
    assert (found.risk, found.stderr) == pytest.approx((risks.mean(), units.std(ddof=1) / np.sqrt(units.size)))
    assert (found.replicates, found.data_sets, found.gradient_evaluations) == (6, data_sets, 128.0)
    assert found.start_risk == rows["start_risk"][0].as_py() and found.risk_kind == "excess empirical"


def test_blocks_are_as_large_as_memory_allows_in_multiples_of_a_pass():
    for most, counts in ((100, [96, 96, 8]), (30, [30]), (25, [24, 6]), (24, [24, 6]), (23, [23, 7]), (0.5, [1, 1])):
        assert [count for _, count in replicate_blocks(int(BLOCK_SCORES / most), sum(counts))] == counts
