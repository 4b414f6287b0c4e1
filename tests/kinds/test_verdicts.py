"""Every branch of the verdicts on cells and on slopes, with their sign conventions."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_bench.analysis.cells import band_verdict
from dpsco_bench.analysis.looks import FIXED
from dpsco_bench.analysis.slopes import RateFit
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.kinds.explicit import explicit_verdict, simultaneous_quantile
from dpsco_bench.kinds.rate import Rate, largest_tolerance, limited

X = [1, 2, 4]


def judged(kind, values, mean, stderr=None, bound=(), *, fit=None, counts=None, look=FIXED, dof=np.inf, **part):
    """Verdict of a kind on columns, or on planned counts: what its judge reads of a case."""
    quantity = "risk" if counts is not None else "count"
    asked = {"quantity": quantity, "exact": False, "exponent": None, **part}
    case = SimpleNamespace(part=SimpleNamespace(**asked), values=values, columns=(values, mean, stderr), look=look)
    plans = [SimpleNamespace(gradient_evaluations=count) for count in (bound if counts is None else counts)]
    case.cells = [SimpleNamespace(context=b, calibrated=plan) for b, plan in zip(bound, plans, strict=True)]
    case.printed, case.bound, case.dof = bound, SimpleNamespace(value=float), dof
    case.fit, case.with_slope = lambda: fit, lambda verdict, formula=None: verdict
    return get_kind(kind).judge(case)


def test_simultaneous_intervals_hold_for_all_cells_together():
    """Bonferroni: with few replicates only Student's quantile does."""
    assert float(simultaneous_quantile(1)) == pytest.approx(1.95996, abs=1e-5)
    assert float(simultaneous_quantile(5)) == pytest.approx(2.57583, abs=1e-5)
    assert float(simultaneous_quantile(5, 3)) == pytest.approx(5.8409, abs=1e-4)
    risks = np.random.default_rng(1).standard_normal((20_000, 5, 4))
    errors = 2 * np.abs(risks.mean(axis=2)) / risks.std(axis=2, ddof=1)
    student, normal = ((errors <= q).all(axis=1).mean() for q in simultaneous_quantile(5, [3, np.inf]))
    assert student >= 0.95 and normal < 0.7


def test_explicit_holds_up_to_the_bound_and_names_the_worst_cell():
    z = float(simultaneous_quantile(3))
    verdict = explicit_verdict(X, [0.5, 1 - 0.1 * z, 0.1], [0.1, 0.1, 0.1], [1, 1, 1])
    assert verdict.verdict == "holds" and verdict.worst_ratio == pytest.approx(1.0)
    assert (verdict.worst_cell, verdict.worst_value) == (1, 2.0)
    violated = explicit_verdict(X, [0.9, 1.2, 0.1], [0.5, 0.01, 0.1], [1] * 3)
    assert (violated.verdict, violated.worst_cell) == ("violated", 1)


def test_explicit_is_decided_by_the_interval():
    def word(mean, error):
        verdict = explicit_verdict(X, [0.5, mean, 0.1], [error] * 3, [1] * 3)
        assert verdict.worst_cell == 1
        return verdict.verdict

    assert word(0.81, 0.1) == word(1.01, 0.1) == "inconclusive", "the interval reaches across"
    assert word(1.3, 0.1) == word(1.01, 0.0) == "violated" and word(0.7, 0.1) == "holds"


def test_explicit_with_unusual_bounds():
    for slack, word in ((0.0, "violated"), (1e-6, "holds")):  # for numerical error
        assert explicit_verdict(X, [1 + 5e-7] * 3, [0.0] * 3, [1] * 3, slack=slack).verdict == word
    assert explicit_verdict(X, [0.5] * 3, [np.nan, 0, 0], [1] * 3).verdict == "inconclusive"
    assert explicit_verdict([1], [1.0], [0.0], [np.inf]).worst_ratio == 0.0
    assert explicit_verdict([1], [1.0], [0.0], [0.0]).worst_ratio == np.inf
    assert explicit_verdict([1], [-1.0], [0.0], [0.0]).verdict == "holds"
    with pytest.raises(InputError):
        explicit_verdict([1], [1.0], [0.0], [np.nan])


