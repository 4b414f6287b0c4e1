import subprocess
import sys
from types import SimpleNamespace

import pytest

import dpsco_bench
from dpsco_bench.execution import digest
from dpsco_bench.execution.digest import DEVICE_ONLY, closure, code_digest, imported_modules, module_path
from dpsco_bench.registry import PLUGIN

JOB = "dpsco_bench.execution.job"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the mechanics on a package of four tiny modules; returns ``write(name, text)``."""

    def forget():
        module_path.cache_clear()
        imported_modules.cache_clear()
        digest._closure.cache_clear()

    def write(name, text):
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        forget()

    monkeypatch.setattr(digest, "ROOT", tmp_path)
    write("work.job", "from dpsco_bench.work import run\nimport numpy\n")
    write("work.run", "def f():\n    from dpsco_bench.algorithms.registry import g\n    import dpsco_bench.low.leaf\n")
    write("low.leaf", "x = 1\n")
    write("low.unrelated", "y = 1\n")
    write("algorithms.registry", "import importlib\n")
    write("work.__init__", "")
    yield write
    forget()


def test_closure_follows_nested_imports(package):
    used = ["algorithms.registry", "low.leaf", "work.job", "work.run"]
    assert closure(["dpsco_bench.work.job"]) == [f"dpsco_bench.{name}" for name in used]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("low.leaf", True),
        ("work.run", True),
        ("low.unrelated", False),
        ("algorithms.registry", True),
        ("work.__init__", False),
        ("low.fresh", False),
    ],
)
def test_only_modules_in_use_change_the_digest(package, name, changes):
    before = code_digest(["dpsco_bench.work.job"])
    path = digest.ROOT.joinpath(*name.split(".")).with_suffix(".py")
    package(name, (path.read_text() if path.exists() else "") + "\nchanged = 1\n")
    assert (code_digest(["dpsco_bench.work.job"]) != before) == changes


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("from dpsco_bench.work import run", True),
        ("import dpsco_bench.low.leaf", True),
        ("import helper", True),
        ("from dpsco_bench import leaf", True),
        ("import dpsco_bench as bench", True),
        ("from dpsco_bench import other", False),
        ("import numpy", False),
    ],
)
def test_an_own_file_depends_on_what_it_imports(package, tmp_path, monkeypatch, text, follows):
    """Directly, through a file beside it, and by a name that the package exports."""
    monkeypatch.setattr(dpsco_bench, "_HOMES", {"leaf": "low.leaf", "other": "low.unrelated"})
    (tmp_path / "mine.py").write_text(f"{text}\n")
    (tmp_path / "helper.py").write_text("from dpsco_bench.low import leaf\n")
    monkeypatch.setitem(sys.modules, f"{PLUGIN}mine", SimpleNamespace(__file__=str(tmp_path / "mine.py")))
    before = code_digest([f"{PLUGIN}mine"])
    package("low.leaf", "x = 2\n")
    assert (code_digest([f"{PLUGIN}mine"]) != before) == follows


def test_words_and_layout_change_no_digest(package):
    before = code_digest(["dpsco_bench.work.job"])
    package("low.leaf", '"""What it is."""\n\n# A leaf.\nx = (\n    1\n)\n"""Said below."""\n')
    assert code_digest(["dpsco_bench.work.job"]) == before


def test_the_meaning_of_an_option_changes_no_digest_but_its_default_and_range_do(package):
    def digest_of(declaration):
        package("low.leaf", f"class A:\n    ridge: float = {declaration}\n")
        return code_digest(["dpsco_bench.work.job"])

    first = digest_of('option(0.1, "lambda", within="(0, 1)")')
    assert digest_of('option(0.1, "the ridge", within="(0, 1)")') == digest_of('option(0.1, within="(0, 1)")') == first
    others = (
        'option(0.2, "lambda", within="(0, 1)")',
        'option(0.1, "lambda", within="(0, 2)")',
        'other(0.1, "lambda")',
    )
    assert len({first, *map(digest_of, others)}) == 4


def test_plugins_count_by_content_and_not_by_place(package, tmp_path):
    places = tmp_path / "a" / "mine.py", tmp_path / "b" / "mine.py"
    for path in places:
        path.parent.mkdir()
        path.write_text("z = 1\n")
    first, second = (code_digest(["dpsco_bench.work.job"], [path]) for path in places)
    assert first == second != code_digest(["dpsco_bench.work.job"])
    places[0].write_text("z = 2\n")
    assert code_digest(["dpsco_bench.work.job"], [places[0]]) != first


def test_jobs_depend_on_no_accountant_claim_or_other_algorithm():
    modules = closure([JOB, "dpsco_bench.papers.wang2017.algorithms.dp_gd_pl", "dpsco_bench.problems.logistic"])
    assert "dpsco_bench.rng.kernels" in modules and "dpsco_bench.privacy.mechanism" in modules
    assert "dpsco_bench.problems.glm" in modules
    for absent in ("accountants", "claims", "dp_svrg", "covertype", "__init__", "cli"):
        assert not [name for name in modules if absent in name]


def test_calibrations_depend_neither_on_the_worker_nor_by_themselves_on_an_accountant_or_a_rare_set():
    modules = closure(["dpsco_bench.execution.calibration"])
    assert JOB not in modules and "dpsco_bench.execution.run" not in modules
    assert not [name for name in modules if ".accountants." in name or name.endswith((".sets", ".schatten"))]


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A package of somebody else's: ``write(file, text)`` writes a file of it."""

    def write(name, text):
        path = tmp_path / "theirs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        module_path.cache_clear()
        imported_modules.cache_clear()
        digest._closure.cache_clear()
        digest._closure.cache_clear()

    home = digest._home
    monkeypatch.setattr(digest, "_home", lambda top: tmp_path / "theirs" if top == "theirs" else home(top))
    write("__init__.py", "from theirs.util import factor\nSTEP = 0.5\n")
    write("util.py", "factor = 1\n")
    write("sub/__init__.py", "size = 3\n")
    write("algorithms.py", "from theirs import factor\nfrom .sub import size\n")
    write("other.py", "unused = 1\n")
    yield write
    digest._closure.cache_clear()


