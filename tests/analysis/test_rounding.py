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
    ("value", "kind", "claimed", "digits"),
    [
        (0.79, "upper", 1.0, 3),
        (203.1799, "upper", 203.18, 4),
        (0.0291, "upper", 0.0735094, 3),
        (1.0004, "lower", 1.0, 5),
    ],
)
def test_rounded_bounds_compare_with_their_claim_as_exact_ones_do(value, kind, claimed, digits):
    assert digits_beside(value, kind, claimed) == digits
    shown = outward(value, kind, digits)
    assert (shown <= float(f"{claimed:.{digits}g}") * (1 + 1e-9)) == (value <= claimed)
