import subprocess
import sys
from types import SimpleNamespace

import pytest

from dpsco_bench.claims import jobs
from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.execution import digest
from dpsco_bench.execution.digest import CALIBRATION_MODULES, DEVICE_ONLY, KEYED, RUN_MODULES, closure, code_digest
from dpsco_bench.registry import PLUGIN


def forget():
    digest.module_path.cache_clear()
    digest.imported_modules.cache_clear()
    digest.closure.cache_clear()


def writer(folder):
    def write(name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        forget()

    return write


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.setattr(digest, "ROOT", tmp_path)
    write = writer(tmp_path)
    write("work/job.py", "from dpsco_bench.work import run\nimport numpy\n")
    write(
        "work/run.py", "def f():\n    from dpsco_bench.algorithms.registry import g\n    import dpsco_bench.low.leaf\n"
    )
    write("low/leaf.py", "x = 1\n")
    write("low/unrelated.py", "y = 1\n")
    write("algorithms/registry.py", "import importlib\n")
    write("work/__init__.py", "")
    yield write
    forget()


@pytest.fixture
def paper(tmp_path, monkeypatch):
    home = digest._home
    monkeypatch.setattr(digest, "_home", lambda top: tmp_path if top == "theirs" else home(top))
    write = writer(tmp_path)
    write("__init__.py", "from theirs.util import factor\nSTEP = 0.5\n")
    write("util.py", "factor = 1\n")
    write("sub/__init__.py", "size = 3\n")
    write("algorithms.py", "from theirs import factor\nfrom .sub import size\n")
    write("other.py", "unused = 1\n")
    yield write
    forget()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    write = writer(tmp_path)
    for name, content in (("mine.py", "x = 1\n"), ("helper.py", "y = 1\n"), ("tools/__init__.py", ""), ("notes/a", "")):
        write(name, content)
    monkeypatch.setitem(sys.modules, f"{PLUGIN}mine", SimpleNamespace(__file__=str(tmp_path / "mine.py")))
    return write


def test_closure_follows_nested_imports(package):
    used = ["algorithms.registry", "low.leaf", "work.job", "work.run"]
    assert [*closure(frozenset({"dpsco_bench.work.job"}))] == [f"dpsco_bench.{name}" for name in used]


IN_USE = {
    ("package", "dpsco_bench.work.job"): ["low/leaf.py", "work/run.py", "algorithms/registry.py"],
    ("paper", "theirs.algorithms"): ["__init__.py", "util.py", "sub/__init__.py", "algorithms.py"],
    ("plugin", f"{PLUGIN}mine"): ["mine.py", "helper.py", "tools/inner.py"],
}
UNUSED = {
    ("package", "dpsco_bench.work.job"): ["low/unrelated.py", "work/__init__.py", "low/fresh.py"],
    ("paper", "theirs.algorithms"): ["other.py"],
    ("plugin", f"{PLUGIN}mine"): ["notes/script.py"],
}


@pytest.mark.parametrize(
    ("place", "module", "file", "changes"),
    [(*of, file, used) for used, files in ((True, IN_USE), (False, UNUSED)) for of in files for file in files[of]],
)
def test_only_modules_in_use_change_the_digest(request, tmp_path, place, module, file, changes):
    """A paper counts its packages with what they import, a plug-in its folder with its packages."""
    write = request.getfixturevalue(place)
    before = code_digest([module])
    path = tmp_path / file
    write(file, (path.read_text() if path.exists() else "") + "\nchanged = 1\n")
    assert (code_digest([module]) != before) == changes


def test_two_plugins_of_a_folder_have_keys_of_their_own(tmp_path, monkeypatch):
    """Both may register what is called the same: a method, and its next version beside it."""
    write = writer(tmp_path)
    for name in ("first", "second"):
        write(f"{name}.py", f"x = {len(name)}\n")
        monkeypatch.setitem(sys.modules, f"{PLUGIN}{name}", SimpleNamespace(__file__=str(tmp_path / f"{name}.py")))
    assert code_digest([f"{PLUGIN}first"], keyed=True) != code_digest([f"{PLUGIN}second"], keyed=True)


LEAF = """
from dpsco_bench.geometry.balls import project
HOME = "dpsco_bench.geometry.balls"

class A:
    ridge: float = option(0.1, "lambda", within="(0, 1)")

def f(x, limit):
    allowed = f"at most {limit}"
    if x > limit:
        raise InputError("x", x, allowed)
    label = "kept"
    return project(x), label
"""
SAME = {
    "meaning of an option": ('"lambda"', '"the ridge"'),
    "docstring": ("def f(x, limit):", 'def f(x, limit):\n    """Project it."""'),
    "comment": ("if x > limit:", "if x > limit:  # too far"),
    "moved import": ("dpsco_bench.geometry.balls import", "dpsco_bench.geometry.sets.balls import"),
    "moved name": ('HOME = "dpsco_bench.geometry.balls"', 'HOME = "dpsco_bench.sets"'),
    "text of an error": ('"x", x', '"the point", x'),
    "text that only an error says": ("at most {limit}", "no more than {limit}"),
}
OTHER = {"comparison": ("x > limit", "x >= limit"), "value": ('"kept"', '"other"'), "result": ("project(x),", "x,")}
OTHER |= {"default": ("option(0.1", "option(0.2"), "range": ("(0, 1)", "(0, 2)"), "no option": ("option(", "other(")}


@pytest.mark.parametrize("change", [*SAME, *OTHER])
def test_words_layout_and_places_change_no_digest_and_code_does(tmp_path, change):
    path = tmp_path / "leaf.py"
    path.write_text(LEAF)
    before = digest.source_digest(path)
    one, other = {**SAME, **OTHER}[change]
    assert one in LEAF
    (tmp_path / "edited.py").write_text(LEAF.replace(one, other))
    assert (digest.source_digest(tmp_path / "edited.py") == before) == (change in SAME)


def code_of(profile):
    used = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "code_digest", lambda named, *_, **keyed: used.update(named) or "0" * 16)
        for id in claim_ids():
            claim_plan(id, profile)
    return set(closure(frozenset(used), DEVICE_ONLY, keyed=True))


