"""Fits are exact on power laws and their intervals cover; lack of fit has its level; orderings are paired."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from dpsco_bench.analysis import slopes
from dpsco_bench.analysis.bootstrap import student_factor
from dpsco_bench.analysis.cells import HOLDS, OPEN, REVERSED, compared
from dpsco_bench.analysis.rates import LackOfFit, lack_of_fit, local_slopes
from dpsco_bench.analysis.sharing import Replicates, residual_noise
from dpsco_bench.analysis.slopes import LEAST_ERROR, LOG_ERROR_FLOOR, bound_slope, bounded_errors, log_weights
from dpsco_bench.errors import InputError
from dpsco_bench.kinds.ordering import compare_medians, risk_at
from tests.marks import rest_at_night

NAMES = ("test.claim", "part", "paper")
N = 2.0 ** np.arange(8, 13)


def fit_rate(values, risks, names, numerical_errors=(), sharing=((), ()), **how):
    return slopes.fit_rate(values, Replicates.of(risks, numerical_errors, sharing), names, **how)


def everything(cells):
    """Labels of cells that have all random numbers in common."""
    return (0,) * cells, (0,) * cells


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
    assert fit.slope == fit.ci_low == fit.ci_high == pytest.approx(slope, abs=1e-9)
    assert fit.stderr == (0.0,) * 5 and fit.weights == pytest.approx((0.2,) * 5, rel=1e-12)


def test_cells_of_one_replicate_or_without_spread():
    fit = fit_rate(N, [[1 / n] * 4 for n in N], NAMES)
    assert (fit.slope, half_width(fit)) == (pytest.approx(-1, abs=1e-12), 0)
    fit = fit_rate(N, [[1 / n] for n in N], NAMES)
    assert fit.no_error == (0, 1, 2, 3, 4) and fit.slope == pytest.approx(-1) and np.isnan(half_width(fit))
    fit = fit_rate(N, [[1 / n] for n in N], NAMES, numerical_errors=[0.01 / n for n in N])
    assert half_width(fit) == pytest.approx(1.96 * 0.01 / (np.log(N).std() * np.sqrt(5)), rel=0.1)
    assert fit.stderr == pytest.approx([0.01 / n for n in N])


def test_curved_bound_and_equal_data_give_equal_slopes_under_any_weights():
    bound = np.log(N) ** 2 / N
    noise = 1 + np.random.default_rng(0).normal(0.0, [[0.03], [0.3], [0.06], [0.3], [0.15]], (5, 400))
    fit = fit_rate(N, list(bound[:, None] * noise / noise.mean(axis=1, keepdims=True)), NAMES)
    assert max(fit.weights) > 2 * min(fit.weights)
    assert bound_slope(N, bound, fit.weights) == pytest.approx(fit.slope, abs=1e-12)
    assert bound_slope(N, bound, fit.weights) != pytest.approx(bound_slope(N, bound), abs=1e-3)


def test_units_and_the_order_of_cells_do_not_matter():
    risks = noisy(np.random.default_rng(1), -1.0, 8)
    fit, turned = fit_rate(N, risks, NAMES), fit_rate(N[::-1], risks[::-1], NAMES)
    other, large = (fit_rate(10 * N, [unit * cell for cell in risks], NAMES) for unit in (1e-6, 1e6))
    for scaled in (other, large):
        assert (scaled.ci_low, scaled.ci_high) == pytest.approx((fit.ci_low, fit.ci_high), rel=1e-10)
    assert [other.slope, turned.slope] == pytest.approx([fit.slope] * 2, rel=1e-12)
    scaled = bound_slope(N, 1e6 * np.log(N) / N, 1e-6 * np.array(fit.weights))
    assert scaled == pytest.approx(bound_slope(N, np.log(N) / N, fit.weights), rel=1e-10)
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
    ratios = [np.divide(*log_weights(np.array([0.1, 0.3]), [dof, dof])) for dof in (1, 15, 63, 1e9)]
    assert ratios == sorted(ratios) and ratios[0] < 1.2 and ratios[-1] == pytest.approx(9.0, rel=1e-6)
    weights = log_weights([0.1, 0.2, np.nan])
    assert weights[2] == pytest.approx(weights[1])
    np.testing.assert_allclose(log_weights([np.nan, np.nan]), 0.5)


COVERED = [(16, 0.0, 1, 1.0), (2, 0.0, 1, 1.0), (64, 0.0, 1, 0.985), (8, 0.3, 3, 0.985), (8, 0.3, 8, 0.985)]


@pytest.mark.parametrize(("replicates", "effect", "data_sets", "high"), rest_at_night(COVERED, 0, several=True))
def test_interval_covers_the_true_slope(replicates, effect, data_sets, high):
    """95 % nominal, and more where few replicates may hide a tail; 500 have a standard error of a point."""
    source = np.random.default_rng(10 + replicates)
    fits = [fit_rate(N, noisy(source, -1.0, replicates, N, effect, data_sets), (*NAMES, str(i)), resamples=400)
            for i in range(500)]  # fmt: skip
    assert 0.91 <= np.mean([fit.ci_low <= -1.0 <= fit.ci_high for fit in fits]) <= high


@pytest.mark.parametrize(("shared", "directions"), [((0, 0), 1.0), ((0, 1), 1.0 / (0.2**2 + 0.8**2))])
def test_residuals_have_the_noise_and_as_many_directions_as_cells_do_not_share(shared, directions):
    """Two cells of weights 1 and 2, of one error each: in all (1 + 4) errors, along one direction or two."""
    risks = [1.0 + 0.1 * np.random.default_rng(seed).standard_normal(64) for seed in (1, 1)]
    replicates = Replicates.of(risks, sharing=(shared, shared))
    error = risks[0].std(ddof=1) / 8 / risks[0].mean()
    noise, rank, known = residual_noise(replicates, np.diag([1.0, 2.0]), np.full(2, error), [63, 63], 1e-12)
    assert noise == pytest.approx(5 * error**2) and rank == pytest.approx(directions) and 0 < known <= 126
    large = residual_noise(replicates, 1e4 * np.diag([1.0, 2.0]), np.full(2, error), [63, 63], 1e-12)
    assert large == pytest.approx((1e8 * noise, rank, known)), "no unit of the residuals counts"


def test_what_cells_share_widens_no_interval():
    source = np.random.default_rng(3)
    effects = np.exp(0.5 * source.standard_normal((6, 1)))
    risks = [cell * effects for cell in noisy(source, -1.0, 4, data_sets=6)]
    shared, apart = (fit_rate(N, risks, NAMES, sharing=own) for own in (((0,) * 5, tuple(range(5))), ((), ())))
    assert shared.slope == apart.slope and half_width(shared) < 0.75 * half_width(apart)
    # However far a heavy factor goes that replicates have in common in all cells.
    common = np.random.default_rng(16).lognormal(0.0, 1.5, 12)
    fit = fit_rate(N, [common / n for n in N], NAMES, sharing=everything(5))
    assert half_width(fit) == pytest.approx(0, abs=1e-9)


def moved(fit):
    return (fit.ci_low + fit.ci_high) / 2 - fit.slope


@pytest.mark.parametrize("replicates", [8, 32])
def test_the_interval_makes_good_for_the_bias_of_a_logarithm(replicates):
    """The log of the mean of R exponentials has mean digamma(R) - ln R, about -1/2R."""
    draws = np.random.default_rng(11).exponential(size=(300, replicates))
    moves = [moved(fit_rate([1.0, np.e], [[1.0], own], (str(i),), [0.0, None])) for i, own in enumerate(draws)]
    bias = digamma(replicates) - np.log(replicates)
    assert np.mean(moves) == pytest.approx(-bias, rel=0.2)


def test_a_bend_of_the_sweep_is_no_noise():
    """Weights differ between resamples, and act on deviations alone."""
    source = np.random.default_rng(17)
    noise = [source.gamma(16, 1 / 16, 12) for _ in N]
    curves = 1 / N, np.exp(-(np.log(N) ** 2))
    straight, bent = (fit_rate(N, list(np.array(noise) * curve[:, None]), NAMES) for curve in curves)
    assert half_width(bent) == pytest.approx(half_width(straight), rel=1e-9)


def test_supremum_over_signals_is_fitted_and_nonpositive_means_give_no_slope():
    risks = noisy(np.random.default_rng(6), -1.0, 8)
    alone = fit_rate(N, risks, NAMES)
    fit = fit_rate(N, [np.stack([0.2 * cell, cell, 0.5 * cell]) for cell in risks], NAMES)
    assert fit.slope == pytest.approx(alone.slope, rel=1e-12)
    risks[2] = risks[2] - risks[2].mean() - 1e-9
    fit = fit_rate(N, risks, NAMES)
    assert fit.nonpositive == (2,) and len(fit.mean) == 5
    assert np.isnan([fit.slope, fit.ci_low, fit.ci_high]).all()


def test_resampled_means_near_zero_widen_the_interval_instead_of_breaking_it():
    source = np.random.default_rng(8)
    risks = [1 / n + 2 / n * source.standard_normal(12) for n in N]
    risks = [cell - cell.mean() + 1 / n for cell, n in zip(risks, N, strict=True)]
    fit = fit_rate(N, risks, NAMES)
    assert fit.floored > 0.01 and 0.5 < half_width(fit) < np.inf


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [0.0, 1.0]])
def test_unfit_grids_are_refused(values):
    with pytest.raises(InputError):
        fit_rate(values, [[1.0, 2.0]] * len(values), NAMES)


def test_unequal_shared_data_sets_are_refused():
    risks = [np.random.default_rng(0).random((data_sets, 3)) for data_sets in (2, 3)]
    with pytest.raises(InputError, match="data sets"):
        fit_rate([1.0, 2.0], risks, NAMES, sharing=((0, 0), (0, 1)))


SIX = 2.0 ** np.arange(8, 14)
BENT = np.where(SIX < 1500, 1.0, 1500 / SIX)


def fitted(risks, errors=()):
    return fit_rate(SIX[: len(risks)], risks, ("t",), numerical_errors=errors, resamples=10)


def test_a_bend_is_found_and_measured():
    lack, own = (lack_of_fit(fitted([[m] for m in BENT], [1e-9] * 6), formula) for formula in (np.ones(6), BENT))
    line = np.polyval(np.polyfit(np.log(SIX), np.log(BENT), 1), np.log(SIX))
    assert lack.p_value < 1e-6 and lack.bent
    assert lack.largest == pytest.approx(np.abs(BENT / np.exp(line) - 1).max(), rel=1e-6)
    assert own.largest < 1e-9 and own.p_value > 0.99 and not own.bent


def common(source, shape, curve, own):
    """Replicates with heavy noise in common and some of each cell's own, of mean 1."""
    shared = source.lognormal(-0.5, 1.0, shape)
    return [m * shared * source.gamma(own**-2, own**2, shape) for m in curve]


