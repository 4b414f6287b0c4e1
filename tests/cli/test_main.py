import importlib
import math
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from dpsco_bench.cli import main as command_line
from dpsco_bench.cli.console import parse_keys, parse_value
from dpsco_bench.errors import InputError


def test_help_has_a_line_per_verb_and_each_has_its_own(dpsco):
    said = dpsco("--help").out
    for name in command_line.verb_names():
        verb = command_line.load_verb(name)
        outcome = dpsco(name, "-h")
        assert f"  {name} " in said and outcome.code == 0 and verb.SUMMARY in outcome.out


def python(*words, **streams):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run([sys.executable, *words], text=True, **streams)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no /dev/full")
def test_output_on_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = python("-m", "dpsco_bench", "--version", stdout=full)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith("dpsco: ") and "No space left on device" in line


@pytest.mark.parametrize("name", ["list", "show", "account", "run", "data"])
def test_a_verb_imports_nothing_heavy_until_it_runs(name):
    heavy = ["scipy", "pyarrow", "hydra", "matplotlib", "dp_accounting", "snakemake"]
    code = f"import sys; from dpsco_bench.cli.main import load_verb; load_verb('{name}'); "
    code += f"sys.exit(str([m for m in {heavy!r} if m in sys.modules]))"
    assert python("-c", code).stderr.strip() == "[]"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MemoryError("9 GB"), 2), (TypeError(), None)])
def test_interruption_and_exhaustion_are_one_line_and_a_bug_has_its_traceback(dpsco, monkeypatch, error, code):
    fake = SimpleNamespace(SUMMARY="", configure=lambda parser: None, execute=Mock(side_effect=error))
    monkeypatch.setattr(command_line, "load_verb", lambda name: fake)
    with pytest.raises(TypeError) if code is None else nullcontext():
        outcome = dpsco("list")
        assert outcome.code == code and outcome.err.count("\n") == 1


def test_public_names_are_lazy_and_complete():
    code = "import sys, dpsco_bench; print('numpy' in sys.modules); dpsco_bench.run; print('numpy' in sys.modules)"
    assert python("-c", code).stdout.split() == ["False", "True"]
    package = importlib.import_module("dpsco_bench")
    assert all(hasattr(package, name) for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.nothing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("3", 3), (".1", 0.1), ("1e-5", 1e-5), ("1e4", 10000), ("-2.5E+3", -2500), ("1_000", 1000)),
        *(("true", True), ("null", None), ("renyi", "renyi"), ("", ""), ("a=b", "a=b"), ("inf", math.inf)),
        ("9" * 30, int("9" * 30)),
    ],
)
def test_values_are_read_as_written(text, value):
    parsed = parse_value(text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e4", 1e4), ("none", "none"), ("'a=b.csv'", "a=b.csv"), ("données.csv", "données.csv"), ("[1,x]", [1, "x"])],
)
def test_keys_are_read_by_hydras_grammar(text, value):
    assert parse_keys([f"key={text}"]) == {"key": value}


@pytest.mark.parametrize("value", ["a=b.csv", "a#1.csv", "~/a.csv", "a(1).csv"])
def test_a_text_that_needs_quotes_is_shown_with_them(value):
    with pytest.raises(InputError) as caught:
        parse_keys([f"path={value}"])
    hint = f"'path=\"{value}\"'"
    assert str(caught.value).endswith(hint) and parse_keys([hint[1:-1]]) == {"path": value}
