"""One's own online learner in one file outside the package, in the private reduction."""

from __future__ import annotations

import json

import pytest

LEARNER = "examples/own_learner.py"
RUN = ("run", f"plugins=[{LEARNER}]", "algorithm=zhang2022/dp_otb", "problem=linear_ball", "n=512", "d=4", "--json")


pytestmark = pytest.mark.usefixtures("examples")


def done(outcome):
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.slow
def test_runs_through_hydra_and_is_swept_beside_the_built_in_ones(dpsco):
    rows = json.loads(done(dpsco(*RUN, "-m", "learner=normalised,ogd_adagrad,ftrl_adagrad")))
    assert len({row["risk"] for row in rows}) == 3
    assert {row["privacy_status"] for row in rows} == {"proven"}
    assert all(row["gradient_evaluations"] == 2 * 512 - 3 for row in rows)


def test_it_learns(dpsco):
    (row,) = json.loads(done(dpsco(*RUN, "learner=normalised", "calibration=none")))
    assert row["risk"] < 1e-3 * row["start_risk"]


def test_the_contract_holds_with_it(dpsco):
    keys = ("problem=logistic_glm", "d=3", "learner=normalised", "--plugin", LEARNER, "--json")
    findings = json.loads(done(dpsco("check", "zhang2022.dp_otb", *keys)))
    assert all(finding["passed"] is not False for finding in findings)
    assert sum(finding["passed"] is True for finding in findings) >= 7
