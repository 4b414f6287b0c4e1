"""The verb ``audit``."""

import json

import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.cli.verbs.audit import AuditPace


def test_screen_and_json(dpsco):
    call = ("audit", "wang2017.dp_gd_pl", "--runs", "500", "epsilon=2", "delta=1e-3")
    out = dpsco(*call).out
    assert out.startswith("wang2017.dp_gd_pl, calibration accounted: not refuted (epsilon >= ") and "claimed 2)" in out
    found = json.loads(dpsco(*call, "--json").out)
    assert (found["verdict"], found["runs"], found["epsilon_claimed"]) == ("not refuted", 500, 2)


def test_the_time_left_is_by_the_runs_that_count_and_being_seen_changes_no_number():
    now = [0.0]
    pace = AuditPace(lambda: now[0])
    now[0] = 200.0
    pace.progress(100, 1000)
    now[0] = 210.0
    pace.progress(200, 1000)
    assert str(pace) == "200 of 1000 runs done, 3 min 30 s, about 1 min 20 s left"
    cell, pace = make_audit_cell("wang2017.dp_gd_pl", keys={"steps": 2}), AuditPace()
    assert audit_cell(cell, runs=200, progress=pace.progress) == audit_cell(cell, runs=200)
    assert str(pace).startswith("400 of 400 runs done")


@pytest.mark.parametrize("words", [("gopi2022.cube_exact",), ("gopi2022.reg_exp_mech", "p=inf")])
def test_an_infinite_norm_is_no_obstacle(dpsco, words):
    found = dpsco("audit", *words, "--runs", "200", "--json")
    assert found.code == 0 and json.loads(found.out)["runs"] == 200, found.err
