"""How much is done and how long the rest takes, by predictions and by what was finished."""

import pytest

from dpsco_bench.execution import progress
from dpsco_bench.execution.progress import Pace, shown


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("at_once", [1, 2])
def test_the_time_left_follows_the_pace(clock, slower, at_once):
    """Within a factor of two after the first tenth, whatever the predictions are off by."""
    predicted = [10.0, 1.0, 5.0, 20.0, 4.0] * 8
    pace = Pace(predicted, at_once=at_once, clock=clock)
    whole = slower * sum(predicted) / at_once
    for number, seconds in enumerate(predicted):
        clock.now += slower * seconds / at_once
        pace.end(number)
        if clock.now > whole / 10:
            left = whole - clock.now
            assert left / 2 - 1 <= pace.left <= 2 * left + 1
    assert pace.done == pace.all == 40 and pace.left == 0


def test_a_long_piece_counts_down_and_never_to_nothing(clock):
    pace = Pace([10.0, 10.0], unit="cells", clock=clock)
    assert pace.left == pytest.approx(20.0)
    clock.now = 10.0
    pace.reach(1)
    before = pace.left
    clock.now = 15.0
    assert pace.left == pytest.approx(before - 5.0)
    clock.now = 500.0
    assert 0 < pace.left < before
    assert str(pace).startswith("1 of 2 cells done, 8 min 20 s, ")


def test_shares_of_one_piece_count_by_their_sizes(clock):
    pace = Pace([1.0] * 4, sizes=[0.25] * 4, unit="runs", clock=clock)
    assert (pace.all, pace.done) == (1, 0)
    pace.reach(3)
    assert pace.done == 0
    pace.reach(4)
    assert pace.done == 1


def test_without_a_terminal_lines_come_now_and_then(monkeypatch):
    """Also while a single piece is long, and work that is done elsewhere is looked at."""
    monkeypatch.setattr(progress, "SPACING", 0.05)
    said, seen = [], []
    with shown(Pace([1.0, 1.0], unit="runs"), said.append, "audit x", lambda: seen[:1]):
        while len(said) < 2:
            pass
        seen.append(0)
        while not any("1 of 2" in line for line in said):
            pass
    assert said[0].startswith("audit x: 0 of 2 runs done, ") and " left" in said[0]
