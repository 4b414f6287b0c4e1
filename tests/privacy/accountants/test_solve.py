"""The solver keeps its promise on any decreasing curve, with few evaluations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.privacy.accountants.solve import least_noise


@given(
    power=st.floats(0.5, 30.0),
    target=st.floats(-3.0, 3.0).map(lambda e: 10.0**e),
    start=st.floats(-3.0, 3.0).map(lambda e: 10.0**e),
)
def test_result_is_on_the_safe_side_within_tolerance(power, target, start):
    calls = []

    def epsilon_of(noise):
        calls.append(noise)
        return noise**-power

    noise = least_noise(epsilon_of, target, start, 1e-3)
    assert epsilon_of(noise) <= target
    first = max(1.0, 1.0 / power)  # a first guess is taken by its epsilon: nothing has shown the slope yet
    assert noise <= target ** (-1.0 / power) * (1.0 + 1.1e-3 * first)
    assert len(calls) <= 30


def test_a_good_start_needs_few_evaluations():
    calls = []
    least_noise(lambda noise: calls.append(noise) or math.expm1(noise**-1.3), 1.0, 1.2, 1e-3)
    assert len(calls) <= 5


@given(st.floats(0.2, 5.0), st.floats(0.05, 20.0))
def test_jumps_zeros_and_infinities_are_bracketed(edge, start):
    def epsilon_of(noise):
        return math.inf if noise < 0.5 * edge else 10.0 if noise < edge else 0.0

    noise = least_noise(epsilon_of, 1.0, start, 1e-3)
    assert edge <= noise <= edge * 1.0011


def test_floor_is_returned_where_it_suffices():
    assert least_noise(lambda noise: 0.0, 1.0, 3.0, 1e-3, floor=0.01) == 0.01


def test_an_unreachable_target_is_reported():
    with pytest.raises(ArithmeticError, match="not met"):
        least_noise(lambda noise: 2.0, 1.0, 1.0, 1e-3)