@pytest.mark.parametrize(
    ("bound", "mean", "word"),
    [
        ([3, 3, 3], [0.5, 0.5, 0.5], "vacuous"),
        ([3, 3, 3], [0.5, 2.5, 0.5], "vacuous"),  # worse than the start, and within the bound
        ([3, 3, 3], [0.5, 2.9, 0.5], "inconclusive"),  # its interval reaches across: it can fail
        ([3, 3, 3], [0.5, 3.1, 0.5], "inconclusive"),
        ([1, 3, 3], [0.5, 2.5, 0.5], "holds"),
        ([1, 3, 3], [0.5, 2.9, 0.5], "inconclusive"),
        ([1, 3, 3], [0.5, 9.0, 0.5], "violated"),
        ([1, 3, 3], [0.9, 0.5, 0.5], "inconclusive"),
        ([1, 1, 1], [0.5, 0.5, 0.5], "holds"),
        ([3, 3, 3], [0.5, 9.0, 0.5], "violated"),  # a counterexample is one, wherever the run started
    ],
)
def test_a_bound_above_the_start_confirms_nothing(bound, mean, word):
    for cells in itertools.permutations(zip(mean, bound, strict=True)):
        means, bounds = zip(*cells, strict=True)
        verdict = explicit_verdict(X, means, [0.1] * 3, bounds, trivial=[2, 2, 2])
        assert verdict.verdict == word
        idle = sum(b > 2 for b in bound)
        told = (f"in {idle} of 3 cells the bound exceeds the starting point's risk",) if idle else ()
        assert verdict.notes == told + ("in 1 of them the mean does, too",) * any(m > 2 for m in mean)


@pytest.mark.parametrize(
    ("kind", "mean", "stderr", "keys", "word"),
    [
        ("lower_bound", [1.5, 3, 3], 0.1, {"constant": "stated"}, "holds"),
        ("lower_bound", [1.5, 1.2, 3], 0.1, {"constant": "stated"}, "inconclusive"),
        ("lower_bound", [1.5, 0.7, 3], 0.1, {"constant": "stated"}, "violated"),
        ("lower_bound", [0.5] * 3, np.nan, {"constant": "stated"}, "inconclusive"),
        ("lower_bound", [0.1] * 3, 0.0, {"constant": "none"}, "shown"),
        ("law", [1.04, 0.96, 1.0], 0.5, {"tolerance": 0.05}, "holds"),
        ("law", [1.07, 1.0, 1.0], 0.005, {"tolerance": 0.05}, "violated"),
        ("law", [1.07, 1.0, 1.0], 0.02, {"tolerance": 0.05}, "inconclusive"),
        ("law", [0.9, 1.0, 1.0], 0.0, {"tolerance": 0.05}, "violated"),
        ("law", [1.0, 1.0, 1.0], np.nan, {"tolerance": 0.05}, "inconclusive"),
    ],
)
def test_the_word_of_every_judge(kind, mean, stderr, keys, word):
    """A bound of 1, or a law; one cell without a standard error decides nothing."""
    verdict = judged(kind, X, mean, [stderr] * 3 if np.isfinite(stderr) else [stderr, 0, 0], [1] * 3, **keys)
    assert verdict.verdict == word
    if (kind, word) == ("lower_bound", "holds"):
        assert verdict.worst_ratio == pytest.approx(1.5 - 0.1 * norm.isf(0.025 / 3))


@pytest.mark.parametrize(
    ("mean", "stderr", "word", "worst"),
    [
        ([0.4, 1.0, 2.0], [0.5] * 3, "holds", 2),
        ([0.4, 1.0, 2.5], [0.1] * 3, "violated", 2),
        ([0.4, 1.0, 2.1], [0.1] * 3, "inconclusive", 2),
        ([0.1, 1.0, 1.0], [0.01] * 3, "violated", 0),
        ([0.4, 1.0, 1.9], [np.nan, 0, 0], "inconclusive", 2),
    ],
)
def test_band_of_the_ratio(mean, stderr, word, worst):
    scale = np.array([1.0, 10.0, 100.0])
    verdict = band_verdict(X, scale * mean, scale * stderr, scale, 0.2, 2.0)
    assert (verdict.verdict, verdict.worst_cell) == (word, worst)
    assert verdict.worst_ratio == pytest.approx(mean[worst])


def test_cells_whose_interval_crosses_an_end_of_the_band_are_counted():
    inside, crossing = (band_verdict(X, mean, [0.1] * 3, [1.0] * 3, 0.2, 2.0) for mean in ([1, 1, 1], [1, 1.9, 1]))
    assert inside.verdict == crossing.verdict == "holds"
    assert "cross" not in inside.reason and "in 1 of 3 cells" in crossing.reason


