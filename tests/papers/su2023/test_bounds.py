import math

import numpy as np
import pytest

from dpsco_bench.geometry.ball import feasible_set

LOG = math.log(1e6)
NE, RATIO = 500.0, 500.0 / math.sqrt(LOG)


@pytest.mark.parametrize("name", ["l1_ball", "l2_ball", "k_support_ball:3", "group_ball:2", "subspace_ball:6"])
def test_lemma_10_a_set_contains_the_ball_of_its_inradius_and_none_larger(name):
    """``||x||_2 >= ||x||_C C_min``, and some direction attains it."""
    ball, x = feasible_set(name, 1.5), np.random.default_rng(4).standard_normal((500, 6))
    x = np.concatenate([x, np.ones((1, 6))])
    x *= ball.inradius(6) / np.linalg.norm(x, axis=1, keepdims=True)
    assert np.abs(ball.project(x * (1 - 1e-9)) - x).max() < 1e-6
    assert np.abs(ball.project(x * 1.01) - x * 1.01).max() > 1e-3
