"""docs/scaling.py: its page is what it writes, and what it measures is what it says."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script():
    return runpy.run_path(str(ROOT / "docs" / "scaling.py"))


def test_the_page_is_what_its_script_writes(script):
    assert (ROOT / "docs" / "scaling.md").read_text() == script["page"](*script["kept"]()), "python docs/scaling.py"


def test_what_is_kept_is_the_whole_grid(script):
    about, rows = script["kept"]()
    wanted = {
        (m.title, *size.values(), fused) for m in script["METHODS"] for size in script["sizes"]() for fused in (0, 1)
    }
    assert {(row["method"], row["n"], row["d"], row["R"], row["fused"]) for row in rows} == wanted
    assert all(max(values) >= 900 * min(values) for values in script["GRID"].values()), "three decades"
    assert about["processor"] and about["numpy"]