def test_a_reference_adds_its_error_to_the_ratio_and_is_positive():
    for error, word in ((0.0, "violated"), (0.1, "inconclusive")):
        assert band_verdict([1], [2.3], [0.1], [1.0], 0.5, 2.0, reference_stderr=[error]).verdict == word
    with pytest.raises(InputError):
        band_verdict([1], [1], [0], [0], 0, 1)


def test_shown_values_have_no_verdict():
    verdict = judged("shown", X, [3, 2, 1], [0.1, 0.1, np.nan], [4, 4, 4])
    assert (verdict.verdict, verdict.mean, verdict.bound) == ("shown", (3.0, 2.0, 1.0), (4.0, 4.0, 4.0))
    assert verdict.worst_ratio is None and judged("shown", X, [3, 2, 1], [0.1] * 3).bound == ()


def test_a_mean_that_was_chosen_from_many_signals_is_too_large_by_chance():
    """The largest mean of 20 signals that meet the bound with equality is 1.87 errors above it, on average."""

    def wrong(chosen_from):
        largest = 1 + 0.1 * np.random.default_rng(11).standard_normal((2000, 20)).max(axis=1)
        found = [explicit_verdict([1.0], [mean], [0.1], [1.0], chosen_from=chosen_from).word for mean in largest]
        return found.count("violated") / 2000

    assert wrong(20) <= 0.035 and wrong(1) >= 0.3


AT = (1.0, 2.0, 4.0, 8.0)


def control(slope, low, high, **changes):
    """Verdict of a control that states no slope, up to 0.05."""
    mean = tuple(x**slope for x in AT)
    fit = RateFit(slope, low, high, values=AT, mean=mean, stderr=(0.01,) * 4, weights=(0.25,) * 4, **changes)
    return judged("control", AT, AT, AT, fit=fit, exponent=0.0, tolerance=0.05)


@pytest.mark.parametrize(
    ("slope", "word"), [(1.5, "match"), (1.549, "match"), (1.56, "fails"), (1.451, "match"), (1.44, "fewer")]
)
def test_complexity_allows_a_twentieth_and_a_smaller_count(slope, word):
    x = 2.0 ** np.arange(10, 21)
    verdict = judged("complexity", x, None, None, 3 * x**1.5, counts=7 * x**slope, exponent=1.5, tolerance=0.05)
    assert verdict.verdict == word
    assert (verdict.slope, verdict.bound_slope) == pytest.approx((slope, 1.5))


@pytest.mark.parametrize(
    ("counts", "word"), [([10, 20], "match"), ([10, 21], "fails"), ([10, 19], "fewer"), ([10], "match")]
)
def test_exact_counts_must_be_equal(counts, word):
    size, given = len(counts), {"counts": counts, "exact": True, "tolerance": 0.05}
    assert judged("complexity", X[:size], None, None, [10, 20][:size], **given).verdict == word


@pytest.mark.parametrize(("mean", "word"), [(20.0, "match"), (20.2, "match"), (20.4, "fails")])
def test_measured_counts_may_exceed_the_formula_by_chance_alone(mean, word):
    assert judged("complexity", [1, 2], [9, mean], [0.1, 0.1], [10, 20], exact=True).verdict == word


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
    verdict = control(slope, low, high)
    assert (verdict.verdict, verdict.slope, verdict.claimed_exponent) == (word, slope, 0.0)
    assert verdict.reason and verdict.worst_ratio is None and verdict.bound == ()


def test_controls_that_cannot_be_fitted_decide_nothing():
    assert control(np.nan, np.nan, np.nan, nonpositive=(0,)).verdict == "inconclusive"
    assert control(0.0, np.nan, np.nan, no_error=(0,)).verdict == "inconclusive"


@pytest.mark.parametrize(("slope", "limit"), [(-1.0, 0.15), (0.4, 0.1), (0.174, 0.08), (0.0, 0.08)])
def test_without_an_exponent_the_formula_s_slope_limits_the_tolerance(slope, limit):
    """In place of a printed one: else 0.15 beside a slope of 0.17 would call no growth at all a match."""
    named = np.array(AT) ** slope
    assert limited(0.15, AT, named) == pytest.approx(limit)
    assert limited(0.15, AT[:1], named[:1]) == 0.15


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
