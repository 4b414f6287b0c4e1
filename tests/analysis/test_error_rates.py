"""Wrong words are rare: the page shows what the script gives, and no row is beyond its limit."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "error_rates.py"))
DESIGNS, DISTANCES = SCRIPT["DESIGNS"], SCRIPT["DISTANCES"]
PAGE = (DOCS / "error_rates.md").read_text(encoding="utf-8")
ROWS, RARE = (
    [line for line in part.splitlines() if line.endswith("% |")]
    for part in PAGE.split("## Values that a sample hardly has")
)


def test_the_page_shows_what_the_script_gives():
    design, distance = DESIGNS[7], 2.0  # of the quick ones that with common random numbers
    assert SCRIPT["line"](design.name, distance, SCRIPT["words"](design, distance)) in ROWS


@pytest.mark.slow
def test_it_shows_where_the_limits_are_not_kept():
    rare = SCRIPT["RARE"]
    assert [row.split(" | ")[0].strip("| ") for row in RARE] == [design.name for design in rare for _ in range(2)]
    assert SCRIPT["line"](rare[-1].name, 1.0, SCRIPT["words"](rare[-1], 1.0)) in RARE
    assert max(float(row.split(" | ")[-3].rstrip("%")) for row in RARE) > 5.0


def test_every_design_is_within_its_limits():
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in ROWS]
    every = [(design.name, distance) for design in DESIGNS for distance in DISTANCES]
    assert [(name, float(distance)) for name, distance, *_ in cells] == every
    staged, edge = {design.name for design in DESIGNS if design.staged}, []
    for name, distance, sweeps, *_, wrong, whole, allowed in cells:
        found, limit = float(wrong.rstrip("%")), float(allowed.rstrip("%"))
        chance = 2 * (limit * (100 - limit) / int(sweeps.replace(",", ""))) ** 0.5 if name in staged else 0.0
        assert found <= limit + chance, (name, distance)
        edge += [(found, float(whole.rstrip("%")))] if name in staged and abs(float(distance)) == 1.0 else []
    staged_errors, whole_errors = (sum(one) / len(edge) for one in zip(*edge, strict=True))
    assert staged_errors <= 5.0 and staged_errors <= whole_errors + 0.5
