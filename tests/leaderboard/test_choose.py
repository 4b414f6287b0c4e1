"""`choose`: equal seeds give equal numbers, the ranking is that of a leaderboard, and nothing is lost on the way."""

import math

import pyarrow.compute as pc
import pytest

import dpsco_bench
from dpsco_bench import choose
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.results import FINAL
from dpsco_bench.leaderboard import choose as planning
from dpsco_bench.leaderboard.standings import compare

POINT = {"n": 150, "d": 3, "replicates": 6, "domain": "l2_ball"}
FEW = ("app_objp", "objp", "noisy_sfw", "dp_accmd", "dp_gd", "noisy_sgd")
OWN = '''
import time

from dpsco_bench import GaussianQuery, algorithm, make_plan


@algorithm("mine.{0}", source="the test")
def plan(given):
    """One release."""
    query = GaussianQuery("gradient", sensitivity=1.0, releases=1)
    return make_plan(query, gradient_evaluations=1, n=given.n)


@plan.run
def {0}(objective, plan, mechanism):
    {1}
'''


@pytest.fixture(scope="module", autouse=True)
def few_methods():
    every = planning.contestants
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "contestants", lambda: [m for m in every() if m.name in (*FEW, "fails", "waits")])
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def found(store, few_methods):
    return choose("logistic_glm", store=store, **POINT)


def of(found, name):
    return next(method for method in found.methods if method.method == name)


def test_the_ranking_is_by_mean_risk_with_the_numbers_of_runs_by_themselves(found):
    risks = [found.rows.filter(pc.equal(found.rows["part"], m.method))["risk"].to_numpy() for m in found.methods]
    told = [m.risk for m in found.methods]
    assert told == sorted(told) == pytest.approx([risk.mean() for risk in risks])
    pairs = zip(found.methods, risks, strict=True)
    assert compare({m.method: risk[None] for m, risk in pairs if m.ranked}, found.trivial).tied == found.tied
    assert found.best.tied and found.best.privacy_status == "proven" and not of(found, "objp").ranked
    assert found.risk_kind == "excess empirical" and found.without_privacy.risk == 0
    assert found.to_json()["lower_bound"]["kind"] == "order only" and 0 < found.lower_bound <= found.trivial
    assert {(item.method, item.status) for item in found.refused} == {("dp_gd", "refused")}
    assert pc.unique(found.rows["checkpoint"]).to_pylist() == [FINAL]
    alone = dpsco_bench.run("wang2017.dp_accmd", "logistic_glm", 150, 3, domain="l2_ball", replicates=6)
    own = of(found, "dp_accmd")
    assert own.risk == pytest.approx(alone.mean, rel=1e-12)
    assert own.gradient_evaluations == alone.gradient_evaluations.mean()


def test_equal_seeds_give_equal_numbers_and_what_is_kept_is_not_run_again(found, store):
    def written():
        return {path: path.stat().st_mtime_ns for path in store.rglob("*.*")}

    before = written()
    again = choose("logistic_glm", store=store, **POINT)
    assert written() == before and again.key == found.key and again.rows.equals(found.rows)
    assert again.rows.schema.metadata == found.rows.schema.metadata
    other = choose("logistic_glm", seed=1, store=store, **POINT)
    assert written() != before and other.key != found.key and other.best.risk != found.best.risk


def test_ones_own_method_that_fails_is_told_and_ends_nothing(store, tmp_path):
    (tmp_path / "own.py").write_text(OWN.format("fails", "return objective.start + undefined"))
    found = choose("logistic_glm", plugins=[tmp_path / "own.py"], store=store, **POINT)
    (item,) = [item for item in found.refused if item.method == "fails"]
    assert item.status == "failed" and "undefined" in item.reason and "own.py, line 16" in item.reason
    assert len(found.methods) == len(FEW) - 1
    assert len(found.own) == 1 and found.own[0].startswith("mine.fails: did not run: ")


@pytest.mark.parametrize(("replicates", "ran"), [(6, 2), (3, 3)])
def test_what_is_not_done_at_the_limit_is_ended_and_told(store, tmp_path, replicates, ran):
    """Where the race waits for all after a stage; with so few replicates that there is one the others are done."""
    (tmp_path / "own.py").write_text(OWN.format("waits", "time.sleep(60)"))
    point = {**POINT, "replicates": replicates}
    choose("logistic_glm", store=store, **point)
    found = choose("logistic_glm", plugins=[tmp_path / "own.py"], store=store, limit=1.7, **point)
    said = {item.method: (item.status, item.reason) for item in found.refused}
    assert said["waits"][0] == "stopped" and "ended after" in said["waits"][1]
    assert said["noisy_sgd"][0] == "too_long" and of(found, "dp_accmd")
    told = [f"the time ended after {ran} of {replicates} replicates"] if ran < replicates else []
    assert [text for text in found.warnings if "time ended" in text] == told


def test_what_no_method_accepts_says_why_and_speaks_of_no_limit(monkeypatch):
    with pytest.raises(InputError, match=r"path is missing"):
        choose("data_file", n=2000, d=5, clip=1, domain="l2_ball")
    with pytest.raises(DpscoError, match="within the limit; the shortest that accepts it"):
        choose("logistic_glm", limit=1e-9, **POINT)
    (refused,) = [method for method in planning.contestants() if method.name == "dp_gd"]
    monkeypatch.setattr(planning, "contestants", lambda: [refused])
    with pytest.raises(DpscoError, match=r"no method accepts logistic_glm: .* \(1 of 1 methods\)$") as caught:
        choose("logistic_glm", **POINT)
    assert "limit" not in str(caught.value)


def test_a_store_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "locks").write_text("a file in a folder's place")
    with pytest.raises(InputError, match="store = .*locks/item'"):
        choose("logistic_glm", store=tmp_path, limit=1, **POINT)


def test_so_many_processes_work_for_twice_the_limit_as_there_are_cores_and_two_at_most(monkeypatch):
    def makers(jobs, measured, cores, seconds, *told):
        raise InterruptedError(cores, seconds)

    monkeypatch.setattr(planning, "Makers", makers)
    for there, asked, used in ((8, None, 2), (1, None, 1), (None, None, 1), (1, 3, 3)):
        monkeypatch.setattr(planning.os, "cpu_count", lambda there=there: there)
        with pytest.raises(InterruptedError) as caught:
            choose("logistic_glm", limit=5, cores=asked, **POINT)
        assert caught.value.args == (used, 10.0)
    for limit in (0, -1, math.inf, math.nan, True, "5"):
        with pytest.raises(InputError, match="limit = "):
            choose("logistic_glm", limit=limit, **POINT)
