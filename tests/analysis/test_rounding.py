"""Bounds with few digits are still bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.analysis.rounding import digits_beside, outward

POSITIVE = st.floats(1e-12, 1e12)


@given(POSITIVE, st.integers(1, 6))
def test_a_lower_bound_goes_down_an_upper_one_up_by_less_than_a_unit(value, digits):
    low, high = (outward(value, kind, digits) for kind in ("lower", "upper"))
    assert low <= value * (1 + 4e-9) and high >= value * (1 - 4e-9)
    assert high - low <= 1.01 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    assert all(math.isclose(float(f"{found:.{digits}g}"), found, rel_tol=1e-9) for found in (low, high))


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (887_900.0, "lower", 887_000.0),
        (827.6, "lower", 827.0),
        (8.4601, "upper", 8.47),
        (1.0 + 1e-9, "upper", 1.0),  # noise that is calibrated to a claim of 1
        (1.0 - 1e-9, "lower", 1.0),
        (887_900.0, "exact", 887_900.0),
        (0.0, "lower", 0.0),
        (math.inf, "upper", math.inf),
    ],
)
def test_written_out(value, kind, shown):
    assert outward(value, kind) == pytest.approx(shown, rel=1e-12)


def test_nothing_known_stays_so():
    assert math.isnan(outward(math.nan, "upper"))


@pytest.mark.parametrize(
    ("claimed", "digits"), [(1.0, 3), (0.05, 3), (203.18, 5), (1000.0, 3), (20.00, 3), (1.23456789, 6)]
)
def test_a_bound_has_as_many_digits_as_its_claim(claimed, digits):
    assert digits_beside(claimed) == digits
    shown = outward(claimed * (1 - 1e-6), "upper", digits)
    assert shown <= float(f"{claimed:.6g}") * (1 + 1e-9)
