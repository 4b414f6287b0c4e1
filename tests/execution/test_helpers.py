"""Whatever own code imports counts, wherever it lies; what is installed does not."""

from __future__ import annotations

import sys
from importlib.metadata import PathDistribution
from types import SimpleNamespace

import pytest

from dpsco_bench.execution import digest, helpers
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.helpers import with_helpers
from dpsco_bench.execution.sources import CodeChanged, Sources, digests
from dpsco_bench.registry import PLUGIN, add_paper, drop_paper

MODULE = f"{PLUGIN}mine"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """``write(file, text)`` writes a file of the test's folder; names that it brings are forgotten afterwards."""
    before = set(sys.modules)

    def write(name, text=""):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    yield write
    for name in sys.modules.keys() - before:
        del sys.modules[name]


@pytest.fixture
def mine(write, monkeypatch):
    """``mine(text)`` makes a plugin of a text; returns its file."""

    def mine(text):
        path = write("own/mine.py", text)
        monkeypatch.setitem(sys.modules, MODULE, SimpleNamespace(__file__=str(path)))
        return path

    return mine


def test_files_beside_ones_own_count(write):
    own = write("mine.py", "from helper import factor\nimport numpy\n")
    helper, package = write("helper.py", "import tools\n"), write("tools/__init__.py")
    write("unused.py")
    assert with_helpers([own]) == [own, helper, package]


@pytest.mark.parametrize(
    ("file", "text", "on_path"),
    [
        ("own/helper.py", "import helper", ""),
        ("own/hp/sub.py", "from hp.sub import FACTOR", ""),  # a folder without an __init__.py
        ("own/hp/sub.py", "from hp import sub", ""),
        ("own/hp/deep/sub.py", "import hp.deep.sub", ""),
        ("own/tools/hidden.py", "import tools", ""),  # a package beside it counts as a whole
        ("elsewhere/helper.py", "def f():\n    import helper", "elsewhere"),
        ("elsewhere/hp/sub.py", "from hp.sub import FACTOR", "elsewhere"),
        ("elsewhere/hp/deep/sub.py", "import hp.deep.sub", "elsewhere"),
        ("elsewhere/tools/__init__.py", "import tools.part", "elsewhere"),
        ("elsewhere/tools/part.py", "from tools.part import FACTOR", "elsewhere"),
        ("elsewhere/tools/part.py", "import through", "elsewhere"),
        ("elsewhere/tools/other.py", "from tools import part", "elsewhere"),  # which imports it relatively
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_an_edited_helper_changes_the_digest(write, mine, monkeypatch, tmp_path, file, text, on_path, loaded):
    """Of a file that imports it, whether it is loaded or not."""
    write("own/tools/__init__.py" if not on_path else "elsewhere/tools/__init__.py")
    write("elsewhere/tools/part.py", "from . import other\nFACTOR = 1\n")
    write("elsewhere/tools/other.py")
    write("elsewhere/through.py", "import tools.part\n")
    path = write(file, "FACTOR = 1\n" if not file.endswith("part.py") else "from . import other\nFACTOR = 1\n")
    own = mine(f"{text}\n")
    monkeypatch.syspath_prepend(tmp_path / (on_path or "own"))
    if loaded:
        exec(text.removeprefix("def f():\n    "), {})
    before, known = code_digest([MODULE]), Sources(digests([own]))
    known.check()
    path.write_text(path.read_text() + "# a remark\n")
    assert code_digest([MODULE]) == before
    path.write_text(path.read_text() + "CHANGED = True\n")
    assert code_digest([MODULE]) != before
    with pytest.raises(CodeChanged, match=f"{path.name} changed since"):
        known.check()


def test_what_a_helper_imports_of_the_house_counts(write, mine):
    write("own/helper.py", "import math\n")
    mine("import helper\n")
    before = code_digest([MODULE])
    write("own/helper.py", "import dpsco_bench.geometry.lp\n")
    names, _ = digest._with_helpers({MODULE}, frozenset())
    assert "dpsco_bench.geometry.lp" in names and code_digest([MODULE]) != before


def test_a_module_that_registers_for_a_plugin_counts(write, monkeypatch, tmp_path):
    """An algorithm's module may be a helper."""
    path = write("elsewhere/registers.py", "STEP = 1\n")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    __import__("registers")
    before = code_digest(["registers"])
    path.write_text("STEP = 2\n")
    assert code_digest(["registers"]) != before


@pytest.mark.parametrize("place", ["site-packages", "libs"])
def test_what_is_installed_does_not_count(write, mine, monkeypatch, tmp_path, place):
    write(f"{place}/installed_one/__init__.py")
    write(f"{place}/installed_one-1.dist-info/RECORD")
    own = mine("import installed_one, json, numpy, os.path\nfrom scipy.special import gammaln\n")
    monkeypatch.syspath_prepend(tmp_path / place)
    assert with_helpers([own]) == [own]


def test_own_files_that_are_installed_have_nothing_beside_them(write):
    own = write("site-packages/mine.py", "import neighbour\n")
    write("site-packages/neighbour/__init__.py")
    assert with_helpers([own]) == [own]


@pytest.fixture
def paper(write, tmp_path):
    """A paper in a folder, with a package of its own beside it that it imports in a function."""
    write("pk/mend2026/__init__.py")
    write("pk/mend2026/algorithms.py", "from .steps import step\n\ndef f():\n    from extra.scale import FACTOR\n")
    write("pk/mend2026/steps.py", "step = 1\n")
    write("pk/extra/__init__.py")
    write("pk/extra/scale.py", "from extra import deep\nFACTOR = 1\n")
    write("pk/extra/deep.py", "DEPTH = 1\n")
    write("pk/extra/unused.py", "DEPTH = 1\n")
    add_paper(tmp_path / "pk" / "mend2026")
    yield tmp_path / "pk"
    drop_paper("mend2026")
    for cached in (digest.module_path, digest.imported_modules, digest._closure):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("file", "changes"),
    [("mend2026/steps.py", True), ("extra/scale.py", True), ("extra/deep.py", True), ("extra/unused.py", False)],
)
def test_a_papers_other_packages_count(paper, file, changes):
    __import__("mend2026.algorithms")
    before, known = code_digest(["mend2026.algorithms"]), Sources(digests())
    known.check()
    (paper / file).write_text((paper / file).read_text() + "CHANGED = True\n")
    assert (code_digest(["mend2026.algorithms"]) != before) == changes
    if changes:
        with pytest.raises(CodeChanged, match=f"{(paper / file).name} changed since"):
            known.check()
    else:
        known.check()


def test_an_installed_papers_other_packages_count(write, monkeypatch, tmp_path):
    """Those of its distribution, and of no other that is installed."""
    write("site-packages/mend2026/__init__.py")
    algorithms = write("site-packages/mend2026/algorithms.py", "import extra.scale, stranger\n")
    scale, package = write("site-packages/extra/scale.py"), write("site-packages/extra/__init__.py")
    write("site-packages/stranger.py")
    info = write("site-packages/mend2026-1.dist-info/METADATA", "Name: mend2026\nVersion: 1\n").parent
    (info / "RECORD").write_text("mend2026/__init__.py,,\nextra/__init__.py,,\nextra/scale.py,,\n")
    (info / "entry_points.txt").write_text("[dpsco_bench.papers]\nmend2026 = mend2026\n")
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.setattr(helpers, "entry_points", lambda group: PathDistribution(info).entry_points.select(group=group))
    helpers._beside_papers.cache_clear()
    assert with_helpers([], [algorithms]) == [package, scale]
    helpers._beside_papers.cache_clear()
