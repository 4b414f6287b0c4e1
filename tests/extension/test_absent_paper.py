"""Configuration may name a paper that is not here: what it names is left out, or skipped with the reason."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench import registry
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.leaderboard.board import load_board
from dpsco_bench.paths import conf_dir

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
ENTRY = "[dpsco_bench.papers]\ngone2020 = gone2020\n"


@pytest.fixture
def gone(tmp_path, monkeypatch):
    """A paper of another distribution that is declared, but whose package is not there."""
    folder = tmp_path / "site" / "gone-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRY)
    monkeypatch.syspath_prepend(tmp_path / "site")
    registry._declared.cache_clear()
    yield "gone2020"
    monkeypatch.undo()
    registry._declared.cache_clear()


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A copy of the configuration tree that may be changed."""
    shutil.copytree(conf_dir(), tmp_path / "conf", ignore=shutil.ignore_patterns("__pycache__"))
    for module in ("leaderboard.board", "claims.catalogue"):
        monkeypatch.setattr(f"dpsco_bench.{module}.conf_dir", lambda: tmp_path / "conf")
    return tmp_path / "conf"


def edit(path: Path, old: str, new: str):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("paper", ["gone2020", "never2020"])
def test_its_names_in_leaderboards_are_left_out(gone, conf, paper):
    """Nothing declares the second one: whoever drops a paper may drop its entry point too."""
    board, file = load_board("leaderboard.common"), conf / "leaderboard" / "common.yaml"
    edit(file, "methods:\n", f"methods:\n  - {paper}.sgd\n  - {{algorithm: {paper}.gd}}\n")
    edit(file, "    searches:\n", f"    searches:\n      - {{algorithm: {paper}.sgd, grid: {{steps: [4]}}}}\n")
    edit(file, "without_privacy: bassily2021.gg_lmo", f"without_privacy: {paper}.gd")
    edit(file, "lower_bound: leaderboard.sco_l1", f"lower_bound: {paper}.thm2")
    edit(file, "excluded: &sums {", 'excluded: &sums {sgd: "gone", ')
    found = load_board("leaderboard.common")
    assert found.instances[0] == replace(board.instances[0], without_privacy=None, lower_bound="")
    assert found == replace(board, instances=[found.instances[0], *board.instances[1:]])


def test_a_part_with_a_method_of_it_is_skipped_and_the_others_are_judged(gone, dpsco, examples):
    entry = read_yaml(Path(CLAIM))
    theirs = {**entry["parts"][0], "id": "theirs", "algorithm": f"{gone}.sgd"}
    Path(CLAIM).write_text(json.dumps(entry | {"parts": [entry["parts"][1], theirs]}))
    found = dpsco("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD, "--json")
    assert found.code in (0, 1), found.err
    words = {(row["part"], row["verdict"].split(" (")[0]) for row in json.loads(found.out)}
    assert ("theirs", f"skipped: paper {gone} is not installed") in words
    assert all("skipped" not in word for part, word in words if part != "theirs") and len(words) > 1
