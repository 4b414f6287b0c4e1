import math

import pytest

from dpsco_bench.errors import Refusal
from dpsco_bench.papers.su2023.shuffling import epsilon_of, largest_local_epsilon, local_budget, shuffled_epsilon
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon, zcdp_rho

DELTA = 1e-6


def test_check_vector():
    assert shuffled_epsilon(0.5, 2**14, 5e-7) == pytest.approx(0.0756259837526, rel=1e-11)


def test_the_budget_is_used_up_exactly():
    n = 2**16
    for epsilon in (0.01, 0.1):
        local, share, rho = local_budget(epsilon, DELTA, n)
        assert shuffled_epsilon(local, n, DELTA / 2) == pytest.approx(epsilon, rel=1e-9)
        assert n * (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * share == pytest.approx(DELTA / 2)
        assert zcdp_epsilon(rho, share) == pytest.approx(local, rel=1e-9)
        assert epsilon_of(rho, DELTA, n) == pytest.approx(epsilon, rel=1e-6)


def test_the_largest_local_epsilon_caps_the_budget():
    n = 2**12
    assert local_budget(50.0, DELTA, n)[0] == largest_local_epsilon(n, DELTA / 2)
    with pytest.raises(Refusal, match="^shuffling refused: n = 100 is too small"):
        local_budget(1.0, DELTA, 100)


def test_without_amplification_the_local_value_holds():
    for rho in (0.14, 30.0):
        assert epsilon_of(rho, DELTA, 100) == zcdp_epsilon(rho, DELTA)
    assert epsilon_of(0.0, DELTA, 2**16) == 0.0


def test_budget_of_pure_local_noise():
    assert zcdp_rho(*local_budget(0.05, DELTA, 2**16)[:2]) == local_budget(0.05, DELTA, 2**16)[2]