def with_sharing(risks, sharing, curve):
    return lack_of_fit(fitted(risks), curve, Replicates.of(risks, sharing=sharing))


@pytest.mark.parametrize("shape", [8, 64, (6, 4), (12, 1)])
def test_a_bend_is_found_under_common_random_numbers(shape):
    """Noise that all cells have in common hides no bend, of any kind of replicates; their own errors do not see it."""
    source, x = np.random.default_rng(3), np.log(SIX[:5] / 1024)
    curve = np.exp(-0.2 * x**2) / SIX[:5]
    for _ in range(20):
        risks = common(source, shape, curve, 0.02)
        lack = with_sharing(risks, everything(5), 1 / SIX[:5])
        assert lack.bent and lack.largest > 0.15
        assert with_sharing(risks, everything(5), curve).largest < 0.15
        assert not lack_of_fit(fitted(risks), 1 / SIX[:5]).bent


@pytest.mark.parametrize("shape", rest_at_night([4, 16, (6, 4)], 2))
@pytest.mark.parametrize("own", rest_at_night([0.25, 1.0], 1))
def test_level_under_common_random_numbers(shape, own):
    source, cells = np.random.default_rng(4), SIX[:5]
    found = [with_sharing(common(source, shape, 1 / cells, own), everything(5), 1 / cells) for _ in range(1000)]
    assert np.mean([lack.p_value < 0.05 for lack in found]) < 0.06
    assert np.mean([lack.p_value < 1e-3 for lack in found]) < 0.003


