"""A named pipe or a device where a file of the results is expected is set aside like a folder: nobody waits for it."""

import os

import pytest

from dpsco_bench.claims.plan import read_plan
from dpsco_bench.errors import InputError
from dpsco_bench.execution.drawn import drawing, stands
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.execution.packs import Packing
from dpsco_bench.execution.store import DAMAGED, Store, read_sealed


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def turn_into_a_pipe(path):
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("first", ["read", "write"])
@pytest.mark.parametrize("where", [Store.path, Store.manifest, lambda store, *_: store.root / "locks" / "runs.k"])
def test_a_pipe_in_the_place_of_a_file_is_set_aside(store, where, first, capsys):
    """And nobody waits for what comes through it."""
    store.write("runs", "k", b"1")
    taken = where(store, "runs", "k")
    turn_into_a_pipe(taken)
    if first == "read":
        assert (store.read("runs", "k") is None) == (taken.parent.name == "runs")
    with store.lock("runs", "k"):
        store.write("runs", "k", b"1")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"dpsco: {taken} is damaged (a pipe or a device stands in its place): set aside as ")
    assert store.read("runs", "k") == b"1"
    assert taken.with_name(taken.name + DAMAGED) in [path for _, _, path in store.files()]


def test_a_pipe_in_the_place_of_any_other_file(tmp_path, capsys):
    for name in (".lock", "read"):
        turn_into_a_pipe(tmp_path / name)
    (tmp_path / "link").symlink_to("/dev/zero")
    assert ResultsLock(tmp_path / ".lock").is_free()
    assert [read_sealed(tmp_path / name) for name in ("read", "link")] == [None, None]
    assert len(capsys.readouterr().err.splitlines()) == 2
    turn_into_a_pipe(tmp_path / "plan.json")
    for read in (read_plan, Packing.read):
        with pytest.raises(InputError, match="must be a file"):
            read(tmp_path / "plan.json")
    drawn = tmp_path / "figure"
    with drawing(tmp_path / "mark") as files:
        drawn.touch()
        files.files.append(drawn)
    turn_into_a_pipe(drawn)
    assert not stands(tmp_path / "mark", [drawn]) and "a pipe" in capsys.readouterr().err and not drawn.exists()
