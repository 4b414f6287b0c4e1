"""A leaderboard in one's own file: by the verb, in the plan, in the workflow; what is wrong in it is one line."""

import json
from pathlib import Path

from dpsco_bench.cli.verbs import plan as planning

METHOD, BOARD = "examples/own_method.py", "examples/own_board.yaml"
SMALL = {
    "delta": 1e-6,
    "replicates": 2,
    "methods": ["wang2017.dp_gd_pl"],
    "grids": [{"n": [32], "d": [2], "epsilon": [1]}],
    "instances": [{"id": "ridge", "problem": "ridge_logistic"}],
}


def written(**changes):
    path = Path("mine.yaml")
    path.write_text(json.dumps({**SMALL, **changes}))
    return str(path)


def test_the_example_is_run_by_its_path(dpsco, examples):
    outcome = dpsco("leaderboard", BOARD, "--plugin", METHOD, "--json")
    rows = json.loads(outcome.out)
    assert outcome.code == 0 and [row["instance"] for row in rows] == ["flipped"] * 4 + ["customers"] * 2
    ran = {method["algorithm"] for row in rows for method in row["methods"]}
    assert ran == {"mine.noisy_gd", "wang2017.dp_gd_pl", "wang2017.dp_gd", "wang2017.output_perturbation_zhang17"}
    assert rows[0]["lower_bound"] and rows[-1]["search"]["settings"] == 4
    again = dpsco("leaderboard", BOARD, f"plugins=[{METHOD}]", "--all")
    assert again.err == "" and "dp_gd_20" in again.out, "finished jobs are not run again"
    assert again.out.count("wang2017.dp_gd_pl on flipped_labels refused") == 1


FAILING = """
from dpsco_bench import GaussianQuery, Trait, algorithm, make_plan


@algorithm("mine.failing", source="docs/own.md", needs=(Trait.LIPSCHITZ,))
def plan(given):
    query = GaussianQuery("gradient", 2 * given.constants.lipschitz / given.n, 1, paper_scale=1.0)
    return make_plan(query, gradient_evaluations=given.n, n=given.n)


@plan.run
def run(objective, plan, mechanism):
    return mechanism.release("gradient", objective.mean_gradient(objective.start)).nowhere
"""


def test_a_method_that_fails_is_told_and_the_others_are_ranked(dpsco):
    Path("failing.py").write_text(FAILING)
    board = written(methods=["mine.failing", "wang2017.dp_gd_pl"])
    outcome = dpsco("leaderboard", board, "--plugin", "failing.py", "--json")
    (row,) = json.loads(outcome.out)
    assert outcome.code == 0 and "Traceback" not in outcome.err
    assert [method["method"] for method in row["methods"]] == ["dp_gd_pl"]
    assert [(left["method"], left["status"]) for left in row["left_out"]] == [("failing", "failed")]
    assert dpsco("leaderboard", written(methods=["mine.failing"]), "--plugin", "failing.py").code == 2


def test_it_stands_in_the_plan(dpsco, monkeypatch):
    monkeypatch.setattr(planning, "profile_claims", lambda profile: [])
    monkeypatch.setattr("dpsco_bench.leaderboard.board.board_ids", list)
    settings = [f"boards=[{written()}]"]
    stamp = planning.plan_stamp("smoke", planning.plan_settings("smoke", settings))
    (entry,) = planning.make_plan("smoke", settings).boards
    assert entry.id == "leaderboard.mine" and [len(job.cells) for job in entry.jobs] == [1]
    written(delta=1e-5)
    assert planning.plan_stamp("smoke", planning.plan_settings("smoke", settings)) != stamp
