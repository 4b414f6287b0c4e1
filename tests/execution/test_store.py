"""The store heals: every kind of file that is damaged is named in one line, set aside, and made anew."""

import multiprocessing
import os
import shutil
import signal
import time

import pytest

from dpsco_bench.execution import store as module
from dpsco_bench.execution.lock import ResultsLock
from dpsco_bench.execution.store import (
    DAMAGED,
    Cost,
    Meter,
    Store,
    looking,
    merged,
    read_sealed,
    set_loops_aside,
    total,
)
from dpsco_bench.jsonio import dumps_canonical, dumps_pretty, sealed, unsealed


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


COSTS = [Cost(1, 0.5, 10.0), Cost(0, 1.0, 20.0), Cost(1, 0.25, 15.0)]


def damages(content):
    """Every way in which a file is damaged here."""
    yield "truncated", content[: len(content) // 2]
    yield "empty", b""
    for place in (0, len(content) // 3, len(content) - 1):
        yield f"flipped byte {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    yield "longer", content + b" "


@pytest.mark.parametrize("kind", ["calibrations", "runs", "shards", "timings"])
def test_a_damaged_item_is_named_in_one_line_and_set_aside(store, kind, capsys):
    content = b'{"cells":[1,2,3]}' * 10
    for what, spoilt in damages(content):
        store.write(kind, "k", content, COSTS)
        assert store.read(kind, "k") == content and capsys.readouterr().err == ""
        store.path(kind, "k").write_bytes(spoilt)
        assert store.read(kind, "k") is None, what
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"dpsco: {store.path(kind, 'k')} is damaged (") and "set aside as" in line
        assert not store.path(kind, "k").exists() and store.costs(kind, "k") == []
        aside = store.path(kind, "k")
        assert aside.with_name(aside.name + ".damaged").read_bytes() == spoilt
        assert store.read(kind, "k") is None and capsys.readouterr().err == ""  # said once


def test_a_damaged_manifest_is_named_and_its_item_does_not_count(store, capsys):
    store.write("runs", "k", b"rows", COSTS)
    content = store.manifest("runs", "k").read_bytes()
    for what, spoilt in damages(content):
        store.write("runs", "k", b"rows", COSTS)
        store.manifest("runs", "k").write_bytes(spoilt)
        assert not store.has("runs", "k"), what
        assert len(capsys.readouterr().err.splitlines()) == 1
    store.write("runs", "k", b"rows", COSTS)
    assert store.has("runs", "k")


def test_an_item_counts_with_its_manifest_only(store):
    store.write("runs", "k", b"rows")
    store.manifest("runs", "k").unlink()
    assert not store.has("runs", "k")
    store.write("runs", "k", b"rows")
    store.path("runs", "k").unlink()
    assert not store.has("runs", "k")


def test_an_item_whose_replacement_was_interrupted_is_not_there_and_not_damaged(store, monkeypatch, capsys):
    """Its manifest goes first and comes last: a process that ends between leaves nothing that counts."""
    write = module.write_atomic
    store.write("runs", "k", b"old rows", COSTS)

    def interrupted(path, content):
        if path == store.manifest("runs", "k"):
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(module, "write_atomic", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.write("runs", "k", b"new rows", COSTS)
    assert store.read("runs", "k") is None and store.costs("runs", "k") == []
    assert capsys.readouterr().err == ""


def test_an_item_in_the_place_of_another_is_named_and_set_aside(store, capsys):
    def place(kind, key):
        return store.path(kind, key), store.manifest(kind, key)

    def misplaced(kind, key, whose):
        assert store.costs(kind, key) == [] and store.read(kind, key) is None
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"dpsco: {store.path(kind, key)} is damaged (it is item {whose} in a wrong place)")
        assert not any(path.exists() for path in place(kind, key)) and not store.has(kind, key)

    for key in ("a", "b", "c"):
        store.write("runs", key, f"rows of {key}", COSTS)
    for first, second in zip(place("runs", "a"), place("runs", "b"), strict=True):  # two are exchanged
        kept = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(kept)
    misplaced("runs", "a", "runs/b")
    misplaced("runs", "b", "runs/a")
    store.write("runs", "a", "rows of a")
    assert store.read("runs", "a") == b"rows of a" and capsys.readouterr().err == ""  # healed
    for kind, key in (("runs", "b"), ("shards", "c")):  # copied to another key, and to another kind
        for path, copy in zip(place("runs", "c"), place(kind, key), strict=True):
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(path.read_bytes())
        misplaced(kind, key, "runs/c")
    assert store.read("runs", "c") == b"rows of c" and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "changes", [{"unknown": 1}, {"cells": [{"cell": 0}]}, {"cells": [1]}, {"cells": 1}], ids=lambda one: str(one)
)
def test_a_manifest_of_another_form_is_named_and_set_aside(store, capsys, changes):
    """Its seal is right: other code than this has written it."""
    store.write("runs", "k", b"1", COSTS)
    path = store.manifest("runs", "k")
    path.write_bytes(sealed(dumps_canonical({**unsealed(path.read_bytes()), **changes})).encode())
    assert store.costs("runs", "k") == [] and store.read("runs", "k") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"dpsco: {store.path('runs', 'k')} is damaged (its manifest: ") and "set aside" in line
    assert path.with_name(path.name + DAMAGED).is_file() and not path.exists()
    store.write("runs", "k", b"1", COSTS)
    assert store.read("runs", "k") == b"1" and capsys.readouterr().err == ""


