"""What counts as work of a process: neither compiling nor waiting for a processor."""

import math
import sys
import threading
import time
from functools import cache
from types import SimpleNamespace

import pytest

from dpsco_bench.execution import abreast, compiling
from dpsco_bench.execution.compiling import Stopwatch, compiled_seconds, own_seconds, worked_seconds
from dpsco_bench.execution.store import Meter

event = pytest.importorskip("numba.core.event", reason="without Numba nothing is compiled")


def test_what_is_compiled_within_counts_once():
    clock = SimpleNamespace(now=5.0)
    watch = Stopwatch(lambda: clock.now)
    for now, step in ((6.0, watch.begin), (7.0, watch.begin), (9.0, watch.end), (10.0, watch.end), (20.0, watch.begin)):
        clock.now = now
        step()
    assert watch.noted == [4.0, 20.0]
    watch.end()
    assert watch.noted[0] == 4.0 and math.isnan(watch.noted[1])


@pytest.mark.parametrize(
    ("text", "waited"), [("5000000000 3000000000 12\n", 3.0), (None, 0.0), ("", 0.0), ("0 much 1", 0.0)]
)
def test_waiting_for_a_processor_is_left_out_where_the_system_tells_it(monkeypatch, tmp_path, text, waited):
    monkeypatch.setattr(compiling, "PROCESSES", tmp_path)
    monkeypatch.setattr(time, "monotonic", lambda: 110.0)
    if text is not None:
        (tmp_path / "7").mkdir()
        (tmp_path / "7" / "schedstat").write_text(text)
    assert own_seconds(100.0, 7) == 10.0 - waited
    assert worked_seconds(100.0, 7, [4.0, math.nan]) == pytest.approx(6.0 - waited)
    assert worked_seconds(100.0, 7, [1.0, 5.0]) == pytest.approx(4.0)  # compiling since its fifth second of work


def test_a_cell_is_not_charged_for_what_numba_compiles():
    """A busy stretch inside of a compilation, and one outside of it."""
    compiling.listen()
    meter, before = Meter(), compiled_seconds()
    with meter.measure([0]):
        with event.trigger_event(compiling.COMPILES):
            busy(0.3)
        busy(0.1)
    assert compiled_seconds() - before == pytest.approx(0.3, abs=0.05)
    assert 0.05 < meter.costs[0].cpu_s < 0.25


@pytest.mark.parametrize(
    ("alive", "said", "worked"), [(True, 0.0, 10.0), (False, 0.0, 2.0), (False, 3.5, 3.5), (True, 3.5, 3.5)]
)
def test_a_process_that_is_gone_has_worked_as_long_as_it_said(monkeypatch, tmp_path, alive, said, worked):
    """Of a process that is gone the system does not tell how long it waited: all of its time would count as work."""
    monkeypatch.setattr(compiling, "PROCESSES", tmp_path)
    monkeypatch.setattr(time, "monotonic", lambda: 110.0)
    process = SimpleNamespace(pid=7, is_alive=lambda: alive)
    one = abreast._Running(None, process, None, 100.0, [0.0, math.nan, said], worked=2.0)
    assert one.look() == worked


def busy(seconds):
    """Work so many CPU seconds."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_second_thread_never_imports_numba_first(monkeypatch):
    """Two threads that do so at once can wait for each other for ever."""
    asked, said = [], []

    @cache
    def own():
        asked.append(True)
        return Stopwatch(lambda: 0.0)

    monkeypatch.setattr(compiling, "_own", own)
    monkeypatch.setitem(sys.modules, "numba", sys)
    thread = threading.Thread(target=lambda: said.append(compiled_seconds()))
    thread.start()
    thread.join()
    assert said == [0.0] and not asked
    compiled_seconds()
    assert asked == [True]
