"""examples/tour.ipynb runs from top to bottom and shows what its text says."""

import json
from pathlib import Path

import pytest

CELLS = json.loads((Path(__file__).parents[2] / "examples" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.fixture(scope="module")
def names():
    found = {}
    for cell in CELLS:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), found)
    return found


def test_the_printed_noise_exceeds_the_claim_and_the_accounted_does_not(names):
    paper = names["ledger"]["paper"]
    assert paper["epsilon_real"] > 1 and (paper["privacy_status"], paper["epsilon_of"]) == ("unproven", "sequence")
    assert names["ledger"]["accounted"]["privacy_status"] == "proven"


def test_more_records_give_less_risk(names):
    assert names["slope"] < 0


def test_methods_are_ranked_below_the_starting_point(names):
    assert names["choice"].best.risk < names["choice"].trivial


def test_no_outputs_are_kept():
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in CELLS if cell["cell_type"] == "code")
