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
