"""What every test leaves as it found it."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings

from dpsco_bench import registry as registration
from dpsco_bench.cli.main import main
from dpsco_bench.registry import REGISTRIES, papers, roots
from dpsco_bench.rng.streams import Stream, stream_key
from dpsco_bench.samplers.draws import KeyedDraws

# A slow machine is no defect, and every machine looks at the same examples; `make fuzz` draws others each time.
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")
os.environ.pop("COLUMNS", None)  # lines are as wide as in a pipe, whatever the terminal
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Text printed by a call that ended well."""
        assert self.code == 0, self.err
        return self.out

    @property
    def rows(self) -> Any:
        """The same, read as JSON."""
        return json.loads(self.said)


Dpsco = Callable[..., Outcome]


LONGEST = ("workflow", "papers", "execution", "report", "cli", "extension")
"""Folders whose files take longest: they go first, so that no core is left with one of them at the end."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the longest folders first; `make test` and `make test-slow` hand files to cores in this order.

    What is long is slow.
    """
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker("slow")
    root = Path(__file__).parent
    rank = {folder: place for place, folder in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.relative_to(root).parts[0], len(rank)))


@pytest.fixture(autouse=True)
def registries():
    """What a test or its plugins register is forgotten afterwards, and plugins are imported anew."""
    before = [dict(registry.registered()) for registry in REGISTRIES]
    shipped, known_papers = roots(), papers().keys()
    yield
    for registry, known in zip(list(REGISTRIES), [*before, *({} for _ in REGISTRIES)], strict=False):
        new = [(name, module) for name, module in registry.registered().items() if name not in known]
        registry.forget(*(name for name, module in new if module.split(".")[0] not in shipped))
    for name in papers().keys() - known_papers:
        drop_paper(name)
    for name in [name for name in sys.modules if name.startswith("dpsco_plugin_")]:
        del sys.modules[name]


def drop_paper(name):
    """Undo `add_paper`, so that a folder of the same name may follow; what it registered is for `Registry.forget`."""
    package = registration._ADDED.pop(name)
    place = registration._location(package)
    if place is not None and str(place.parent) in sys.path:
        sys.path.remove(str(place.parent))
    for module in [module for module in sys.modules if f"{module}.".startswith(f"{package}.")]:
        del sys.modules[module]
    for cached in (registration._location, registration.modules_in, registration.source):
        cached.cache_clear()


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


@pytest.fixture
def examples(tmp_path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def draws():
    """Factory of `KeyedDraws` of so many rows, from replicate ``first`` on."""

    def make(rows, key="law", first=0, copies=1):
        stream = cache(lambda name: Stream(stream_key(2022, key, name)))
        return KeyedDraws(stream, first, rows, copies)

    return make


@pytest.fixture
def score():
    """Distance of a sample mean from a number, in standard errors."""

    def standardised(values, expected):
        values = np.asarray(values)
        return abs(values.mean() - expected) / (values.std(ddof=1) / np.sqrt(values.size))

    return standardised