def test_an_item_whose_manifest_says_no_place_is_made_anew(store, capsys):
    store.write("runs", "k", b"rows", COSTS)
    described = unsealed(store.manifest("runs", "k").read_bytes())
    del described["item"]
    store.manifest("runs", "k").write_text(sealed(dumps_canonical(described)))
    assert not store.has("runs", "k") and store.costs("runs", "k") == [] and capsys.readouterr().err == ""


@pytest.mark.parametrize("place", [Store.path, Store.manifest])
def test_a_folder_in_the_place_of_an_item_is_set_aside(store, place, capsys):
    store.write("runs", "k", b"1", COSTS)
    taken = place(store, "runs", "k")
    taken.unlink()
    taken.mkdir()
    assert store.read("runs", "k") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert "a folder stands in its place" in line
    store.write("runs", "k", b"1", COSTS)
    assert store.read("runs", "k") == b"1"


@pytest.mark.parametrize("place", [Store.path, Store.manifest])
def test_an_item_is_written_where_a_folder_stands_alone(store, place, capsys):
    (place(store, "runs", "k") / "inside").mkdir(parents=True)
    store.write("runs", "k", b"1", COSTS)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"dpsco: {place(store, 'runs', 'k')} is damaged (a folder stands in its place): set aside as"
    )
    assert store.read("runs", "k") == b"1"


def test_a_folder_in_the_place_of_a_lock_is_set_aside(store, capsys):
    taken = store.root / "locks" / "runs.k"
    (taken / "inside").mkdir(parents=True)
    with store.lock("runs", "k"):
        assert taken.is_file()
    (line,) = capsys.readouterr().err.splitlines()
    assert "a folder stands in its place" in line and not taken.exists()
    assert [path.name for _, _, path in store.files()] == ["runs.k.damaged"]


def turn_into_a_loop(path):
    """A link to itself in the place of a file or a folder; what was there is gone."""
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path.name)


LOOPS = {
    "item": lambda store: store.path("runs", "k"),
    "manifest": lambda store: store.manifest("runs", "k"),
    "kind": lambda store: store.path("runs", "k").parent,
    "store": lambda store: store.root,
}


@pytest.mark.parametrize("first", ["read", "write"])
@pytest.mark.parametrize("place", LOOPS.values(), ids=LOOPS)
def test_a_link_to_itself_is_named_in_one_line_and_set_aside(store, place, first, capsys):
    store.write("runs", "k", b"1", COSTS)
    taken = place(store)
    turn_into_a_loop(taken)
    if first == "read":
        assert store.read("runs", "k") is None and not store.has("runs", "k") and store.costs("runs", "k") == []
    store.write("runs", "k", b"1", COSTS)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"dpsco: {taken} is damaged (a link to itself stands in its place): set aside as ")
    assert store.read("runs", "k") == b"1"
    aside = taken.with_name(taken.name + DAMAGED)
    assert not aside.is_symlink() and aside.read_text() == f"a link to {taken.name}\n"
    assert [*store.files()] and capsys.readouterr().err == ""


def test_who_looks_names_a_link_to_itself_and_leaves_it(store, capsys):
    store.write("runs", "k", b"1", COSTS)
    taken = store.path("runs", "k").parent
    turn_into_a_loop(taken)
    with looking() as seen:
        assert not store.has("runs", "k") and not store.has("runs", "k")
    assert seen == [taken] and taken.is_symlink() and len(capsys.readouterr().err.splitlines()) == 1


def test_a_link_to_itself_in_the_place_of_a_lock_or_a_sealed_file(store, tmp_path, capsys):
    taken = store.root / "locks" / "runs.k"
    turn_into_a_loop(taken)
    with store.lock("runs", "k"):
        assert taken.is_file()
    turn_into_a_loop(tmp_path / "plan.json")
    assert read_sealed(tmp_path / "plan.json") is None
    turn_into_a_loop(tmp_path / ".lock")
    assert ResultsLock(tmp_path / ".lock").is_free()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and all("a link to itself stands in its place" in line for line in said)


