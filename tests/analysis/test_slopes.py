"""Fits are exact on power laws, invariant where they should be, and their intervals cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from dpsco_bench.analysis.sharing import Sharing
from dpsco_bench.analysis.slopes import LEAST_ERROR, LOG_ERROR_FLOOR, bound_slope, bounded_errors, fit_rate, log_weights
from dpsco_bench.errors import InputError
from tests.marks import rest_at_night

NAMES = ("test.claim", "part", "paper")
N = 2.0 ** np.arange(8, 13)


def half_width(fit):
    return (fit.ci_high - fit.ci_low) / 2


def noisy(source, slope, replicates, values=N, data_effect=0.0, data_sets=1):
    shape = (len(values), data_sets, replicates)
    factors = source.chisquare(4, size=shape) / 4
    effects = np.exp(data_effect * source.standard_normal((len(values), data_sets, 1)) - data_effect**2 / 2)
    return list((values**slope)[:, None, None] * factors * effects)


@given(st.floats(-3, 3), st.floats(-5, 5))
@settings(max_examples=30, deadline=None)
def test_exact_on_noise_free_power_laws(slope, log_constant):
    risks = [[np.exp(log_constant) * n**slope] for n in N]
    fit = fit_rate(N, risks, NAMES, numerical_errors=[0.0] * 5)
    assert fit.slope == pytest.approx(slope, abs=1e-9)
    assert (fit.ci_low, fit.ci_high) == (fit.slope, fit.slope)
    assert fit.stderr == (0.0,) * 5
    np.testing.assert_allclose(fit.weights, 0.2, rtol=1e-12)


def test_cells_of_one_replicate_or_without_spread():
    fit = fit_rate(N, [[1 / n] * 4 for n in N], NAMES)
    assert fit.slope == pytest.approx(-1, abs=1e-12)
    assert half_width(fit) == 0
    fit = fit_rate(N, [[1 / n] for n in N], NAMES)
    assert fit.no_error == (0, 1, 2, 3, 4)
    assert fit.slope == pytest.approx(-1)
    assert np.isnan(half_width(fit))
    risks = [[1 / n] for n in N]
    fit = fit_rate(N, risks, NAMES, numerical_errors=[0.01 / n for n in N])
    spread = np.log(N) - np.log(N).mean()
    assert half_width(fit) == pytest.approx(1.96 * 0.01 / np.sqrt((spread**2).sum()), rel=0.1)
    assert fit.stderr == pytest.approx([0.01 / n for n in N])


def test_curved_bound_and_equal_data_give_equal_slopes_under_any_weights():
    bound = np.log(N) ** 2 / N
    source = np.random.default_rng(0)
    noise = 1 + 0.3 * source.standard_normal((5, 400)) * np.array([0.1, 1, 0.2, 1, 0.5])[:, None]
    noise /= noise.mean(axis=1, keepdims=True)
    fit = fit_rate(N, list(bound[:, None] * noise), NAMES)
    assert max(fit.weights) > 2 * min(fit.weights)
    assert bound_slope(N, bound, fit.weights) == pytest.approx(fit.slope, abs=1e-12)
    assert bound_slope(N, bound, fit.weights) != pytest.approx(bound_slope(N, bound), abs=1e-3)


@given(st.floats(1e-6, 1e6))
def test_bound_slope_ignores_the_scale_of_weights_and_bounds(scale):
    weights = np.array([1.0, 2.0, 3.0, 2.0, 5.0])
    bound = np.log(N) / N
    assert bound_slope(N, bound, scale * weights) == pytest.approx(bound_slope(N, bound, weights), rel=1e-10)
    assert bound_slope(N, scale * bound, weights) == pytest.approx(bound_slope(N, bound, weights), rel=1e-10)


def test_units_and_the_order_of_cells_do_not_matter():
    risks = noisy(np.random.default_rng(1), -1.0, 8)
    fit, turned = fit_rate(N, risks, NAMES), fit_rate(N[::-1], risks[::-1], NAMES)
    other = fit_rate(10 * N, [1e-6 * cell for cell in risks], NAMES)
    assert (other.ci_low, other.ci_high) == pytest.approx((fit.ci_low, fit.ci_high), rel=1e-10)
    assert [other.slope, turned.slope] == pytest.approx([fit.slope] * 2, rel=1e-12)
    assert other.weights == pytest.approx(fit.weights, rel=1e-12)
    assert turned.weights == pytest.approx(fit.weights[::-1], rel=1e-12)


def test_weights_by_hand():
    np.testing.assert_allclose(log_weights([0.0, 1e-12, LOG_ERROR_FLOOR]), 1 / 3)
    weights = log_weights([1e-3, 0.1, 1.0])
    assert weights[0] / weights[1] == pytest.approx(LEAST_ERROR**-2) and weights[1] / weights[2] == pytest.approx(100)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(bounded_errors([1e-3, 0.1, 1.0]), [0.02, 0.1, 1.0])
    inverse = log_weights([0.1, 0.2])
    assert inverse[0] / inverse[1] == pytest.approx(4.0)
    errors = np.array([0.1, 0.3])
    ratios = [np.divide(*log_weights(errors, [dof, dof])) for dof in (1, 15, 63, 1e9)]
    assert ratios == sorted(ratios)
    assert ratios[0] < 1.2
    assert ratios[-1] == pytest.approx(9.0, rel=1e-6)
    weights = log_weights([0.1, 0.2, np.nan])
    assert weights[2] == pytest.approx(weights[1])
    np.testing.assert_allclose(log_weights([np.nan, np.nan]), 0.5)


def coverage(make, repetitions, slope=-1.0, **options):
    fits = [fit_rate(N, make(), (*NAMES, str(i)), resamples=400, **options) for i in range(repetitions)]
    return np.mean([fit.ci_low <= slope <= fit.ci_high for fit in fits])


@pytest.mark.parametrize(("replicates", "low"), rest_at_night([(2, 0.93), (16, 0.91), (64, 0.91)], 1, several=True))
def test_interval_covers_the_true_slope(replicates, low):
    """95 % nominal, and more where few replicates may hide a tail; 600 have a standard error of 0.9 points."""
    source = np.random.default_rng(10 + replicates)
    assert low <= coverage(lambda: noisy(source, -1.0, replicates), 600) <= (0.985 if replicates > 16 else 1.0)


@pytest.mark.parametrize("data_sets", rest_at_night([3, 8], 0))
def test_two_level_interval_covers_where_data_sets_differ(data_sets):
    source = np.random.default_rng(20)
    make = lambda: noisy(source, -1.0, 8, data_effect=0.3, data_sets=data_sets)  # noqa: E731
    assert 0.91 <= coverage(make, 400) <= 0.985


def test_what_cells_share_widens_no_interval():
    source = np.random.default_rng(3)
    effects = np.exp(0.5 * source.standard_normal((1, 6, 1)))
    risks = [cell * effects[0] for cell in noisy(source, -1.0, 4, data_sets=6)]
    shared = fit_rate(N, risks, NAMES, sharing=Sharing((0,) * 5, tuple(range(5))))
    apart = fit_rate(N, risks, NAMES)
    assert shared.slope == apart.slope
    assert half_width(shared) < 0.75 * half_width(apart)
    # However far a heavy factor goes that replicates have in common in all cells.
    common = np.random.default_rng(16).lognormal(0.0, 1.5, 12)
    fit = fit_rate(N, [common / n for n in N], NAMES, sharing=Sharing.everything(5))
    assert half_width(fit) == pytest.approx(0, abs=1e-9)


def correlated(source, replicates, data_sets=1):
    """Risks 1/n times a factor that all cells have in common, and one of their own."""
    common = source.chisquare(4, (data_sets, replicates)) / 4
    return [common * source.chisquare(16, (data_sets, replicates)) / 16 / n for n in N]


@pytest.mark.parametrize("shape", rest_at_night([(8, 1), (32, 1), (4, 6)], 2))
def test_intervals_under_common_random_numbers_cover_and_are_shorter(shape):
    replicates, data_sets = shape
    source = np.random.default_rng(30)
    widths = {"shared": [], "apart": []}
    hits = []
    for number in range(400):
        risks = correlated(source, replicates, data_sets)
        for name, sharing in (("shared", Sharing.everything(5)), ("apart", None)):
            fit = fit_rate(N, risks, (*NAMES, str(number)), sharing=sharing, resamples=500)
            widths[name].append(half_width(fit))
            hits.append(fit.ci_low <= -1 <= fit.ci_high) if name == "shared" else None
    assert 0.91 <= np.mean(hits) <= 0.985
    assert np.median(widths["shared"]) < 0.75 * np.median(widths["apart"])


def moved(fit):
    return (fit.ci_low + fit.ci_high) / 2 - fit.slope


@pytest.mark.parametrize("replicates", [8, 32])
def test_the_interval_makes_good_for_the_bias_of_a_logarithm(replicates):
    """The log of the mean of R exponentials has mean digamma(R) - ln R, about -1/2R."""
    source = np.random.default_rng(11)
    fits = [
        fit_rate([1.0, np.e], [[1.0], source.exponential(size=replicates)], (str(i),), numerical_errors=[0.0, None])
        for i in range(300)
    ]
    bias = digamma(replicates) - np.log(replicates)
    assert np.mean([moved(fit) for fit in fits]) == pytest.approx(-bias, rel=0.2)


def test_the_interval_makes_good_for_the_choice_of_the_largest_signal():
    """Eight signals are equally good, and the largest mean is that of one that was lucky."""
    source = np.random.default_rng(12)
    fits = [
        fit_rate([1.0, np.e], [[1.0], source.gamma(4, 1 / 4, (8, 1, 16))], (str(i),), numerical_errors=[0.0, None])
        for i in range(200)
    ]
    bias = np.mean([fit.slope for fit in fits])
    assert bias > 0.1
    assert -bias < np.mean([moved(fit) for fit in fits]) < -0.3 * bias


@pytest.mark.parametrize("grows", rest_at_night([True, False], 0))
def test_noise_that_changes_along_the_sweep_misses_on_neither_side(grows):
    """Deviations from 0.2 to 1 of the mean: the percentile interval misses in 8 to 10 % on one side."""
    deviations = np.geomspace(0.2, 1.0, 5)[:: 1 if grows else -1]
    source = np.random.default_rng(13)
    cells = list(zip(deviations, N, strict=True))
    draw = lambda: [source.gamma(s**-2, s**2, 8) / n for s, n in cells]  # noqa: E731
    fits = [fit_rate(N, draw(), (str(i),), resamples=500) for i in range(1000)]
    assert np.mean([fit.ci_high < -1 for fit in fits]) <= 0.05
    assert np.mean([fit.ci_low > -1 for fit in fits]) <= 0.05


@pytest.mark.parametrize(("cells", "replicates"), rest_at_night([(4, 12), (5, 32)], 0, several=True))
def test_a_heavy_tail_that_grows_is_not_taken_for_a_faster_decay(cells, replicates):
    """Few of a cell's replicates show its tail: in many sweeps its mean and its error are both too small."""
    values, source = 2.0 ** np.arange(cells), np.random.default_rng(15)
    spreads = np.sqrt(np.log1p(np.geomspace(0.2, 1.8, cells) ** 2))
    fits = [
        fit_rate(values, [source.lognormal(-s * s / 2, s, replicates) for s in spreads], (str(i),), resamples=500)
        for i in range(1000)
    ]
    below, above = (np.mean([test(fit) for fit in fits]) for test in (lambda f: f.ci_high < 0, lambda f: f.ci_low > 0))
    assert below <= 0.06
    assert above <= 0.02


