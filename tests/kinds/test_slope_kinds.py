"""Every branch of the verdicts on slopes, with their sign conventions."""

import numpy as np
import pytest

from dpsco_bench.analysis.slopes import RateFit, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.kinds.complexity import complexity_verdict
from dpsco_bench.kinds.control import control_verdict
from dpsco_bench.kinds.rate import rate_verdict, wrong_reasons

X = (1.0, 2.0, 4.0, 8.0)
FORMULA = tuple(1 / x for x in X)  # slope -1


def fit(slope, low, high, **changes):
    mean = tuple(x**slope for x in X)
    given = {"values": X, "mean": mean, "stderr": (0.01,) * 4, "weights": (0.25,) * 4} | changes
    return RateFit(slope, 0.0, low, high, **given)


@pytest.mark.parametrize(
    ("slope", "low", "high", "word"),
    [
        (-1.0, -1.1, -0.9, "match"),
        (-1.1499, -1.29, -1.01, "match"),  # just inside
        (-1.0, -1.2, -0.8, "inconclusive"),  # half-width beyond the tolerance
        (-1.2, -1.25, -1.1, "inconclusive"),  # across the edge on the better side
        (-0.8, -0.9, -0.75, "inconclusive"),
        (-1.5, -1.6, -1.4, "faster"),
        (-1.5, -1.9, -1.16, "faster"),  # however wide
        (-1.5, -1.9, -1.15, "inconclusive"),  # not wholly beyond
        (-0.5, -0.6, -0.4, "fails"),
        (0.5, -0.84, 1.9, "fails"),
        (-0.5, -0.86, 0.3, "inconclusive"),
    ],
)
def test_words_for_a_claimed_slope_of_minus_one(slope, low, high, word):
    verdict = rate_verdict(fit(slope, low, high), FORMULA, 0.15, parameter="n", claimed_exponent=-1)
    assert verdict.verdict == word
    assert verdict.bound_slope == pytest.approx(-1)
    assert verdict.ci == (low, high)
    assert verdict.reason


@pytest.mark.parametrize(
    ("parameter", "claimed", "slope", "word"),
    [
        ("n", -1, -2.0, "faster"),
        ("n", -1, -0.5, "fails"),
        ("epsilon", -1, -2.0, "faster"),
        ("epsilon", -1, 0.0, "fails"),
        ("d", 1, 0.5, "faster"),  # the risk grows less with d than claimed
        ("d", 1, 2.0, "fails"),
        ("condition_number", 0.5, 0.0, "faster"),
        ("condition_number", 0.5, 1.0, "fails"),
    ],
)
def test_smaller_slope_is_better_for_every_growing_parameter(parameter, claimed, slope, word):
    formula = np.array(X) ** claimed
    verdict = rate_verdict(fit(slope, slope - 0.01, slope + 0.01), formula, 0.15, parameter=parameter)
    assert verdict.verdict == word


def test_regimes_towards_zero_turn_the_better_side():
    flat = fit(0.2, 0.1, 0.3)
    assert rate_verdict(flat, X, 0.1).verdict == "faster"
    assert rate_verdict(flat, X, 0.1, better="larger").verdict == "fails"
    assert rate_verdict(fit(2.0, 1.9, 2.1), X, 0.1, better="larger").verdict == "faster"


def test_interval_that_excludes_its_own_slope_cannot_decide_both_ways():
    verdict = rate_verdict(fit(-1.0, -1.6, -1.4), FORMULA, 0.15)
    assert verdict.verdict == "match"


@pytest.mark.parametrize(("saturated", "word"), [(1, "match"), (2, "not_observable"), (4, "not_observable")])
def test_saturation_in_half_the_cells_is_tested_first(saturated, word):
    start = np.array([1.05 * x**-1.0 if i < saturated else 10.0 for i, x in enumerate(X)])
    verdict = rate_verdict(fit(-1.0, -1.1, -0.9), FORMULA, 0.15, start_risks=start)
    assert verdict.verdict == word
    assert ("starting point" in verdict.reason) == (word == "not_observable")


def test_saturation_means_above_nine_tenths():
    mean = np.array(X) ** -1.0
    assert rate_verdict(fit(-1, -1.1, -0.9), FORMULA, 0.15, start_risks=mean / 0.899).verdict == "match"
    assert rate_verdict(fit(-1, -1.1, -0.9), FORMULA, 0.15, start_risks=mean / 0.901).verdict == "not_observable"


@pytest.mark.parametrize(("hidden", "word"), [(1, "match"), (2, "not_observable")])
def test_named_term_must_be_half_of_the_full_bound(hidden, word):
    full = np.array(FORMULA) * np.array([2.1 if i < hidden else 1.9 for i in range(4)])
    verdict = rate_verdict(fit(-1.0, -1.1, -0.9), FORMULA, 0.15, full_bound=full)
    assert verdict.verdict == word
    assert ("named term" in verdict.reason) == (word == "not_observable")


def test_a_cell_is_lost_for_either_reason():
    start = np.array([1.0, 10, 10, 10])
    full = np.array(FORMULA) * np.array([1, 3, 1, 1])
    verdict = rate_verdict(fit(-1.0, -1.1, -0.9), FORMULA, 0.15, start_risks=start, full_bound=full)
    assert verdict.verdict == "not_observable"
    assert "starting point" in verdict.reason
    assert "named term" in verdict.reason


