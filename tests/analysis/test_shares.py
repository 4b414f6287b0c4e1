"""Shares of runs against what is stated: exact intervals, and how often they are wrong."""

import math

import pytest
from scipy.stats import binom, binomtest

from dpsco_bench.kinds.explicit import least_share, runs_to_decide, share_word


@pytest.mark.parametrize(("inside", "size"), [(0, 5), (3, 7), (40, 40), (181, 192)])
def test_the_lower_end_is_that_of_clopper_and_pearson(inside, size):
    interval = binomtest(inside, size).proportion_ci(0.95, "exact")
    assert least_share(inside, size, 0.025) == pytest.approx(interval.low, abs=1e-12)


@pytest.mark.parametrize(("stated", "level"), [(0.95, 0.025), (0.95, 0.05 / 756), (0.5, 0.01)])
def test_runs_that_are_all_inside_take_a_ratio_of_logarithms(stated, level):
    assert runs_to_decide(1.0, stated, level) == math.ceil(math.log(level) / math.log(stated))


def test_no_number_of_runs_decides_a_share_below_what_is_stated():
    assert runs_to_decide(0.94, 0.95, 0.025) is None
    more = runs_to_decide(0.97, 0.95, 0.025)
    assert least_share(math.floor(0.97 * more), more, 0.025) >= 0.95


@pytest.mark.parametrize(
    ("counts", "word", "told"),
    [
        ([(192, 192)] * 3, "holds", "100 % of the 192 replicates"),
        ([(64, 64)], "inconclusive", "72 of them would decide"),
        ([(192, 192), (180, 192)], "inconclusive", "too near"),
        ([(192, 192), (160, 192)], "violated", "83.33 % of the 192"),
    ],
)
def test_words(counts, word, told):
    found, reason = share_word(counts, 0.95)
    assert found == word and told in reason and "95 % are stated" in reason


@pytest.mark.parametrize("cells", [1, 12])
@pytest.mark.parametrize("size", [16, 64, 192])
def test_error_rates_are_exact(size, cells):
    """``holds`` below what is stated, and ``violated`` at it, come up in at most 2.5 % for all cells together."""
    words = [share_word([(inside, size)] + [(size, size)] * (cells - 1), 0.95)[0] for inside in range(size + 1)]
    for share, word in ((0.9499, "holds"), (0.95, "violated")):
        chance = sum(binom.pmf(inside, size, share) for inside in range(size + 1) if words[inside] == word)
        assert cells * chance <= 0.025 + 1e-12
