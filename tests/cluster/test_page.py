"""docs/cluster.md says what `full` costs, and how results of several machines come together."""

import re
import shutil
from pathlib import Path

import pytest

from dpsco_bench.cli.verbs.gate import recorded_seconds_path
from dpsco_bench.execution.predict import read_seconds

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
ROUGHLY = 0.25
DATA = re.compile(r"wang2017\.fig|leaderboard\.common (adult|covertype|kddcup99)")


def stated(pattern):
    (number,) = re.findall(pattern, PAGE)
    return float(number)


def test_what_full_took_is_what_is_recorded():
    recorded = read_seconds(recorded_seconds_path("full"))
    hours = {id: sum(calibrate + run for calibrate, run, _ in jobs.values()) / 3600 for id, jobs in recorded.items()}
    board = hours.pop("leaderboard.common")
    named = [t for name, t in recorded["leaderboard.common"].items() if DATA.match(f"leaderboard.common {name}")]
    assert stated(r"KDD Cup 99 took (\d+)\.") == round(sum(calibrate + run for calibrate, run, _ in named) / 60)
    assert stated(r"claims took (\S+) hours of one core") == pytest.approx(sum(hours.values()), rel=ROUGHLY)
    assert stated(r"leaderboard took (\S+) minutes") == pytest.approx(60 * board, rel=ROUGHLY)


@pytest.mark.slow
def test_stores_of_two_machines_that_are_copied_together_hold_all(dpsco, tmp_path, monkeypatch):
    claims, said = ("wang2017.thm6.2", "bassily2021.complexity.noisy_sfw"), []
    for claim in claims:
        (tmp_path / claim).mkdir()
        monkeypatch.chdir(tmp_path / claim)
        said.append(dpsco("claim", claim, "--profile", "smoke").err)
        shutil.copytree("results/store", tmp_path / "both" / "results" / "store", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "both")
    both = dpsco("claim", *claims, "--profile", "smoke")
    assert all(said[:1]) and both.code == 0 and both.err == ""
