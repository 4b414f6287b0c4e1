from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from dpsco_bench.cli.main import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Dpsco = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def unregistered(monkeypatch) -> None:
    """What a test's plugin registers is forgotten afterwards."""
    from dpsco_bench.algorithms import registry as algorithms
    from dpsco_bench.problems import registry as problems

    monkeypatch.setattr(algorithms, "_USER_ALGORITHMS", {})
    monkeypatch.setattr(problems, "_USER_PROBLEMS", {})


@pytest.fixture
def dpsco(tmp_path, monkeypatch, capsys) -> Dpsco:
    """Run the command line in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
