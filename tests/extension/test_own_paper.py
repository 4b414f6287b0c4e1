"""A whole paper of one's own: used from its folder by one option, and as an installed package."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAPER = "examples/paper/example2026"
WORDS = {
    "paper": {"sign_mean-n": "match", "explicit": "holds", "privacy": "fails"},
    "accounted": {"sign_mean-n": "match", "explicit": "holds", "privacy": "holds"},
}
pytestmark = pytest.mark.slow


def check_paper(folder, *option, path=()):
    """In processes of their own, where nothing is left of other papers."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT)))}

    def said(*arguments):
        command = [sys.executable, "-m", "dpsco_bench", *arguments, *option]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    rows = json.loads(said("claim", "example2026.thm1", "--profile", "smoke", "--json"))
    for noise, words in WORDS.items():
        assert {row["part"]: row["verdict"].split(" ")[0] for row in rows if row["calibration"] == noise} == words
    for what, id in (("algorithms", ".one_step"), ("claims", ".thm1"), ("tables", ".table1"), ("papers", "")):
        assert f"example2026{id}" in [entry["id"] for entry in json.loads(said("list", what, "--json"))]
    account = said("account", "example2026.one_step", "problem=sign_mean", "n=512", "--json")
    assert json.loads(account)["paper"]["privacy_status"] == "exceeds_claim"
    assert "half of the sensitivity" in said("show", "example2026.E1")
    assert "d R^2 l" in said("show", "example2026.thm1")


def test_from_its_folder_by_one_option(tmp_path, examples):
    check_paper(tmp_path, "--plugin", PAPER)


def test_installed(tmp_path):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(tmp_path / "site")]
    install = [sys.executable, "-m", "pip", "install", *options, str(ROOT / "examples" / "paper")]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    check_paper(tmp_path, path=[tmp_path / "site"])


def test_in_the_workflow(tmp_path, examples):
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    command = [snakemake, "--snakefile", str(ROOT / "Snakefile"), "--profile", str(ROOT / "profiles" / "default")]
    command += ["--cores", "1", "--config", "profile=smoke", f"plugins={PAPER}", "--", "claims/example2026"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figures" / "smoke" / "example2026.thm1.svg").is_file()
