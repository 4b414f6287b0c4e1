import math

import pytest

from dpsco_bench.papers.su2023.shuffling import epsilon_of, local_budget, shuffled_epsilon
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon

DELTA = 1e-6


def test_the_budget_is_used_up_exactly():
    assert shuffled_epsilon(0.5, 2**14, 5e-7) == pytest.approx(0.0756259837526, rel=1e-11)
    n = 2**16
    for epsilon in (0.01, 0.1):
        local, share, rho = local_budget(epsilon, DELTA, n)
        assert shuffled_epsilon(local, n, DELTA / 2) == pytest.approx(epsilon, rel=1e-9)
        assert n * (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * share == pytest.approx(DELTA / 2)
        assert zcdp_epsilon(rho, share) == pytest.approx(local, rel=1e-9)
        assert epsilon_of(rho, DELTA, n) == pytest.approx(epsilon, rel=1e-6)