def test_an_exact_scale_invariance_is_a_power_law_and_an_exact_bend_is_bent():
    shared = np.random.default_rng(6).lognormal(size=8)
    for curve, bent in ((1 / SIX, False), (BENT, True)):
        lack = with_sharing([m * shared for m in curve], everything(6), 1 / SIX)
        assert lack.bent == bent and (bent or lack.p_value > 0.99)


@pytest.mark.parametrize(("p", "largest", "bent"), [(9e-4, 0.2, True), (1e-4, 0.14, False), (0.0011, 0.5, False)])
def test_both_conditions_are_needed(p, largest, bent):
    assert LackOfFit(p, largest).bent == bent


def test_local_slopes_are_in_the_order_of_the_parameter():
    np.testing.assert_allclose(local_slopes([4, 1, 2], [8, 1, 4]), [2, 1])
    assert np.isnan(local_slopes([1, 2], [1, -1])).all()


def test_cells_that_share_are_two_or_more():
    """By their data sets where they have several, else by their runs; what is known exactly shares nothing."""
    one, several = np.ones((1, 1, 3)), np.ones((1, 2, 3))
    sharing = (0, 0, 0, 1, 1, 0), (0, 0, 1, 2, 3, 0)
    cells = [one, one, one, several, several, one]
    assert Replicates.of(cells, [None] * 5 + [0.1], sharing).groups() == [[0, 1], [3, 4]]


@pytest.mark.parametrize("equal", [(), (0.0,)])
def test_an_interval_on_one_side_of_equality_decides(equal):
    """Rows are ratios, or their logarithms."""
    for low, high, word in ((-0.5, -0.1, HOLDS), (0.1, 0.5, REVERSED), (-0.1, 0.1, OPEN)):
        assert compared(low + 1 - len(equal), high + 1 - len(equal), *equal) == word


