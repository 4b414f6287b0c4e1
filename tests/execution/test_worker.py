"""Jobs of the workflow on a tiny plan: what they write, what they refuse, what they import."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.jobs import part_jobs
from dpsco_bench.claims.model import parse_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution import calibration, worker
from dpsco_bench.execution.layout import Layout, job_name, read_calibrations, read_entry
from dpsco_bench.execution.planning import AlgorithmError
from dpsco_bench.execution.timing import time_cells
from dpsco_bench.jsonio import dumps_canonical, to_jsonable
from dpsco_bench.problems.objective import Objective

CLAIM = "wang2017.tiny"
SETTINGS = {"seed": 3, "backend": "numpy", "dtype": "float64", "data_root": "data", "plugins": []}


@pytest.fixture
def files(tmp_path):
    """A plan with one claim: a part under two calibrations, a planned one, one whose accountant has nothing to say."""
    part = {
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
    privacy = {**{k: v for k, v in part.items() if k not in ("bound", "record")}, "id": "privacy", "kind": "privacy"}
    entry = {"id": CLAIM, "title": "t", "source": "s", "statement": "s", "parts": [{**part, "id": "gd"}, privacy]}
    claim = parse_claim(entry)
    jobs = [job for p in claim.parts for job in part_jobs(claim, p, "smoke", SETTINGS)]
    files = Layout("smoke", tmp_path)
    files.plan.parent.mkdir(parents=True)
    plan = {"profile": "smoke", "claims": [{"claim": {**to_jsonable(claim), "digest": "0"}, "jobs": jobs}]}
    files.plan.write_text(dumps_canonical(plan))
    return files


def jobs_of(files) -> dict:
    return {job_name(job): job for job in read_entry(files.plan, CLAIM)["jobs"]}


def calibrate(files, job) -> None:
    out = files.calibrations(job)
    worker.calibrate(files.plan, CLAIM, job_name(job), job["calibration_key"], files.cache, out)


def run(files, job, **changes) -> None:
    where = {
        "calibrations": files.calibrations(job),
        "cache": files.cache,
        "ready": files.ready(job),
        "out": files.run(job),
    }
    given = {"key": job["key"], **where, **changes}
    worker.run_job(files.plan, CLAIM, job_name(job), **given)


def test_run_writes_a_table_that_carries_its_job_and_calibrations(files):
    job = jobs_of(files)["gd.paper"]
    calibrate(files, job)
    run(files, job, log=files.log("run", CLAIM, "gd.paper"))
    table = pq.read_table(files.run(job))
    final = table.filter(table["checkpoint"].to_numpy() == -1)
    assert final.num_rows == 2 * 3 and set(final["n"].to_pylist()) == {64, 128}
    stored = json.loads(table.schema.metadata[b"dpsco.job"])
    assert stored["key"] == job["key"] and "data_root" not in stored
    assert [cell["variant"] for cell in json.loads(table.schema.metadata[b"dpsco.calibrations"])] == ["standard"] * 2
    log = files.log("run", CLAIM, "gd.paper").read_text().splitlines()
    assert log[0] == f"run {CLAIM} gd.paper" and log[1].startswith("1 of 2 cells done, ")
    assert not [path for path in files.results.rglob("*") if path.suffix in (".tmp", ".part")]


def test_one_calibration_process_serves_the_claim(files, monkeypatch):
    asked = []
    original = calibration.calibrate_job
    monkeypatch.setattr(calibration, "calibrate_job", lambda job: asked.append(job_name(job)) or original(job))
    jobs = jobs_of(files)
    for job in jobs.values():
        calibrate(files, job)
        assert read_calibrations(files.calibrations(job), job)
    assert sorted(asked) == sorted({job["calibration_key"]: name for name, job in reversed(jobs.items())}.values())


@pytest.mark.parametrize("wanted", [True, False])
def test_a_calibration_process_serves_other_wanted_claims(files, wanted):
    plan = json.loads(files.plan.read_text())
    text = json.dumps(plan["claims"][0]).replace(CLAIM, "wang2017.other").replace('"epsilon": 1.0', '"epsilon": 0.5')
    other = json.loads(text)
    for job in other["jobs"]:
        job["calibration_key"] = f"other{job['calibration_key']}"
    files.plan.write_text(dumps_canonical({**plan, "claims": [other, *plan["claims"]]}))
    files.wanted.write_text(dumps_canonical({"calibrated": [CLAIM, *(["wang2017.other"] if wanted else [])]}))
    job = jobs_of(files)["gd.paper"]
    which = (files.plan, CLAIM, job_name(job), job["calibration_key"])
    worker.calibrate(*which, files.cache, files.calibrations(job), wanted=files.wanted)
    left = {path.stem.startswith("other") for path in files.cache.glob("*.json")}
    assert left == ({True, False} if wanted else {False})


def test_an_error_of_another_job_is_left_to_it(files, monkeypatch):
    original = calibration.calibrate_job

    def broken(job):
        if job["calibration"] == "accounted":
            raise InputError("epsilon", 0, "> 0")
        return original(job)

    monkeypatch.setattr(calibration, "calibrate_job", broken)
    jobs = jobs_of(files)
    calibrate(files, jobs["gd.paper"])
    with pytest.raises(InputError, match=rf"{CLAIM} gd.accounted: epsilon = 0"):
        calibrate(files, jobs["gd.accounted"])
    assert not files.calibrations(jobs["gd.accounted"]).exists()


def test_one_run_process_serves_the_short_jobs_of_the_claim(files, monkeypatch):
    asked = []
    original = worker.execute
    monkeypatch.setattr(worker, "execute", lambda job, *rest: asked.append(job_name(job)) or original(job, *rest))
    jobs = {name: job for name, job in jobs_of(files).items() if name.startswith("gd.")}
    for job in jobs.values():
        calibrate(files, job)
    run(files, jobs["gd.paper"], log=files.log("run", CLAIM, "gd.paper"))
    assert sorted(asked) == sorted(jobs) and not files.ready(jobs["gd.paper"]).exists()
    logged = files.ready(jobs["gd.accounted"]).with_name(files.ready(jobs["gd.accounted"]).name + ".log")
    assert logged.read_text().startswith(f"run {CLAIM} gd.accounted")
    left = files.ready(jobs["gd.accounted"]).read_bytes()
    run(files, jobs["gd.accounted"])
    assert sorted(asked) == sorted(jobs) and not files.ready(jobs["gd.accounted"]).exists()
    assert files.run(jobs["gd.accounted"]).read_bytes() == left
    files.ready(jobs["gd.none"]).unlink()
    monkeypatch.setattr(worker, "SHARED_SECONDS", 0.0)
    run(files, jobs["gd.none"])
    assert asked.count("gd.none") == 2 and asked.count("gd.accounted") == 1


def test_a_table_left_ready_for_another_version_of_the_job_is_not_taken(files):
    job = jobs_of(files)["gd.paper"]
    calibrate(files, job)
    stale = files.ready({**job, "key": "0"})
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of another version")
    run(files, job)
    assert pq.read_table(files.run(job)).num_rows > 0 and stale.read_bytes() == b"of another version"


def test_another_key_is_refused(files):
    job = jobs_of(files)["gd.paper"]
    calibrate(files, job)
    with pytest.raises(InputError, match="snakemake started again"):
        run(files, job, key="0")
    other = jobs_of(files)["gd.none"]
    with pytest.raises(InputError, match="snakemake --forcerun calibrate"):
        run(files, other, calibrations=files.calibrations(job))
    with pytest.raises(InputError, match="a job that runs something"):
        run(files, jobs_of(files)["privacy.paper"])
    with pytest.raises(InputError, match="one of gd.paper, "):
        worker.run_job(
            files.plan, CLAIM, "gd", job["key"], files.calibrations(job), files.cache, files.ready(job), files.run(job)
        )
    assert not files.run(job).exists()


@pytest.mark.parametrize("step", ["run", "time"])
def test_a_plan_other_than_the_charged_one_does_not_run(files, monkeypatch, step):
    """The calibration was made by another process, whose plan function asked for fewer releases."""
    job = jobs_of(files)["gd.paper"]
    calibrate(files, job)
    entry = get_algorithm("wang2017.dp_gd_pl")
    planned = entry.plan_function

    def impure(*args, **keywords):
        plan = planned(*args, **keywords)
        return replace(plan, queries=(replace(plan.queries[0], releases=200),))

    monkeypatch.setattr(entry, "plan_function", impure)
    with pytest.raises(AlgorithmError, match="gd_pl: releases of gradient of queries = 200: must be .*not pure$"):
        if step == "run":
            run(files, job)
        else:
            time_cells(job, read_calibrations(files.calibrations(job), job))
    assert not files.run(job).is_file()


def test_timing_counts_the_gradients_and_never_evaluates_a_loss(files, monkeypatch):
    job = jobs_of(files)["gd.paper"]
    calibrate(files, job)
    monkeypatch.setattr(Objective, "excess_risk", lambda self, x: pytest.fail("a loss inside the clock"))
    timed = time_cells(job, read_calibrations(files.calibrations(job), job))
    assert timed["machine"]["cores"] >= 1 and timed["skipped"] == ""
    for cell, planned in zip(timed["cells"], read_calibrations(files.calibrations(job), job), strict=True):
        assert cell["evaluations"][-1] == planned.gradient_evaluations
        assert len(cell["evaluations"]) == len(cell["seconds"]) <= 102
        assert np.all(np.diff(cell["evaluations"]) >= 0) and np.all(np.diff(cell["seconds"]) >= 0)


def test_run_and_time_import_neither_hydra_nor_snakemake_nor_accountant(files):
    job = jobs_of(files)["gd.accounted"]
    calibrate(files, job)
    common = ["--plan", files.plan, "--claim", CLAIM, "--job", "gd.accounted", "--key", job["key"]]
    common += ["--calibrations", files.calibrations(job)]
    for work, out in (("run", files.run(job)), ("time", files.timing(job))):
        ready = ["--ready", str(files.ready(job)), "--cache", str(files.cache)] if work == "run" else []
        arguments = ["worker", work, *map(str, common), *ready, "--out", str(out)]
        code = f"import sys\nfrom dpsco_bench.cli.main import main\nassert main({arguments}) == 0\n"
        code += "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert out.is_file()
        unwanted = {"hydra", "omegaconf", "snakemake", "dp_accounting", "matplotlib"}
        assert not unwanted & set(printed.split())
