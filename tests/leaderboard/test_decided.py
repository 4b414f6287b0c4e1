"""Up to which n a board decides, computed from its standings."""

import math
import re
from dataclasses import replace

import pytest

from dpsco_bench.execution.progress import duration
from dpsco_bench.leaderboard.standings import Contender, decided_text, seconds_of, to_decide

from .test_contenders import row


def left(point, *costs):
    return replace(point, contenders=tuple(Contender("m", 1, 96, 8, 1.0, cost) for cost in costs))


SMALL, MIDDLE, LARGE = (replace(row(n, {"a": 0.1}), runner_up="the next") for n in (1024, 16384, 1048576))
LATE = left(LARGE, "about 3 min 20 s on one core", "about 40 s on one core")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], r""),
        ([SMALL, MIDDLE], r"The largest n .* is 16,384, which is the largest that was run\."),
        ([MIDDLE, left(MIDDLE, "about 9.0 s on one core"), LATE], r".* is 16,384; .* n = 1,048,576.* 4 min 00 s .*"),
        ([SMALL, left(MIDDLE, "about 2 h 05 min on one core"), LATE], r".* is 1,024; .* all 2 about 2 h 09 min .*"),
        ([SMALL, replace(MIDDLE, runner_up=None)], r".* is 1,024; at larger n no method of proven privacy ran\."),
        ([replace(MIDDLE, runner_up=None)], r"No point is decided, since no method of proven privacy ran\."),
        ([left(SMALL, "")], r"No point is decided; .* not known\."),
    ],
)
def test_the_largest_decided_n_and_what_is_above_it(rows, said):
    assert re.fullmatch(said, decided_text(rows))


@pytest.mark.parametrize("seconds", [0.4, 12.0, 200.0, 3900.0, 5 * 86400.0, 3000 * 86400.0])
def test_a_cost_in_words_is_read_back(seconds):
    assert seconds_of(f"about {duration(seconds)} on one core: 3 steps") == seconds
    assert math.isnan(seconds_of("never")) and to_decide(LATE) == 240.0
