"""The verb ``audit``."""

import json
from functools import partial

import pytest

from dpsco_bench.audit import forced
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.canaries import trials
from dpsco_bench.audit.foreseen import foreseen_runs
from dpsco_bench.cli import audits
from dpsco_bench.cli.audits import AuditPace
from dpsco_bench.cli.main import main
from dpsco_bench.jsonio import dumps_canonical


def test_screen(capsys):
    assert main(["audit", "wang2017.dp_gd_pl", "--runs", "500", "epsilon=2", "delta=1e-3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wang2017.dp_gd_pl, calibration accounted: not refuted (epsilon >= ")
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


def test_the_time_left_is_by_the_runs_that_count_and_the_pilot_is_told(monkeypatch):
    monkeypatch.setattr(audits, "Mechanism", lambda *given: None)
    now = [0.0]
    pace = AuditPace(lambda: now[0])
    assert str(pace) == "choosing neighbours, 0.0 s; the runs that count come after"
    now[0] = 100.0
    pace.mechanism(None, {}, dumps_canonical({"data_set": 2000}), 1, 0, 400)
    assert str(pace) == "pilot: 400 runs begun, 1 min 40 s; the runs that count come after"
    now[0] = 200.0
    pace.mechanism(None, {}, dumps_canonical({"data_set": 0}), 1, 0, 100)
    assert str(pace).startswith("pilot done")
    now[0] = 210.0
    pace.progress(100, 1000)
    assert str(pace) == "100 of 1000 runs done, 3 min 30 s, about 1 min 30 s left"
    now[0] = 220.0
    assert pace.left == pytest.approx(80.0)
    pace.progress(1000, 1000)
    assert pace.left == 0.0


def test_the_pilot_has_an_estimate_within_a_factor_two(monkeypatch):
    """Of 1,000 runs of a pilot and 4,000 that count, 0.1 s each; what is looked at before takes long and is no pace."""
    monkeypatch.setattr(audits, "Mechanism", lambda *given: None)
    now = [0.0]
    pace = AuditPace(lambda: now[0], foresee=lambda plan, scales: (1000, 4000))
    pace.mechanism(None, {}, dumps_canonical({"data_set": audits.LOOKED}), 1, 0, 50)
    assert str(pace) == "choosing neighbours, 0.0 s; the runs that count come after"
    now[0] = 60.0
    for block in range(10):
        pace.mechanism(None, {}, dumps_canonical({"data_set": 2 + block}), 1, 0, 100)
        if block:
            assert pace.left == pytest.approx(500.0 - 10.0 * block)
        now[0] += 10.0
    assert str(pace) == "pilot: 1,000 of about 1,000 runs begun, 2 min 40 s, about 6 min 40 s left"
    pace.mechanism(None, {}, dumps_canonical({"data_set": 0}), 1, 0, 2000)
    assert pace.left == pytest.approx(400.0)
    now[0] += 100.0
    assert str(pace) == "pilot done, the runs that count are begun, 4 min 20 s, about 5 min 00 s left"


def test_the_runs_of_a_pilot_are_foreseen():
    assert forced.LOOKED == audits.LOOKED
    cell = make_audit_cell("su2023.app_objp", keys={"n": 50})
    pace = AuditPace(foresee=partial(foreseen_runs, cell, "accounted", 400, None, 2017))
    audit_cell(cell, runs=400, mechanism=pace.mechanism, progress=pace.progress)
    assert pace._foreseen == (pace._drawn, pace.done) and pace.done == 800


def test_an_audit_is_seen_as_pilot_and_runs_and_its_numbers_stay():
    cell, pace = make_audit_cell("wang2017.dp_gd_pl", keys={"steps": 2}), AuditPace()
    seen = audit_cell(cell, runs=200, mechanism=pace.mechanism, progress=pace.progress)
    assert pace._pilot > 0 and pace.done == pace.all == 400
    assert seen == audit_cell(cell, runs=200)


@pytest.mark.parametrize("words", [("gopi2022.cube_exact",), ("gopi2022.reg_exp_mech", "p=inf")])
def test_an_infinite_norm_is_no_obstacle(dpsco, words):
    found = dpsco("audit", *words, "--runs", "200", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["runs"] == 200


QUICK = (
    "bassily2021.gg_mechanism",
    "gopi2022.axis_exact",
    "gopi2022.cube_exact",
    "su2023.app_objp",
    "su2023.heavy_tailed_euclid",
    "wang2017.dp_accmd",
    "wang2017.dp_gd_pl",
    "wang2017.noisy_md_ttz14",
)
"""One of each kind, `dp_accmd` among them, of which a printed plan releases nothing."""
LISTED = [trial for trial in trials() if not trial.reason and not trial.fused]


@pytest.mark.parametrize(
    ("algorithm", "variant", "calibration"),
    [
        pytest.param(
            *(trial.algorithm, trial.variant, trial.calibration),
            marks=[] if trial.algorithm in QUICK else [pytest.mark.slow, pytest.mark.long],
        )
        for trial in LISTED
    ],
)
def test_whatever_is_listed_can_be_audited(capsys, algorithm, variant, calibration):
    words = [f"calibration={calibration}", *([f"variant={variant}"] if variant else [])]
    assert main(["audit", algorithm, *words, "--runs", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["algorithm"] == algorithm and found["calibration"] == calibration
    assert found["epsilon_lower"] >= 0.0 and found["verdict"] in ("refuted", "not refuted")
