import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_bench.datasets.covertype import covertype_records, covertype_synthetic, one_class_columns, scale_rows


@pytest.fixture(scope="module")
def integers():
    return covertype_records(400, seed=5)[0]


def test_rows_are_in_the_unit_ball_and_touch_it(integers):
    features, scale = scale_rows(integers)
    norms = np.linalg.norm(features, axis=1)
    assert norms.max() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(features[:, 10:] * scale, integers[:, 10:], atol=1e-15)


def test_measurements_span_0_to_1_within_the_sample(integers):
    features, scale = scale_rows(integers)
    np.testing.assert_array_equal(features[:, :10].min(axis=0), 0.0)
    np.testing.assert_allclose(features[:, :10].max(axis=0) * scale, 1.0, rtol=1e-15)
    order = np.argsort(integers[:, 0], kind="stable")
    assert (np.diff(features[order, 0]) >= 0).all()


def test_constant_measurement_becomes_0(integers):
    constant = integers.copy()
    constant[:, 3] = 77
    features, _ = scale_rows(constant)
    assert not features[:, 3].any()
    assert np.isfinite(features).all()
    alone, scale = scale_rows(integers[:1])
    assert scale == pytest.approx(np.sqrt(2))
    assert not alone[0, :10].any()


def test_one_class_columns_follow_the_signs():
    features = np.array([[1, 0, 0, -1], [1, 1, 0, 0], [0, 1, 0, -2], [0, 0, 0, 0.0]])
    labels = np.array([1, 1, 1, -1.0])
    found = one_class_columns(features, labels)
    assert dict(zip(found.columns.tolist(), found.labels.tolist(), strict=True)) == {0: 1, 1: 1, 3: -1}
    assert found.rows.tolist() == [True, True, True, False]
    mixed = one_class_columns(features[:, :3], np.array([1, -1, 1, -1.0]))
    assert not mixed.columns.size
    none = one_class_columns(np.ones((2, 1)), np.array([1.0, -1.0]))
    assert none.columns.size == none.labels.size == none.rows.sum() == 0


def test_columns_that_become_one_class_are_found_in_turn():
    # Column 1 has both classes, but its only -1 row goes with column 0.
    features = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    found = one_class_columns(features, np.array([-1, 1, -1.0]))
    assert found.columns.tolist() == [0, 1, 2]
    assert found.labels.tolist() == [-1, 1, -1]
    assert found.rows.all()


def test_infimum_is_that_of_the_other_rows():
    sample = covertype_synthetic(300, seed=2)
    signed = sample.features * sample.labels[:, None] * sample.scale
    rows = one_class_columns(sample.features, sample.labels).rows
    assert 0 < rows.sum() < 300

    def least(margins, ridge):
        def loss(w):
            values = np.logaddexp(0, -margins @ w)
            slope = -margins.T @ np.exp(-np.logaddexp(0, margins @ w))
            return values.sum() + ridge * w @ w, slope + 2 * ridge * w

        return minimize(loss, np.zeros(54), jac=True, method="L-BFGS-B", options={"maxiter": 5000}).x

    w = least(signed[~rows], 1e-9)
    infimum = np.logaddexp(0, -signed[~rows] @ w).sum()
    whole = least(signed, 1e-9)
    approached = np.logaddexp(0, -signed @ whole).sum()
    assert infimum == pytest.approx(approached, abs=1e-3)
    assert np.logaddexp(0, -signed @ whole)[rows].max() < 1e-3
