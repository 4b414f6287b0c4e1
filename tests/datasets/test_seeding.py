import numpy as np

from dpsco_bench.datasets.store import permutation, raw_words, uniforms


def test_words_are_frozen():
    assert raw_words(0, "covertype/rows", 2).tolist() == [5430200861448643686, 12091217591552512551]
    assert permutation(0, "covertype/rows", 581_012)[:3].tolist() == [509661, 163932, 521027]


def test_words_depend_on_seed_and_purpose_but_not_on_count():
    words = raw_words(1, "a", 100)
    np.testing.assert_array_equal(raw_words(1, "a", 10), words[:10])
    assert not np.isin(raw_words(2, "a", 100), words).any()
    assert not np.isin(raw_words(1, "b", 100), words).any()


def test_uniforms_are_in_range_and_even():
    u = uniforms(0, "a", 20_000, 3)
    assert u.min() >= 0
    assert u.max() < 1
    np.testing.assert_allclose(u.mean(axis=0), 0.5, atol=0.01)
    np.testing.assert_allclose(np.corrcoef(u.T) - np.eye(3), 0, atol=0.03)
