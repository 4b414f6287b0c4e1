"""docs/cluster.md says what `full` took, and results of several machines come together."""

import re
import shutil
from pathlib import Path

import pytest

from dpsco_bench.cli.verbs.gate import recorded_seconds_path
from dpsco_bench.execution.predict import read_seconds

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")


def test_what_full_took_is_what_is_recorded():
    recorded = read_seconds(recorded_seconds_path("full"))
    hours = {id: sum(calibrate + run for calibrate, run, _ in jobs.values()) / 3600 for id, jobs in recorded.items()}
    board = hours.pop("leaderboard.common")
    (claims,) = re.findall(r"claims took (\S+) hours of one core", PAGE)
    (minutes,) = re.findall(r"leaderboard took (\S+) minutes", PAGE)
    assert (float(claims), float(minutes)) == pytest.approx((sum(hours.values()), 60 * board), rel=0.25)


@pytest.mark.slow
def test_stores_of_two_machines_that_are_copied_together_hold_all(dpsco, tmp_path, monkeypatch):
    claims = ("wang2017.thm6.2", "bassily2021.complexity.noisy_sfw")
    for claim in claims:
        (tmp_path / claim).mkdir()
        monkeypatch.chdir(tmp_path / claim)
        assert dpsco("claim", claim, "--profile", "smoke").code == 0
        shutil.copytree("results/store", tmp_path / "both" / "results" / "store", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "both")
    both = dpsco("claim", *claims, "--profile", "smoke")
    assert both.code == 0 and both.err == ""
