"""What is imported is declared, and what is declared is imported or says why not."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
DEPENDENCIES = PROJECT["project"]["dependencies"]
DISTRIBUTIONS = {
    **packages_distributions(),
    "cupy": ["cupy-cuda12x", "cupy-cuda13x"],
    "jax": ["jax"],
    "torch": ["torch"],
    "tests": ["tests"],  # the folder itself
}
"""Import name -> distributions; extras need not be installed here."""
TOOLS = {"mypy", "pytest-xdist", "ruff"}
"""Development tools that are run and not imported."""


def name(requirement):
    return re.split(r"[\[<>=!~;, ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def imported(paths):
    """Normalised names of the distributions that files import, wherever in them."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                found |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    packages = {module.partition(".")[0] for module in found} - set(sys.stdlib_module_names) - {"dpsco_bench"}
    return {distribution.lower().replace("_", "-") for package in packages for distribution in DISTRIBUTIONS[package]}


DEV = {name(requirement) for requirement in EXTRAS["dev"]}
PLUGINS = {name(requirement) for requirement in EXTRAS["cluster"]}
"""What Snakemake and Hydra find by themselves."""
PACKAGE = [*(ROOT / "dpsco_bench").rglob("*.py"), *(ROOT / "workflows").rglob("*.py")]
USED = imported(path for path in PACKAGE if "_share" not in path.parts)
OPTIONAL = {name(requirement) for extra in EXTRAS if extra != "dev" for requirement in EXTRAS[extra]}
DECLARED = {name(requirement) for requirement in DEPENDENCIES}


def test_the_package_imports_what_it_declares():
    assert set() == USED - OPTIONAL - DECLARED, "not declared"
    assert {"snakemake", "pydata-sphinx-theme"} >= DECLARED - USED  # a Snakefile and Sphinx find them
    assert "snakemake" in (ROOT / "Snakefile").read_text(encoding="utf-8")
    assert OPTIONAL - PLUGINS <= USED


def test_the_build_hook_imports_what_builds():
    assert imported([ROOT / "hatch_build.py"]) == {name(r) for r in PROJECT["build-system"]["requires"]}


def test_tests_and_examples_import_what_is_declared():
    used = imported([*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])
    assert used - OPTIONAL - DECLARED - DEV - {"tests"} == set()
    assert DEV - used == TOOLS


@pytest.mark.parametrize("file", ["lock.txt", "build.txt", "cluster.txt"])
def test_the_lock_has_every_dependency_with_its_hashes_and_no_address(file):
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    assert "://" not in text and not re.search(r"^-", text, re.MULTILINE)
    pinned = set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))
    needed = {"lock.txt": DECLARED | DEV, "cluster.txt": PLUGINS}.get(file, set())
    assert needed <= pinned and (file != "lock.txt" or not PLUGINS & pinned)
    assert re.findall(r"^\S+==", text, re.MULTILINE) == re.findall(r"^(\S+==).*\\\n    --hash=", text, re.MULTILINE)
