"""Uniform subsets without replacement."""

from itertools import combinations

import numpy as np
import pytest

from dpsco_bench.rng import reference
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.streams import Stream, cpu_implementation, stream_key
from dpsco_bench.samplers.draws import subset_indices


def stream(name):
    return Stream(stream_key(3, "subsets", name))


@pytest.mark.parametrize(("n", "size"), [(9, 2), (5, 2), (6, 6), (5, 1)])
def test_every_subset_is_as_likely_as_any_other(n, size):
    """From few draws (n = 9) and from a shuffle; chi-square over all subsets."""
    indices, mask = subset_indices(stream(f"{n} {size}"), n, 0, 200, 0, 50, size)
    assert indices.shape == (200, 50, size) and mask.all()
    rows = np.sort(indices.reshape(-1, size), axis=1)
    counts = np.array([np.all(rows == chosen, axis=1).sum() for chosen in combinations(range(n), size)])
    assert counts.sum() == len(rows)
    expected = len(rows) / counts.size
    freedom = counts.size - 1
    assert np.sum((counts - expected) ** 2) / expected <= freedom + 5 * np.sqrt(2 * freedom) + 1e-9


def test_records_of_a_subset_differ_for_large_ones():
    indices, _ = subset_indices(stream("large"), 4096, 0, 4, 0, 3, 1000)
    for row in indices.reshape(-1, 1000):
        assert len(np.unique(row)) == 1000 and row.min() >= 0 and row.max() < 4096


@pytest.mark.parametrize("size", [7, 40])
def test_subsets_do_not_depend_on_how_they_are_drawn(size):
    whole, _ = subset_indices(stream("parts"), 100, 0, 6, 0, 5, size)
    part, _ = subset_indices(stream("parts"), 100, 2, 3, 1, 2, size)
    np.testing.assert_array_equal(whole[2:5, 1:3], part)


@pytest.mark.parametrize(("n", "size"), [(4, 1), (9, 2), (100, 25), (1024, 1), (1024, 32), (16384, 512), (50, 0)])
@pytest.mark.parametrize("where", [(0, 40, 0, 30), (7, 3, 2**32 - 2, 2), (0, 0, 0, 5)])
def test_compiled_subsets_are_those_of_the_reference(n, size, where):
    """Among 1,200 rows of each size some want more indices than are drawn for all of them."""
    box = Box(*where, size)
    compiled = cpu_implementation().subsets((3, 4), box, n)
    expected = reference.subsets((3, 4), box, n)
    assert compiled.dtype == expected.dtype == np.int64
    np.testing.assert_array_equal(compiled, expected)
