"""docs/design.md shows the house as it is."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_picture_is_that_of_the_imports(tmp_path):
    fresh = tmp_path / "house.svg"
    subprocess.run([sys.executable, str(ROOT / "docs" / "house.py"), str(fresh)], check=True)
    assert fresh.read_text() == (ROOT / "docs" / "house.svg").read_text(), "python docs/house.py"


def test_every_room_is_described():
    rooms = [name for layer in runpy.run_path(str(ROOT / "docs" / "house.py"))["rooms"]() for name in layer]
    described = set(re.findall(r"`([\w.]+)`", (ROOT / "docs" / "design.md").read_text()))
    small = {"errors", "jsonio", "paths"}
    assert {room for room in rooms if room not in small} <= {name.removesuffix(".py") for name in described}


def test_every_decorator_that_is_named_exists():
    pages = ("design.md", "internals/workflow.md", "internals/fused.md")
    text = "".join((ROOT / "docs" / name).read_text() for name in pages)
    sources = (ROOT / "dpsco_bench").rglob("*.py")
    defined = set(re.findall(r"^def (\w+)\(", "\n".join(path.read_text() for path in sources), re.M))
    assert set(re.findall(r"`@(\w+)`", text)) <= defined
