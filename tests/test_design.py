"""docs/design.md shows the house as it is."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

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


def docstring_lines(source):
    texts = [s for s in ast.walk(ast.parse(source)) if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
    return sum(text.end_lineno - text.lineno + 1 for text in texts)


def test_its_size_is_what_the_page_says():
    sources = {path: path.read_text() for path in (ROOT / "dpsco_bench").rglob("*.py") if "_share" not in path.parts}
    parts = ("dpsco_bench", "papers", "fused")
    lines, papers, fused = (sum(t.count("\n") for p, t in sources.items() if x in (*p.parts, p.stem)) for x in parts)
    docstrings = sum(map(docstring_lines, sources.values()))
    blank = sum(not line.strip() for text in sources.values() for line in text.splitlines())
    kernels = sum(path.read_text().count("\n") for path in (ROOT / "dpsco_bench").rglob("*.cu*"))
    figures = [lines, len(sources), lines - docstrings - blank, docstrings, papers, fused, kernels]
    figures += [len(list((ROOT / "conf").rglob("*.yaml")))]
    text = (ROOT / "docs" / "design.md").read_text()
    section = text[text.index("## How large it is") :]
    said = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", section)]
    assert said == pytest.approx(figures, rel=0.05)
