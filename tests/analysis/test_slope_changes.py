"""docs/slopes.md lists every slope that differs from the first record, each with a reason."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "docs" / "slopes.py"))


@pytest.fixture(scope="module")
def lines(script):
    claims = {claim.id: claim for claim in script["read_claims"]()}
    return script["lines"](script["read_slopes"](), script["now"](), claims)


def test_the_page_is_what_its_script_writes(script):
    assert (ROOT / "docs" / "slopes.md").read_text(encoding="utf-8") == script["page"](), "python docs/slopes.py"


def test_every_slope_that_differs_has_a_line_with_a_reason(script, lines):
    now = {(row.id, row.part, row.calibration): row.slope for row in script["now"]()}
    old = {slope.place: slope.slope for slope in script["read_slopes"]()}
    assert {line.place for line in lines} == {place for place in old.keys() & now.keys() if old[place] != now[place]}
    assert not [line.place for line in lines if not line.because or not line.reason]
    assert {name for line in lines for name in line.because} <= script["CLASSES"].keys()


def test_reasons_by_hand_are_of_slopes_that_differ(script, lines):
    assert script["read_reasons"]().keys() <= {line.place for line in lines}


def test_words_then_are_those_of_the_same_record(script):
    words = script["_words"]()
    assert all(slope.place in words for slope in script["read_slopes"]())