def test_no_key_holds_code_of_the_harness():
    """What plans, schedules, stores, judges, audits and shows may be edited, and moved, and every key stays."""
    held = code_of("smoke")
    assert {name.split(".")[1] for name in held} <= KEYED
    shown = (".bounds.", ".figures", ".tables", ".bench")
    assert len(held) > 100 and not [name for name in held if any(part in f"{name}." for part in shown)]


@pytest.mark.parametrize(("step", "named"), [("job", RUN_MODULES), ("calibration", CALIBRATION_MODULES)])
def test_every_key_holds_what_a_step_uses_of_the_mathematics(step, named):
    """The modules that are named by hand are those that the step's own code reaches."""
    reached = {
        name for name in closure(frozenset({f"dpsco_bench.execution.{step}"}), DEVICE_ONLY) if digest.is_keyed(name)
    }
    compared = {"dpsco_bench.privacy.fingerprint"} - set(named)  # a run only compares plans by it
    assert reached - compared == set(closure(frozenset(named), DEVICE_ONLY, keyed=True))


def test_keys_hold_no_accountant_no_other_method_and_no_code_of_a_device():
    modules = closure(frozenset({*RUN_MODULES, "dpsco_bench.papers.wang2017.algorithms.gradient_descent"}), keyed=True)
    for absent in ("accountants", "claims", "dp_svrg", "covertype", "schatten", "__init__"):
        assert not [name for name in modules if absent in name]
    modules = ["dpsco_bench.papers.wang2017.fused.steps", *RUN_MODULES]
    assert {*closure(frozenset(modules), keyed=True)} - {
        *closure(frozenset(modules), DEVICE_ONLY, keyed=True)
    } == DEVICE_ONLY
    assert code_digest(modules, keyed=True) != code_digest(modules, without=DEVICE_ONLY, keyed=True)
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
