import numpy as np
import pytest
from scipy.stats import kstest

from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.samplers.truncated import TangentEnvelope, sample_radius

LAWS = [
    (3, 1.0, 3.0, 1.0),
    (1, 2.0, 0.0, 1.0),
    (1, 0.0, 0.0, 2.0),
    (1, 0.0, 5.0, 1.0),
    (32, 500.0, 30.0, 1.0),
    (32, 5.0, 3.0, 1.0),
    (4, -10.0, 1.0, 1.0),
    (1024, 1e6, 1.0, 1.0),
    (54, 3.0, 27.0, 1.0),
]


def cdf(law):
    quadrature = RadialLaw(*law)
    centre, grid = quadrature.mean(), np.linspace(0, law[3], 8001)
    sd = np.sqrt(quadrature.second_moment() - centre**2)
    grid = np.unique(np.clip(centre + sd * np.linspace(-9, 9, 400), 0, law[3]))
    below = np.array([1.0 - quadrature.tail(t - centre) for t in grid])
    return lambda t: np.interp(t, grid, below, 0.0, 1.0)


@pytest.mark.parametrize("law", LAWS)
def test_the_envelope_dominates_the_density(law):
    envelope = TangentEnvelope(*law)
    touch, start, end = envelope._pieces
    assert start[0] == 0 and end[-1] == law[3]
    np.testing.assert_array_equal(start[1:], end[:-1])
    for part in (0.001, 0.2, 0.5, 0.9, 1.0):
        rho = start + part * (end - start)
        tangent = envelope.log_density(touch) + envelope.slope(touch) * (rho - touch)
        with np.errstate(divide="ignore"):
            density = envelope.log_density(rho)
        assert np.all(tangent >= density - 1e-9 * (1 + np.abs(tangent)))


@pytest.mark.parametrize("law", LAWS)
def test_the_radius_has_the_law_of_the_quadrature(draws, law):
    rho = sample_radius(draws(200_000), *law)
    assert np.all((rho > 0) & (rho <= law[3]))
    assert kstest(rho, cdf(law)).pvalue > 1e-3


@pytest.mark.parametrize("law", LAWS)
def test_as_much_is_accepted_as_the_integrals_say(law):
    envelope, runs = TangentEnvelope(*law), 200_000
    touch, start, end = envelope._pieces
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = 0.5 * (end - start)[:, None]
    rho = np.maximum(0.5 * (start + end)[:, None] + half * nodes, 1e-300)
    tangent = envelope.log_density(touch)[:, None] + envelope.slope(touch)[:, None] * (rho - touch[:, None])
    top = tangent.max()
    density, above = (np.sum(half * weights * np.exp(logs - top)) for logs in (envelope.log_density(rho), tangent))
    accepted = envelope.propose(np.random.default_rng(11).random((runs, 3)))[1].mean()
    share = density / above
    assert abs(accepted - share) <= 5 * np.sqrt(share * max(1 - share, 1 / runs) / runs)
