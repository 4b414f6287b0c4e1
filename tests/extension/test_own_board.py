"""A leaderboard, or data, in one's own file: by the verbs, in the plan and from the command line to the rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.cli.verbs import plan as planning
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_job
from tests.execution.parts import PART

METHOD, BOARD = "examples/own_method.py", "examples/own_board.yaml"
SMALL = {"delta": 1e-6, "replicates": 2, "methods": ["wang2017.dp_gd_pl"]}
SMALL |= {"grids": [{"n": [32], "d": [2], "epsilon": [1]}], "instances": [{"id": "r", "problem": "ridge_logistic"}]}


def written(**changes):
    path = Path("mine.yaml")
    path.write_text(json.dumps({**SMALL, **changes}))
    return str(path)


def test_the_example_is_run_by_its_path(dpsco, examples):
    rows = dpsco("leaderboard", BOARD, "--plugin", METHOD, "--json").rows
    assert [row["instance"] for row in rows] == ["flipped"] * 4 + ["customers"] * 2
    ran = {method["algorithm"] for row in rows for method in row["methods"]}
    assert ran == {"mine.noisy_gd", "wang2017.dp_gd_pl", "wang2017.dp_gd", "wang2017.output_perturbation_zhang17"}
    assert rows[0]["lower_bound"] and rows[-1]["search"]["settings"] == 4
    again = dpsco("leaderboard", BOARD, f"plugins=[{METHOD}]", "--all")
    assert again.err == "" and "dp_gd_20" in again.out, "finished jobs are not run again"
    assert again.out.count("wang2017.dp_gd_pl on flipped_labels refused") == 1


def test_a_method_that_fails_is_told_and_the_others_are_ranked(dpsco, edit):
    edit(METHOD, ("mine.noisy_gd", "mine.failing"), ("    return x\n", "    return x.nowhere\n"))
    board = written(methods=["mine.failing", "wang2017.dp_gd_pl"])
    outcome = dpsco("leaderboard", board, "--plugin", METHOD, "--json")
    (row,) = outcome.rows
    assert "Traceback" not in outcome.err
    assert [method["method"] for method in row["methods"]] == ["dp_gd_pl"]
    assert [(left["method"], left["status"]) for left in row["left_out"]] == [("failing", "failed")]
    assert dpsco("leaderboard", written(methods=["mine.failing"]), "--plugin", METHOD).code == 2


def test_it_stands_in_the_plan(dpsco, monkeypatch):
    monkeypatch.setattr(planning, "profile_claims", lambda profile: [])
    monkeypatch.setattr("dpsco_bench.leaderboard.board.board_ids", list)
    settings = [f"boards=[{written()}]"]
    plan = planning.make_plan("smoke", settings)
    (entry,) = plan.boards
    assert entry.id == "leaderboard.mine" and [len(job.cells) for job in entry.jobs] == [1]
    written(delta=1e-5)
    assert planning.make_plan("smoke", settings).stamp != plan.stamp


FILE = ("problem=data_file", "path=people.csv", "label=bought", "positive=yes")
RUN = ("run", "algorithm=wang2017/dp_gd_pl", *FILE, "steps=5", "replicates=2")

OPTIONS = {"path": "people.csv", "label": "bought", "positive": "yes", "clip": 1.0}
PEOPLE = PART | {"problem": "data_file", "problem_options": OPTIONS, "fixed": {"delta": 1e-5}}
PEOPLE |= {"sweep": {"parameter": "epsilon", "values": {"smoke": [1.0, 2.0]}}}
CLAIM = {"id": "mine.people", "title": "t", "source": "s", "statement": "x", "parts": [PEOPLE]}


@pytest.fixture(autouse=True)
def people(dpsco):
    rng = np.random.default_rng(1)
    write(rng.standard_normal((200, 3)), rng.random(200))


def write(rows, chances):
    lines = [f"{a},{b},{c},{'yes' if p > 0.5 else 'no'}\n" for (a, b, c), p in zip(rows, chances, strict=True)]
    Path("people.csv").write_text("".join(["age,income,height,bought\n", *lines]))


def test_all_records_by_default_and_another_content_is_another_run(dpsco):
    (row,) = dpsco(*RUN, "clip=1", "--json").rows
    assert (row["n"], row["d"]) == (200, 3)
    assert row["privacy_status"] == "proven" and row["warnings"] == ""
    assert row["epsilon_sequence"] == pytest.approx(1)
    (part,) = dpsco(*RUN, "clip=1", "n=50", "intercept=true", "--json").rows
    assert (part["n"], part["d"]) == (50, 4)
    first = dpsco(*RUN, "clip=1", "--json").rows
    write(np.eye(3).repeat(70, axis=0), np.linspace(0, 1, 210))
    second = dpsco(*RUN, "clip=1", "--json").rows
    assert first[0]["key"] != second[0]["key"] and first[0]["risk"] != second[0]["risk"]


def test_a_plan_is_run_on_the_content_that_it_was_made_from(dpsco):
    Path("c.yaml").write_text(json.dumps(CLAIM))
    entry = claim_plan("mine.people", "smoke", ["claims=[c.yaml]"])
    assert [cell.n for cell in entry.jobs[0].cells] == [200, 200]
    write(np.eye(3).repeat(70, axis=0), np.linspace(0, 1, 210))
    with pytest.raises(InputError, match="^sha256 of people.csv = .*, as planned$"):
        calibrate_job(entry.jobs[0])
    again = claim_plan("mine.people", "smoke", ["claims=[c.yaml]"])
    assert again.jobs[0].key != entry.jobs[0].key
