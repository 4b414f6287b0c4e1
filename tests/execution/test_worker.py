"""Steps of jobs on a tiny plan: what they put into the store, what they refuse, what they import."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.claims.jobs import checked_job, part_jobs
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.plan import ClaimEntry, WorkPlan, read_plan
from dpsco_bench.claims.settings import Settings
from dpsco_bench.cli.main import main
from dpsco_bench.errors import InputError
from dpsco_bench.execution import calibration, timing, worker
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import Shard
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.measured import Measured, item, shard_key
from dpsco_bench.execution.packs import Packing, Stamp, lacking_pieces, pack_entries, seconds_left
from dpsco_bench.execution.planning import NOT_PURE, AlgorithmError, ImpurePlan
from dpsco_bench.execution.predict import Predictor, read_seconds, record_seconds
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.execution.store import Store
from dpsco_bench.execution.times import Timings
from dpsco_bench.execution.timing import time_cells
from dpsco_bench.execution.worker import read_failures, told
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.problems.objective import Objective

CLAIM = "wang2017.tiny"
SETTINGS = Settings(seed=3)
PART = {
    "kind": "rate",
    "tolerance": 0.15,
    "calibrations": ["paper", "accounted"],
    "algorithm": "wang2017.dp_gd_pl",
    "problem": "ridge_logistic",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [64, 128]}},
    "replicates": {"smoke": 3},
    "bound": "wang2017.thm6_2",
    "record": 4.0,
}
PRIVACY = {**{k: v for k, v in PART.items() if k not in ("bound", "record")}, "id": "privacy", "kind": "privacy"}


def entry_of(*parts, id=CLAIM) -> ClaimEntry:
    claim = parse_claim({"id": id, "title": "t", "source": "s", "statement": "s", "parts": list(parts)})
    jobs = tuple(checked_job(job) for p in claim.parts for job in part_jobs(claim, p, "smoke", SETTINGS))
    return ClaimEntry.of(claim, jobs)


@pytest.fixture
def files(tmp_path):
    """A plan with one claim: a part under two calibrations, and one that is planned only."""
    files = Layout("smoke", tmp_path)
    WorkPlan("smoke", (entry_of({**PART, "id": "gd"}, PRIVACY),)).write(files.plan)
    return files


def jobs_of(files) -> dict:
    return {job.name: job for job in read_plan(files.plan).claims[0].jobs}


def test_a_plan_survives_its_file(files):
    plan = read_plan(files.plan)
    WorkPlan.from_json(json.loads(dumps_canonical(plan))).write(files.plan.with_name("again.json"))
    assert read_plan(files.plan.with_name("again.json")) == plan
    assert files.plan.with_name("again.json").read_bytes() == files.plan.read_bytes()
    assert read_plan(files.plan, []).entries == ()
    with pytest.raises(InputError, match=rf"^claim of .* = 'another': must be one of {CLAIM}"):
        read_plan(files.plan, ["another"])
    files.plan.write_bytes(files.plan.read_bytes().replace(b'"seed":3', b'"seed":4', 1))
    with pytest.raises(InputError, match="^plan = .* undamaged"):
        read_plan(files.plan)


def test_a_run_puts_a_table_with_its_costs_into_the_store(files):
    measured, job = files.measured, jobs_of(files)["gd.paper"]
    assert worker.make("calibrate", job, measured) and worker.make("run", job, measured)
    assert not worker.make("calibrate", job, measured) and not worker.make("run", job, measured)
    table = measured.table(job)
    final = table.filter(table["checkpoint"].to_numpy() == -1)
    assert final.num_rows == 2 * 3 and set(final["n"].to_pylist()) == {64, 128}
    assert set(table["claim"].to_pylist()) == {CLAIM} and table.column_names[:3] == ["claim", "part", "calibration"]
    stored = json.loads(pq.read_schema(measured.store.path(*item("run", job))).metadata[b"dpsco.job"])
    assert stored["key"] == job.key and not {"claim", "part", "data_root", "seconds"} & set(stored)
    for step in ("calibrate", "run"):
        costs = measured.store.costs(*item(step, job))
        assert [cost.cell for cost in costs] == [0, 1] and all(cost.peak_mb > 10 for cost in costs)
    assert not [path for path in measured.store.root.rglob("*") if path.suffix in (".tmp", ".part")]


@pytest.mark.parametrize("kind", ["calibrations", "runs"])
def test_what_is_damaged_is_made_anew_with_the_same_bytes(files, kind, capsys):
    measured, job = files.measured, jobs_of(files)["gd.paper"]
    worker.make_all([job], measured, lambda line: None)
    path = measured.store.path(kind, job.key if kind == "runs" else job.calibration_key)
    content = path.read_bytes()
    path.write_bytes(content[:100])
    worker.make_all([job], measured, lambda line: None)
    assert path.read_bytes() == content
    assert [line.startswith(f"dpsco: {path} is damaged") for line in capsys.readouterr().err.splitlines()] == [True]
    path.write_bytes(content[:-1])
    with pytest.raises(InputError, match=rf"(calibrations|result table) = '{CLAIM} gd \[paper\]'"):
        measured.load(job)


def test_an_interrupted_run_loses_a_share_and_not_the_job(tmp_path, monkeypatch):
    job = entry_of({**PART, "id": "gd", "data_sets": {"smoke": 4}}).jobs[0]
    whole, shared = Measured(Store(tmp_path / "whole")), Measured(Store(tmp_path / "shared"))
    worker.make_all([job], whole, lambda line: None)
    monkeypatch.setattr(worker, "SHARE_SECONDS", 0.5)
    made, execute = [], worker.executed

    def interrupted(*arguments, shard, **others):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(shard.number)
        return execute(*arguments, shard=shard, **others)

    monkeypatch.setattr(worker, "executed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.make_all([job], shared, lambda line: None)
    assert made == [0, 1] and not shared.store.has("runs", job.key)
    monkeypatch.setattr(
        worker, "executed", lambda *a, shard, **o: made.append(shard.number) or execute(*a, shard=shard, **o)
    )
    worker.make_all([job], shared, lambda line: None)
    assert made == [0, 1, 2, 3], "what was finished is not made again"
    assert shared.store.path("runs", job.key).read_bytes() == whole.store.path("runs", job.key).read_bytes()


SPLIT = {
    "several blocks": {"replicates": {"smoke": 6}, "data_sets": {"smoke": 2}},
    "a minimiser that cells share": {"algorithm": "wang2017.objective_perturbation_kst12", "record": None},
    "closed form": {"problem": "diag_quadratic", "evaluation": "closed_form", "record": None},
    "signals": {
        "problem": "pointmass_linear",
        "problem_options": {"domain": "l2_ball"},
        "algorithm": "su2023.app_objp",
        "bound": "su2023.width_noise",
        "signals": {"smoke": [0.1, 0.2, 0.4]},
        "replicates": {"smoke": 9},
        "fixed": {"d": 16, "epsilon": 1.0, "delta": 1e-6},
        "record": None,
    },
}


@pytest.mark.parametrize("changes", SPLIT.values(), ids=SPLIT)
@pytest.mark.parametrize("of", [2, 3, 7])
def test_the_number_of_shards_changes_no_byte(tmp_path, monkeypatch, changes, of):
    from dpsco_bench.execution import job as job_module
    from dpsco_bench.execution import run as run_module

    for module in (job_module, run_module):
        monkeypatch.setattr(module, "BLOCK_SCORES", 256)  # so that there are blocks
    job = entry_of({**PART, "id": "gd", **changes}).jobs[0]
    whole, shared = Measured(Store(tmp_path / "whole")), Measured(Store(tmp_path / "shared"))
    worker.make_all([job], whole, lambda line: None)
    worker.make("calibrate", job, shared)
    order = [*range(of)][::-1]
    for number in order:
        assert not shared.store.has("runs", job.key)
        worker.make("run", job, shared, number=number, of=of)
    assert shared.store.path("runs", job.key).read_bytes() == whole.store.path("runs", job.key).read_bytes()
    assert not any(shared.store.has("shards", shard_key(job, Shard(number, of))) for number in range(of))
    assert {cost.cell for cost in shared.store.costs("runs", job.key)} == set(range(len(job.cells)))
    worker.make("run", job, shared, number=0, of=of)  # the job is there: no shard is made again
    assert not list((shared.store.root / "shards").iterdir())


def test_a_failing_job_is_named_and_leaves_the_others(files, monkeypatch):
    original = calibration.calibrate_job

    def broken(job):
        if job.calibration == "accounted":
            raise InputError("epsilon", 0, "> 0")
        if job.calibration == "none":
            raise RuntimeError("broken\non purpose")
        return original(job)

    monkeypatch.setattr(calibration, "calibrate_job", broken)
    plan, measured = read_plan(files.plan), files.measured
    log = files.log("calibrate", "p")
    for step in ("calibrate", "run"):
        pieces = [*lacking_pieces(step, plan.jobs(), measured)]
        with JobLog(log, step) as progress:
            failures = worker.work(step, plan.job, pieces, measured, progress)
        if step == "calibrate":
            assert (
                list(map(str, failures))
                == [
                    f"calibrate {CLAIM} gd [accounted]: epsilon = 0: must be > 0",
                    f"calibrate {CLAIM} gd [none]: RuntimeError: broken on purpose",
                    f"calibrate {CLAIM} privacy [accounted]: epsilon = 0: must be > 0",
                ][: len(failures)]
            )
            assert len(failures) >= 2 and "Traceback" in log.read_text()
        else:
            assert failures == [] and "not calibrated" in log.read_text()
    assert measured.store.has(*item("run", jobs_of(files)["gd.paper"]))


def test_a_reason_is_told_once_however_many_jobs_have_it(files, monkeypatch, capsys):
    numbers = iter(range(1000))

    def impure(job):
        found = f"steps = {next(numbers)}" if job.calibration != "none" else "rounds = 1"
        raise ImpurePlan(f"algorithm a.b: {found}: must be 3, as when it was charged: {NOT_PURE}")

    monkeypatch.setattr(calibration, "calibrate_job", impure)
    monkeypatch.chdir(files.base)
    packing = pack_entries(read_plan(files.plan).claims, files.measured, lambda step, job: 10.0)
    packing.write(Layout("smoke").packing)
    names = [pack.name for pack in packing.packs if pack.step == "calibrate"]
    assert len(names) > 1
    for number, name in enumerate(names):
        assert main(["worker", "calibrate", "--profile", "smoke", "--pack", name.partition(".")[2]]) == 0
        said = capsys.readouterr().err.splitlines()
        assert len(said) == (number == 0), said
    assert len(list(files.failures.iterdir())) == len(names)
    (line,) = told(read_failures(files))
    assert line.startswith(f"calibrate {CLAIM} gd [") and f"] and {len(names) - 1} more: algorithm a.b: " in line
    other = "calibrate x y [paper]: epsilon = 0: must be > 0"
    assert told([other, line, other]) == [other.replace(": epsilon", " and 1 more: epsilon"), line]


def test_a_full_disk_stops_the_process_and_is_named(files, monkeypatch, capsys):
    """In the one line that the job ends with: the file that could not be written."""

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(files.base)
    packing = pack_entries(read_plan(files.plan).claims, files.measured, lambda step, job: 10.0)
    packing.write(Layout("smoke").packing)
    name = next(pack.name for pack in packing.packs if pack.step == "calibrate")
    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["worker", "calibrate", "--profile", "smoke", "--pack", name.partition(".")[2]]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpsco: file = 'results/store/calibrations/") and line.endswith(
        "': must be one that can be read or written here (No space left on device)"
    )


def test_a_run_without_calibrations_is_refused(files):
    with pytest.raises(InputError, match="calibrate it first"):
        worker.make("run", jobs_of(files)["gd.paper"], files.measured)


@pytest.mark.parametrize("step", ["run", "time"])
def test_a_plan_other_than_the_charged_one_does_not_run(files, monkeypatch, step):
    """The calibration was made by another process, whose plan function asked for fewer releases."""
    job = jobs_of(files)["gd.paper"]
    worker.make("calibrate", job, files.measured)
    entry = get_algorithm("wang2017.dp_gd_pl")
    planned = entry.plan_function

    def impure(*args, **keywords):
        plan = planned(*args, **keywords)
        return replace(plan, queries=(replace(plan.queries[0], releases=200),))

    monkeypatch.setitem(ALGORITHMS._entries, entry.id, replace(entry, plan_function=impure))
    with pytest.raises(AlgorithmError, match="gd_pl: releases of gradient of queries = 200: must be .*not pure$"):
        worker.make(step, job, files.measured)
    assert not files.measured.store.has(*item(step, job))


def test_packs_hold_what_is_lacking_once_and_know_what_they_need(files):
    measured = files.measured
    twin = replace(entry_of({**PART, "id": "gd"}, id="wang2017.twin"))
    plan = WorkPlan("smoke", (*read_plan(files.plan).claims, twin))
    packing = pack_entries(plan.claims, measured, lambda step, job: 5.0)
    stamps = {"wang2017": {CLAIM: Stamp("a", "b")}}
    packing = replace(packing, scope=stamps, draw=False, marks=files.packs / "3")
    made = [(pack.step, piece.claim, piece.job) for pack in packing.packs for piece in pack.pieces]
    assert {claim for _, claim, _ in made} == {CLAIM}  # the other claim has the same keys
    assert len(made) == len(set(made)) and {step for step, _, _ in made} == {"calibrate", "run"}
    assert set(packing.makers["wang2017.twin"]) <= set(packing.makers[CLAIM])
    for pack in packing.packs:
        assert 5 <= pack.seconds <= 60 and len({claim.split(".")[0] for claim in pack.claims}) == 1
        assert bool(pack.after) == (pack.step == "run") and all(packing.pack(name) for name in pack.after)
    packing.write(files.packing)
    assert Packing.read(files.packing) == packing
    files.packing.write_text(files.packing.read_text().replace("5.0", "6.0", 1))
    with pytest.raises(InputError, match="^packs = "):
        Packing.read(files.packing)
    assert seconds_left(plan.jobs(), measured, lambda step, job: 5.0) == sum(pack.seconds for pack in packing.packs)
    worker.make_all(plan.claims[0].jobs, measured, lambda line: None)
    assert pack_entries(plan.claims, measured, lambda step, job: 5.0).packs == ()
    assert seconds_left(plan.claims[0].jobs, measured, lambda step, job: 5.0) == 0


def test_jobs_of_one_process_draw_what_they_share_once(files, tmp_path, monkeypatch):
    """Nor do the bytes of their tables depend on it; a job by itself keeps nothing for the next."""
    other = {**PART, "id": "other", "algorithm": "wang2017.output_perturbation_zhang17"}
    entry = entry_of({**PART, "id": "gd"}, other)
    drawn, draw = [], Cell.draw_data
    monkeypatch.setattr(Cell, "draw_data", lambda *args: drawn.append(args) or draw(*args))
    worker.make_all(entry.jobs, files.measured, lambda line: None)
    sizes, jobs = 2, {job.name: job for job in entry.jobs}
    assert len(jobs) == 6 and len(drawn) == sizes
    alone = Measured(Store(tmp_path / "alone"))
    for step in ("calibrate", "run"):
        for job in entry.jobs:
            assert worker.make(step, job, alone)
    assert len(drawn) == (1 + len(jobs)) * sizes
    together = Measured(Store(tmp_path / "together"))
    for job in entry.jobs:
        worker.make("calibrate", job, together)
    pieces = [*lacking_pieces("run", entry.jobs, together)]
    with JobLog(tmp_path / "log", "run") as log:
        assert not worker.work("run", lambda _, name: jobs[name], pieces, together, log)
    assert len(drawn) == (2 + len(jobs)) * sizes
    for job in entry.jobs:
        assert len({where.store.read("runs", job.key) for where in (files.measured, alone, together)}) == 1


def test_a_long_run_is_cut_into_shards(files):
    sizes = {"parameter": "n", "values": {"smoke": [64, 128, 256, 512]}}
    for sweep, shares in ((sizes, 4), (PART["sweep"], 2)):
        entry = entry_of({**PART, "id": "gd", "sweep": sweep})
        packs = pack_entries([entry], files.measured, lambda step, job: 200.0 if step == "run" else 1.0).packs
        runs = [piece for pack in packs if pack.step == "run" for piece in pack.pieces]
        assert {(piece.job, piece.number) for piece in runs} == {
            (job.name, number) for job in entry.jobs for number in range(shares)
        }
        assert {piece.of for piece in runs} == {shares}, "no share is empty: these jobs have a unit a cell"
        assert all(10 <= pack.seconds <= 200 / shares for pack in packs if pack.step == "run")


def test_an_audit_is_cut_between_its_cells_alone(files):
    """Its runs choose an event and test it together; a share without a cell would start for nothing."""
    entry = entry_of({**PART, "id": "gd"})
    for count in (1, 2):
        cells = {"cells": entry.jobs[0].cells[:count], "evaluation": "audit", "replicates": 100_000}
        jobs = tuple(replace(job, **cells) for job in entry.jobs)
        packs = pack_entries([replace(entry, jobs=jobs)], files.measured, lambda step, job: 200.0).packs
        runs = [piece for pack in packs if pack.step == "run" for piece in pack.pieces]
        assert runs and {piece.of for piece in runs} == {count}


def test_recorded_seconds_are_what_is_predicted(files):
    measured, jobs, path = files.measured, list(jobs_of(files).values()), files.results / "ci.seconds.json"
    worker.make_all(jobs[:1], measured, lambda line: None)
    record_seconds(path, jobs, measured)
    predict, job = Predictor(read_seconds(path)), jobs[0]
    for step in ("calibrate", "run"):
        assert predict(step, job) == pytest.approx(measured.cost(step, job)[0], rel=0.06)
    assert predict("run", jobs[1]) == sum(jobs[1].seconds) > 0
    elsewhere = Predictor(others=[read_seconds(path)])
    larger = replace(job, seconds=tuple(3 * seconds for seconds in job.seconds))
    assert elsewhere("run", larger) == pytest.approx(3 * predict("run", job), rel=0.06)
    assert predict("run", larger) == pytest.approx(3 * predict("run", job), rel=0.06), "its own record, at other sizes"
    before = path.read_bytes()
    record_seconds(path, jobs, measured)
    assert path.read_bytes() == before


@pytest.mark.parametrize("warm", [0.0, timing.WARM_SECONDS])
def test_timing_counts_the_gradients_and_never_evaluates_a_loss(files, monkeypatch, warm):
    """In a run after the one that warms up and counts, and in that one where it was long."""
    monkeypatch.setattr(timing, "WARM_SECONDS", warm)
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 0.0 if warm == 0.0 else 1.0)
    job = jobs_of(files)["gd.paper"]
    worker.make("calibrate", job, files.measured)
    calibrations = files.measured.calibrations(job)
    monkeypatch.setattr(Objective, "excess_risk", lambda self, x: pytest.fail("a loss inside the clock"))
    timed = time_cells(job, calibrations)
    assert timed.machine.cores >= 1
    for cell, planned in zip(timed.cells, calibrations, strict=True):
        assert cell.evaluations[-1] == planned.gradient_evaluations
        assert len(cell.evaluations) == len(cell.seconds) <= timing.POINTS + 1
        assert (cell.repeats == 1) == (warm == 0.0)
        assert np.all(np.diff(cell.evaluations) >= 0) and np.all(np.diff(cell.seconds) >= 0)
    assert Timings.from_json(loads(dumps_canonical(timed))) == timed


@pytest.mark.parametrize("cost", [1, 3, 40, 1_000])
def test_notes_are_a_spacing_apart_and_stretches_between_them_long(cost):
    watch, objective = timing.Stopwatch(every=40.0), SimpleNamespace(evaluations=np.zeros(1))
    while objective.evaluations[0] < 4_000:
        steps = max(1, watch.unseen(objective) // cost)
        assert steps >= 5 // cost
        objective.evaluations += steps * cost
        watch(objective, None)
    gaps = np.diff([0.0, *watch.evaluations])
    assert np.all(gaps >= 40) and np.all(gaps <= 2 * max(40, cost))
    assert len(watch.evaluations) == len(watch.seconds) <= timing.POINTS


def test_timed_gradients_are_those_of_compiled_runs_with_poisson_batches(files):
    """A batch counts the records that it has, not those that it has room for."""
    method = {"algorithm": "wang2017.dp_svrg", "options": {"epochs": 2, "inner_steps": 500}}
    part = {
        **PART,
        **method,
        "id": "svrg",
        "calibrations": ["accounted"],
        "fixed": {"d": 8, "epsilon": 1.0, "delta": 1e-5},
    }
    job = entry_of({**part, "sweep": {"parameter": "n", "values": {"smoke": [2000, 4000]}}}).jobs[0]
    worker.make("calibrate", job, files.measured)
    calibrations = files.measured.calibrations(job)
    for curve, planned in zip(time_cells(job, calibrations).cells, calibrations, strict=True):
        assert curve.evaluations[-1] == pytest.approx(planned.gradient_evaluations, rel=0.02)


def test_run_and_time_import_neither_hydra_nor_snakemake_nor_accountant(files):
    jobs = jobs_of(files)
    for job in jobs.values():
        worker.make("calibrate", job, files.measured)
    timed = [replace(job, timing=True) for job in jobs.values()]
    WorkPlan("smoke", (replace(read_plan(files.plan).claims[0], jobs=tuple(timed)),)).write(files.plan)
    for work in ("run", "time"):
        code = f"import os, sys\nos.chdir({str(files.base)!r})\nfrom dpsco_bench.cli.main import main\n"
        code += f"assert main(['worker', {work!r}, '--profile', 'smoke']) == 0\n"
        code += "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert files.measured.store.has(*item(work, timed[0]))
        unwanted = {"hydra", "omegaconf", "snakemake", "dp_accounting", "matplotlib"}
        assert not unwanted & set(printed.split())


def test_tables_are_the_same_however_they_are_read(files):
    job = jobs_of(files)["gd.paper"]
    worker.make_all([job], files.measured, lambda line: None)
    assert isinstance(files.measured.load(job)[0], pa.Table)