PAIR = ("claim", "part", "paper", "end")


def samples(seed, ratio=1.0, shape=(32,), common=1.0, own=0.1):
    source = np.random.default_rng(seed)
    shared = np.exp(common * source.standard_normal(shape))
    pair = np.exp(own * source.standard_normal((2, *shape)))
    return ratio * shared * pair[0], shared * pair[1]


@pytest.mark.parametrize("shape", [(32,), (4, 4)])
def test_clear_differences_are_decided_either_way_and_ties_are_not(shape):
    better, worse = samples(0, ratio=0.5, shape=shape)
    holds, reverse, tie = (compare_medians(*own, PAIR) for own in ((better, worse), (worse, better), (worse, worse)))
    assert (holds.word, reverse.word, tie.word) == ("holds", "reversed", "inconclusive")
    assert holds.log_ratio == pytest.approx(-reverse.log_ratio)
    assert holds.log_ratio == pytest.approx(np.log(0.5), abs=0.2)
    assert (tie.log_ratio, tie.ci_low, tie.ci_high) == (0, 0, 0)


def test_two_replicates_decide_only_what_is_overwhelming():
    assert compare_medians([1.0, 1.2], [1.3, 1.9], PAIR).word == "inconclusive"
    assert compare_medians([1.0, 1.001], [9.0, 9.01], PAIR).word == "holds"
    assert np.isnan(compare_medians([-1.0, -2.0, 0.0], [1.0, 2.0, 3.0], PAIR).log_ratio)
    sometimes = compare_medians([-1.0, 2.0, 3.0], [1.0, 2.0, 3.0], PAIR)
    assert (sometimes.ci_low, sometimes.ci_high) == (-np.inf, np.inf)
    assert sometimes.word == compare_medians([1.0], [9.0], PAIR).word == "inconclusive"


def test_an_interval_is_at_least_the_normal_one_of_95_percent():
    """Two medians on a lattice of three values: its percentiles stop short."""
    found = compare_medians([1.0, np.exp(1.0)], [1.0, 1.0], PAIR)
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
    risks, cost = np.array([[4.0, 40.0], [3.0, 30.0], [2.0, 20.0]]), np.array([[10, 11], [20, 31], [30, 40]])
    for budget, found in ((30, [2, 40]), (29.9, [3, 40]), (1e9, [2, 20])):
        np.testing.assert_array_equal(risk_at(cost, risks, budget), found)
    with pytest.raises(InputError, match="budget"):
        risk_at(cost, risks, 10.5)


def test_a_second_signal_that_is_as_good_takes_the_bias_off_twice():
    risks = noisy(np.random.default_rng(1), -1.0, 8)
    one, two = fit_rate(N, risks, NAMES), fit_rate(N, [np.stack([cell] * 2) for cell in risks], NAMES)
    assert two.slope == one.slope and half_width(two) == pytest.approx(half_width(one), rel=1e-12)
    assert moved(two) == pytest.approx(2 * moved(one), rel=1e-9) and abs(moved(one)) > 1e-4


@pytest.mark.parametrize("scale", [1.0, 1e-3])
@pytest.mark.parametrize("data_sets", [1, 4])
@pytest.mark.parametrize("tail", [0.0, 2.0])
def test_what_is_known_of_shared_noise(scale, data_sets, tail):
    """Deviations of one size leave half of the degrees of freedom, and few large ones fewer, whatever the weights."""
    own = np.random.default_rng(1).lognormal(0.0, tail, 16) if tail else np.tile([0.9, 1.1], 8)
    risks = [np.stack([np.roll(own, k) for k in range(data_sets)])] * 2
    replicates = Replicates.of(risks, sharing=everything(2))
    noise, rank, known = residual_noise(replicates, scale * np.diag([1.0, 2.0]), np.zeros(2), [1, 1], 0.0)
    squares, free = (own - own.mean()) ** 2, 15 * data_sets
    heavy = (squares / squares.mean()).var() / (2 * 16 * data_sets)
    assert noise == pytest.approx(5 * scale**2 * own.var(ddof=1) / own.mean() ** 2 / (16 * data_sets))
    assert rank == pytest.approx(1.0) and known == pytest.approx(1 / (max(1 / free, heavy) + 1 / free))
    same = Replicates.of([np.ones((data_sets, 16))] * 2, sharing=everything(2))
    noise, *rest = residual_noise(same, scale * np.diag([1.0, 2.0]), np.zeros(2), [1, 1], 0.0)
    assert noise == 0.0 and not np.isnan(rest).any()
