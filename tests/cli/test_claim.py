import json

import pytest

from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.jobs import plan_settings
from dpsco_bench.cli.claiming import asked_claims
from dpsco_bench.errors import InputError

KEYS = {"id", "part", "kind", "calibration", "profile", "parameter", "values", "mean", "stderr", "bound", "slope", "ci"}
KEYS |= {"bound_slope", "claimed_exponent", "noise_off_slope", "verdict", "replicates", "runtime_s", "key"}
KEYS |= {"reservations", "reason", "sentence", "answers", "answer"}
CLAIMS = ("wang2017.thm6_1", "wang2017/thm6.2")


def test_rows_have_the_documented_schema(dpsco):
    outcome = dpsco("claim", *CLAIMS, "--profile", "smoke", "--json")
    assert outcome.code == 0
    rows = json.loads(outcome.out)
    assert all(set(row) >= KEYS for row in rows)
    assert {row["id"] for row in rows} == {"wang2017.thm6.1", "wang2017.thm6.2"}
    assert {row["kind"] for row in rows if "risk_kind" not in row} <= {"privacy", "complexity"}
    assert {row["risk_kind"] for row in rows if "risk_kind" in row} == {"excess empirical"}
    privacy = [row for row in rows if row["kind"] == "privacy"]
    assert privacy and all("epsilon_real" in row for row in privacy)
    assert any(row["verdict"].startswith("fails") for row in privacy)  # and yet the exit code is 0
    assert {tuple(row["answers"]) for row in rows} == {("noise",), ("printed", "noise", "private")}


def test_settings_reach_the_jobs(dpsco):
    one = json.loads(dpsco("claim", "wang2017.table1.zhang17", "--profile", "smoke", "--json").out)
    two = json.loads(dpsco("claim", "wang2017.table1.zhang17", "seed=5", "--profile", "smoke", "--json").out)
    assert one[0]["mean"] != two[0]["mean"] and one[0]["key"] != two[0]["key"]
    assert one[0]["runtime_s"] > 0


def test_absent_data_are_skipped_with_the_command_that_gets_them(dpsco):
    outcome = dpsco("claim", "wang2017.fig1", "data.root=nowhere", "--profile", "ci", "--json")
    rows = json.loads(outcome.out)
    assert outcome.code == 0 and rows
    assert all(row["verdict"].startswith("skipped: data absent") for row in rows)


def test_a_paper_and_a_pattern_are_sets_of_claims():
    known = claim_ids()
    paper = [id for id in known if id.startswith("wang2017.")]
    theorems = [id for id in known if id.startswith("wang2017.thm4.")]
    assert asked_claims(["wang2017"])[0] == asked_claims(["wang2017.*"])[0] == paper and len(paper) > len(theorems) > 1
    assert asked_claims(["wang2017.thm4.*", "wang2017_thm4_2"])[0] == theorems
    with pytest.raises(InputError):
        asked_claims(["wang2018"])


@pytest.mark.parametrize("text", ["1000", "1e3", "1_000"])
def test_a_seed_is_an_integer_however_it_is_written(text):
    _, settings = asked_claims(["wang2017.thm6.1", f"seed={text}"])
    seed = plan_settings("smoke", settings).seed
    assert seed == 1000 and isinstance(seed, int)
