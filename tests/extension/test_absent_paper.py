"""Configuration may name a paper that is not here: what it names is skipped with the reason."""

import json
from pathlib import Path

import pytest

from dpsco_bench import registry
from dpsco_bench.claims.files import read_yaml

METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
ENTRY = "[dpsco_bench.papers]\ngone2020 = gone2020\n"


@pytest.fixture
def gone(tmp_path, monkeypatch):
    folder = tmp_path / "site" / "gone-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRY)
    monkeypatch.syspath_prepend(tmp_path / "site")
    registry._declared.cache_clear()
    yield "gone2020"
    monkeypatch.undo()
    registry._declared.cache_clear()


def test_a_part_with_a_method_of_it_is_skipped_and_the_others_are_judged(gone, dpsco, examples):
    entry = read_yaml(Path(CLAIM))
    theirs = {**entry["parts"][0], "id": "theirs", "algorithm": f"{gone}.sgd"}
    Path(CLAIM).write_text(json.dumps(entry | {"parts": [entry["parts"][1], theirs]}))
    rows = dpsco("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD, "--json").rows
    words = {(row["part"], row["verdict"].split(" (")[0]) for row in rows}
    assert ("theirs", f"skipped: paper {gone} is not installed") in words
    assert all("skipped" not in word for part, word in words if part != "theirs") and len(words) > 1
