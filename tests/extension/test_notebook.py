"""examples/tour.ipynb runs from top to bottom, and what it shows is what comes out."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

CELLS = json.loads((Path(__file__).parents[2] / "examples" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def names():
    found = {"printed": []}
    for cell in CODE:
        with redirect_stdout(StringIO()) as out:
            exec("".join(cell["source"]), found)
        found["printed"].append(out.getvalue())
    return found


def test_what_is_printed_is_what_it_shows(names):
    shown = ["".join(text for out in cell["outputs"] for text in out.get("text", ())) for cell in CODE]
    assert shown == names["printed"] and all(cell["outputs"] for cell in CODE if "plot" in "".join(cell["source"]))


def test_the_printed_noise_exceeds_the_claim_and_the_accounted_does_not(names):
    paper = names["ledger"].paper
    assert paper.epsilon_real > 1 and (paper.privacy_status, paper.epsilon_of) == ("unproven", "sequence")
    assert names["ledger"].accounted.privacy_status == "proven"


def test_more_records_give_less_risk(names):
    assert names["slope"] < 0


def test_methods_are_ranked_below_the_starting_point(names):
    assert names["choice"].best.risk < names["choice"].trivial
