import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpsco_bench import jsonio
from dpsco_bench.algorithms.info import Info
from dpsco_bench.errors import InputError, NumericalFailure
from dpsco_bench.execution import run
from dpsco_bench.execution.calibration import calibrate_cell, calibrate_job
from dpsco_bench.execution.cell import Calibrated, Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import DEMOTED, FINAL, RESULT_SCHEMA, ROUNDED, join_blocks, read_table, write_table
from dpsco_bench.execution.run import BLOCK_SCORES, replicate_blocks, run_block
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.problems import minimisers
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective

CELL = Cell(
    algorithm="wang2017.dp_gd_pl",
    problem="ridge_logistic",
    n=32,
    d=3,
    epsilon=1.0,
    delta=1e-5,
    variant="standard",
    options={"steps": 4},
    method="dp_gd",
    parameter="n",
    value=32.0,
)
JOB = Job(
    claim="wang2017.test",
    part="p",
    kind="rate",
    calibration="accounted",
    profile="smoke",
    seed=5,
    replicates=6,
    data_sets=2,
    cells=(CELL, replace(CELL, cell=1, n=64, value=64.0, delta=0.02)),
)


def job(**changes):
    return replace(JOB, **changes)


def calibrations(given):
    """As the worker reads them: through JSON."""
    return Calibrated.from_json(loads(dumps_canonical(Calibrated(calibrate_job(given))))).cells


@pytest.fixture(scope="module")
def table():
    return execute(JOB, calibrations(JOB))


def test_one_row_per_cell_data_set_and_replicate(table):
    assert table.schema.equals(RESULT_SCHEMA, check_metadata=False) and table.num_rows == 2 * 2 * 6
    keys = set(zip(*(table[name].to_pylist() for name in ("cell", "data_set", "replicate", "checkpoint")), strict=True))
    assert keys == {(c, s, r, FINAL) for c in range(2) for s in range(2) for r in range(6)}


def test_columns_say_what_was_run(table):
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["algorithm"], first["variant"], first["problem"]) == (
        "wang2017.dp_gd_pl",
        "standard",
        "ridge_logistic",
    )
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
    given = job(cells=(cell,))
    rows = execute(given, calibrations(given)).to_pylist()
    expected = "minimiser certified: gradient below 1e-12 of the linear term and G"
    assert {row["warnings"] for row in rows} == {"delta >= 1/n; " * (delta > 1 / 32) + expected}
    assert {row["privacy_status"] for row in rows} == {"target_law_only"}


def test_a_job_is_a_pure_function(table):
    assert execute(JOB, calibrations(JOB)).equals(table, check_metadata=True)


def test_replicates_are_added_and_not_redrawn(table):
    fewer = execute(job(replicates=2), calibrations(JOB))
    mask = pc.less(table["replicate"], 2)
    np.testing.assert_allclose(fewer["risk"].to_numpy(), table.filter(mask)["risk"].to_numpy(), rtol=1e-9)


def test_metadata_hold_the_job_without_places(table, tmp_path):
    write_table(table, tmp_path / "deep" / "t.parquet")
    read, metadata = read_table(tmp_path / "deep" / "t.parquet")
    assert read.equals(table)
    names = {"claim", "part", "kind", "profile", "data_root", "plugins", "timing", "seconds", "skipped", "present"}
    names |= {"run_key", "group", "decisions", "pilot"}  # its key has the first; others say how far it is run
    plain = loads(dumps_canonical(JOB))
    assert metadata["job"] == {key: value for key, value in plain.items() if key not in names}
    assert dumps_canonical(metadata["calibrations"]) == dumps_canonical(calibrations(JOB)) and metadata["schema"] == "3"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["t.parquet"]


def test_a_job_survives_its_file():
    """Infinite options, signals, a place on the sweep that is not given, and no dimension."""
    infinite = replace(CELL, d=None, problem_options={"p": math.inf, "points": [1.0, 2.0]})
    plain = Cell("wang2017.dp_gd", "ridge_logistic", 16, 0.5, 0.1, signal=0.1)
    given = job(cells=(*JOB.cells, infinite, plain), plugins=("own.py",), seconds=(1.0, 2.5, 0.0, 3.0), record=0.1)
    text = dumps_canonical(given)
    read = Job.from_json(loads(text))
    assert read == given and dumps_canonical(read) == text
    assert all(isinstance(cell, Cell) for cell in read.cells) and math.isnan(read.cells[3].value)


def test_infinite_and_unknown_values_survive_the_files(tmp_path):
    """JSON says ``"inf"`` and null; nothing else may read them as text or fail on them."""
    silent = job(calibration="none")
    table = execute(silent, calibrations(silent))
    assert table["epsilon_real"].to_pylist() == [math.inf] * table.num_rows
    write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet")[1]["calibrations"][0]["epsilon_real"] == math.inf
    assert b"Infinity" not in pa.parquet.read_schema(tmp_path / "t.parquet").metadata[b"dpsco.calibrations"]
    first, second = calibrations(JOB)
    unknown = Calibrated.from_json(
        loads(dumps_canonical({"cells": [replace(first, epsilon_real=math.nan), second]}))
    ).cells
    assert math.isnan(execute(JOB, unknown)["epsilon_real"][0].as_py())


