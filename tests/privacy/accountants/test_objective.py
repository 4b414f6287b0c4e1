"""The bounds of objective perturbation, derived in the module, against independent numbers."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpsco_bench.privacy.accountants import objective


@pytest.mark.parametrize("weight", [0.3, 1.0, 20.0])
def test_no_replaced_record_changes_a_determinant_by_more(weight):
    rng, worst = np.random.default_rng(0), 0.0
    for scale in (0.0, 0.1, 1.0, 10.0) * 50:
        rows = scale * rng.standard_normal((4, 3))
        base = weight * np.eye(3) + rows.T @ rows
        first, second = rng.standard_normal((2, 3))
        first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
        for h, k in ((1.0, 0.0), (1.0, 1.0), tuple(rng.random(2))):
            dets = [np.linalg.slogdet(base + c * np.outer(a, a))[1] for c, a in ((h, first), (k, second))]
            worst = max(worst, abs(dets[0] - dets[1]))
    bound = objective.rank_one_log_jacobian(1.0, weight)
    assert worst <= bound * (1 + 1e-12)
    assert worst >= 0.999 * bound
    assert objective.two_rank_log_jacobian(1.0, weight) == pytest.approx(math.log(1 + 2 / weight + weight**-2))
    assert bound <= objective.two_rank_log_jacobian(1.0, weight)


def hockey_stick(density, other, epsilon, reach):
    def excess(x):
        return max(0.0, density(x) - math.exp(epsilon) * other(x))

    pieces = np.linspace(-reach, reach, 401)
    return sum(quad(excess, *ends, epsabs=1e-13)[0] for ends in zip(pieces[:-1], pieces[1:], strict=True))


def minimiser_density(noise, weight, others, slope, curvature):
    """Law of argmin in one dimension: noise density at the linear term, times the second derivative."""

    def density(x):
        gradient = weight * x + others * math.tanh(x) + slope(x)
        return noise(gradient) * (weight + others / math.cosh(x) ** 2 + curvature(x))

    return density


def bend(at):
    """Slope and curvature of a logistic record."""
    return lambda x: math.tanh(4 * (x - at)), lambda x: 4 / math.cosh(4 * (x - at)) ** 2


UP, DOWN = ((lambda x, slope=slope: slope, lambda x: 0.0) for slope in (1.0, -1.0))
RECORDS = {"steep, opposite": (UP, DOWN), "logistic, opposite": (bend(0), DOWN), "bends": (bend(1), bend(-1))}


@pytest.mark.parametrize("pair", RECORDS)
@pytest.mark.parametrize("others", [0, 3])
def test_normal_noise_gives_the_claim_by_quadrature(pair, others):
    """One dimension, slopes in [-1, 1], curvature at most 4: the exact laws of the minimisers on neighbours."""
    epsilon, delta, curvature = 1.0, 1e-3, 4.0
    weight = 2 * curvature / epsilon
    jacobian = objective.rank_one_log_jacobian(curvature, weight)
    sigma = 2.0 / objective.tail_ratio(epsilon, jacobian, objective.plane_tail(delta))

    def noise(b):
        return math.exp(-0.5 * (b / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))

    laws = [minimiser_density(noise, weight, others, *record) for record in RECORDS[pair]]
    reach = 12 * sigma / weight
    assert hockey_stick(laws[0], lambda x: 0.0, 0.0, reach) == pytest.approx(1.0, abs=1e-8)
    for first, second in (laws, laws[::-1]):
        assert hockey_stick(first, second, epsilon, reach) <= delta


@pytest.mark.parametrize("pair", RECORDS)
def test_gamma_noise_gives_pure_privacy_pointwise(pair):
    epsilon, curvature, weight = 1.0, 4.0, 30.0
    scale = 2.0 / objective.gamma_ratio(epsilon, objective.two_rank_log_jacobian(curvature, weight))

    def noise(b):
        return math.exp(-abs(b) / scale) / (2 * scale)

    laws = [minimiser_density(noise, weight, 3, *record) for record in RECORDS[pair]]
    ratios = [math.log(laws[0](x) / laws[1](x)) for x in np.linspace(-3, 3, 4001)]
    assert 0.2 < max(np.abs(ratios)) <= epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 1e-5), (1.0, 1e-3), (1.0, 1e-5), (4.0, 1e-5)])
def test_erratum_e15(epsilon, delta):
    """The printed noise covers a shift of zeta = G; replace-one's 2G needs twice as much, or a little less."""
    jacobian, tail = math.log1p(epsilon / 2), objective.plane_tail(delta)
    sigma = math.sqrt(8 * math.log(2 / delta) + 4 * epsilon) / epsilon  # of Kifer, Smith and Thakurta, over zeta
    assert objective.tail_epsilon(1.0 / sigma, jacobian, tail) <= epsilon
    assert objective.tail_epsilon(2.0 / sigma, jacobian, tail) > epsilon
    assert 1.0 < 2.0 / objective.tail_ratio(epsilon, jacobian, tail) / sigma <= 2.0


NINES = {1e-3: 3.48075640, 1e-5: 4.56478773, 1e-8: 5.84717215}
"""Quantiles of the standard normal law at ``1 - delta/4``."""


@pytest.mark.parametrize("delta", NINES)
def test_the_bound_is_the_one_that_is_written_out(delta):
    """``t r + r^2/2 + log_jacobian``, and its inverse."""
    tail = quad(lambda x: math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi), NINES[delta], 40, epsabs=0.0)[0]
    assert tail == pytest.approx(0.25 * delta, rel=1e-6)
    tail, epsilon = objective.plane_tail(delta), 0.1 * NINES[delta] + 0.005 + 0.3
    assert objective.tail_epsilon(0.1, 0.3, tail) == pytest.approx(epsilon, rel=1e-8)
    assert objective.tail_ratio(epsilon, 0.3, tail) == pytest.approx(0.1, rel=1e-7)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-8])
def test_the_norm_of_several_normals_exceeds_its_quantile_with_probability_delta(delta):
    """In closed form in one, two and three dimensions, and by a sum in four."""
    upper = {
        1: lambda t: math.erfc(t / math.sqrt(2)),
        2: lambda t: math.exp(-0.5 * t * t),
        3: lambda t: math.erfc(t / math.sqrt(2)) + math.sqrt(2 / math.pi) * t * math.exp(-0.5 * t * t),
        4: lambda t: (1 + 0.5 * t * t) * math.exp(-0.5 * t * t),
    }
    for dimension, tail in upper.items():
        assert tail(objective.chi_tail(delta, dimension)) == pytest.approx(delta, rel=1e-9)
