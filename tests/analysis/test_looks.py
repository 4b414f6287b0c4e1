"""Looks at runs that are not at their end, shares of runs, and what would decide: levels by hand, and error rates."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.looks import EARLY, Look, within, would_decide
from dpsco_bench.analysis.stages import near
from dpsco_bench.kinds.explicit import least_share, runs_to_decide, share_word
from tests.kinds.test_verdicts import judged


@pytest.mark.parametrize(("share", "quantile"), [(1 / 16, 4.14), (1 / 4, 2.93), (1 / 2, 2.46), (1.0, 2.07)])
def test_levels_are_those_of_wang_and_tsiatis(share, quantile):
    assert norm.isf(Look(1, 4, share).alpha / 2) == pytest.approx(quantile, abs=0.005)
    assert Look(1, 1, share).alpha == 0.05


def test_all_looks_together_err_as_often_as_one():
    """Means of a walk at its four looks leave their intervals in 5 %; it is 12 % where each has 1.96."""
    shares = np.array([1, 4, 8, 16]) / 16
    steps = np.random.default_rng(3).standard_normal((200_000, 4)) * np.sqrt(np.diff(shares, prepend=0.0))
    scores = np.abs(steps.cumsum(axis=1)) / np.sqrt(shares)
    limits = [norm.isf(Look(1, 4, share).alpha / 2) for share in shares]
    assert (scores > limits).any(axis=1).mean() == pytest.approx(0.05, abs=0.003)
    assert (scores > 1.96).any(axis=1).mean() > 0.11


def test_signals_go_on_within_three_paired_errors_of_the_best():
    common = np.arange(8.0)[None]
    spread = np.array([[-1.0, 1.0] * 4])  # of which the mean has an error of 1/sqrt(7)
    limit = 3 / np.sqrt(7)
    risks = [common, common - limit * 0.99 + spread, common - limit * 1.01 + spread, common * (1 - 1e-12), common - 0.1]
    assert near(risks) == [True, True, False, True, False]
    once = np.array([[12.0, *[1.0] * 20]])  # the best is of the largest mean, not of the largest value
    assert near([once, np.full((1, 21), 9.0)]) == [False, True]


def test_a_true_law_is_violated_in_few_cases_however_heavy_its_noise():
    """Five cells of 64 lognormal replicates: 5 % are allowed; two errors a cell are wrong in a third of them."""
    draws = np.random.default_rng(8).lognormal(-0.5, 1.0, (2000, 5, 64))
    means, errors = draws.mean(axis=2), draws.std(axis=2, ddof=1) / 8
    given = {"bound": np.ones(5), "dof": 63, "look": Look(), "tolerance": 0.0}
    found = [judged("law", range(5), *own, **given).word for own in zip(means, errors, strict=True)]
    naive = (np.abs(means - 1) > 2 * errors).any(axis=1).mean()
    assert found.count("violated") / 2000 < 0.6 * naive and naive > 0.25


@pytest.mark.parametrize(
    ("mean", "last", "early"),
    [(1.05, "inconclusive", "inconclusive"), (1.2, "holds", "inconclusive"), (1.5, "holds", "holds")]
    + [(0.95, "inconclusive", "inconclusive"), (0.5, "violated", "inconclusive")],
)
def test_a_lower_bound_is_open_where_the_interval_reaches_across_it(mean, last, early):
    for look, word in ((Look(), last), (Look(1, 2, 0.5), early)):
        assert judged("lower_bound", [1], [mean], [0.08], [1.0], look=look, constant="stated").word == word
    assert simultaneous_quantile(1, np.inf, EARLY) == pytest.approx(2.807, abs=1e-3)


def test_an_interval_shrinks_like_the_root():
    assert "about 4 times" in would_decide([(0.3, 0.15)])
    assert "about 25 times" in would_decide([(0.3, 0.15), (0.5, 0.1)]), "the hardest decides"
    assert "about 2 times" in would_decide([(0.16, 0.15)])
    assert "too near the limit" in would_decide([(0.3, 0.0)])
    assert "too near the limit" in would_decide([(10.0, 0.1)])


def test_an_interval_beside_a_target_must_shrink_on_the_side_of_the_target():
    for sign in (1.0, -1.0):
        for estimate, toward, away, told in ((0.5, 0.3, 0.0, "9 times"), (0.1, 0.3, 0.6, "4 times")):
            ends = sorted((sign * (estimate - toward), sign * (estimate + away)))
            assert f"about {told}" in within(sign * estimate, *ends, 0.0, 0.4), (sign, estimate)


@pytest.mark.parametrize(("inside", "size"), [(0, 5), (3, 7), (40, 40), (181, 192)])
def test_the_lower_end_is_that_of_clopper_and_pearson(inside, size):
    interval = binomtest(inside, size).proportion_ci(0.95, "exact")
    assert least_share(inside, size, 0.025) == pytest.approx(interval.low, abs=1e-12)


def test_runs_that_decide_a_share():
    """All inside: a ratio of logarithms; below what is stated no number decides."""
    for stated, level in ((0.95, 0.025), (0.95, 0.05 / 756), (0.5, 0.01)):
        assert runs_to_decide(1.0, stated, level) == math.ceil(math.log(level) / math.log(stated))
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
