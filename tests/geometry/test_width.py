import math

import numpy as np
import pytest

from dpsco_bench.geometry.ball import Ball, feasible_set
from dpsco_bench.geometry.width import mean_largest, mean_length, mean_longest_block, simulated_width


def test_small_dimensions_in_closed_form():
    assert mean_largest(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-10)
    assert mean_largest(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-10)
    assert Ball("l2_ball", 3.0).width(2) == pytest.approx(3 * math.sqrt(math.pi / 2), rel=1e-12)
    assert Ball("l2_ball", 1.0).width(3) == pytest.approx(math.sqrt(8 / math.pi), rel=1e-12)


@pytest.mark.parametrize(("name", "order"), [("l1_ball", np.inf), ("l2_ball", 2)])
@pytest.mark.parametrize("d", [5, 64])
def test_against_simulation(name, order, d):
    b = np.linalg.norm(np.random.default_rng(0).standard_normal((40_000, d)), ord=order, axis=1)
    assert abs(0.5 * b.mean() - Ball(name, 0.5).width(d)) < 2.5 * b.std() / math.sqrt(len(b))


def test_growth():
    assert Ball("l1_ball", 1.0).width(10**6) < math.sqrt(2 * math.log(2e6))
    assert Ball("l2_ball", 1.0).width(10**6) == pytest.approx(1000.0, rel=1e-6)


def test_check_values_of_the_widths():
    widths = {name: feasible_set(name, 1.0).width(256) for name in ("l1_ball", "l2_ball", "group_ball:4")}
    assert widths == pytest.approx({"l1_ball": 3.04423, "l2_ball": 15.98438, "group_ball:4": 3.66230}, abs=6e-6)
    assert feasible_set("k_support_ball:16", 1.0).width(256) == pytest.approx(9.055, abs=0.02)


@pytest.mark.parametrize(
    "name",
    ["lp_ball:1.5", "lp_ball:4", "linf_ball", "k_support_ball:1", "k_support_ball:7", "k_support_ball:40",
     "group_ball:1", "group_ball:5", "group_ball:40", "subspace_ball:9"],
)  # fmt: skip
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


def test_large_blocks_and_many_blocks():
    assert mean_longest_block(1, 10**6) == pytest.approx(mean_length(10**6), rel=1e-12)
    assert mean_longest_block(10**6, 1) == pytest.approx(mean_largest(10**6), rel=1e-10)
    assert mean_length(10**4) < mean_longest_block(10**3, 10**4) < mean_length(10**4) + math.sqrt(2 * math.log(2000))


def test_simulated_widths_do_not_depend_on_the_block(monkeypatch):
    def support(z):
        return np.abs(z).max(axis=-1, keepdims=True)

    whole = simulated_width(support, 11)
    monkeypatch.setattr("dpsco_bench.geometry.width.BLOCK", 5000)
    assert simulated_width(support, 11) == pytest.approx(whole, rel=1e-13)