def test_a_bend_of_the_sweep_is_no_noise():
    """Weights differ between resamples, and act on deviations alone."""
    source = np.random.default_rng(17)
    noise = [source.gamma(16, 1 / 16, 12) for _ in N]
    straight, bent = (
        fit_rate(N, [own * shape for own, shape in zip(noise, curve, strict=True)], NAMES)
        for curve in (1 / N, np.exp(-(np.log(N) ** 2)))
    )
    assert half_width(bent) == pytest.approx(half_width(straight), rel=1e-9)


def test_supremum_over_signals_is_fitted_and_nonpositive_means_give_no_slope():
    base = np.array([cell[0] for cell in noisy(np.random.default_rng(6), -1.0, 8)])
    strengths = np.array([0.2, 1.0, 0.5])
    risks = [strengths[:, None, None] * cell[None, None] for cell in base]
    fit = fit_rate(N, risks, NAMES)
    assert fit.slope == pytest.approx(fit_rate(N, list(base), NAMES).slope, rel=1e-12)
    risks = noisy(np.random.default_rng(7), -1.0, 8)
    risks[2] = risks[2] - risks[2].mean() - 1e-9
    fit = fit_rate(N, risks, NAMES)
    assert fit.nonpositive == (2,)
    assert np.isnan([fit.slope, fit.ci_low, fit.ci_high]).all()
    assert len(fit.mean) == 5


def test_resampled_means_near_zero_widen_the_interval_instead_of_breaking_it():
    source = np.random.default_rng(8)
    risks = [1 / n + 2 / n * source.standard_normal(12) for n in N]
    risks = [cell - cell.mean() + 1 / n for cell, n in zip(risks, N, strict=True)]
    fit = fit_rate(N, risks, NAMES)
    assert fit.floored > 0.01
    assert np.isfinite(half_width(fit))
    assert half_width(fit) > 0.5


@pytest.mark.parametrize(
    ("values", "risks"),
    [([1.0], [[1.0, 2.0]]), ([2.0, 2.0], [[1.0, 2.0]] * 2), ([0.0, 1.0], [[1.0, 2.0]] * 2), ([1.0, 2.0], [[1.0]])],
)
def test_unfit_grids_are_refused(values, risks):
    with pytest.raises(InputError):
        fit_rate(values, risks, NAMES)


def test_unequal_shared_data_sets_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="data sets"):
        fit_rate([1.0, 2.0], [rng.random((2, 3)), rng.random((3, 3))], NAMES, sharing=Sharing((0, 0), (0, 1)))
