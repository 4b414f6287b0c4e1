"""docs/scaling.py: its page is what it writes, and what it measures is what it says."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_bench.rng.streams import cpu_implementation

ROOT = Path(__file__).parents[2]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")


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


@LINUX
@pytest.mark.skipif(not cpu_implementation().__name__.endswith("kernels"), reason="without Numba nothing is fused")
def test_points_are_measured_apart(script, monkeypatch):
    """A small grid: every row has its times, its memory and what the model says of both runs."""
    inside = script["measure"].__globals__
    monkeypatch.setitem(inside, "METHODS", script["METHODS"][:1])
    monkeypatch.setitem(inside, "GRID", {"n": (30,)})
    monkeypatch.setitem(inside, "CENTRE", {"n": 40, "d": 3, "R": 2})
    rows = list(script["measure"]())
    assert [(row["n"], row["fused"]) for row in rows] == [(40, False), (40, True), (30, False), (30, True)]
    assert all(row["seconds"] > 0 and row["model_s"] > 0 and row["peak_mb"] >= 0 for row in rows)
    assert rows[0]["model_s"] != rows[1]["model_s"]
    assert rows[0]["gradients"] > rows[2]["gradients"] > 0


HELD = """
import runpy, sys
from pathlib import Path

script = runpy.run_path(sys.argv[1])
held = bytearray(b"x") * (50 << 20)

def task():
    Path("/proc/self/clear_refs").write_text("5")
    before = script["memory"]("VmRSS")
    more = bytearray(b"x") * len(held)
    return script["memory"]("VmHWM") - before, len(more)

print(script["apart"](task)[0])
"""


@LINUX
def test_memory_is_that_of_the_task_alone():
    """Fifty megabytes that are touched are seen; what the parent holds is not.

    A process of its own: a test runner's may drop garbage of that size while the task runs.
    """
    command = [sys.executable, "-c", HELD, str(ROOT / "docs" / "scaling.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 45 < float(done.stdout) < 70
