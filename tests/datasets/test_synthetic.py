"""Synthetic records, their scaling, and the words that they are drawn from."""

import numpy as np
import pytest

from dpsco_bench.datasets import covertype
from dpsco_bench.datasets.covertype import covertype_records, covertype_synthetic, one_class_rows, sample_from
from dpsco_bench.datasets.store import permutation, raw_words, sha256_of_array


def test_one_class_soil_types_are_those_of_the_original():
    sample = covertype_synthetic(20_000)
    soils = [13 + soil for soil in (*covertype.ALWAYS_CLASS_2, *covertype.NEVER_CLASS_2)]
    expected = sample.features[:, soils].any(axis=1)
    np.testing.assert_array_equal(one_class_rows(sample.features, sample.labels), expected)
    assert np.linalg.matrix_rank(sample.features) == 53


def test_records_are_frozen_and_fewer_are_a_prefix():
    features, labels = covertype_records(1000)
    for some, whole in zip(covertype_records(120), (features, labels), strict=True):
        np.testing.assert_array_equal(some, whole[:120])
    assert sha256_of_array(features)[:16] == "f764298bbe0b3fae"
    assert sha256_of_array(labels)[:16] == "ce49506c403fb0e0"


INTEGERS = covertype_records(400)[0]


def scaled(integers=INTEGERS):
    """Features of a sample, and the largest norm of a row before the division."""
    features = sample_from(integers, np.ones(len(integers))).features
    return features, 1.0 / features[:, 10:].max()


def test_rows_are_in_the_unit_ball_and_touch_it():
    features, scale = scaled()
    assert np.linalg.norm(features, axis=1).max() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(features[:, 10:] * scale, INTEGERS[:, 10:], atol=1e-15)


def test_measurements_span_0_to_1_within_the_sample():
    features, scale = scaled()
    np.testing.assert_array_equal(features[:, :10].min(axis=0), 0.0)
    np.testing.assert_allclose(features[:, :10].max(axis=0) * scale, 1.0, rtol=1e-15)
    order = np.argsort(INTEGERS[:, 0], kind="stable")
    assert (np.diff(features[order, 0]) >= 0).all()


def test_constant_measurement_becomes_0():
    constant = INTEGERS.copy()
    constant[:, 3] = 77
    features, _ = scaled(constant)
    assert not features[:, 3].any() and np.isfinite(features).all()
    alone, scale = scaled(INTEGERS[:1])
    assert scale == pytest.approx(np.sqrt(2)) and not alone[0, :10].any()


def test_one_class_rows_follow_the_signs():
    features = np.array([[1, 0, 0, -1], [1, 1, 0, 0], [0, 1, 0, -2], [0, 0, 0, 0.0]])
    assert one_class_rows(features, np.array([1, 1, 1, -1.0])).tolist() == [True, True, True, False]
    assert not one_class_rows(features[:, :3], np.array([1, -1, 1, -1.0])).any()
    assert not one_class_rows(np.ones((2, 1)), np.array([1.0, -1.0])).any()
    # Column 1 has both classes, but its only -1 row goes with column 0.
    in_turn = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    assert one_class_rows(in_turn, np.array([-1, 1, -1.0])).all()


def test_words_are_frozen():
    assert raw_words("covertype/rows", 2).tolist() == [5430200861448643686, 12091217591552512551]
    assert not np.isin(raw_words("other", 100), raw_words("covertype/rows", 100)).any()
    assert permutation("covertype/rows", 581_012)[:3].tolist() == [509661, 163932, 521027]
