"""Planning mends a damaged plan, and names claims that have no values for the profile."""

from pathlib import Path

import pytest

from dpsco_bench.cli.verbs import plan as planning
from dpsco_bench.leaderboard import board

PLAN = Path("results/smoke/plan.json")
OWN = """
id: mine.later
title: t
source: s
statement: x
parts:
  - {id: p, kind: privacy, calibrations: [paper], algorithm: wang2017.dp_gd_pl, problem: ridge_logistic,
     fixed: {n: 256, d: 3, delta: 1.0e-5}, sweep: {parameter: epsilon, values: {full: [0.5, 1.0]}}}
"""


@pytest.fixture
def small(monkeypatch):
    """Plans of one shipped claim, so that planning is short."""
    monkeypatch.setattr(planning, "profile_claims", lambda profile: ["su2023.thm1.privacy"])
    monkeypatch.setattr(board, "board_ids", lambda: [])


def test_planning_mends_it(dpsco, small):
    assert dpsco("plan", "--profile", "smoke").code == 0
    whole = PLAN.read_bytes()
    PLAN.write_bytes(whole[: len(whole) // 2])
    found = dpsco("plan", "--profile", "smoke")
    assert found.code == 0 and PLAN.read_bytes() == whole and "is damaged (" in found.err


def test_a_claim_of_ones_own_without_values_for_the_profile_is_named(dpsco, small, monkeypatch):
    Path("later.yaml").write_text(OWN)
    told = "dpsco: profile = 'smoke': must be one in whose grid mine.later has values\n"
    for call, code in (
        (("plan", "claims=[later.yaml]"), 0),
        (("claim", "later.yaml"), 2),
        (("claim", "later.yaml", "su2023.thm1.privacy"), 0),
    ):
        monkeypatch.setattr("dpsco_bench.registry._SAID", set())
        found = dpsco(*call, "--profile", "smoke")
        assert found.code == code and told in found.err and (code == 0) == bool(found.out)
