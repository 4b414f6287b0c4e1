import math

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.backend import namespace as ns
from dpsco_bench.errors import InputError


def test_namespaces_of_arrays():
    assert ns.array_namespace(np.zeros(2)) is np
    assert ns.array_namespace(np.float64(1.0)) is np
    assert ns.array_namespace(strict.zeros(2)) is strict


def test_namespaces_by_name():
    assert ns.get_namespace("numpy") is np
    with pytest.raises(InputError, match="^backend = 'torch': must be one of numpy, cupy$"):
        ns.get_namespace("torch")


def test_cupy_is_refused_in_one_line_where_it_cannot_run(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(ns.importlib, "import_module", absent)
    with pytest.raises(InputError, match="^backend = 'cupy': must be numpy here: CuPy is not installed"):
        ns.get_namespace("cupy")


@pytest.mark.parametrize("xp", [np, strict])
def test_to_numpy_keeps_values_and_dtype(xp):
    for dtype in ("float32", "float64", "int64"):
        host = ns.to_numpy(xp.asarray([1, 2, 3], dtype=getattr(xp, dtype)))
        assert isinstance(host, np.ndarray) and host.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(host, [1, 2, 3])


@pytest.mark.parametrize("xp", [np, strict])
def test_gathering_rows_and_values(xp):
    rng = np.random.default_rng(0)
    features, values = rng.standard_normal((7, 3)), rng.standard_normal(7)
    indices = rng.integers(0, 7, (2, 5))
    rows = ns.take_rows(xp.asarray(features), xp.asarray(indices))
    np.testing.assert_array_equal(ns.to_numpy(rows), features[indices])
    taken = ns.take_values(xp.asarray(values), xp.asarray(indices))
    np.testing.assert_array_equal(ns.to_numpy(taken), values[indices])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_and_softplus_are_stable_and_accurate(dtype):
    x = np.array([-1e4, -800, -30, -1, 0, 1e-3, 1, 30, 800, 1e4], dtype=dtype)
    with np.errstate(all="raise", under="ignore"):
        sigmoid, softplus = ns.sigmoid(x), ns.softplus(x)
    assert sigmoid.dtype == softplus.dtype == dtype
    eps = float(np.finfo(dtype).eps)
    exact_softplus = [max(v, 0.0) + math.log1p(math.exp(-abs(v))) for v in x.astype(float)]
    exact_sigmoid = [math.exp(min(v, 0.0)) / (1 + math.exp(-abs(v))) for v in x.astype(float)]
    np.testing.assert_allclose(softplus, exact_softplus, rtol=4 * eps, atol=0)
    np.testing.assert_allclose(sigmoid, exact_sigmoid, rtol=0, atol=eps)


@pytest.mark.parametrize("xp", [np, strict])
def test_accumulators_are_float64_and_results_come_back_in_the_states_dtype(xp):
    state = xp.asarray([[1.0, 2.0]], dtype=xp.float32)
    total = ns.float64_zeros(state) + state
    assert total.dtype == xp.float64
    assert ns.cast_like(total, state).dtype == xp.float32


def test_casting_works_with_a_method_or_a_function():
    """CuPy 13 has no ``cupy.astype``; strict arrays have no method of that name."""
    for x in (np.ones(2), strict.ones(2)):
        assert ns.cast(x, ns.array_namespace(x).float32).dtype == ns.array_namespace(x).float32


def test_row_norm():
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(ns.row_norm(x), [[5.0], [0.0]])