def test_nonpositive_means_make_the_part_not_observable_and_name_the_cells():
    risks = [[1.0, 1.1], [-0.5, 0.5], [0.2, 0.3]]
    verdict = rate_verdict(fit_rate([1, 2, 4], risks, ("a",)), [1, 0.5, 0.25], 0.15, parameter="n")
    assert verdict.verdict == "not_observable"
    assert "n = 2:" in verdict.reason
    assert verdict.mean == pytest.approx((1.05, 0.0, 0.25))
    assert verdict.to_json()["slope"] is None


def test_blocked_parts_carry_the_reason_in_the_verdict():
    verdict = rate_verdict(fit(-1, -1.1, -0.9), FORMULA, 0.15, blocked="frozen")
    assert verdict.verdict == "not_observable (frozen)"
    assert verdict.word == "not_observable"


def test_single_replicates_decide_nothing():
    measured = fit_rate(X, [[f] for f in FORMULA], ("a",))
    verdict = rate_verdict(measured, FORMULA, 0.15)
    assert verdict.verdict == "inconclusive"
    assert "single random replicate" in verdict.reason


def test_notes_tell_of_grid_edges_and_floored_resamples():
    verdict = rate_verdict(fit(-1, -1.1, -0.9, edge=(3,), floored=0.05), FORMULA, 0.15, parameter="n")
    assert verdict.notes == (
        "largest risk at the edge of the signal grid at n = 8",
        "up to 5.0% of the resampled means of a cell were near or below 0",
    )


def test_bound_is_fitted_with_the_weights_of_the_data():
    curved = np.array([1, 0.6, 0.4, 0.3])
    verdict = rate_verdict(fit(-0.6, -0.7, -0.5, weights=(0.5, 0.5, 0.0, 0.0)), curved, 0.15)
    assert verdict.bound_slope == pytest.approx(np.log2(0.6))


@pytest.mark.parametrize("change", [{"better": "steeper"}, {"tolerance": 0.0}, {"formula": (1.0, 2.0)}])
def test_bad_arguments_are_refused(change):
    given = {"formula": FORMULA, "tolerance": 0.15} | change
    with pytest.raises(InputError):
        rate_verdict(fit(-1, -1.1, -0.9), **given)


@pytest.mark.parametrize(("slope", "word"), [(1.5, "match"), (1.549, "match"), (1.56, "fails"), (1.44, "fails")])
def test_complexity_allows_a_twentieth(slope, word):
    x = 2.0 ** np.arange(10, 21)
    verdict = complexity_verdict(x, 7 * x**slope, 3 * x**1.5, parameter="n", claimed_exponent=1.5)
    assert verdict.verdict == word
    assert verdict.slope == pytest.approx(slope)
    assert verdict.bound_slope == pytest.approx(1.5)


def test_exact_counts_must_be_equal():
    assert complexity_verdict([1, 2], [10, 20], [10, 20], exact=True).verdict == "match"
    verdict = complexity_verdict([1, 2], [10, 21], [10, 20], exact=True)
    assert verdict.verdict == "fails"
    assert "1 of 2" in verdict.reason
    assert complexity_verdict([5], [10], [10], exact=True).verdict == "match"


@pytest.mark.parametrize(
    ("slope", "low", "high", "word"),
    [
        (0.02, -0.02, 0.05, "holds"),
        (0.02, -0.08, 0.12, "inconclusive"),  # half-width beyond the tolerance
        (0.2, 0.1, 0.3, "fails"),
        (-0.2, -0.3, -0.06, "fails"),  # no side is better than another
        (0.1, 0.02, 0.18, "inconclusive"),
    ],
)
def test_controls_have_the_slope_that_is_stated(slope, low, high, word):
    verdict = control_verdict(fit(slope, low, high), 0.0, 0.05, parameter="n")
    assert (verdict.kind, verdict.verdict, verdict.slope, verdict.claimed_exponent) == ("control", word, slope, 0.0)
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
    with pytest.raises(InputError, match="^tolerance = 0"):
        control_verdict(fit(0.0, 0.0, 0.0), 0.0, 0)


def matched(word="match", noise_off=-1.02):
    return Verdict(word, "rate", slope=-1.0, bound_slope=-1.0, noise_off_slope=noise_off, tolerance=0.15)


@pytest.mark.parametrize(
    ("noise_off", "status", "epsilon", "notes"),
    [
        (-2.0, "proven", 1.0, ()),
        (np.nan, "none", np.nan, ()),
        (-1.02, "proven", 1.0, ("schedule alone gives slope -1.02 with noise off",)),
        (-2.0, "exceeds_claim", 173.4, ("calibration not private (real eps 173)",)),
        (-2.0, "exceeds_claim", np.nan, ("calibration not private",)),
        (-2.0, "unproven", np.nan, ("calibration not shown to be private (unproven)",)),
        (
            -1.1,
            "target_law_only",
            np.nan,
            (
                "schedule alone gives slope -1.10 with noise off",
                "calibration not shown to be private (target_law_only)",
            ),
        ),
    ],
)
def test_matches_for_a_wrong_reason_are_noted(noise_off, status, epsilon, notes):
    assert wrong_reasons(matched(noise_off=noise_off), status, epsilon) == notes
    assert wrong_reasons(matched("faster", noise_off), status, epsilon) == ()
