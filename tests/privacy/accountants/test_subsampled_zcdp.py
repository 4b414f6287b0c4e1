"""The generic bound for zCDP on batches: its limits, its order in every argument, and a simulated pair."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from dpsco_bench.privacy.accountants.zcdp import ORDERS, subsampled_epsilon, zcdp_epsilon

DELTA = 1e-6


def test_all_records_in_every_batch_cost_no_more_than_zcdp_at_these_orders():
    found = subsampled_epsilon(0.01, 1.0, 10, DELTA)
    exact = zcdp_epsilon(0.1, DELTA)
    assert exact <= found <= exact * 1.01


@pytest.mark.parametrize("rate", [0.01, 0.2])
def test_not_below_what_a_gaussian_attains(rate):
    """The divergences of ``(1-q) N(0,1) + q N(s,1)`` from ``N(0,1)``, by summation, at the same orders."""
    shift, steps = 0.8, 5
    x = np.linspace(-12, 240, 200_001)
    losses = np.logaddexp(math.log1p(-rate), math.log(rate) + shift * x - shift**2 / 2)
    logs = -0.5 * x**2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    attained = min(
        steps * logsumexp(logs + a * losses) / (a - 1) + math.log1p(-1 / a) - (math.log(DELTA) + math.log(a)) / (a - 1)
        for a in ORDERS
    )
    assert attained <= subsampled_epsilon(shift**2 / 2, rate, steps, DELTA) < 4 * attained
