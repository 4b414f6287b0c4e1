"""Imports go one way, from the command line down to the errors, and the computing core needs little."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

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
    ("kinds",),
    ("report", "audit", "bench"),
    ("papers",),
    ("cli", "site"),
    ("__init__", "__main__"),
)
"""From the lowest up; a module imports from its own or a lower layer."""
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
CORE = LEVEL["execution"]
SHOWN = ("figures", "tables", "bench")
"""Parts of a paper that draw and measure; its other parts are what a worker runs, and bounds."""
CORE_MAY_IMPORT = {"numpy", "scipy", "pyarrow", "numba", "cupy"} | set(sys.stdlib_module_names)
HEAVY = ("hydra", "omegaconf", "snakemake", "dp_accounting", "matplotlib", "jinja2", "sphinx", "numba", "cupy")


def module_names():
    paths = sorted(p for p in ROOT.rglob("*.py") if "_share" not in p.parts)
    return {".".join((NAME, *p.relative_to(ROOT).with_suffix("").parts)): p for p in paths}


MODULES = module_names()


def part_of(module):
    return module.split(".")[1]


def level_of(module):
    """Parts of papers stand beside those of the core that they are like."""
    paper = module.split(".")[2:] if part_of(module) == "papers" else []
    if len(paper) < 2 or paper[1] in SHOWN:
        return LEVEL[part_of(module)]
    return LEVEL["claims"] if paper[1] == "bounds" else LEVEL["execution"]


def names_in(node):
    """Modules that one import statement may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert node.level == 0, "relative import"
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


@cache
def statements(module, *, nested):
    """Import statements of a module; without ``nested`` only those that run on import."""
    tree = ast.parse(MODULES[module].read_text())
    if nested:
        found = ast.walk(tree)
    else:
        found, todo = [], list(tree.body)
        while todo:
            node = todo.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            found.append(node)
            todo.extend(ast.iter_child_nodes(node))
    return [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(module, *, nested):
    return {name for node in statements(module, nested=nested) for name in names_in(node)}


def test_every_part_has_a_layer():
    assert {part_of(module) for module in MODULES} <= set(LEVEL)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module):
    level = level_of(module)
    inner = {name for name in imported(module, nested=True) if name.startswith(f"{NAME}.")} - {f"{NAME}.__version__"}
    upward = {name for name in inner if level_of(name) > level}
    assert not upward


@pytest.mark.parametrize("module", MODULES)
def test_the_core_imports_no_paper_and_no_paper_another(module):
    own = f"{NAME}.papers.{module.split('.')[2]}" if part_of(module) == "papers" and module.count(".") > 1 else NAME
    papers = {name for name in imported(module, nested=True) if name.startswith(f"{NAME}.papers.")}
    assert papers == {name for name in papers if name == own or name.startswith(f"{own}.")}
    assert own != NAME or not papers


@pytest.mark.parametrize("module", [m for m in MODULES if level_of(m) <= CORE])
def test_the_core_imports_arrays_and_the_standard_library_only(module):
    outer = {name.split(".")[0] for name in imported(module, nested=False)} - {NAME}
    assert outer <= CORE_MAY_IMPORT
    assert "cupy" not in outer
    later = {name.split(".")[0] for name in imported(module, nested=True)} - {NAME} - CORE_MAY_IMPORT
    # The accountants load dp_accounting when the calibration step asks for them, and nothing else does.
    assert later <= ({"dp_accounting"} if ".accountants." in module else set())


def test_no_cycles():
    graph = {
        module: {name for name in imported(module, nested=False) if name in MODULES and name != module}
        for module in MODULES
    }
    done = set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for name in sorted(graph[module]):
                visit(name, [*path, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])


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


def output_without(*packages):
    done = subprocess.run([sys.executable, "-c", WORK, *packages], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_worker_runs_without_the_heavy_packages():
    """Neither Hydra, Snakemake nor an accountant is needed to run a job, and Numba changes no bit of a listing."""
    assert output_without(*HEAVY) == output_without()


def reached_by():
    """Module of the core -> the papers that reach it, through other such modules too; "" where nothing imports it."""
    imports = {module: imported(module, nested=True) for module in MODULES}
    users = {module: {other for other, names in imports.items() if module in names} for module in MODULES}
    core = [module for module in MODULES if part_of(module) != "papers"]
    found = {module: set() if users[module] else {""} for module in core}
    before = None
    while before != found:
        before = {module: set(papers) for module, papers in found.items()}
        for module in core:
            for user in users[module]:
                found[module] |= found[user] if user in found else {user.split(".")[2]}
    return found


def test_what_one_paper_alone_uses_is_its_own_or_stays_for_a_reason():
    """docs/design.md has the exceptions, each with its reason, and no others."""
    one = {
        module.removeprefix(f"{NAME}.") for module, papers in reached_by().items() if papers - {""} and len(papers) == 1
    }
    text = (ROOT.parent / "docs" / "design.md").read_text().split("## What one paper alone uses")[1].split("\n## ")[0]
    assert one == set(re.findall(r"^\| `([\w.]+)` \|", text, re.M))
