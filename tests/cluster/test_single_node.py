"""`make slurm-test` says in a line why it cannot start a SLURM; the profile asks for what a node has."""

from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml
from tests.cluster import single_node, slurm_smoke

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("name", "why"), [("snakemake", "apt-get install munge slurm-wlm"), ("none", "make cluster")])
def test_what_is_not_installed_is_named_and_skipped(monkeypatch, tmp_path, capsys, name, why):
    monkeypatch.setattr(single_node, "PLACES", str(tmp_path))
    monkeypatch.setattr(slurm_smoke, "PLUGIN", name)
    assert slurm_smoke.main() == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("slurm-test: skipped: ") and why in line


def test_rules_that_take_all_cores_take_few_on_a_node():
    """A rule with threads for all cores there are would wait for ever for a node with 1024."""
    texts = [path.read_text() for path in (ROOT / "workflows").glob("*.smk")]
    rules = [rule for text in texts for rule in text.split("\nrule ")[1:] if "threads: 1024" in rule]
    profile = read_yaml(ROOT / "profiles" / "slurm" / "config.yaml")
    assert {rule.partition(":")[0] for rule in rules} == {text.partition("=")[0] for text in profile["set-threads"]}


@pytest.mark.parametrize("name", ["default", "slurm", "gpu"])
def test_profiles_agree_on_what_makes_reruns_right(name):
    profile = read_yaml(ROOT / "profiles" / name / "config.yaml")
    assert profile["nolock"] and profile["rerun-incomplete"]
    assert profile["rerun-triggers"] == ["mtime", "params"]
