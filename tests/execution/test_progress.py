"""How much is done and how long the rest takes, by predictions and by what was finished."""

import pytest

from dpsco_bench.execution.progress import Pace


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