@pytest.mark.parametrize(
    ("file", "changes"),
    [("__init__.py", True), ("util.py", True), ("sub/__init__.py", True), ("algorithms.py", True), ("other.py", False)],
)
def test_a_papers_packages_count_with_what_they_import(paper, file, changes):
    before = code_digest(["theirs.algorithms"])
    paper(file, "changed = 1\n")
    assert (code_digest(["theirs.algorithms"]) != before) == changes


def test_the_packages_of_shipped_papers_hold_nothing():
    places = (digest.ROOT / "papers").rglob("__init__.py")
    assert [str(path) for path in places if path.read_text().strip()] == []


ON_A_CORE = """
import sys
from dpsco_bench.execution.digest import DEVICE_ONLY

class Block:
    def find_spec(self, name, path=None, target=None):
        if name in DEVICE_ONLY:
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Block())
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.fused.registry import FUSED

FUSED.load()
for id, problem in (("wang2017.dp_svrg", "ridge_logistic"), ("bassily2021.poly_sfw", "needle_l1")):
    assert FUSED.find(id)
    cell = Cell(id, problem, n=64, epsilon=1.0, delta=1e-5, d=3)
    plan = cell.plan("paper", 1)[1]
    scales = {query.name: 0.1 for query in plan.queries}
    run_block(cell, plan, scales, cell.draw_data(1, 0), root_seed=1, replicates=2)
assert not DEVICE_ONLY & sys.modules.keys()
"""


def test_a_run_on_a_core_loads_nothing_of_a_device():
    """So that keys of such runs may leave it out, fused runs included."""
    done = subprocess.run([sys.executable, "-c", ON_A_CORE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_a_device_alone_needs_counts_for_runs_there_alone():
    modules = ["dpsco_bench.papers.wang2017.fused.variance_reduction", "dpsco_bench.execution.job"]
    assert set(closure(modules)) - set(closure(modules, DEVICE_ONLY)) == DEVICE_ONLY
    assert code_digest(modules) != code_digest(modules, without=DEVICE_ONLY)