def test_all_links_to_themselves_below_a_folder_are_set_aside(store, capsys):
    for key in "abc":
        store.write("runs", key, b"1", COSTS)
    (store.root / "runs" / "sound").symlink_to("b.parquet")
    (store.root / "runs" / "nowhere").symlink_to("gone")
    loops = [store.path("runs", "a"), store.root / "timings", store.root / "runs" / "folder" / "file"]
    for path in loops:
        turn_into_a_loop(path)
    set_loops_aside(store.root)
    said = capsys.readouterr().err.splitlines()
    assert sorted(line.split()[1] for line in said) == sorted(map(str, loops))
    assert (store.root / "runs" / "sound").is_file() and (store.root / "runs" / "nowhere").is_symlink()
    assert not any(path.is_symlink() for path in loops) and store.read("runs", "b") == b"1"
    set_loops_aside(store.root)
    assert capsys.readouterr().err == ""


def test_links_that_lead_to_each_other(store, capsys):
    one = store.path("runs", "k")
    turn_into_a_loop(one)
    one.unlink()
    one.symlink_to("other")
    one.with_name("other").symlink_to(one.name)
    store.write("runs", "k", b"1", COSTS)
    assert store.read("runs", "k") == b"1" and len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("place", [Store.path, Store.manifest])
def test_files_and_folders_are_set_aside_over_what_was_set_aside_before(store, place, capsys):
    taken = place(store, "runs", "k")
    for folder in (False, True, True, False, True, False):
        store.write("runs", "k", b"1", COSTS)
        taken.unlink()
        if folder:
            taken.mkdir()
            (taken / "inside").touch()
        else:
            taken.write_bytes(b"spoilt")
        assert store.read("runs", "k") is None and not taken.exists()
        assert len(capsys.readouterr().err.splitlines()) == 1
        assert taken.with_name(taken.name + DAMAGED).is_dir() == folder
    store.write("runs", "k", b"1", COSTS)
    assert store.read("runs", "k") == b"1"


@pytest.mark.parametrize("dumps", [dumps_canonical, dumps_pretty])
def test_sealed_files_tell_every_changed_byte(tmp_path, dumps, capsys):
    value = {"claim": "a", "rows": [1.5, None, "inf"]}
    content = sealed(dumps(value)).encode()
    assert unsealed(content) == value
    for what, spoilt in damages(content.rstrip(b"\n")):
        if what == "longer" and dumps is dumps_pretty:
            continue
        path = tmp_path / "verdicts.json"
        path.write_bytes(spoilt)
        assert read_sealed(path) is None and not path.exists(), what
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert read_sealed(tmp_path / "absent.json") is None and capsys.readouterr().err == ""


def test_costs_add_up_by_cell_and_peaks_do_not(store):
    store.write("runs", "k", b"rows", COSTS)
    assert store.costs("runs", "k") == merged(COSTS) == [Cost(0, 1.0, 20.0), Cost(1, 0.75, 15.0)]
    assert total(COSTS) == (1.75, 20.0) and total([]) is None


def test_a_meter_measures_cpu_seconds_and_memory_of_its_own_cells():
    meter = Meter()
    with meter.measure([0]):
        wide = bytearray(200 * 2**20)
        wide[::4096] = b"x" * len(wide[::4096])
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass
        del wide
    with meter.measure([1, 2]):
        time.sleep(0.2)
    first, second, third = meter.costs
    assert first.cpu_s >= 0.2 > 0.1 > second.cpu_s == third.cpu_s
    assert first.peak_mb > 200
    if os.access("/proc/self/clear_refs", os.W_OK):
        assert second.peak_mb < first.peak_mb - 150


def _hold(store, path, seconds):
    with store.lock("runs", "k"):
        path.write_text("held")
        time.sleep(seconds)
        path.unlink()


def test_one_process_makes_an_item_and_a_killed_one_holds_nothing(store, tmp_path):
    held = tmp_path / "held"
    holder = multiprocessing.get_context("fork").Process(target=_hold, args=(store, held, 0.5))
    holder.start()
    while not held.exists():
        time.sleep(0.01)
    with store.lock("runs", "k"):
        assert not held.exists()  # waited for it
    holder.join()
    killed = multiprocessing.get_context("fork").Process(target=_hold, args=(store, held, 60))
    killed.start()
    while not held.exists():
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.join()
    with store.lock("runs", "k"), store.lock("runs", "other"):
        pass
    assert not list((store.root / "locks").iterdir())


def test_links_to_nothing_are_set_aside_where_it_is_asked_for(tmp_path, capsys):
    (tmp_path / "kept").write_text("kept")
    for name, target in (("gate.txt", "gone"), ("tables", "gone/too"), ("fine", "kept")):
        (tmp_path / name).symlink_to(tmp_path / target)
    set_loops_aside(tmp_path)
    assert (tmp_path / "gate.txt").is_symlink() and capsys.readouterr().err == ""
    set_loops_aside(tmp_path, dead=True)
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "fine", "gate.txt.damaged", "tables.damaged"}
    assert capsys.readouterr().err.count("is damaged (a link to nothing stands in its place)") == 2
    set_loops_aside(tmp_path, dead=True)
    assert "damaged.damaged" not in str(list(tmp_path.iterdir()))
