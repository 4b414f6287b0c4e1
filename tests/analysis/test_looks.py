"""Looks at runs that are not at their end: levels by hand, signals that go on, and how often cells are wrong."""

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.looks import EARLY, Look
from dpsco_bench.analysis.stages import near
from dpsco_bench.kinds.law import law_verdict
from dpsco_bench.kinds.lower_bound import lower_bound_verdict


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


def test_a_true_law_is_violated_in_few_cases_however_heavy_its_noise():
    """Five cells of 64 lognormal replicates: 5 % are allowed; two errors a cell are wrong in a third of them."""
    draws = np.random.default_rng(8).lognormal(-0.5, 1.0, (2000, 5, 64))
    means, errors = draws.mean(axis=2), draws.std(axis=2, ddof=1) / 8
    x, ones = np.arange(5.0), np.ones(5)
    found = [law_verdict(x, m, s, ones, 0.0, dof=63).word for m, s in zip(means, errors, strict=True)]
    naive = (np.abs(means - 1) > 2 * errors).any(axis=1).mean()
    assert found.count("violated") / 2000 < 0.6 * naive and naive > 0.25


@pytest.mark.parametrize(
    ("mean", "last", "early"),
    [(1.05, "inconclusive", "inconclusive"), (1.2, "holds", "inconclusive"), (1.5, "holds", "holds")]
    + [(0.95, "inconclusive", "inconclusive"), (0.5, "violated", "inconclusive")],
)
def test_a_lower_bound_is_open_where_the_interval_reaches_across_it(mean, last, early):
    for look, word in ((Look(), last), (Look(1, 2, 0.5), early)):
        assert lower_bound_verdict([1], [mean], [0.08], [1.0], look=look).verdict == word
    assert simultaneous_quantile(1, np.inf, EARLY) == pytest.approx(2.807, abs=1e-3)
