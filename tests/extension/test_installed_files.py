"""Files that an installed paper brings: one that cannot be used is named in a line, and stops nobody else."""

import re

import pytest

from dpsco_bench import registry
from dpsco_bench.claims import catalogue, compose
from dpsco_bench.claims.compose import plan_stamp
from dpsco_bench.cli.depends import file_digest, site_digest
from dpsco_bench.errors import InputError
from dpsco_bench.execution import sources
from dpsco_bench.execution.plugins import plugin_files
from dpsco_bench.paths import shared_dir
from dpsco_bench.site.citations import find_citation

PAPER = "other2026"
PLACES = ["claim/other2026/x.yaml", "table/other2026/x.yaml", "errata/other2026.yaml", "findings/00-x.yaml"]
PLACES += ["paper/other2026.yaml"]
UNREADABLE = {
    "a dangling link": lambda path: path.symlink_to(path.parent / "nowhere"),
    "a loop of links": lambda path: path.symlink_to(path),
    "a folder": lambda path: path.mkdir(),
}


@pytest.fixture
def conf(tmp_path, monkeypatch):
    folder = tmp_path / PAPER
    monkeypatch.setattr(catalogue, "paper_folders", lambda: {PAPER: folder})
    monkeypatch.setattr(catalogue, "papers", lambda: {PAPER: PAPER})
    monkeypatch.setattr(registry, "_SAID", set())

    def put(place, content):
        path = folder / "conf" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content)
        return path

    return put


def site():
    return site_digest("")


def lines(capsys):
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_named_and_left_out(conf, capsys, what):
    shipped, before = catalogue.claim_ids(), site()
    paths = [conf(place, UNREADABLE[what]) for place in PLACES]
    assert site() == before and catalogue.claim_ids() == shipped and len(catalogue.read_claims()) == len(shipped)
    said = lines(capsys)
    assert len(said) == len(paths) and all(f"dpsco: file = '{path}': must be one that can be read" in line
                                           for path, line in zip(paths, said, strict=True))  # fmt: skip


@pytest.mark.parametrize("folder", ["claim", "table"])
def test_two_ids_of_one_address_are_named_and_the_first_is_kept(conf, capsys, folder):
    """The site would have one place for both."""
    shipped = catalogue.claim_ids()
    first, second = (conf(f"{folder}/{PAPER}/{name}.yaml", b"3") for name in ("a.b", "a_b"))
    listed = catalogue.claim_ids()
    catalogue.table_texts()
    assert listed == (shipped if folder == "table" else sorted([*shipped, f"{PAPER}.a.b"]))
    (line,) = [line for line in lines(capsys) if "id = " in line]
    assert (
        line == f"dpsco: {second}: id = '{PAPER}.a_b': must be one that differs from {PAPER}.a.b in letters or digits"
    )
    assert first.is_file()


def test_a_plan_goes_on_beside_them(conf):
    conf(PLACES[0], UNREADABLE["a dangling link"])
    assert re.fullmatch("[0-9a-f]{64}", plan_stamp("smoke", []))


@pytest.mark.parametrize("name", [".#bounds.py", "bounds.py"])
@pytest.mark.parametrize("what", UNREADABLE)
def test_code_that_cannot_be_read_stops_no_plan(tmp_path, monkeypatch, what, name):
    """An editor's lock of an unsaved file is a dangling link."""
    folder = tmp_path / PAPER
    (folder / "algorithms").mkdir(parents=True)
    for module in (compose, sources):
        monkeypatch.setattr(module, "paper_folders", lambda: {PAPER: folder})
    before = plan_stamp("smoke", []), sources.digests(), plugin_files([str(folder)])
    UNREADABLE[what](folder / "algorithms" / name)
    assert before == (plan_stamp("smoke", []), sources.digests(), plugin_files([str(folder)]))


def test_a_lock_of_an_editor_is_no_module(tmp_path, monkeypatch):
    (tmp_path / "locked2026").mkdir()
    for name in ("__init__.py", "a.py", ".#a.py"):
        (tmp_path / "locked2026" / name).touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert registry.modules_in("locked2026") == ["locked2026.a"]


@pytest.mark.parametrize("content", [b"a: [\n", b"\xff\xfe\x00a: 1", b"a: !!binary aGVsbG8=\n", b'a: "\\ud800"\n'])
@pytest.mark.parametrize("place", PLACES)
def test_the_site_depends_on_the_bytes_of_what_says_nothing(conf, place, content):
    conf(place, content)
    before = site()
    conf(place, content + b"# more\n")
    assert before != site()


def test_a_wrong_file_of_what_ships_is_an_error(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: [\n")
    with pytest.raises(InputError, match=str(path)):
        file_digest(path)


def test_a_wrong_citation_is_named_and_left_out(conf, capsys):
    path = conf("paper/other2026.yaml", b"title: 3\n")
    assert find_citation(PAPER) is None
    assert lines(capsys) == [f"dpsco: {path}: left out: paper {PAPER}: title = 3: must be text"]


@pytest.mark.parametrize("named", ["3, [a]", "[a]", "{a: b}"])
def test_a_profile_of_other_things_than_texts_is_named_and_left_out(conf, capsys, named):
    before = catalogue.profile_claims("smoke")
    path = conf("profile/smoke.yaml", f"claims: [{named}]\n".encode())
    assert catalogue.profile_claims("smoke") == before
    (line,) = lines(capsys)
    assert line.startswith(f"dpsco: {path}: claims = ") and line.endswith("the claims of other2026 are left out")
