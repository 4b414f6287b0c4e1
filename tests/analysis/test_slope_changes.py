"""docs/slopes.md lists every slope that differs from the first record, each with a reason."""

import math
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


def test_slopes_that_are_rounded_to_either_side_are_the_same(script):
    assert script["same"](-0.3905, -0.3904) and script["same"](0.0, 0.0) and script["same"](1.0, 0.9991)
    assert not script["same"](-0.3905, -0.3903) and not script["same"](0.3905, -0.3905)
    assert not script["same"](0.39, math.nan)


def test_every_slope_that_differs_has_a_line_with_a_reason(script, lines):
    now = {(row.id, row.part, row.calibration): row.slope for row in script["now"]()}
    old = {slope.place: slope.slope for slope in script["read_slopes"]()}
    differ = {place for place in old.keys() & now.keys() if not script["same"](old[place], now[place])}
    assert {line.place for line in lines} == differ
    assert not [line.place for line in lines if not line.because or not line.reason]
    assert {name for line in lines for name in line.because} <= script["CLASSES"].keys()


def test_reasons_by_hand_are_of_slopes_that_differ(script, lines):
    assert script["read_reasons"]().keys() <= {line.place for line in lines}


def test_words_then_are_those_of_the_same_record(script):
    words = script["_words"]()
    assert all(slope.place in words for slope in script["read_slopes"]())
