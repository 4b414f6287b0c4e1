"""What would decide, from widths and the room that they have."""

import pytest

from dpsco_bench.analysis.looks import within, would_decide


@pytest.mark.parametrize(
    ("rooms", "told"),
    [
        ([(0.3, 0.15)], "about 4 times"),
        ([(0.3, 0.15), (0.5, 0.1)], "about 25 times"),  # the hardest decides
        ([(0.16, 0.15)], "about 2 times"),
        ([(0.3, 0.0)], "too near the limit"),
        ([(10.0, 0.1)], "too near the limit"),
    ],
)
def test_an_interval_shrinks_like_the_root(rooms, told):
    assert told in would_decide(rooms)


@pytest.mark.parametrize(
    ("estimate", "half", "told"),
    [(-1.0, 0.3, "4"), (-1.05, 0.2, "4"), (-1.3, 0.3, "4"), (-0.7, 0.3, "4"), (-1.3, 0.1, "2")],
)
def test_a_tolerance_on_either_side(estimate, half, told):
    assert (
        within(estimate, estimate - half, estimate + half, -1.0, 0.15)
        == f"about {told} times the replicates would decide if the estimate stays"
    )
