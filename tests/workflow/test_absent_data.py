"""A run without the data of a claim keeps what an earlier run with them found."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow
PLUGIN = """
from dpsco_bench import option, problem
from dpsco_bench.problems.glm import RidgeLogistic


@problem
class Marked(RidgeLogistic):
    name = "marked"
    summary = "ridge logistic regression with a marker"
    needs_data_root = True
    root = option("data", "folder of data sets")

    @classmethod
    def unavailable(cls, root):
        return "" if (root / "marker").is_file() else "data absent: `touch marker`"
"""
CLAIM = """
id: own.kept
title: a rate on data of one's own
source: test
statement: none
parts:
  - id: p
    kind: rate
    tolerance: 0.15
    calibrations: [paper]
    algorithm: wang2017.dp_gd_pl
    options: {steps: 3}
    problem: marked
    fixed: {d: 3, epsilon: 1.0, delta: 1.0e-5}
    sweep: {parameter: n, values: {smoke: [32, 64]}}
    replicates: {smoke: 3}
    timing: true
    bound: wang2017.thm6_2
"""
TARGET = "results/smoke/verdicts/own.kept.json"


@pytest.fixture
def run(project):
    (project.root / "plugin.py").write_text(PLUGIN)
    (project.root / "kept.yaml").write_text(CLAIM)
    for name in ("with", "without"):
        (project.root / name).mkdir(exist_ok=True)
    (project.root / "with" / "marker").touch()

    def call(data_root):
        own = [f"data_root={data_root}", "plugins=plugin.py", "claims=kept.yaml"]
        result = project.snakemake("--config", *own, "--", TARGET)
        assert result.returncode == 0, result.stderr
        row = json.loads((project.root / TARGET).read_text())["verdicts"][0]
        return row, {path.name: path.read_bytes() for path in (project.root / "results/store").glob("[rt]*/*.*")}

    return call


@pytest.mark.long
def test_results_are_neither_lost_nor_mistaken(run):
    row, tables = run("without")
    assert row["verdict"] == "skipped: data absent: `touch marker`" and not tables
    measured, tables = run("with")
    assert measured["replicates"] == 3 and measured["notes"] == [] and len(tables) == 6  # with manifests and noise off
    kept, unchanged = run("without")
    assert unchanged == tables
    assert kept["notes"] == ["judged from results present; data absent: `touch marker`"]
    assert {**kept, "notes": []} == measured
    again, unchanged = run("with")
    assert again == measured and unchanged == tables
