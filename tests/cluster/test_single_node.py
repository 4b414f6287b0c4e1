"""`make slurm-test` says in a line why it cannot start a SLURM; the profile asks for what a node has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_yaml
from tests.cluster import single_node, slurm_smoke

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_not_installed_is_named_with_its_package(monkeypatch, tmp_path):
    monkeypatch.setattr(single_node, "PLACES", str(tmp_path))
    wanted = "no munged, slurmctld, slurmd, sbatch here (Debian: apt-get install munge slurm-wlm)"
    assert single_node.missing() == wanted
    with pytest.raises(single_node.Unavailable, match="apt-get install"), single_node.single_node(tmp_path):
        pass


def test_a_daemon_that_ends_is_told_with_its_last_error(monkeypatch, tmp_path):
    (tmp_path / "munged").write_text("#!/bin/sh\necho 'munged: Error: no key' >&2\nexit 1\n")
    for name in ("munged", "slurmctld", "slurmd", "sbatch", "srun"):
        (tmp_path / name).write_text((tmp_path / "munged").read_text())
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(single_node, "PLACES", f"{tmp_path}{os.pathsep}{os.defpath}")
    folder = tmp_path / "daemons"
    folder.mkdir()
    wanted = pytest.raises(single_node.Unavailable, match="munged ended at once: .*no key")
    with wanted, single_node.single_node(folder):
        pass


def test_the_verb_of_make_is_skipped_in_one_line(tmp_path):
    code = "import sys\nsys.path.insert(0, sys.argv[1])\nfrom tests.cluster import slurm_smoke, single_node\n"
    code += "single_node.PLACES = '/nowhere'\n"
    code += "slurm_smoke.PLUGIN = 'snakemake'\nsys.exit(slurm_smoke.main())\n"
    done = subprocess.run([sys.executable, "-c", code, str(ROOT)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("slurm-test: skipped: no munged") and len(done.stdout.splitlines()) == 1


def test_without_the_executor_it_is_skipped(monkeypatch, capsys):
    monkeypatch.setattr(slurm_smoke, "PLUGIN", "no_such_module")
    assert slurm_smoke.main() == 0
    assert (
        capsys.readouterr().out
        == "slurm-test: skipped: snakemake-executor-plugin-slurm is not installed (make cluster)\n"
    )


def test_rules_that_take_all_cores_take_few_on_a_node():
    """A rule with threads for all cores there are would wait for ever for a node with 1024."""
    texts = [path.read_text() for path in (ROOT / "workflows").glob("*.smk")]
    rules = [rule for text in texts for rule in text.split("\nrule ")[1:] if "threads: 1024" in rule]
    profile = read_yaml(ROOT / "profiles" / "slurm" / "config.yaml")
    assert {rule.partition(":")[0] for rule in rules} == {text.partition("=")[0] for text in profile["set-threads"]}
