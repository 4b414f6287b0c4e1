import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.quadrature import DEPTH, bracket, double_exponential, gauss_legendre


def test_rules_integrate_what_they_are_for():
    nodes, weights = gauss_legendre(20)
    assert np.sum(weights * nodes**39) == pytest.approx(1 / 40, rel=1e-13)
    lower, upper, weights = double_exponential(101)
    assert np.sum(weights * lower**-0.4) == pytest.approx(1 / 0.6, rel=1e-9)
    assert np.sum(weights * lower**-0.25 * upper**0.5) == pytest.approx(0.9585121877884736, rel=1e-12)  # Beta(3/4, 3/2)
    assert np.allclose(lower + upper, 1.0, rtol=0, atol=1e-15) and upper[-1] < 1e-17


@pytest.mark.parametrize(("mode", "scale"), [(0.3, 1e-7), (0.0, 1e-12), (1.0, 1e-3), (0.5, 10.0)])
def test_bracket_holds_the_mass_and_little_else(mode, scale):
    low, high = bracket(lambda x: -(((x - mode) / scale) ** 2), 0.0, 1.0)
    reach = scale * np.sqrt(DEPTH)
    assert low <= max(0.0, mode - 0.99 * reach) and high >= min(1.0, mode + 0.99 * reach)
    assert high - low <= min(1.0, 4.0 * reach)
