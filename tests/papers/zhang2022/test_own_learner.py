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


def test_it_learns(dpsco):
    (row,) = json.loads(done(dpsco(*RUN, "learner=normalised", "calibration=none")))
    assert row["risk"] < 1e-3 * row["start_risk"]


def test_the_contract_holds_with_it(dpsco):
    keys = ("problem=logistic_glm", "d=3", "learner=normalised", "--plugin", LEARNER, "--json")
    findings = json.loads(done(dpsco("check", "zhang2022.dp_otb", *keys)))
    assert all(finding["passed"] is not False for finding in findings)
    assert sum(finding["passed"] is True for finding in findings) >= 7
