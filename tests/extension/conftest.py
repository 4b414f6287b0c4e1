from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dpsco_bench.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def unregistered(monkeypatch):
    """What a plugin registers is forgotten after the test, and the plugin is imported anew."""
    from dpsco_bench.algorithms import registry as algorithms
    from dpsco_bench.claims import kinds
    from dpsco_bench.claims.bounds import registry as bounds
    from dpsco_bench.problems import registry as problems

    monkeypatch.setattr(algorithms, "_USER_ALGORITHMS", {})
    monkeypatch.setattr(problems, "_USER_PROBLEMS", {})
    monkeypatch.setattr(bounds, "_USER_BOUNDS", {})
    yield
    for name in set(kinds.kind_names()) - set(kinds.shipped_kinds()):
        del kinds._KINDS[name]
    for name in [name for name in sys.modules if name.startswith("dpsco_plugin_")]:
        del sys.modules[name]


@pytest.fixture
def dpsco(tmp_path, monkeypatch, capsys) -> Callable[..., Outcome]:
    """Run the command line in a working directory that holds nothing but the examples."""
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
