"""The verb ``audit``."""

import json

import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.cli.main import main
from dpsco_bench.cli.verbs.audit import AuditPace


def test_screen(capsys):
    assert main(["audit", "wang2017.dp_gd_pl", "--runs", "500", "epsilon=2", "delta=1e-3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wang2017.dp_gd_pl, calibration accounted: not refuted (epsilon >= ")
    assert "of the query sequence" in out
    assert "claimed 2)" in out and "500 on each data set" in out and "no proof" in out
    assert max(map(len, out.splitlines())) <= 100


def test_json(capsys):
    assert main(["audit", "wang2017/dp_svrg", "epochs=3", "--calibration", "paper", "--runs", "2000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "refuted" and found["epsilon_lower"] > 1 == found["epsilon_claimed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "algorithm = 'nothing': must be a known one, such as"),
        (["wang2017.dp_gd_pl", "--runs", "few"], "runs = 'few': must be an integer >= 100"),
        (["wang2017.dp_gd_pl", "--confidence", "2"], "confidence = 2: must be in (0, 1)"),
        (["wang2017.dp_gd_pl", "mechanism=x"], "mechanism = 'x': must be a known key"),
        (["wang2017.dp_gd_pl", "problem=nothing"], "problem = 'nothing': must be a known one, such as"),
        (["wang2017.dp_gd_pl", "--plugin", "absent.py"], "plugins = 'absent.py': must be"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    assert main(["audit", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"dpsco: {message}") and err.count("\n") == 1


def test_the_time_left_is_by_the_runs_that_count():
    now = [0.0]
    pace = AuditPace(lambda: now[0])
    now[0] = 200.0
    assert str(pace) == "pilot, 3 min 20 s; the runs that count come after"
    pace.progress(100, 1000)
    assert str(pace) == "100 of 1000 runs done, 3 min 20 s"
    now[0] = 210.0
    pace.progress(200, 1000)
    assert str(pace) == "200 of 1000 runs done, 3 min 30 s, about 1 min 20 s left"


def test_an_audit_is_seen_and_its_numbers_stay():
    cell, pace = make_audit_cell("wang2017.dp_gd_pl", keys={"steps": 2}), AuditPace()
    seen = audit_cell(cell, runs=200, progress=pace.progress)
    assert str(pace).startswith("400 of 400 runs done")
    assert seen == audit_cell(cell, runs=200)


@pytest.mark.parametrize("words", [("gopi2022.cube_exact",), ("gopi2022.reg_exp_mech", "p=inf")])
def test_an_infinite_norm_is_no_obstacle(dpsco, words):
    found = dpsco("audit", *words, "--runs", "200", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["runs"] == 200
