"""A user's own data file, from the command line to the rows and verdicts."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpsco_bench.claims.jobs import claim_plan, plan_settings
from dpsco_bench.cli.verbs.plan import plan_stamp
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_job

FILE = ("problem=data_file", "path=people.csv", "label=bought", "positive=yes")
RUN = ("run", "algorithm=wang2017/dp_gd_pl", *FILE, "steps=5", "replicates=2")

CLAIM = """
id: mine.people
title: an own file
source: test
statement: none
parts:
  - id: people-epsilon
    kind: privacy
    calibrations: [accounted]
    algorithm: wang2017.dp_gd_pl
    problem: data_file
    problem_options: {path: people.csv, label: bought, positive: "yes", clip: 1.0}
    fixed: {delta: 1.0e-5}
    sweep: {parameter: epsilon, values: {smoke: [1.0, 2.0]}}
"""


@pytest.fixture(autouse=True)
def people(dpsco):
    rng = np.random.default_rng(1)
    write(rng.standard_normal((200, 3)), rng.random(200))


def write(rows, chances):
    lines = [
        f"{a:.4f},{b:.4f},{c:.4f},{'yes' if p > 0.5 else 'no'}" for (a, b, c), p in zip(rows, chances, strict=True)
    ]
    Path("people.csv").write_text("\n".join(["age,income,height,bought", *lines]) + "\n")


def rows(dpsco, *arguments):
    outcome = dpsco(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_all_records_by_default_and_another_content_is_another_run(dpsco):
    (row,) = rows(dpsco, *RUN, "clip=1")
    assert (row["n"], row["d"]) == (200, 3)
    assert row["privacy_status"] == "proven" and row["warnings"] == ""
    assert row["epsilon_sequence"] == pytest.approx(1)
    (part,) = rows(dpsco, *RUN, "clip=1", "n=50", "intercept=true")
    assert (part["n"], part["d"]) == (50, 4)
    first = rows(dpsco, *RUN, "clip=1")
    write(np.eye(3).repeat(70, axis=0), np.linspace(0, 1, 210))
    second = rows(dpsco, *RUN, "clip=1")
    assert first[0]["key"] != second[0]["key"] and first[0]["risk"] != second[0]["risk"]


def test_a_plan_is_run_on_the_content_that_it_was_made_from(dpsco):
    Path("c.yaml").write_text(CLAIM)
    settings = ["claims=[c.yaml]"]
    stamp, entry = plan_stamp("smoke", plan_settings("smoke", settings)), claim_plan("mine.people", "smoke", settings)
    assert [cell.n for cell in entry.jobs[0].cells] == [200, 200]
    write(np.eye(3).repeat(70, axis=0), np.linspace(0, 1, 210))
    assert plan_stamp("smoke", plan_settings("smoke", settings)) != stamp
    with pytest.raises(InputError, match="^sha256 of people.csv = .*, as planned$"):
        calibrate_job(entry.jobs[0])
    again = claim_plan("mine.people", "smoke", ["claims=[c.yaml]"])
    assert again.jobs[0].key != entry.jobs[0].key
