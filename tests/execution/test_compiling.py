"""Compiling is measured, and counts as no work."""

import math
import time
from types import SimpleNamespace

import pytest

from dpsco_bench.execution import store
from dpsco_bench.execution.store import CompileClock, Meter, compiled_seconds

event = pytest.importorskip("numba.core.event", reason="without Numba nothing is compiled")


def test_what_is_compiled_within_counts_once():
    clock = SimpleNamespace(now=5.0)
    watch = CompileClock(lambda: clock.now)
    for now, step in ((6.0, watch.begin), (7.0, watch.begin), (9.0, watch.end), (10.0, watch.end), (20.0, watch.begin)):
        clock.now = now
        step()
    assert watch.noted == [4.0, 20.0]
    watch.end()
    assert watch.noted[0] == 4.0 and math.isnan(watch.noted[1])


def test_a_cell_is_not_charged_for_what_numba_compiles():
    """A busy stretch inside of a compilation, and one outside of it."""
    store.listen()
    meter, before = Meter(), compiled_seconds()
    with meter.measure([0]):
        with event.trigger_event(store.COMPILES):
            busy(0.3)
        busy(0.1)
    assert compiled_seconds() - before == pytest.approx(0.3, abs=0.05)
    assert 0.05 < meter.costs[0].cpu_s < 0.25


def busy(seconds):
    """Work so many CPU seconds."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
