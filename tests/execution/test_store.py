"""The store: a damaged item is named in one line, counts as absent, and is made anew by whoever needs it."""

import math
import multiprocessing
import os
import resource
import shutil
import time
from types import SimpleNamespace
from unittest.mock import DEFAULT, Mock

import pytest

from dpsco_bench.execution import store as module
from dpsco_bench.execution.store import CompileClock, Cost, Meter, Store, merged, read_sealed
from dpsco_bench.jsonio import dumps_canonical, dumps_pretty, sealed, unsealed


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


COSTS = [Cost(1, 0.5, 10.0), Cost(0, 1.0, 20.0), Cost(1, 0.25, 15.0)]


def damages(content):
    yield "truncated", content[: len(content) // 2]
    for place in (0, len(content) // 3, len(content) - 1):
        yield f"flipped byte {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("kind", ["calibrations", "runs", "timings"])
def test_a_damaged_item_is_named_once_and_counts_as_absent(store, kind, capsys):
    content = b'{"cells":[1,2,3]}' * 10
    for what, spoilt in damages(content):
        store.write(kind, "k", content, COSTS)
        assert store.read(kind, "k") == content and capsys.readouterr().err == ""
        store.path(kind, "k").write_bytes(spoilt)
        assert store.read(kind, "k") is None and not store.has(kind, "k"), what
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"dpsco: {store.path(kind, 'k')} is damaged (")


def test_an_item_counts_with_its_manifest_only_and_costs_add_up_by_cell(store):
    for lost in (store.manifest("runs", "k"), store.path("runs", "k")):
        store.write("runs", "k", b"rows")
        lost.unlink()
        assert not store.has("runs", "k")
    store.write("runs", "k", b"rows", COSTS)
    assert store.costs("runs", "k") == merged(COSTS) == [Cost(0, 1.0, 20.0), Cost(1, 0.75, 15.0)]


def test_an_item_whose_replacement_was_interrupted_is_not_there_and_not_damaged(store, monkeypatch, capsys):
    """Its manifest goes first and comes last: a process that ends between leaves nothing that counts."""
    store.write("runs", "k", b"old rows", COSTS)
    interrupted = Mock(wraps=module.write_atomic, side_effect=[DEFAULT, KeyboardInterrupt])
    monkeypatch.setattr(module, "write_atomic", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.write("runs", "k", b"new rows", COSTS)
    assert store.read("runs", "k") is None and store.costs("runs", "k") == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("dumps", [dumps_canonical, dumps_pretty])
def test_sealed_files_tell_every_changed_byte(tmp_path, dumps, capsys):
    value = {"claim": "a", "rows": [1.5, None, "inf"]}
    content = sealed(dumps(value)).encode()
    assert unsealed(content) == value
    for what, spoilt in damages(content.rstrip(b"\n")):
        path = tmp_path / f"{what}.json"
        path.write_bytes(spoilt)
        assert read_sealed(path) is None, what
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert read_sealed(tmp_path / "absent.json") is None and capsys.readouterr().err == ""


def test_a_meter_measures_cpu_seconds_and_memory_of_its_own_cells():
    meter = Meter()
    with meter.measure([0]):
        wide = bytearray(b"x") * (200 * 2**20)
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass
        del wide
    with meter.measure([1, 2]):
        time.sleep(0.2)
    first, second, third = meter.costs
    assert first.cpu_s >= 0.2 > 0.1 > second.cpu_s == third.cpu_s and 200 < first.peak_mb < 100_000
    if os.access("/proc/self/clear_refs", os.W_OK):
        assert second.peak_mb < first.peak_mb - 150


@pytest.mark.parametrize(("system", "unit"), [("linux", 2**10), ("darwin", 2**20)])
def test_without_proc_the_peak_is_in_the_unit_of_the_system(monkeypatch, tmp_path, system, unit):
    monkeypatch.setattr(module, "_PEAK", tmp_path / "absent")
    monkeypatch.setattr("sys.platform", system)
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert module._peak_mb() == pytest.approx(usage / unit, rel=0.2)


def holder(store, held, seconds):
    """Start a process that holds a lock, and wait until it does."""

    def hold():
        with store.lock("runs", "k"):
            held.write_text("held")
            time.sleep(seconds)
            held.unlink()

    process = multiprocessing.get_context("fork").Process(target=hold)
    process.start()
    while not held.exists():
        time.sleep(0.01)
    return process


def test_one_process_makes_an_item_and_a_killed_one_holds_nothing(store, tmp_path):
    held = tmp_path / "held"
    first = holder(store, held, 0.5)
    with store.lock("runs", "k"):
        assert not held.exists()  # waited for it
    first.join()
    killed = holder(store, held, 60)
    killed.kill()
    killed.join()
    with store.lock("runs", "k"), store.lock("runs", "other"):
        pass
    assert not list((store.root / "locks").iterdir())


def test_what_is_compiled_within_counts_once():
    clock = SimpleNamespace(now=5.0)
    watch = CompileClock(lambda: clock.now)
    for now, step in ((6.0, watch.begin), (7.0, watch.begin), (9.0, watch.end), (10.0, watch.end), (20.0, watch.begin)):
        clock.now = now
        step()
    assert watch.noted == [4.0, 20.0]
    watch.end()
    assert watch.noted[0] == 4.0 and math.isnan(watch.noted[1])


def test_a_cell_is_not_charged_for_what_is_compiled(monkeypatch):
    monkeypatch.setattr(module, "compiled_seconds", iter([1.0, 4.0]).__next__)
    monkeypatch.setattr(module.time, "process_time", iter([10.0, 15.0]).__next__)
    meter = Meter()
    with meter.measure([0, 1]):
        pass
    assert [cost.cpu_s for cost in meter.costs] == [1.0, 1.0]


def test_a_store_may_be_deleted_while_an_item_is_made(store):
    with store.lock("runs", "k"):
        shutil.rmtree(store.root)
    store.write("runs", "k", b"rows")
    assert store.read("runs", "k") == b"rows"
