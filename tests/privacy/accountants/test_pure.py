import math
from itertools import product

import pytest

from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.accountants.zcdp import composed_epsilon, epsilon_each_for


def enumerated_delta(epsilon_each, steps, epsilon):
    """Hockey-stick divergence of ``steps`` randomised responses, outcome by outcome."""
    p = 1 / (1 + math.exp(-epsilon_each))
    total = 0.0
    for bits in product((0, 1), repeat=steps):
        flipped = sum(bits)
        upper = p ** (steps - flipped) * (1 - p) ** flipped
        lower = p**flipped * (1 - p) ** (steps - flipped)
        total += max(0.0, upper - math.exp(epsilon) * lower)
    return total


@pytest.mark.parametrize("epsilon_each", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 10])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_the_value_is_the_exact_inverse_of_the_enumerated_divergence(epsilon_each, steps, delta):
    epsilon = composed_epsilon(epsilon_each, steps, delta)
    assert enumerated_delta(epsilon_each, steps, epsilon) <= delta * (1 + 1e-9) + 1e-13  # cancellation
    if epsilon > 0:
        assert enumerated_delta(epsilon_each, steps, epsilon * (1 - 1e-6)) > delta


def test_between_basic_and_advanced_composition():
    for each, steps, delta in ((0.01, 1000, 1e-5), (0.3, 50, 1e-8), (2.0, 5, 1e-3)):
        value = composed_epsilon(each, steps, delta)
        advanced = each * math.sqrt(2 * steps * math.log(1 / delta)) + steps * each * math.expm1(each)
        assert 0 < value <= min(steps * each, advanced)


def test_many_small_losses_are_gaussian():
    """Randomised response with a small loss is close to mu-GDP with mu = epsilon_0 per step."""
    assert composed_epsilon(1e-3, 10**6, 1e-5) == pytest.approx(gdp_epsilon(1.0, 1e-5), rel=2e-3)


def test_limits():
    assert composed_epsilon(0.0, 5, 1e-5) == 0.0
    assert composed_epsilon(math.inf, 5, 1e-5) == math.inf
    assert composed_epsilon(800.0, 3, 1e-300) == pytest.approx(2400.0)
    assert composed_epsilon(0.5, 1, 1e-12) == pytest.approx(0.5, rel=1e-11)


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps"), [(1.0, 1e-5, 644), (0.1, 1e-9, 3), (5.0, 1e-3, 20), (2.0, 1e-5, 1)]
)
def test_the_inverse(epsilon, delta, steps):
    each = epsilon_each_for(epsilon, delta, steps)
    assert each >= epsilon / steps
    assert epsilon * (1 - 1e-6) < composed_epsilon(each, steps, delta) <= epsilon
