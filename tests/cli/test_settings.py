"""Settings and files of verbs that plan claims are read by the grammar of all verbs."""

import pytest

from dpsco_bench.claims.jobs import plan_settings
from dpsco_bench.cli.claiming import asked_claims

CLAIM = """
id: mine.short
title: t
source: s
statement: x
parts:
  - {id: p, kind: shown, calibrations: [paper], algorithm: wang2017.dp_gd_pl, problem: ridge_logistic,
     fixed: {d: 2, epsilon: 1.0, delta: 1.0e-5}, sweep: {parameter: n, values: {smoke+ci: 64 .. 256 x2}}, replicates: 2}
"""


@pytest.mark.parametrize("text", ["1000", "1e3", "1_000"])
def test_a_seed_is_an_integer_however_it_is_written(text):
    _, settings = asked_claims(["wang2017.thm6.1", f"seed={text}"])
    seed = plan_settings("smoke", settings).seed
    assert seed == 1000 and isinstance(seed, int)


def test_a_file_may_have_a_space_an_accent_and_an_equals_sign_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my=é claim.yaml").write_text(CLAIM, encoding="utf-8")
    ids, settings = asked_claims(["my=é claim.yaml", "wang2017.thm6.1", "seed=3"])
    assert ids == ["mine.short", "wang2017.thm6.1"] and "seed=3" in settings
    assert plan_settings("smoke", settings).claims == ("my=é claim.yaml",)
