"""Steps of jobs on a tiny plan: what they put into the store, what they refuse, what they import."""

import errno
import json
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import DEFAULT, Mock

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.claims.plan import WorkPlan, read_plan
from dpsco_bench.cli.main import main
from dpsco_bench.cli.verbs.plan import keep
from dpsco_bench.errors import InputError
from dpsco_bench.execution import calibration, timing, worker
from dpsco_bench.execution.cell import AlgorithmError, Cell
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.predict import Predictor, read_seconds, record_seconds
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.timing import Timings, time_cells
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.problems.objective import Objective

from . import parts

CLAIM = "wang2017.tiny"
PART = {key: value for key, value in parts.PART.items() if key != "options"}
PART |= {"calibrations": ["paper", "accounted"], "record": 4.0}
PART |= {"sweep": {"parameter": "n", "values": {"smoke": [64, 128]}}}
PRIVACY = {key: value for key, value in PART.items() if key not in ("bound", "record", "tolerance")}
PRIVACY |= {"id": "privacy", "kind": "privacy"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A plan with one claim: a part under two calibrations, and one that is planned only."""
    monkeypatch.chdir(tmp_path)
    files = Layout("smoke", tmp_path)
    keep(WorkPlan("smoke", (parts.entry_of(CLAIM, PART, PRIVACY),)), files)
    return files


@pytest.fixture
def job(files):
    (job,) = [job for job in read_plan(files.plan).claims[0].jobs if job.name == "gd.paper"]
    return job


def made(job, measured):
    """Calibrations of a job whose first step is done."""
    worker.make("calibrate", job, measured)
    return measured.calibrations(job)


def test_a_plan_survives_its_file(files):
    plan, again = read_plan(files.plan), files.plan.with_name("again.json")
    WorkPlan.from_json(json.loads(dumps_canonical(plan))).write(again)
    assert read_plan(again) == plan and again.read_bytes() == files.plan.read_bytes()
    assert read_plan(files.plan, []).entries == ()
    with pytest.raises(InputError, match=rf"'another': must be one of {CLAIM}"):
        read_plan(files.plan, ["another"])


def test_a_run_puts_a_table_with_its_costs_into_the_store(files, job):
    measured = files.measured
    assert worker.make("calibrate", job, measured) and worker.make("run", job, measured)
    assert not worker.make("calibrate", job, measured) and not worker.make("run", job, measured)
    table = measured.table(job)
    final = table.filter(table["checkpoint"].to_numpy() == -1)
    assert final.num_rows == 2 * 3 and set(final["n"].to_pylist()) == {64, 128}
    assert set(table["claim"].to_pylist()) == {CLAIM} and table.column_names[:3] == ["claim", "part", "calibration"]
    stored = json.loads(pq.read_schema(measured.store.path(*measured.items("run", job)[0])).metadata[b"dpsco.block"])
    assert stored["key"] == job.blocks[0].key
    for step in ("calibrate", "run"):
        costs = measured.costs(step, job)
        assert [cost.cell for cost in costs] == [0, 1] and all(cost.peak_mb > 10 for cost in costs)
    assert not [path for path in measured.store.root.rglob("*") if path.suffix in (".tmp", ".part")]


def test_an_interrupted_run_loses_a_share_and_not_the_job(tmp_path, monkeypatch):
    job = parts.entry_of(CLAIM, {**PART, "data_sets": {"smoke": 4}}).jobs[0]
    whole, shared = Measured(Store(tmp_path / "whole")), Measured(Store(tmp_path / "shared"))
    worker.make_all([job], whole, lambda line: None)
    monkeypatch.setattr(worker, "SHARE_SECONDS", sum(job.seconds) / 4)
    execute = Mock(wraps=worker.execute, side_effect=chain([DEFAULT, DEFAULT, KeyboardInterrupt], repeat(DEFAULT)))
    monkeypatch.setattr(worker, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        worker.make_all([job], shared, lambda line: None)
    assert not shared.has("run", job)
    worker.make_all([job], shared, lambda line: None)
    begun = [call.kwargs["share"][0] for call in execute.call_args_list]
    assert begun == [0, 1, 2, *range(2, len(begun) - 1)], "what was finished is not made again"
    assert measured_bytes(shared, job) == measured_bytes(whole, job)


def test_a_failing_job_is_named_and_leaves_the_others(files, job, monkeypatch, capsys):
    original = calibration.calibrate_job

    def broken(job, *how):
        if job.calibration == "accounted":
            raise InputError("epsilon", 0, "> 0")
        return original(job, *how)

    monkeypatch.setattr(calibration, "calibrate_job", broken)
    assert main(["worker", "claim", CLAIM, "--profile", "smoke"]) == 2
    assert f"{CLAIM} gd [accounted] and 1 more: epsilon = 0" in capsys.readouterr().err.splitlines()[-1]
    assert files.measured.has("run", job) and not files.verdicts(CLAIM).exists()


def test_a_full_disk_stops_the_process_and_is_named(files, monkeypatch, capsys):
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=full))
    assert main(["worker", "claim", CLAIM, "--profile", "smoke"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpsco: file = 'results/store/calibrations/") and "No space left on device" in line


@pytest.mark.parametrize("step", ["run", "time"])
def test_a_plan_other_than_the_charged_one_does_not_run(files, job, monkeypatch, step):
    """The calibration was made by another process, whose plan function asked for fewer releases."""
    made(job, files.measured)
    entry = get_algorithm("wang2017.dp_gd_pl")
    other = parts.plan_of(entry, lambda query: (replace(query, releases=200),))
    monkeypatch.setitem(ALGORITHMS._entries, entry.id, replace(entry, plan_function=other))
    with pytest.raises(AlgorithmError, match="gd_pl: releases of gradient of queries = 200: must be .*not pure$"):
        worker.make(step, job, files.measured)
    assert not files.measured.has(step, job)


def test_jobs_of_one_process_draw_what_they_share_once(files, tmp_path, monkeypatch):
    other = {**PART, "id": "other", "algorithm": "wang2017.output_perturbation_zhang17"}
    entry = parts.entry_of(CLAIM, PART, other)
    drawn, draw = [], Cell.draw_data
    monkeypatch.setattr(Cell, "draw_data", lambda *args: drawn.append(args) or draw(*args))
    worker.make_all(entry.jobs, files.measured, lambda line: None)
    assert len(entry.jobs) == 6 and len(drawn) == 2, "one data set for each n"
    alone = Measured(Store(tmp_path / "alone"))
    for job in entry.jobs:
        assert worker.make("calibrate", job, alone) and worker.make("run", job, alone)
        assert measured_bytes(files.measured, job) == measured_bytes(alone, job)
    assert len(drawn) == (1 + 6) * 2


def measured_bytes(measured, job):
    return [measured.store.read(*address) for address in measured.items("run", job)]


def test_recorded_seconds_are_what_is_predicted(files):
    measured, jobs, path = files.measured, read_plan(files.plan).claims[0].jobs, files.results / "ci.seconds.json"
    worker.make_all(jobs[:1], measured, lambda line: None)
    record_seconds(path, jobs, measured)
    predict, job = Predictor(read_seconds(path)), jobs[0]
    for step in ("calibrate", "run"):
        assert predict(step, job) == pytest.approx(measured.cost(step, job)[0], rel=0.06)
    assert predict("run", jobs[1]) == sum(jobs[1].seconds) > 0
    before = path.read_bytes()
    record_seconds(path, jobs, measured)
    assert path.read_bytes() == before


@pytest.mark.parametrize("warm", [0.0, timing.WARM_SECONDS])
def test_timing_counts_the_gradients_and_never_evaluates_a_loss(files, job, monkeypatch, warm):
    monkeypatch.setattr(timing, "WARM_SECONDS", warm)
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 0.0 if warm == 0.0 else 1.0)
    calibrations = made(job, files.measured)
    monkeypatch.setattr(Objective, "excess_risk", lambda self, x: pytest.fail("a loss inside the clock"))
    steps = []
    timed = time_cells(job, calibrations, lambda *step: steps.append(step))
    assert timed.machine.cores >= 1 and steps == [(1, 2), (2, 2)]
    for cell, planned in zip(timed.cells, calibrations, strict=True):
        assert cell.evaluations[-1] == planned.gradient_evaluations
        assert len(cell.evaluations) == len(cell.seconds) <= timing.POINTS + 2
        assert (cell.repeats == 1) == (warm == 0.0)
        assert np.all(np.diff(cell.evaluations) >= 0) and np.all(np.diff(cell.seconds) >= 0)
    assert Timings.from_json(loads(dumps_canonical(timed))) == timed


def test_the_fastest_run_is_kept(job, files, monkeypatch):
    """The last stretch of a run has the seconds of all of it; the first is slow where caches are cold."""
    taken = iter([0.4, 0.3, 0.1, 0.2, 0.5, 0.5, 0.5])

    def run_block(*_, **__):
        end = next(taken)
        return SimpleNamespace(risk=np.array([[1.0 - end, end]]), evaluations=np.array([[0.0, 10.0]]))

    monkeypatch.setattr(timing, "run_block", run_block)
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 1.0)
    found = timing.time_cell(job, job.cells[0], made(job, files.measured)[0])
    assert found["seconds"] == (0.9, 0.1)


def test_stretches_that_are_timed_are_long():
    clock, objective = timing.Clock(40.0), SimpleNamespace(evaluations=np.zeros(1), replicates=1)
    clock.at_start(objective)
    for done, unseen in ((0, 5), (0, 40), (39, 5), (41, 5), (41, 39)):
        objective.evaluations[:] = done
        assert clock.unseen(objective) == unseen
        clock(objective, None)
    assert np.concatenate(clock.evaluations).tolist() == [0, 41]


def test_timed_gradients_are_those_of_compiled_runs_with_poisson_batches(files):
    """A batch counts the records that it has, not those that it has room for."""
    method = {"algorithm": "wang2017.dp_svrg", "options": {"epochs": 2, "inner_steps": 500}}
    part = {**PART, **method, "id": "svrg", "calibrations": ["accounted"], "fixed": {**PART["fixed"], "d": 8}}
    job = parts.entry_of(CLAIM, {**part, "sweep": {"parameter": "n", "values": {"smoke": [2000, 4000]}}}).jobs[0]
    calibrations = made(job, files.measured)
    for curve, planned in zip(time_cells(job, calibrations).cells, calibrations, strict=True):
        assert curve.evaluations[-1] == pytest.approx(planned.gradient_evaluations, rel=0.02)
