"""Batches, subsets and keyed numbers: their laws, and what they depend on."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from dpsco_bench.rng import reference
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.streams import Stream, cpu_implementation, stream_key
from dpsco_bench.samplers.draws import poisson_indices, poisson_width, subset_indices, uniform_indices

STREAM = Stream(stream_key(3, "sampler tests", "sample/x"))


@pytest.mark.parametrize("rate", [0.15, 0.5, 0.9])
def test_exact_law_at_small_n(rate):
    n, draws = 4, 60_000
    (indices,), (mask,) = poisson_indices(STREAM, n, rate, 0, 1, 0, draws)
    hits = np.zeros((draws, n), dtype=int)
    np.add.at(hits, (np.nonzero(mask)[0], indices[mask]), 1)
    assert hits.max() == 1, "a record is selected at most once"
    counts = np.bincount(hits @ (2 ** np.arange(n)), minlength=2**n)
    ones = np.array([sum(bits) for bits in product((0, 1), repeat=n)])
    assert stats.chisquare(counts, draws * rate**ones * (1 - rate) ** (n - ones)).pvalue > 1e-6


@pytest.mark.parametrize(("n", "rate"), [(1000, 0.02), (1000, 0.5), (50, 0.999), (100_000, 1e-4)])
def test_batch_sizes_have_mean_b_and_variance_b_times_one_minus_q(n, rate):
    draws = 2000
    _, mask = poisson_indices(STREAM, n, rate, 0, 4, 0, draws // 4)
    sizes, b = mask.sum(axis=-1).ravel(), n * rate
    variance = b * (1 - rate)
    assert abs(sizes.mean() - b) < 5 * math.sqrt(variance / draws)
    kurtosis = 3 + (1 - 6 * rate * (1 - rate)) / variance
    assert abs(sizes.var() - variance) < 5 * variance * math.sqrt((kurtosis - 1) / draws)


def test_indices_ascend_and_padding_is_zero():
    indices, mask = poisson_indices(STREAM, 500, 0.05, 0, 3, 0, 4)
    for row, kept in zip(indices.reshape(-1, indices.shape[-1]), mask.reshape(-1, mask.shape[-1]), strict=True):
        assert np.all(np.diff(row[kept]) > 0) and row[kept].max(initial=0) < 500
        assert np.all(row[~kept] == 0) and np.all(np.diff(kept.astype(int)) <= 0)
    indices, mask = poisson_indices(STREAM, 7, 1.0, 0, 2, 0, 3)
    assert mask.all() and np.all(indices == np.arange(7)) and indices.shape == (2, 3, 7)


BATCHES = {
    "poisson": lambda *where: poisson_indices(STREAM, 300, 0.03, *where),
    "single": lambda *where: uniform_indices(STREAM, 300, *where, 1),
    "small subset": lambda *where: subset_indices(STREAM, 100, *where, 7),
    "large subset": lambda *where: subset_indices(STREAM, 100, *where, 40),
}


@pytest.mark.parametrize("draw", BATCHES)
def test_a_batch_depends_on_its_step_and_replicate_alone(draw):
    indices, mask = BATCHES[draw](0, 6, 0, 5)
    for step, steps, first, replicates in ((2, 3, 1, 3), (5, 1, 4, 1)):
        part = BATCHES[draw](step, steps, first, replicates)
        for own, whole in zip(part, (indices, mask), strict=True):
            np.testing.assert_array_equal(own, whole[step : step + steps, first : first + replicates])


@pytest.mark.parametrize("n", [1, 2, 5, 10**6, 10**10, 2**40])
@pytest.mark.parametrize("mean", [1e-6, 0.1, 1.0, 4.0, 9.0, 30.0, 1e3, 1e5])
def test_the_padded_width_is_practically_never_exceeded(n, mean):
    rate = mean / n
    if rate < 1:
        width = poisson_width(n, rate)
        assert width <= n
        if width < n:
            assert stats.binom.sf(width - 1, n, rate) < 1e-19


def test_single_indices_are_uniform():
    n, draws = 7, 70_000
    indices, mask = uniform_indices(STREAM, n, 0, 70, 0, draws // 70, 1)
    assert mask.all() and indices.shape == (70, 1000, 1) and indices.dtype == np.int64
    assert stats.chisquare(np.bincount(indices.ravel(), minlength=n)).pvalue > 1e-6
    pairs = np.bincount(indices[:-1].ravel() * n + indices[1:].ravel(), minlength=n * n)
    assert stats.chisquare(pairs).pvalue > 1e-6


POISSON = [(1, 0.3), (7, 0.999), (300, 0.03), (5000, 1e-5), (5000, 0.2), (2**40, 1e-10)]
SUBSETS = [(4, 1), (9, 2), (100, 25), (1024, 1), (1024, 32), (4096, 1000), (16384, 512), (50, 0)]
DRAWN = [*(("selections", poisson_width(*own), own) for own in POISSON), *(("subsets", s, (n,)) for n, s in SUBSETS)]


@pytest.mark.parametrize(("draw", "width", "given"), DRAWN)
@pytest.mark.parametrize("where", [(0, 40, 0, 30), (7, 3, 2**32 - 2, 2), (0, 0, 0, 5)])
def test_compiled_batches_are_those_of_the_reference(draw, width, given, where):
    """Among 1,200 rows of each some want more random numbers than are drawn for all of them."""
    box = Box(*where, width)
    compiled, expected = (getattr(made, draw)((3, 4), box, *given) for made in (cpu_implementation(), reference))
    both = zip(compiled, expected, strict=True) if draw == "selections" else [(compiled, expected)]
    for ours, known in both:
        assert ours.dtype == known.dtype and known.dtype in (np.int64, np.bool_)
        np.testing.assert_array_equal(ours, known)


@pytest.mark.parametrize(("n", "size"), [(9, 2), (5, 2), (6, 6), (5, 1)])
def test_every_subset_is_as_likely_as_any_other(n, size):
    """From few draws (n = 9) and from a shuffle; chi-square over all subsets."""
    indices, mask = subset_indices(STREAM, n, 0, 200, 0, 50, size)
    assert indices.shape == (200, 50, size) and mask.all()
    rows = np.sort(indices.reshape(-1, size), axis=1)
    counts = np.array([np.all(rows == chosen, axis=1).sum() for chosen in combinations(range(n), size)])
    assert counts.sum() == len(rows)
    assert counts.size == 1 or stats.chisquare(counts).pvalue > 1e-6


def test_keyed_numbers_depend_on_name_step_and_replicate_alone(draws):
    for name, further in (("uniform", ()), ("integers", (17,))):
        made = draws(6), draws(2), draws(4, first=2)
        whole, first, rest = (getattr(own, name)("a", 3, 40, *further) for own in made)
        np.testing.assert_array_equal(np.concatenate([first, rest]), whole)
        np.testing.assert_array_equal(whole[:, :7], getattr(draws(6), name)("a", 3, 7, *further))
    rows = [draws(3).uniform(name, step, 2) for name in ("a", "b") for step in (0, 1)]
    assert len(np.unique(np.concatenate(rows).round(12), axis=0)) == 12
    np.testing.assert_array_equal(draws(3, copies=2).uniform("a", 0, 2), np.tile(draws(3).uniform("a", 0, 2), (2, 1)))
    assert draws(3, copies=2).rows == 6


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [2, 0, 2], [0, 40], [5 + 41, 5]])
def test_numbers_of_several_steps_are_those_of_each(draws, rows):
    made = draws(41, first=7, copies=2)
    found = made.uniform_steps("a", 3, 2, 4, np.array(rows))
    np.testing.assert_array_equal(found, np.stack([made.uniform("a", step, 4)[rows] for step in (3, 4)]))
