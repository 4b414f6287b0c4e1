"""NumPy's settings hold inside a run only and change no number."""

import numpy as np
import pytest

from dpsco_bench.backend.namespace import tuned


def test_the_buffer_is_as_before_afterwards():
    before = np.getbufsize()
    with pytest.raises(KeyError), tuned():
        assert np.getbufsize() != before
        raise KeyError
    assert np.getbufsize() == before


def test_broadcast_operations_keep_their_bits():
    rng = np.random.default_rng(0)
    x, column, row = rng.standard_normal((7, 1500)), rng.standard_normal((7, 1)), rng.standard_normal(1500)
    expected = x * column + row
    with tuned():
        np.testing.assert_array_equal(x * column + row, expected)
