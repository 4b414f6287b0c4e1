"""Every branch of the verdicts on slopes, with their sign conventions."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.rates import Regime, SweepRisks
from dpsco_bench.analysis.slopes import RateFit
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.kinds.complexity import complexity_verdict, counted_verdict
from dpsco_bench.kinds.control import control_verdict
from dpsco_bench.kinds.rate import Rate, largest_tolerance, limited

X = (1.0, 2.0, 4.0, 8.0)


def fit(slope, low, high, **changes):
    mean = tuple(x**slope for x in X)
    given = {"values": X, "mean": mean, "stderr": (0.01,) * 4, "weights": (0.25,) * 4} | changes
    return RateFit(slope, low, high, **given)


@pytest.mark.parametrize(
    ("slope", "word"), [(1.5, "match"), (1.549, "match"), (1.56, "fails"), (1.451, "match"), (1.44, "fewer")]
)
def test_complexity_allows_a_twentieth_and_a_smaller_count(slope, word):
    x = 2.0 ** np.arange(10, 21)
    verdict = complexity_verdict(x, 7 * x**slope, 3 * x**1.5, claimed_exponent=1.5)
    assert verdict.verdict == word
    assert verdict.slope == pytest.approx(slope)
    assert verdict.bound_slope == pytest.approx(1.5)


def test_exact_counts_must_be_equal():
    assert complexity_verdict([1, 2], [10, 20], [10, 20], exact=True).verdict == "match"
    assert complexity_verdict([1, 2], [10, 21], [10, 20], exact=True).verdict == "fails"
    assert complexity_verdict([1, 2], [10, 19], [10, 20], exact=True).verdict == "fewer"
    assert complexity_verdict([5], [10], [10], exact=True).verdict == "match"


@pytest.mark.parametrize(("mean", "word"), [(20.0, "match"), (20.2, "match"), (20.4, "fails")])
def test_measured_counts_may_exceed_the_formula_by_chance_alone(mean, word):
    assert counted_verdict([1, 2], [9, mean], [0.1, 0.1], [10, 20]).verdict == word


@pytest.mark.parametrize(
    ("slope", "low", "high", "word"),
    [
        (0.02, -0.02, 0.05, "holds"),
        (0.02, -0.08, 0.12, "inconclusive"),
        (0.0, -0.01, 0.06, "inconclusive"),  # a point estimate inside, an interval across
        (0.2, 0.1, 0.3, "fails"),
        (-0.2, -0.3, -0.06, "fails"),  # no side is better than another
        (0.1, 0.02, 0.18, "inconclusive"),
    ],
)
def test_controls_have_the_slope_that_is_stated(slope, low, high, word):
    verdict = control_verdict(fit(slope, low, high), 0.0, 0.05)
    assert (verdict.verdict, verdict.slope, verdict.claimed_exponent) == (word, slope, 0.0)
    assert verdict.reason and verdict.worst_ratio is None and verdict.bound == ()


@pytest.mark.parametrize(
    ("slope", "band", "word"),
    [
        (0.0, "holds", "holds"),
        (0.0, "violated", "fails"),
        (0.0, "inconclusive", "inconclusive"),
        (1.0, "holds", "fails"),
        (1.0, "inconclusive", "fails"),
    ],
)
def test_a_control_with_a_band_has_to_stay_in_it(slope, band, word):
    inner = Verdict(band, "band", "ratio 2", bound=(1.0,) * 4, worst_ratio=2.0, worst_cell=1, worst_value=2.0)
    verdict = control_verdict(fit(slope, slope - 0.01, slope + 0.01), 0.0, 0.05, band=inner)
    assert (verdict.verdict, verdict.worst_ratio, verdict.bound) == (word, 2.0, (1.0,) * 4)
    assert verdict.reason.endswith("; ratio 2")


def test_controls_that_cannot_be_fitted_decide_nothing():
    assert control_verdict(fit(np.nan, np.nan, np.nan, nonpositive=(0,)), 0.0, 0.1).verdict == "inconclusive"
    assert control_verdict(fit(0.0, np.nan, np.nan, no_error=(0,)), 0.0, 0.1).verdict == "inconclusive"


@pytest.mark.parametrize(("slope", "limit"), [(-1.0, 0.15), (0.4, 0.1), (0.174, 0.08), (0.0, 0.08)])
def test_without_an_exponent_the_formula_s_slope_limits_the_tolerance(slope, limit):
    """In place of a printed one: else 0.15 beside a slope of 0.17 would call no growth at all a match."""
    named = np.array(X) ** slope
    sweep = SweepRisks(X, [np.ones(2)] * 4, Regime.of(X, np.ones(4), named))
    assert limited(0.15, sweep) == pytest.approx(limit)
    alone = SweepRisks(X[:1], [np.ones(2)], Regime.of(X[:1], np.ones(1), named[:1]))
    assert limited(0.15, alone) == 0.15


@pytest.mark.parametrize(
    ("exponent", "limit"), [(-1, 0.25), (-2, 0.25), (0.5, 0.125), (-0.25, 0.08), (0.0, 0.08), (None, 0.25)]
)
def test_tolerances_are_small_beside_their_exponent(exponent, limit):
    assert largest_tolerance(exponent) == pytest.approx(limit)
    at_limit = SimpleNamespace(exponent=exponent, tolerance=limit, tolerances={})
    Rate().check(at_limit, "claim c, part n")
    at_limit.tolerances = {"full": 1.01 * limit}
    with pytest.raises(InputError, match="^claim c, part n: tolerance = .*: must be at most"):
        Rate().check(at_limit, "claim c, part n")
