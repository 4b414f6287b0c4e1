"""Keys: which code counts for a result, and for a verdict; no words, no harness, and nothing that draws."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.judge import DRAWING, judge_digest, judge_modules
from dpsco_bench.claims import jobs
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.claims.kinds import KINDS
from dpsco_bench.claims.model import Claim, Part
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution import digest
from dpsco_bench.execution.digest import CALIBRATION_MODULES, DEVICE_ONLY, KEYED, RUN_MODULES, closure, code_digest
from dpsco_bench.kinds.rate import RatePart
from dpsco_bench.registry import PLUGIN, modules_in


def forget():
    for kept in (digest.module_path, digest.imported_modules, digest.closure):
        kept.cache_clear()


FILES = {
    "work/job.py": "from dpsco_bench.work import run\nimport numpy\n",
    "work/run.py": "def f():\n    from dpsco_bench.algorithms.registry import g\n    import dpsco_bench.low.leaf\n",
    "low/leaf.py": "x = 1\n",
    "low/unrelated.py": "y = 1\n",
    "algorithms/registry.py": "import importlib\n",
    "work/__init__.py": "",
    "theirs/__init__.py": "from theirs.util import factor\nSTEP = 0.5\n",
    "theirs/util.py": "factor = 1\n",
    "theirs/sub/__init__.py": "size = 3\n",
    "theirs/algorithms.py": "from theirs import factor\nfrom .sub import size\n",
    "theirs/other.py": "unused = 1\n",
    "own/first.py": "x = 1\n",
    "own/second.py": "x = 2\n",
    "own/tools/__init__.py": "",
    "own/notes/a": "",
}
PACKAGE, PAPER, OWN = "dpsco_bench.work.job", "theirs.algorithms", f"{PLUGIN}first"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A package, a paper and a folder with two plug-ins."""
    home = digest._home
    monkeypatch.setattr(digest, "ROOT", tmp_path)
    monkeypatch.setattr(digest, "_home", lambda top: tmp_path / top if top == "theirs" else home(top))
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("first", "second"):
        module = SimpleNamespace(__file__=str(tmp_path / "own" / f"{name}.py"))
        monkeypatch.setitem(sys.modules, f"{PLUGIN}{name}", module)
    forget()
    yield tmp_path
    forget()


def test_closure_follows_nested_imports(files):
    used = ["algorithms.registry", "low.leaf", "work.job", "work.run"]
    assert [*closure(frozenset({PACKAGE}))] == [f"dpsco_bench.{name}" for name in used]


IN_USE = {
    PACKAGE: ["low/leaf.py", "work/run.py", "algorithms/registry.py"],
    PAPER: ["theirs/__init__.py", "theirs/util.py", "theirs/sub/__init__.py", "theirs/algorithms.py"],
    OWN: ["own/first.py", "own/second.py", "own/tools/inner.py"],
}
UNUSED = {
    PACKAGE: ["low/unrelated.py", "work/__init__.py", "low/fresh.py"],
    PAPER: ["theirs/other.py"],
    OWN: ["own/notes/script.py"],
}


@pytest.mark.parametrize(
    ("module", "file", "changes"),
    [(of, file, used) for used, files in ((True, IN_USE), (False, UNUSED)) for of in files for file in files[of]],
)
def test_only_modules_in_use_change_the_digest(files, module, file, changes):
    """A paper counts its packages with what they import, a plug-in its folder with its packages."""
    before = code_digest([module])
    with (files / file).open("a") as edited:
        edited.write("\nchanged = 1\n")
    forget()
    assert (code_digest([module]) != before) == changes


def test_two_plugins_of_a_folder_have_keys_of_their_own(files):
    """Both may register what is called the same: a method, and its next version beside it."""
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
    one, other = {**SAME, **OTHER}[change]
    assert one in LEAF
    before, after = tmp_path / "leaf.py", tmp_path / "edited.py"
    before.write_text(LEAF)
    after.write_text(LEAF.replace(one, other))
    assert (digest.source_digest(after) == digest.source_digest(before)) == (change in SAME)


