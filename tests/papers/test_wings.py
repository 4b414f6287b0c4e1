"""A paper is a folder: without it and its configuration, the rest imports, lists, accounts and runs as before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import rest_at_night

ROOT = Path(__file__).resolve().parents[2]
PAPERS = sorted(path.parent.name for path in (ROOT / "dpsco_bench" / "papers").glob("*/__init__.py"))
LARGEST = max(PAPERS, key=lambda paper: len([*(ROOT / "dpsco_bench" / "papers" / paper).rglob("*.py")]))
TREE = ("dpsco_bench", "conf", "docs", "requirements", "workflows", "profiles", "Snakefile", "pyproject.toml")
ACCOUNT = {
    "bassily2021": ("bassily2021.poly_sfw", "problem=needle_l1", "n=512"),
    "gopi2022": ("gopi2022.reg_exp_mech", "problem=cube_iid", "p=2", "n=512"),
    "su2023": ("su2023.objp", "problem=logistic_glm", "n=512"),
    "wang2017": ("wang2017.dp_gd_pl", "problem=ridge_logistic", "n=512"),
    "zhang2022": ("zhang2022.fkt20_phased_sgd", "problem=quad", "n=512"),
}
IMPORT_ALL = """
import importlib, pkgutil, dpsco_bench
for module in pkgutil.walk_packages(dpsco_bench.__path__, "dpsco_bench."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
SAY_ALL = """
import contextlib, io, json, sys
from dpsco_bench.cli.main import main
found = []
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            assert main(words) == 0, words
        except SystemExit as end:
            assert not end.code, words
    found.append(said.getvalue())
print(json.dumps(found))
"""
# Python, Numba and the package write caches beside the code under names of a moment; other tests do while this copies.
BEING_WRITTEN = shutil.ignore_patterns("*.part.*", "*.pyc.*", "*.tmp.*")


@pytest.fixture(params=rest_at_night(PAPERS, len(PAPERS) - 1))
def without(request, tmp_path):
    """(paper, a copy of the tree that lacks it)."""
    paper = request.param
    for name in TREE:
        source, target = ROOT / name, tmp_path / name
        shutil.copytree(source, target, ignore=BEING_WRITTEN) if source.is_dir() else shutil.copy(source, target)
    for gone in (f"dpsco_bench/papers/{paper}", f"conf/claim/{paper}", f"conf/table/{paper}"):
        shutil.rmtree(tmp_path / gone)
    for folder in ("errata", "paper", "profile/smoke"):
        (tmp_path / "conf" / folder / f"{paper}.yaml").unlink()
    return paper, tmp_path


def run(tree, *arguments):
    """What Python prints in a tree of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def said(tree, *commands):
    """What each of several command lines prints, in one process."""
    return json.loads(run(tree, "-c", SAY_ALL, json.dumps(commands)))


UNDECLARED = """
import importlib.metadata as metadata
_all = metadata.entry_points
def entry_points(**groups):
    found = _all(**groups)
    return [one for one in found if one.name != {paper!r}] if groups.get("group") == "dpsco_bench.papers" else found
metadata.entry_points = entry_points
"""


def test_the_rest_imports_lists_and_accounts_also_where_nothing_declares_the_paper(without):
    paper, tree = without
    run(tree, "-c", IMPORT_ALL)
    lists = [("list", what, "--json") for what in ("algorithms", "claims", "problems", "tables")]
    helps = [(verb, "-h") for verb in ("account", "audit", "check", "run", "show")]
    accounts = [("account", *words, "--json") for other, words in ACCOUNT.items() if other != paper]
    found = said(tree, *lists, *helps, *accounts)
    for listed in found[:4]:
        ids = [entry["id"] for entry in json.loads(listed)]
        assert ids and not [id for id in ids if id.startswith(f"{paper}.")]
    assert not [text for text in found[4:9] if paper in text]
    assert len(found) == 13 and all('"epsilon_real"' in text for text in found[9:])
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines(keepends=True) if line.startswith(f"{paper} = "))
    project.write_text(text.replace(line, ""), encoding="utf-8")
    (tree / "sitecustomize.py").write_text(UNDECLARED.format(paper=paper), encoding="utf-8")
    planned, claims, *accounted = said(tree, ("plan", "--profile", "smoke"), ("list", "claims", "--json"), *accounts)
    assert "claims" in planned and f'"{paper}.' not in claims and all('"epsilon_real"' in text for text in accounted)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """What the smokes have computed so far: a result's key says nothing of papers that it does not use."""
    return tmp_path_factory.mktemp("wings") / "store"


@pytest.mark.long
def test_smoke_of_the_rest_gives_the_recorded_verdicts(without, store):
    paper, tree = without
    snakemake, own = str(Path(sys.executable).with_name("snakemake")), tree / "results" / "store"
    if store.is_dir():
        shutil.copytree(store, own)
    whole = paper == LARGEST
    targets = () if whole else ("--", "verdicts")
    printed = run(tree, snakemake, "--cores", "1", "--config", "profile=smoke", *targets)
    shutil.copytree(own, store, dirs_exist_ok=True)
    gated = run(tree, "-m", "dpsco_bench", "gate", "--profile", "smoke")
    assert "0 of " in gated and f"{paper}." not in printed + gated
    assert (tree / "results" / "smoke" / "site" / "index.html").is_file() == whole
