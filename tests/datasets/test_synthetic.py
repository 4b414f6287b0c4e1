import numpy as np

from dpsco_bench.datasets.covertype import (
    ALWAYS_CLASS_2,
    NEVER_CLASS_2,
    covertype_records,
    covertype_synthetic,
    one_class_columns,
)
from dpsco_bench.datasets.store import sha256_of_array


def test_records_have_the_layout_of_the_original():
    features, labels = covertype_records(5000, seed=0)
    assert features.shape == (5000, 54)
    assert features.dtype == np.int16
    np.testing.assert_array_equal(features[:, 10:14].sum(axis=1), 1)
    np.testing.assert_array_equal(features[:, 14:].sum(axis=1), 1)
    assert set(np.unique(features[:, 10:])) == {0, 1}
    assert set(np.unique(labels)) == {0, 1}
    assert 0.4 < labels.mean() < 0.6
    assert features[:, 0].min() >= 1859
    assert features[:, 0].max() <= 3858
    assert features[:, 4].min() < 0
    assert features[:, 6:9].max() <= 254


def test_one_class_soil_types_are_those_of_the_original():
    sample = covertype_synthetic(20_000, seed=0)
    found = one_class_columns(sample.features, sample.labels)
    expected = {13 + soil: 1 for soil in ALWAYS_CLASS_2} | {13 + soil: -1 for soil in NEVER_CLASS_2}
    assert dict(zip(found.columns.tolist(), found.labels.tolist(), strict=True)) == expected
    assert np.linalg.matrix_rank(sample.features) == 53


def test_fewer_records_are_a_prefix_and_seeds_differ():
    features, labels = covertype_records(500, seed=1)
    some_features, some_labels = covertype_records(120, seed=1)
    np.testing.assert_array_equal(some_features, features[:120])
    np.testing.assert_array_equal(some_labels, labels[:120])
    assert (covertype_records(500, seed=2)[0] != features).any()


def test_records_are_frozen():
    features, labels = covertype_records(1000, seed=0)
    assert sha256_of_array(features)[:16] == "f764298bbe0b3fae"
    assert sha256_of_array(labels)[:16] == "ce49506c403fb0e0"
