"""Wrong words are rare: the page shows what the script gives, and no row is beyond its limit."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "error_rates.py"))
DESIGNS, DISTANCES, LIMITS = SCRIPT["DESIGNS"], SCRIPT["DISTANCES"], SCRIPT["LIMITS"]
ROWS = [line for line in (DOCS / "error_rates.md").read_text(encoding="utf-8").splitlines() if line.endswith("% |")]


def test_the_page_shows_what_the_script_gives():
    design, distance = DESIGNS[7], 2.0  # of the quick ones that with common random numbers
    assert SCRIPT["line"](design.name, distance, SCRIPT["words"](design, distance)) in ROWS


def test_every_design_is_within_its_limits():
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in ROWS]
    assert [(name, float(distance)) for name, distance, *_ in cells] == [
        (design.name, distance) for design in DESIGNS for distance in DISTANCES
    ]
    for name, distance, *_, wrong, allowed in cells:
        assert float(wrong.rstrip("%")) <= float(allowed.rstrip("%")), (name, distance)


@pytest.mark.parametrize(("distance", "right"), [(0.0, {"match"}), (2.0, {"faster", "fails"})])
def test_precise_sweeps_get_the_right_word(distance, right):
    found = SCRIPT["words"](DESIGNS[3], distance, 40)
    assert sum(found[word] for word in right) == 40