def test_the_bytes_of_a_table_are_reproducible(table, tmp_path):
    for name in ("a", "b"):
        write_table(table, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(jsonio.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(join_blocks([], {}), tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_closed_form_jobs_agree_with_runs():
    cell = replace(CELL, problem="diag_quadratic", d=4)
    exact = job(cells=(cell,), evaluation="closed_form")
    runs = job(cells=(cell,), replicates=4000, data_sets=1)
    row = execute(exact, calibrations(exact)).to_pylist()
    assert len(row) == 1 and row[0]["gradient_evaluations"] == 32 * 4
    risk = execute(runs, calibrations(runs))["risk"].to_numpy()
    assert abs(risk.mean() - row[0]["risk"]) < 5 * risk.std() / math.sqrt(risk.size)


def test_a_minimiser_that_rounding_stopped_says_so_in_its_rows_and_is_not_proven(monkeypatch):
    solved = replace(CELL, algorithm="su2023.app_objp", options={}, problem="logistic_glm")
    given = job(cells=(solved,), replicates=2, data_sets=1)
    rows = execute(given, calibrations(given)).to_pylist()
    assert all(row["privacy_status"] == "proven" and ROUNDED not in row["warnings"] for row in rows)
    monkeypatch.setattr(minimisers, "ROUNDING", 1e-2)
    rows = execute(given, calibrations(given)).to_pylist()
    assert len(rows) == 2 and all(row["privacy_status"] == DEMOTED for row in rows)
    assert all(row["warnings"].split("; ")[-1] == ROUNDED for row in rows)


def test_a_problem_without_a_closed_form_is_refused_in_one_line():
    exact = job(evaluation="closed_form")
    with pytest.raises(InputError, match="^problem = 'ridge_logistic': must be a problem with a closed form"):
        execute(exact, calibrations(exact))


def test_complexity_parts_are_planned_but_not_charged():
    counted = calibrate_job(job(charged=False, evaluation="plan_only"))[0]
    assert counted.gradient_evaluations == 32 * 4 and math.isnan(counted.epsilon_real)
    assert counted.privacy_status == "unproven" and counted.accountant == "not charged"


def test_checkpoints_every_fraction_of_n():
    cell = CELL
    trace = run_block(
        cell, cell.plan("none", 5)[1], {"gradient": 0.0}, cell.draw_data(5, 0), root_seed=5, replicates=2, record=2.0
    )
    np.testing.assert_array_equal(trace.evaluations, [[32, 64, 128, 128]] * 2)
    assert np.all(np.diff(trace.risk[0]) <= 0) and trace.output.shape == (2, 3)
    end = run_block(cell, cell.plan("none", 5)[1], {"gradient": 0.0}, cell.draw_data(5, 0), root_seed=5, replicates=2)
    np.testing.assert_array_equal(end.risk[:, 0], trace.risk[:, -1])


def test_recording_does_not_change_the_run():
    cell = CELL
    plain, watched = (
        run_block(
            cell,
            cell.plan("paper", 5)[1],
            {"gradient": 0.1},
            cell.draw_data(5, 0),
            root_seed=5,
            replicates=3,
            record=record,
        )
        for record in (None, 0.5)
    )
    np.testing.assert_array_equal(plain.output, watched.output)


def test_non_finite_iterates_fail_with_the_cell_named(monkeypatch):
    cell = CELL
    data = cell.draw_data(5, 0)
    poisoned = Data(data.n, data.features.copy(), data.labels)
    poisoned.features[0, 0] = np.inf
    monkeypatch.setattr(type(cell.problem_entry), "optimal_risk", lambda self, data: 0.0)
    message = r"^non-finite iterates: wang2017.dp_gd_pl on ridge_logistic, n = 32, d = 3, epsilon = 1, delta"
    with np.errstate(all="ignore"), pytest.raises(NumericalFailure, match=message):
        run_block(cell, cell.plan("none", 5)[1], {"gradient": 0.0}, poisoned, root_seed=5)


@pytest.mark.parametrize("where", ["output and risk", "output alone", "risk alone"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_replicate_that_is_not_finite_fails_the_cell(monkeypatch, where, value):
    """Whatever the others are: a mean over those that are left would be one of other runs."""

    def spoilt(algorithm, objective, plan, mechanism, **keywords):
        output = np.zeros(objective.start.shape)
        output[2, 1] = value if "output" in where else 0.0
        return output, Info()

    def risks(objective, x):
        found = np.ones(len(x))
        found[2] = value if "risk" in where else 1.0
        return found

    monkeypatch.setattr(run, "call_run", spoilt)
    monkeypatch.setattr(Objective, "excess_risk", risks)
    with np.errstate(all="ignore"), pytest.raises(NumericalFailure, match="^non-finite iterates: wang2017.dp_gd_pl"):
        run_block(CELL, CELL.plan("none", 5)[1], {"gradient": 0.0}, CELL.draw_data(5, 0), root_seed=5, replicates=4)


@pytest.mark.parametrize(("n", "replicates"), [(1, 1), (32, 6), (200_000, 64), (10**7, 3), (4096, 5000)])
def test_blocks_cover_the_replicates_once_within_the_memory_bound(n, replicates):
    blocks = replicate_blocks(n, replicates)
    covered = [r for first, count in blocks for r in range(first, first + count)]
    assert covered == list(range(replicates))
    assert all(count == 1 or count * n <= BLOCK_SCORES for _, count in blocks)


def test_calibrations_travel_as_json():
    options = {"epochs": 1, "inner_steps": 4}
    cell = replace(CELL, algorithm="wang2017.dp_svrg", variant=None, options=options)
    entry = calibrate_cell(cell, "accounted", 5)
    text = dumps_canonical({"cells": [entry]})
    (read,) = Calibrated.from_json(loads(text)).cells
    assert dumps_canonical({"cells": [read]}) == text and read.plan is None and read.constants == entry.constants
    assert entry.variant == "poisson" and set(entry.scales) == {"anchor", "inner"}
    assert entry.schedule["epochs"] == 1 and entry.privacy_status == "proven"