def test_no_key_holds_code_of_the_harness(monkeypatch):
    """What plans, schedules, stores, judges, audits and shows may be edited, and moved, and every key stays."""
    used = set()
    monkeypatch.setattr(jobs, "code_digest", lambda named, *_, **keyed: used.update(named) or "0" * 16)
    for id in claim_ids():
        claim_plan(id, "smoke")
    held = closure(frozenset(used), DEVICE_ONLY, keyed=True)
    assert {name.split(".")[1] for name in held} <= KEYED
    shown = (".bounds.", ".figures", ".tables", ".bench")
    assert len(held) > 100 and not [name for name in held if any(part in f"{name}." for part in shown)]


@pytest.mark.parametrize(("step", "named"), [("job", RUN_MODULES), ("calibration", CALIBRATION_MODULES)])
def test_every_key_holds_what_a_step_uses_of_the_mathematics(step, named):
    """The modules that are named by hand are those that the step's own code reaches."""
    reached = {*filter(digest.is_keyed, closure(frozenset({f"dpsco_bench.execution.{step}"}), DEVICE_ONLY))}
    compared = {"dpsco_bench.privacy.fingerprint"} - set(named)  # a run only compares plans by it
    assert reached - compared == set(closure(frozenset(named), DEVICE_ONLY, keyed=True))


def test_keys_hold_no_accountant_no_other_method_and_no_code_of_a_device():
    modules = closure(frozenset({*RUN_MODULES, "dpsco_bench.papers.wang2017.algorithms.gradient_descent"}), keyed=True)
    for absent in ("accountants", "claims", "dp_svrg", "covertype", "schatten", "__init__"):
        assert not [name for name in modules if absent in name]
    modules = frozenset({"dpsco_bench.papers.wang2017.fused.steps", *RUN_MODULES})
    whole, without = closure(modules, keyed=True), closure(modules, DEVICE_ONLY, keyed=True)
    assert {*whole} - {*without} == DEVICE_ONLY
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
from dpsco_bench import run
from dpsco_bench.fused.registry import FUSED

FUSED.load()
for id, problem in (("wang2017.dp_svrg", "ridge_logistic"), ("bassily2021.poly_sfw", "needle_l1")):
    assert FUSED.find(id)
    run(id, problem, 64, 3, replicates=2, calibration="paper")
assert not DEVICE_ONLY & sys.modules.keys()
"""


def test_a_run_on_a_core_loads_nothing_of_a_device():
    """So that keys of such runs may leave it out, fused runs included."""
    done = subprocess.run([sys.executable, "-c", ON_A_CORE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def judged_entry(part):
    return ClaimEntry.of(Claim("a.b", "t", "s", "s", [part]), ())


@pytest.mark.parametrize("name", KINDS.names())
def test_a_kind_reaches_no_other_kind_and_nothing_that_draws(name):
    entry, drawing = judged_entry(Part("p", name, ["paper"])), frozenset(modules_in(f"dpsco_bench.{DRAWING}"))
    reached = closure(frozenset(judge_modules(entry)), drawing)
    assert [module for module in reached if module.startswith("dpsco_bench.kinds.")] == [f"dpsco_bench.kinds.{name}"]
    assert not [module for module in reached if module.startswith(("dpsco_bench.report", "dpsco_bench.leaderboard"))]
    assert judge_digest(entry) == code_digest(reached, without=drawing)


def test_what_judges_loads_no_figures():
    code = "import sys; from dpsco_bench.claims.kinds import KINDS; KINDS.load(); "
    code += "sys.exit('dpsco_bench.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_bound_depends_on_what_its_symbols_mean():
    part = RatePart("p", "rate", ["paper"], bound="bassily2021.thm4", tolerance=0.1, axis="ln K")
    assert bound_modules("bassily2021_law.thm4") == {"dpsco_bench.papers.bassily2021.bounds"}
    assert "dpsco_bench.papers.bassily2021.bounds" in judge_modules(judged_entry(part))
