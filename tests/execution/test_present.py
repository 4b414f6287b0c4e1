"""Results that were made with data stay the job's results where the data are absent."""

import json

import pytest

from dpsco_bench.claims.jobs import part_jobs
from dpsco_bench.claims.model import parse_claim
from dpsco_bench.cli.claiming import JobCache, run_claim
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.layout import Layout, effective_key, read_calibrations
from dpsco_bench.execution.present import present_results, stored_key
from dpsco_bench.execution.results import write_table
from dpsco_bench.jsonio import dumps_canonical, to_jsonable, write_atomic
from dpsco_bench.problems import registry
from dpsco_bench.problems.ridge_logistic import RidgeLogistic

REASON = "data absent: `touch marker`"
PART = {
    "id": "p",
    "kind": "rate",
    "tolerance": 0.15,
    "calibrations": ["paper"],
    "algorithm": "wang2017.dp_gd_pl",
    "options": {"steps": 3},
    "problem": "marked",
    "fixed": {"d": 3, "epsilon": 1.0, "delta": 1e-5},
    "sweep": {"parameter": "n", "values": {"smoke": [32, 64]}},
    "replicates": {"smoke": 3},
    "bound": "wang2017.thm6_2",
}


class Marked(RidgeLogistic):
    """A problem whose data set is a marker in the data root."""

    name = "marked"
    needs_data_root = True

    def __init__(self, d=None, root="data", constants=None):
        super().__init__(d, constants=constants)

    @classmethod
    def unavailable(cls, root):
        return "" if (root / "marker").is_file() else REASON


@pytest.fixture(autouse=True)
def marked(monkeypatch):
    monkeypatch.setitem(registry._USER_PROBLEMS, Marked.name, Marked)


@pytest.fixture
def entries(tmp_path):
    """The plan's entry with the data and without them."""
    claim = parse_claim({"id": "own.kept", "title": "t", "source": "s", "statement": "x", "parts": [PART]})
    made = []
    for name in ("with", "without"):
        root = tmp_path / name
        root.mkdir()
        if name == "with":
            (root / "marker").touch()
        settings = {"seed": 1, "backend": "numpy", "dtype": "float64", "data_root": str(root), "plugins": []}
        jobs = part_jobs(claim, claim.parts[0], "smoke", settings)
        made.append({"claim": {**to_jsonable(claim), "digest": "0"}, "jobs": jobs})
    return made


def write(files, job):
    stored = {"key": effective_key(job, "calibration_key"), **calibrate_job(job)}
    write_atomic(files.calibrations(job), dumps_canonical(stored))
    write_table(execute(job, read_calibrations(files.calibrations(job), job)), files.run(job))


def test_the_key_is_the_same_with_and_without_data(entries):
    for job, absent in zip(entries[0]["jobs"], entries[1]["jobs"], strict=True):
        assert (job["skipped"], absent["skipped"]) == ("", REASON)
        for which in ("key", "calibration_key"):
            assert job[which] == absent[which] == effective_key(job, which)
            assert effective_key(absent, which) == f"skipped-{absent[which]}"


def test_a_job_counts_as_skipped_only_where_no_result_of_it_is_there(entries, tmp_path):
    files = Layout("smoke", tmp_path)
    job, absent = entries[0]["jobs"][0], entries[1]["jobs"][0]
    places = (files.calibrations, files.run)

    def found():
        return present_results({"jobs": [absent]}, *places)["jobs"][0]

    assert found() == absent
    write(files, absent)
    assert found() == absent and stored_key(files.run(job)) == ""
    write(files, job)
    assert found() == {**absent, "skipped": "", "present": REASON} and stored_key(files.run(job)) == job["key"]
    assert read_calibrations(files.calibrations(job), found())["cells"]
    assert present_results({"jobs": [job]}, *places)["jobs"] == [job]
    other = {**absent, "key": "another"}
    assert present_results({"jobs": [other]}, *places)["jobs"] == [other]
    files.run(job).write_text("no table")
    assert found() == absent
    files.run(job).unlink()
    assert found() == absent


def test_a_claim_is_judged_from_results_present_and_says_so(entries, tmp_path):
    cache = JobCache(tmp_path / "cache", lambda line: None)
    (skipped,) = run_claim(entries[1], cache)
    assert skipped["verdict"] == f"skipped: {REASON}"
    (row,) = run_claim(entries[0], cache)
    assert row["replicates"] == 3 and row["notes"] == []
    before = {path: path.read_bytes() for path in cache.root.rglob("*.*")}
    (kept,) = run_claim(entries[1], JobCache(cache.root, lambda line: pytest.fail(line)))
    assert kept["notes"] == [f"judged from results present; {REASON}"]
    assert {**kept, "notes": []} == row
    assert {path: path.read_bytes() for path in cache.root.rglob("*.*")} == before
    assert json.dumps(kept)
