"""Command lines and Python that the documents show: they parse, name what is registered, and the quick ones run."""

import re
import shlex
from pathlib import Path

import pytest

from dpsco_bench.algorithms.registry import list_algorithms
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.cli import main as program
from dpsco_bench.problems.registry import list_problems

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
QUICK = {"show", "list", "account"}
OWN = ("mine.", "examples/", "example2026", "NAME")


def commands():
    """Pages and arguments of all calls in listings, each once; a line that ends in a backslash goes on."""
    found = {}
    for page in PAGES:
        for block in re.findall(r"^```(?:console|)\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                called = re.match(r"(?:\$ )?(?:python -m dpsco_bench|dpsco) ([a-z].*)", line)
                if called:
                    found.setdefault(called[1], page)
    return [pytest.param(shlex.split(call, comments=True), id=f"{page}: {call[:60]}") for call, page in found.items()]


@pytest.mark.parametrize("arguments", commands())
def test_a_command_that_is_shown_works(arguments, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    verb = program.load_verb(arguments[0])
    if arguments[0] not in QUICK:
        monkeypatch.setattr(verb, "execute", lambda args: 0)
    assert program.main(arguments) == 0, capsys.readouterr().err
    if "-h" in arguments or any(word in " ".join(arguments) for word in OWN):
        return
    known = {*list_algorithms(), *list_problems(), *(claim.id for claim in read_claims())}
    settings = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    named = [word for word in arguments[1:] if re.fullmatch(r"[a-z]+20\d\d\.\S+", word)]
    named += [settings["problem"]] if "problem" in settings else []
    named += [id.replace("/", ".") for id in settings.get("algorithm", "").split(",") if id]
    assert set(named) <= known


def test_the_python_of_the_readme_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert re.fullmatch(r"[\d.e-]+ [\d.]+ proven\n", capsys.readouterr().out)
