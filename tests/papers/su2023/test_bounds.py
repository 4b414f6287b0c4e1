import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.execution.request import make_cell
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.problems.base import Constants

LOG = math.log(1e6)
NE, RATIO = 500.0, 500.0 / math.sqrt(LOG)
ON_SET = BoundContext(
    n=1000,
    d=16,
    epsilon=0.5,
    delta=1e-6,
    constants=Constants(2.0, 1.0, diameter=2.0, domain="k_support_ball:4", gauge_convexity=0.25),
    calibration="paper",
    schedule={"ridge": 0.2},
    scales={"linear term": 30.0, "output": 0.1},
)
HEAVY = replace(
    ON_SET,
    constants=Constants(1.0, 0.5, diameter=3.0, domain="lp_ball:1.5", norm=1.5),
    schedule={"truncation": 6.0, "threshold": 7.5},
)


@pytest.mark.parametrize(("n", "shares", "slope"), [(1 << 14, (0.64, 0.54), 0.252), (1 << 20, (0.9, 0.86), 0.189)])
def test_what_beta_m_adds_to_the_noise_bends_theorem_11_in_d(n, shares, slope):
    """The claimed term is more than half of (28) at every d, hence fitted, and what is beside it makes the slope."""
    bound, full, named = get_bound("su2023.thm11"), [], []
    for d in (4, 32):
        keys = {"n": n, "d": d, "epsilon": 1.0, "delta": 1e-6, "signal": 4.099, "largest": 4.099}
        cell = make_cell("su2023.truncated_batched_md", "heavy_linear_t", keys)
        c, s = cell.constants(0), cell.plan("paper", 0)[1].schedule
        context = replace(HEAVY, n=n, d=d, epsilon=1.0, constants=c, schedule=s)
        assert s["threshold"] == pytest.approx(c.smoothness * c.diameter + s["truncation"])
        assert s["truncation"] >= c.smoothness * c.diameter  # so that the noise has at most 4 lambda^2
        full.append(bound.value(context))
        named.append(bound.named_term(context))
    assert [a / b for a, b in zip(named, full, strict=True)] == pytest.approx(shares, abs=0.01)
    assert math.log(named[1] / named[0]) / math.log(8) == pytest.approx(1 / 6)
    assert math.log(full[1] / full[0]) / math.log(8) == pytest.approx(slope, abs=0.003)


@pytest.mark.parametrize("name", ["l1_ball", "l2_ball", "k_support_ball:3", "group_ball:2", "subspace_ball:6"])
def test_lemma_10_a_set_contains_the_ball_of_its_inradius_and_none_larger(name):
    """``||x||_2 >= ||x||_C C_min``, and some direction attains it."""
    ball, x = feasible_set(name, 1.5), np.random.default_rng(4).standard_normal((500, 6))
    x = np.concatenate([x, np.ones((1, 6))])
    x *= ball.inradius(6) / np.linalg.norm(x, axis=1, keepdims=True)
    assert np.abs(ball.project(x * (1 - 1e-9)) - x).max() < 1e-6
    assert np.abs(ball.project(x * 1.01) - x * 1.01).max() > 1e-3


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_theorem_14_by_group_privacy(epsilon, delta):
    """n draws with replacement have a record at most ``4 ln(1/delta)`` times, but for half of delta."""
    n, most = 10_000, math.floor(4 * math.log(1 / delta))
    each, share = epsilon / (4 * math.log(1 / delta)), math.exp(-epsilon) * delta / (8 * math.log(2 / delta))
    assert most * each <= epsilon
    grouped = share * math.expm1(most * each) / math.expm1(each)
    assert grouped + binom.sf(most, n, 1 / n) <= delta
