"""Every seeded defect of tests/mutants still applies, and the test that catches it exists."""

from collections import Counter

import pytest

from tests.mutants import bench
from tests.mutants.catalogue import LAYERS, Mutant, complaint, read

MUTANTS = read()
LEAST, LEAST_OF_A_LAYER = 80, 5


@pytest.mark.parametrize("layer", LAYERS)
def test_every_defect_applies_and_its_test_exists(layer):
    found = [mutant for mutant in MUTANTS if mutant.layer == layer]
    assert len(found) >= LEAST_OF_A_LAYER
    assert not [text for text in map(complaint, found) if text]


def test_there_are_enough_and_no_two_are_one():
    assert len(MUTANTS) >= LEAST
    assert Counter((mutant.file, mutant.old, mutant.new) for mutant in MUTANTS).most_common(1)[0][1] == 1
    for mutant in MUTANTS:
        assert len(mutant.old.splitlines()) <= 8 and not mutant.why.endswith(".")


BROKEN = Mutant("a", "dpsco_bench/errors.py", "no such text", "x", "w", "tests/test_mutants.py::test_no", "privacy")


def test_what_cannot_be_tried_is_named():
    assert "stands 0 times" in complaint(BROKEN)
    once = Mutant("b", "dpsco_bench/errors.py", "class BrokenPaper", "class Brokenpaper", "w", BROKEN.test, "privacy")
    assert complaint(once) == f"privacy.toml, b: there is no test {BROKEN.test}"
    assert "there is no file" in complaint(Mutant("c", "none.py", "x", "y", "w", BROKEN.test, "privacy"))


def test_files_with_wrong_keys_are_refused(tmp_path):
    (tmp_path / "own.toml").write_text('[[mutant]]\nid = "a"\nfile = "b"\n')
    with pytest.raises(ValueError, match="^own.toml, a: its keys must be file, id, new, old, test, why"):
        read(["own"], tmp_path)


ENDLESS = "while True: pass"


@pytest.mark.slow
def test_a_defect_is_caught_or_survives_in_a_copy(tmp_path, monkeypatch):
    """On a repository of two files, which is afterwards as before; a defect without an end is stopped."""
    monkeypatch.setattr(bench, "LIMIT", 2)
    own = tmp_path / "own"
    (own / "tests").mkdir(parents=True)
    (own / "thing.py").write_text("def f():\n    x = 2\n    return x\n")
    tests = "from thing import f\n\n\ndef test_it():\n    assert f() == 2\n\n\ndef test_nothing():\n    f()\n"
    (own / "tests" / "test_thing.py").write_text(tests)
    before = {path: path.read_bytes() for path in own.rglob("*.py")}
    tried = bench.Bench(tmp_path / "bench", own)
    for new, test, word in (
        ("x = 3", "it", bench.CAUGHT),
        ("x = 3", "nothing", bench.SURVIVES),
        (ENDLESS, "it", bench.STOPPED),
    ):
        mutant = Mutant("m", "thing.py", "x = 2", new, "w", f"tests/test_thing.py::test_{test}", "privacy")
        assert tried.attempt(mutant).word == word
    assert tried.passes(["tests/test_thing.py"])[0]
    assert {path: path.read_bytes() for path in own.rglob("*.py")} == before
