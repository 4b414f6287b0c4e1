"""A paper that cannot be imported is named in one line, and stops only what needs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dpsco_bench import registry
from dpsco_bench.errors import BrokenPaper

ROOT = Path(__file__).resolve().parents[2]
METHOD, CLAIM = "examples/own_method.py", "examples/own_claim.yaml"
ACCOUNT = ("account", "wang2017.dp_gd_pl", "problem=ridge_logistic", "n=64", "d=3", "--json")
LINE = "dpsco: paper = 'theirs (distribution theirs-dp 1.0)': must be a package that can be imported ("
FILES = {
    "theirs_dp-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs-dp\nVersion: 1.0\n",
    "theirs_dp-1.0.dist-info/entry_points.txt": "[dpsco_bench.papers]\ntheirs = theirs\n",
    "theirs/__init__.py": "",
    "theirs/algorithms.py": "",
}
BROKEN = "from importlib import absent\n"


@pytest.fixture(params=["__init__", "algorithms"])
def broken(request, tmp_path, monkeypatch, dpsco):
    """The command line beside an installed paper, one module of which cannot be imported."""
    site = tmp_path / "site"
    for name, text in {**FILES, f"theirs/{request.param}.py": BROKEN}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(registry, "_BROKEN", {})
    monkeypatch.setattr(registry, "_SAID", set())
    caches = (registry._declared, registry._location, registry.modules_in)
    for cache in caches:
        cache.cache_clear()
    yield dpsco
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.partition(".")[0] == "theirs"]:
        del sys.modules[name]
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "algorithms"),
        ("list", "claims", "--json"),
        ("show", "wang2017.dp_gd_pl"),
        ("show", "wang2017.thm6.1"),
        ACCOUNT,
        ("list", "algorithms", "--plugin", METHOD),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_others_go_on(broken, arguments):
    found = broken(*arguments)
    assert found.code == 0 and found.out, found.err
    assert all(line.startswith(LINE) for line in found.err.splitlines()) and len(found.err.splitlines()) <= 1
    assert "algorithms" not in arguments or "ImportError: cannot import name 'absent'" in found.err


def test_a_wrong_claim_of_it_is_named_and_left_out(broken, tmp_path):
    claim = tmp_path / "site" / "theirs" / "conf" / "claim" / "theirs" / "thm1.yaml"
    claim.parent.mkdir(parents=True)
    claim.write_text("{id: theirs.thm1, title: t, source: s, statement: x, parts: [{id: p, kind: odd}]}")
    found = broken("list", "claims")
    assert found.code == 0 and "wang2017.thm6.1" in found.out and "theirs" not in found.out
    said = [line for line in found.err.splitlines() if not line.startswith(LINE)]
    assert len(said) == 1 and "thm1.yaml: claim theirs.thm1, part p: kind = 'odd': must be " in said[0]
    assert broken("show", "theirs.thm1").code == 2


def test_a_ledger_with_one_id_twice_is_named_and_left_out(broken, tmp_path):
    """The page has an address for each id."""
    ledger = tmp_path / "site" / "theirs" / "conf" / "errata" / "theirs.yaml"
    ledger.parent.mkdir(parents=True)
    ledger.write_text((ROOT / "examples/paper/example2026/conf/errata/example2026.yaml").read_text())
    assert broken("list", "errata").code == 0
    entries = ledger.read_text()
    ledger.write_text(entries + entries.replace("id: E", "id: e"))
    found = broken("list", "errata")
    assert found.code == 0 and any("theirs.yaml: errata of theirs = " in line for line in found.err.splitlines())


@pytest.mark.parametrize("edited", ["", METHOD, CLAIM], ids=["asked for", "a plugin beside it", "a claim that asks"])
def test_what_needs_it_is_stopped_by_its_line_alone(broken, edited):
    arguments = ("account", "theirs.noisy", "problem=ridge_logistic", "n=64")
    if edited == METHOD:
        arguments += ("--plugin", METHOD)
    if edited == CLAIM:
        Path(CLAIM).write_text(Path(CLAIM).read_text().replace("mine.noisy_gd", "theirs.noisy"))
        arguments = ("claim", CLAIM, "--profile", "smoke", "--plugin", METHOD)
    found = broken(*arguments)
    assert found.code == 2 and found.out == ""
    assert {line for line in found.err.splitlines()} == {found.err.splitlines()[0]} and found.err.startswith(LINE)


def test_the_rule_is_the_same_for_the_papers_beside_the_core(monkeypatch, capsys):
    monkeypatch.setattr(registry, "_BROKEN", {})
    monkeypatch.setattr(registry, "_SAID", set())
    load, package = registry.importlib.import_module, "dpsco_bench.papers.su2023"

    def failing(name, *of):
        if name.startswith(package):
            raise ImportError("no such name")
        return load(name, *of)

    monkeypatch.setattr(registry.importlib, "import_module", failing)
    assert not registry.attempt(f"{package}.algorithms.objp") and not registry.attempt(
        f"{package}.problems.smooth_hinge"
    )
    assert registry.attempt("dpsco_bench.papers.wang2017")
    (line,) = capsys.readouterr().err.splitlines()
    assert package in line and line.endswith("must be a package that can be imported (ImportError: no such name)")
    with pytest.raises(BrokenPaper, match="no such name"):
        registry.check_paper("su2023.objp")
    registry.check_paper("wang2017.dp_gd")
    with pytest.raises(ModuleNotFoundError):
        registry.attempt("dpsco_bench.absent")  # of the core
