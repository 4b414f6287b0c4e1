"""The verb ``audit``."""

import json

import pytest

from dpsco_bench.cli.main import main


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
