"""Cell summaries and two-level resampling have the moments they should have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from dpsco_bench.analysis import bootstrap
from dpsco_bench.analysis.sharing import sharing_of
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell


def rng(seed=0):
    return np.random.default_rng(seed)


def test_data_set_effects_enter_the_standard_error():
    one, effects = rng().exponential(size=8), np.array([0.0, 1.0, 2.0])
    for risks, stderr, dof in (
        (one, one.std(ddof=1) / np.sqrt(8), 7),
        (effects[:, None] + 1e-9 * one, effects.std(ddof=1) / np.sqrt(3), 2),
        (np.stack([one, one, one]), one.std(ddof=1) / np.sqrt(24), 21),
    ):
        found = bootstrap.summarise(risks)
        assert (found.mean, found.stderr, found.dof) == pytest.approx((risks.mean(), stderr, dof), rel=1e-12)
        assert found.half == pytest.approx(t.ppf(0.975, dof) * stderr, rel=1e-6)


@pytest.mark.parametrize("shape", [(12,), (4, 6), (5, 1)])
def test_bootstrap_spread_is_the_variance_that_is_named(shape):
    risks = rng(2).gamma(3.0, size=shape)
    variance, _, shown = bootstrap.variance_of_mean([bootstrap.as_cell(risks)[0]])
    (means,), _ = bootstrap.resampled_means([risks], rng(3), 40_000)
    assert means.mean() == pytest.approx(risks.mean(), rel=0.01)
    assert means.std() == pytest.approx(np.sqrt(shown), rel=0.02)
    assert bootstrap.summarise(risks).stderr == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("data_effect", [0.0, 1.0])
def test_sums_of_groups_on_common_data_sets_have_the_variance_of_their_mean(data_effect):
    """Two groups with replicates of their own: their data-set effects add up, their noise does not."""
    source = rng(7)
    found = []
    for _ in range(400):
        effects = data_effect * source.standard_normal((6, 1))
        groups = [effects + source.standard_normal((6, 4)) for _ in range(2)]
        found.append((sum(group.mean() for group in groups), bootstrap.variance_of_mean(groups)[0]))
    means, variances = np.array(found).T
    assert 0.85 * means.var() < variances.mean() < 1.4 * means.var()


def test_cells_that_share_replicates_are_resampled_alike():
    one = rng(4).exponential(size=(3, 8))
    means, variances = bootstrap.resampled_means([one, 2 * one], rng(5), 300)
    np.testing.assert_allclose(means[1], 2 * means[0], rtol=1e-12)
    np.testing.assert_allclose(variances[1], 4 * variances[0], rtol=1e-9)
    with pytest.raises(InputError, match="that share them"):
        bootstrap.resampled_means([one, one[:2]], rng(5), 3)


def test_degrees_of_freedom_of_a_sum():
    assert bootstrap.satterthwaite([1, 1], [5, 5]) == 10 and bootstrap.satterthwaite([1, 0], [5, 9]) == 5
    assert bootstrap.satterthwaite([1], [np.inf]) == np.inf and bootstrap.satterthwaite([0, 0], [3, 4]) == 7
    assert bootstrap.satterthwaite([4, 1], [3, 5]) == pytest.approx(25 / (16 / 3 + 1 / 5))


def test_heavy_tails_leave_fewer_degrees_of_freedom():
    normal, heavy = rng(8).standard_normal((2, 500)), rng(9).lognormal(0.0, 1.5, (2, 500))
    assert 0.8 * 998 < bootstrap.variance_dof(normal) <= bootstrap.variance_dof(normal, tails=False) == 998
    assert bootstrap.variance_dof(1e-100 * heavy) == pytest.approx(bootstrap.variance_dof(heavy), rel=1e-9)
    assert bootstrap.variance_dof(heavy) < 200
    assert bootstrap.variance_dof(np.array([[1.0, 2.0, 3.0, 4.0]])) == 3  # a light tail leaves no more
    assert bootstrap.variance_dof(np.ones((2, 4))) == 6


def test_the_variance_of_a_variance_has_the_named_degrees_of_freedom():
    """Of exponentials k = 6: the variance of a variance of 30 is 2/dof of its square."""
    samples = rng(10).exponential(size=(40_000, 30))
    variances = samples.var(axis=1, ddof=1)
    expected = 2.0 / (6.0 / 30 + 2.0 / 29)
    assert 2.0 * variances.mean() ** 2 / variances.var() == pytest.approx(expected, rel=0.05)
    assert bootstrap.variance_dof(rng(11).exponential(size=(1000, 30))) / 1000 == pytest.approx(expected, rel=0.1)


def test_maximum_over_signals_is_taken_over_means_not_replicates():
    risks = np.array([[[1.0, 5.0]], [[4.0, 3.0]]])
    summary = bootstrap.summarise(risks)
    assert (summary.mean, summary.signal) == (3.5, 1)
    one = rng(4).exponential(size=(1, 20))
    single, both = (bootstrap.resampled_means([own], rng(5), 500) for own in (one, np.stack([0.5 * one, one])))
    np.testing.assert_allclose(both, single, rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1, 12), (1, 4, 6), (3, 1, 8), (2, 5, 1)])
def test_each_resample_has_the_variance_of_its_own_mean(shape):
    risks = rng(6).gamma(2.0, size=shape)
    (means,), (variances,) = bootstrap.resampled_means([risks], rng(7), 20)
    (drawn,) = bootstrap.resampled_indices(rng(7), 20, *shape[1:])
    for mean, variance, chosen in zip(means, variances, drawn, strict=True):
        own = bootstrap.summarise(risks.reshape(shape[0], -1)[:, chosen].reshape(shape))
        assert (mean, np.sqrt(variance)) == pytest.approx((own.mean, own.stderr), rel=1e-12)


def test_blocks_do_not_change_the_number_of_resamples(monkeypatch):
    monkeypatch.setattr(bootstrap, "_DRAWS_PER_BLOCK", 60)
    (means,), _ = bootstrap.resampled_means([rng().random((2, 10))], rng(1), 8)
    assert means.shape == np.unique(means).shape == (8,)
    blocks = list(bootstrap.resampled_indices(rng(), 8, 2, 10))
    assert [len(block) for block in blocks] == [3, 3, 2]
    monkeypatch.setattr(bootstrap, "_INDICES_PER_BLOCK", 40)
    parts = list(bootstrap.resampled_indices(rng(), 8, 2, 10))
    assert [len(part) for part in parts] == [2, 1, 2, 1, 2]
    np.testing.assert_array_equal(np.concatenate(parts), np.concatenate(blocks))


def test_seed_belongs_to_the_name():
    first = bootstrap.bootstrap_rng("a", "b", "paper").random(3)
    np.testing.assert_array_equal(first, bootstrap.bootstrap_rng("a", "b", "paper").random(3))
    for other in (("a", "b", "accounted"), ("ab", "", "paper"), ("b", "a", "paper")):
        assert not np.array_equal(first, bootstrap.bootstrap_rng(*other).random(3))


def test_one_replicate_has_its_numerical_error_or_none():
    exact, random = bootstrap.summarise([2.0], numerical_error=1e-9), bootstrap.summarise([2.0])
    assert (exact.stderr, exact.dof) == (1e-9, np.inf) and np.isnan(random.stderr) and random.dof == 0
    with pytest.raises(InputError, match="1 non-finite"):
        bootstrap.summarise([1.0, np.nan])


def test_student_factor_against_tables():
    assert bootstrap.student_factor(np.inf) == 1.0
    assert bootstrap.student_factor(4) == pytest.approx(2.7764451 / 1.9599640, rel=1e-6)
    assert bootstrap.percentile_interval(0.0, np.linspace(-1, 1, 2001), 2.0) == pytest.approx((-1.9, 1.9))


def test_corrected_interval_by_hand():
    """The middle is moved by the bias, times the square of the scale, once or twice."""
    assert bootstrap.corrected_interval(3.0, np.zeros(9), np.zeros(9), 1.0, 1.5) == (3.0, 3.0)
    deviations = np.linspace(-1, 1, 2001)
    for biases in (1, 2):
        found = bootstrap.corrected_interval(3.0, deviations - 0.1, deviations, 2.0, 1.0, biases=biases)
        middle = 3.0 + biases * 2.0**2 * 0.1
        assert found == pytest.approx((middle - 2.0 * 0.95, middle + 2.0 * 0.95))
    found = bootstrap.corrected_interval(0.0, deviations, 3.0 * deviations - 5.0, 1.0, 2.0)
    assert found == pytest.approx((-3.0 * 0.95, 3.0 * 0.95))


def test_corrected_interval_is_even_handed():
    skewed = rng().exponential(size=4000) - 1.0
    quantile = np.quantile(skewed - skewed.mean(), 0.975)
    low, high = bootstrap.corrected_interval(0.0, skewed, skewed, 1.0, 1.0)
    assert (high - low) / 2 == pytest.approx(quantile, rel=1e-12)
    assert bootstrap.corrected_interval(0.0, -skewed, -skewed, 1.0, 1.0) == pytest.approx((-high, -low), rel=1e-9)


FIXED = Cell("wang2017.dp_gd_pl", "diag_quadratic", 256, 1.0, 1e-5, 4)
SAMPLED = Cell("bassily2021.poly_sfw", "needle_l1", 4096, 1.0, 1e-6, 32)


@pytest.mark.parametrize(
    ("cell", "change", "data", "replicates"),
    [
        (FIXED, {"n": 512}, (0, 1), (0, 1)),
        (FIXED, {"d": 8}, (0, 1), (0, 1)),
        (FIXED, {"epsilon": 2.0}, (0, 0), (0, 1)),  # the data set, not the noise
        (FIXED, {"options": {"steps": 9}}, (0, 0), (0, 0)),  # common random numbers
        (SAMPLED, {"epsilon": 2.0}, (0, 0), (0, 0)),  # a sample for each replicate
        (SAMPLED, {"n": 8192}, (0, 1), (0, 1)),
        (SAMPLED, {"problem_options": {"signal": 0.5}}, (0, 0), (0, 0)),
        (SAMPLED, {"problem_options": {"unit": "statistical"}}, (0, 1), (0, 1)),
    ],
)
def test_what_two_cells_share(cell, change, data, replicates):
    other = replace(cell, **change)
    assert sharing_of([cell, other]) == (data, replicates)
    assert (cell.data_key() == other.data_key()) == (data == (0, 0))
    if not cell.problem_entry.draws_per_replicate:
        assert (cell.run_key(0) == other.run_key(0)) == (replicates == (0, 0))


def test_shared_data_sets_are_used_as_given():
    risks = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    drawn = np.array([[0, 0, 0], [2, 2, 2], [0, 1, 2]])
    found = bootstrap.resampled_means([risks], rng(), 3, drawn)
    np.testing.assert_allclose(found, [[[1, 4, 7 / 3]], [[0, 0, 7 / 9]]])
