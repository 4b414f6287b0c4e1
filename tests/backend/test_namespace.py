import math
import sys

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.backend import namespace as ns
from dpsco_bench.errors import InputError


def test_namespaces_by_array_and_by_name(monkeypatch):
    assert ns.array_namespace(np.zeros(2)) is ns.array_namespace(np.float64(1.0)) is ns.get_namespace("numpy") is np
    assert ns.array_namespace(strict.zeros(2)) is strict
    monkeypatch.setitem(sys.modules, "cupy", None)
    for name in ("torch", "cupy"):
        with pytest.raises(InputError, match=f"^backend = '{name}'"):
            ns.get_namespace(name)


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


def test_the_buffer_of_numpy_is_as_before_afterwards():
    before = np.getbufsize()
    with pytest.raises(KeyError), ns.tuned():
        assert np.getbufsize() != before
        raise KeyError
    assert np.getbufsize() == before
