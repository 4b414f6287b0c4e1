"""Imports go one way, from the command line down to the errors, and the computing core needs little."""

import ast
import re
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import dpsco_bench

ROOT = Path(dpsco_bench.__file__).parent
NAME = "dpsco_bench"
LAYERS = (
    ("errors",),
    ("jsonio", "paths", "plain", "registry"),
    ("backend", "rng"),
    ("geometry", "datasets", "problems"),
    ("samplers", "privacy"),
    ("algorithms", "fused"),
    ("execution",),
    ("claims",),
    ("analysis",),
    ("report", "audit", "bench", "leaderboard"),
    ("kinds",),
    ("papers",),
    ("cli", "site"),
    ("__init__", "__main__"),
)
"""From the lowest up; a module imports from its own or a lower layer."""
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
CORE = LEVEL["execution"]
BOUNDS, SHOWN = ("bounds", "moments"), ("figures", "tables", "bench")
"""Parts of a paper that judge, and those that draw and measure; its other parts are what a worker runs."""
CORE_MAY_IMPORT = {"numpy", "scipy", "pyarrow", "numba", "cupy", "filelock", "pooch", "rich", *sys.stdlib_module_names}
HEAVY = ("hydra", "omegaconf", "snakemake", "dp_accounting", "matplotlib", "sphinx", "pooch", "numba", "cupy")
GRAPH = grimp.build_graph(NAME, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None)
"""Who imports whom, within functions too."""
MODULES = sorted(module for module in GRAPH.modules if module.startswith(f"{NAME}."))
EDGES = [(module, name) for module in MODULES for name in sorted(GRAPH.find_modules_directly_imported_by(module))]


def part_of(module):
    return module.split(".")[1]


def level_of(module):
    """Parts of papers stand beside those of the core that they are like."""
    paper = module.split(".")[2:] if part_of(module) == "papers" else []
    if len(paper) < 2 or paper[1] in SHOWN:
        return LEVEL[part_of(module)]
    return LEVEL["claims"] if paper[1] in BOUNDS else LEVEL["execution"]


def paper_of(module):
    return ".".join(module.split(".")[:3]) if module.startswith(f"{NAME}.papers.") else ""


def test_imports_go_down():
    assert {part_of(module) for module in MODULES} <= set(LEVEL)
    assert not [(a, b) for a, b in EDGES if b in MODULES and level_of(b) > level_of(a)]


def test_no_text_names_a_module_further_up():
    """An import by name would be an import that the graph lacks."""
    for path in ROOT.rglob("*.py"):
        module = ".".join((NAME, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        if module in MODULES:
            texts = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
            assert not [t for t in texts & {*MODULES} - {f"{NAME}.papers"} if level_of(t) > level_of(module)], module


def test_no_cycles():
    TopologicalSorter({a: [b for c, b in EDGES if c == a] for a in MODULES}).prepare()


def test_no_class_name_stands_twice():
    trees = (ast.walk(ast.parse(path.read_text())) for path in ROOT.rglob("*.py"))
    names = Counter(node.name for tree in trees for node in tree if isinstance(node, ast.ClassDef))
    assert not [name for name, count in names.items() if count > 1]


def test_the_core_imports_no_paper_and_no_paper_another():
    assert not [(a, b) for a, b in EDGES if paper_of(b) not in ("", paper_of(a))]


def test_the_core_imports_arrays_and_the_standard_library_only():
    """The accountants load dp_accounting when the calibration step asks for them, and nothing else does."""
    outer = [(a, b) for a, b in EDGES if not b.startswith(NAME) and level_of(a) <= CORE and b not in CORE_MAY_IMPORT]
    assert {b for _, b in outer} == {"dp_accounting"} and all(".accountants." in a for a, _ in outer)


def test_the_core_names_no_paper():
    """Neither in code nor in a docstring, an example or a kernel: sources are cited as authors and year."""
    shipped = {path.name for path in (ROOT / "papers").iterdir() if (path / "__init__.py").is_file()}
    assert len(shipped) == 5
    texts = [path for path in ROOT.rglob("*") if path.suffix in (".py", ".cu", ".cuh", ".html", ".css", ".yaml", ".md")]
    core = [path for path in texts if not {"papers", "_share", "__pycache__"} & set(path.relative_to(ROOT).parts)]
    assert len(core) > 200
    assert not [(str(path), name) for path in core for name in shipped if name in path.read_text(encoding="utf-8")]


WORK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Block())
from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.problems.registry import list_problems
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.run import run_block

assert list_algorithms() and list_problems()
cell = Cell("wang2017.dp_gd_pl", "ridge_logistic", n=32, epsilon=1.0, delta=1e-5, d=3, options={"steps": 3})
given = (cell.plan("paper", 1)[1], {"gradient": 0.1}, cell.draw_data(1, 0))
trace = run_block(cell, *given, root_seed=1, replicates=2, fused=False)
print(trace.output.tolist())
"""


def printed(script, *arguments):
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_worker_runs_without_the_heavy_packages():
    """Neither Hydra, Snakemake nor an accountant is needed to run a job, and Numba changes no bit of a listing."""
    assert printed(WORK, *HEAVY) == printed(WORK)


ACCOUNT = """
import sys
from dpsco_bench.cli.main import main

assert main("account wang2017.dp_svrg problem=ridge_logistic n=1024 d=10 epsilon=1".split()) == 0
print(sum(name.split(".")[0] == "dpsco_bench" for name in sys.modules))
"""


def test_an_account_loads_little_of_the_package():
    assert int(printed(ACCOUNT).splitlines()[-1]) <= 100


def test_what_one_paper_alone_uses_is_its_own_or_stays_for_a_reason():
    """docs/internals/workflow.md has the exceptions, each with its reason, and no others."""
    core = {module for module in MODULES if not paper_of(module)}
    unused, one = {module for module in core if not GRAPH.find_modules_that_directly_import(module)}, set()
    for module in core:
        users = GRAPH.find_downstream_modules(module)
        if not users & unused and len({paper_of(user) for user in users} - {""}) == 1:
            one.add(module.removeprefix(f"{NAME}."))
    page = (ROOT.parent / "docs" / "internals" / "workflow.md").read_text()
    section = page.split("## What one paper alone uses")[1].split("\n## ")[0]
    assert one == set(re.findall(r"^\| `([\w.]+)` \|", section, re.M))
