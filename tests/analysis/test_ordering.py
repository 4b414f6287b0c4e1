"""Orderings: paired medians, ties, equal evaluations, and the combination of comparisons."""

import numpy as np
import pytest

from dpsco_bench.analysis.bootstrap import student_factor
from dpsco_bench.analysis.ordering import MedianRatio, common_budget, compare_medians, risk_at
from dpsco_bench.errors import InputError
from dpsco_bench.kinds.ordering import AT_END, AT_EQUAL_EVALUATIONS, ordering_verdict

NAMES = ("claim", "part", "paper", AT_END)


def samples(seed, ratio=1.0, shape=(32,), common=1.0, own=0.1):
    source = np.random.default_rng(seed)
    shared = np.exp(common * source.standard_normal(shape))
    pair = np.exp(own * source.standard_normal((2, *shape)))
    return ratio * shared * pair[0], shared * pair[1]


def test_clear_differences_are_decided_either_way():
    better, worse = samples(0, ratio=0.5)
    holds, reverse = compare_medians(better, worse, NAMES), compare_medians(worse, better, NAMES)
    assert holds.word == "holds"
    assert reverse.word == "reversed"
    assert holds.log_ratio == pytest.approx(-reverse.log_ratio)
    assert holds.log_ratio == pytest.approx(np.log(0.5), abs=0.1)


def test_pairing_removes_what_the_methods_share():
    first, second = samples(1, ratio=0.8)
    apart = np.random.default_rng(2).permutation(second)
    paired, unpaired = compare_medians(first, second, NAMES), compare_medians(first, apart, NAMES)
    assert paired.ci_high - paired.ci_low < 0.6 * (unpaired.ci_high - unpaired.ci_low)


@pytest.mark.parametrize("shape", [(16,), (4, 4)])
def test_ties_are_inconclusive(shape):
    first, _ = samples(3, shape=shape)
    tie = compare_medians(first, first, NAMES)
    assert (tie.log_ratio, tie.ci_low, tie.ci_high) == (0, 0, 0)
    assert tie.word == "inconclusive"
    assert compare_medians(np.ones(5), np.ones(5), NAMES).word == "inconclusive"


def test_two_replicates_decide_only_what_is_overwhelming():
    assert compare_medians([1.0, 1.2], [1.3, 1.9], NAMES).word == "inconclusive"
    assert compare_medians([1.0, 1.001], [9.0, 9.01], NAMES).word == "holds"
    assert np.isnan(compare_medians([-1.0, -2.0, 0.0], [1.0, 2.0, 3.0], NAMES).log_ratio)
    sometimes = compare_medians([-1.0, 2.0, 3.0], [1.0, 2.0, 3.0], NAMES)
    assert (sometimes.ci_low, sometimes.ci_high) == (-np.inf, np.inf)
    assert sometimes.word == compare_medians([1.0], [9.0], NAMES).word == "inconclusive"


def test_an_interval_is_at_least_the_normal_one_of_95_percent():
    """Two medians on a lattice of three values: its percentiles stop short."""
    found = compare_medians([1.0, np.exp(1.0)], [1.0, 1.0], NAMES)
    source = np.random.default_rng(0).integers(0, 2, (100_000, 2))
    spread = np.log(np.median(np.exp(source), axis=1)).std()
    half = (found.ci_high - found.ci_low) / 2
    assert half == pytest.approx(np.sqrt(2) * student_factor(1) * 1.96 * spread, rel=0.05)


@pytest.mark.parametrize("shape", [(2,), (4,), (16,), (8, 4)])
def test_equal_methods_are_rarely_ordered(shape):
    """At most one in twenty by chance; medians of few runs are covered a little too well."""
    words = [compare_medians(*samples(seed, shape=shape), (str(seed),), resamples=500).word for seed in range(400)]
    assert np.mean([word != "inconclusive" for word in words]) <= 0.08


def test_risk_at_the_last_affordable_checkpoint():
    risks = np.array([[4.0, 40.0], [3.0, 30.0], [2.0, 20.0]])
    np.testing.assert_array_equal(risk_at([10, 20, 30], risks, 29.9), [3, 30])
    np.testing.assert_array_equal(risk_at([10, 20, 30], risks, 1e9), [2, 20])
    own_cost = np.array([[10, 11], [20, 31], [30, 40]])
    np.testing.assert_array_equal(risk_at(own_cost, risks, 30), [2, 40])
    with pytest.raises(InputError, match="budget"):
        risk_at([10, 20, 30], risks, 5)
    assert common_budget([10, 20, 300], np.array([[1, 1], [50, 40]])) == 40


HOLDS, REVERSED, OPEN = MedianRatio(-1, -1.5, -0.5), MedianRatio(1, 0.5, 1.5), MedianRatio(0.1, -1, 1)


@pytest.mark.parametrize(
    ("end", "equal", "word"),
    [
        (HOLDS, HOLDS, "holds"),
        (REVERSED, REVERSED, "reversed"),
        (HOLDS, REVERSED, "inconclusive"),
        (HOLDS, OPEN, "inconclusive"),
        (OPEN, OPEN, "inconclusive"),
    ],
)
def test_both_comparisons_must_agree(end, equal, word):
    verdict = ordering_verdict({AT_END: end, AT_EQUAL_EVALUATIONS: equal})
    assert verdict.verdict == word
    assert verdict.reason == f"end: {end.word}, equal evaluations: {equal.word}"
    assert verdict.ratio_ci[AT_END] == pytest.approx((np.exp(end.ci_low), np.exp(end.ci_high)))
