import math

import numpy as np
import pytest

from dpsco_bench.geometry.ball import Ball, feasible_set, mean_largest


def test_small_dimensions_in_closed_form():
    assert mean_largest(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-10)
    assert mean_largest(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-10)
    assert Ball("l2_ball", 3.0).width(2) == pytest.approx(3 * math.sqrt(math.pi / 2), rel=1e-12)
    assert Ball("l2_ball", 1.0).width(3) == pytest.approx(math.sqrt(8 / math.pi), rel=1e-12)


NAMES = (
    *("l1_ball", "l2_ball", "linf_ball", "lp_ball:1.5", "lp_ball:4", "subspace_ball:9"),
    *("k_support_ball:1", "k_support_ball:7", "k_support_ball:40", "group_ball:1", "group_ball:5", "group_ball:40"),
)


@pytest.mark.parametrize("name", NAMES)
def test_widths_against_simulation(name):
    C = feasible_set(name, 0.5)
    values = C.support(np.random.default_rng(3).standard_normal((20_000, 40)))[:, 0]
    simulated = values.std() * math.sqrt(1 / 20_000 + 1 / 4000)
    assert abs(values.mean() - C.width(40)) < 3.5 * simulated
    assert C.width(40) == C.width(40)


def test_widths_of_special_cases_coincide():
    for name, same in (("k_support_ball:1", "l1_ball"), ("group_ball:1", "l1_ball"), ("k_support_ball:30", "l2_ball"),
                       ("group_ball:30", "l2_ball"), ("subspace_ball:30", "l2_ball")):  # fmt: skip
        assert feasible_set(name, 2.0).width(30) == pytest.approx(feasible_set(same, 2.0).width(30), rel=1e-10)
