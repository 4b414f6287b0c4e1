"""What is handed to a machine with a GPU, and what is checked there: on the stand-in."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dpsco_bench.bench import card
from dpsco_bench.claims.compose import make_plan
from dpsco_bench.cli import gpu
from dpsco_bench.execution.layout import Layout

from ..contract.cases import LAWS


def write_scales(path, cases):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({case.id: case.scales for case in cases}))


def test_scales_travel(tmp_path, monkeypatch):
    """`gpu pack` asks for the scales of all cases."""
    wanted = os.environ.get(gpu.SCALES_OF_TESTS)
    if wanted:
        Path(wanted).unlink(missing_ok=True)
        write_scales(Path(wanted), LAWS)
        return
    cases = LAWS[:4]
    write_scales(tmp_path / gpu.SCALES, cases)
    monkeypatch.setenv(gpu.SCALES_OF_TESTS, str(tmp_path / gpu.SCALES))
    for case in cases:
        expected = case.scales
        case.__dict__.pop("calibrated")
        assert case.scales == expected
        case.__dict__.pop("calibrated")


def test_a_pack_is_checked(cupy, tmp_path, monkeypatch):
    """Words of a claim on both, without the tests and the timings of a card."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu, "PROFILES", ("smoke",))
    monkeypatch.setattr(gpu, "_pytest", lambda *a, **k: SimpleNamespace(returncode=0, stdout="2 passed in 1.0s"))
    said, folder = [], tmp_path / "pack"
    gpu.write_pack(folder, ("zhang2022",), lambda profile: make_plan(profile, (), [CLAIM]), said.append)
    assert Layout("smoke", folder).plan.is_file()
    (folder / gpu.SCALES).write_text("{}")
    monkeypatch.setattr(gpu, "_bench", lambda *a: {"G8": card.goal_rows(cupy, (3, 4))[:1], "crossover": []})
    monkeypatch.setattr(card, "GOAL_ROWS", (2,))
    assert gpu.check(folder, folder / "report.json", 20.0, said.append), said
    found = json.loads((folder / "report.json").read_text())
    assert [(row["claim"], row["same"]) for row in found["verdicts"]] == [(CLAIM, True)]
    assert found["verdicts"][0]["apart"] < 1e-9
    assert found["machine"]["device"] == "stand-in"
    page = gpu.report(folder / "report.json")
    assert "Claims: 1 of 1 with the words of a core, 0 left out." in page


def test_sizes_are_timed_until_the_clock_says_so(cupy, monkeypatch):
    monkeypatch.setattr(card, "SIZES", ((2, 3), (3, 3)))
    assert [row["replicates"] for row in card.crossover(cupy, np, float("inf"), (8, 12))] == [2, 3]
    assert card.crossover(cupy, np, 0.0) == []


CLAIM = "zhang2022.thm8"
