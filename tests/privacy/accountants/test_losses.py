"""Discretised privacy losses: cells, pessimism and the tilted law, against quadrature."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_bench.privacy.accountants.fixed_size import pessimistic_subset_losses
from dpsco_bench.privacy.accountants.pld import (
    GaussianPair,
    clt_multiplier,
    pessimistic_losses,
    transform_rounding,
)

PAIRS = [GaussianPair(s, q, replace) for s in (0.3, 1.0, 4.0) for q in (1e-3, 0.2, 1.0) for replace in (True, False)]
pairs = st.builds(
    GaussianPair,
    shift=st.floats(-3.0, 1.5).map(lambda e: 10.0**e),
    rate=st.floats(-7.0, 0.0).map(lambda e: 10.0**e),
    replace=st.booleans(),
)


def clt_mu(multiplier, rate, steps):
    """Gaussian-DP parameter in the central limit of many replace-one steps."""
    return 2.0 * rate * math.sqrt(steps * math.sinh(multiplier**-2))


def densities(pair, x):
    moved = pair.rate * norm.pdf(x, pair.shift)
    still = (1 - pair.rate) * norm.pdf(x)
    return still + moved, still + pair.rate * norm.pdf(x, -pair.shift) if pair.replace else norm.pdf(x)


def divergence(pair, epsilon, swapped=False):
    """Hockey-stick divergence of the pair by quadrature."""

    def gain(x):
        upper, lower = densities(pair, x)[:: -1 if swapped else 1]
        return max(0.0, upper - math.exp(epsilon) * lower)

    kink = float(pair.output(np.array([-epsilon if swapped else epsilon]))[0])
    cuts = sorted({-12.0 - pair.shift, *([kink] if abs(kink) < 12 + pair.shift else []), 0.0, 12.0 + pair.shift})
    return sum(quad(gain, a, b, epsabs=1e-15, epsrel=1e-10, limit=200)[0] for a, b in zip(cuts, cuts[1:], strict=False))


def discrete_divergence(losses, epsilon):
    values = losses.spacing * np.arange(losses.first, losses.first + len(losses.masses))
    return losses.infinite + float(np.maximum(0.0, -np.expm1(epsilon - values)) @ losses.masses)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_loss_is_the_log_ratio_of_the_densities(pair):
    for x in np.linspace(-3.0, 5.0, 9):
        upper, lower = densities(pair, x)
        assert float(pair.loss(x)) == pytest.approx(math.log(upper / lower), abs=1e-12)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_connect_the_dots_is_pessimistic_and_converges(pair, swapped):
    for epsilon in (0.0, 0.01, 0.3, 1.0):
        exact = divergence(pair, epsilon, swapped)
        coarse, fine = (discrete_divergence(pessimistic_losses(pair, h, 1e-15, swapped), epsilon) for h in (2e-3, 5e-4))
        assert exact - 1e-12 <= fine <= coarse + 1e-12
        assert fine == pytest.approx(exact, rel=2e-3, abs=2e-4 * pair.rate)


@given(pairs)
@example(GaussianPair(shift=10.0, rate=1.0 - 6e-16, replace=False))
@settings(max_examples=50)
def test_pessimistic_losses_keep_the_mass_and_bound_the_lower_one(pair):
    low, high = pair.loss_range(1e-10)
    losses = pessimistic_losses(pair, max(1e-3, (high - low) / 1e4), 1e-10)
    values = losses.spacing * np.arange(losses.first, losses.first + len(losses.masses))
    assert losses.masses.sum() + losses.infinite == pytest.approx(1.0, abs=1e-12)
    assert losses.masses @ np.exp(-np.maximum(values, -600.0)) <= 1.0 + 1e-9


@pytest.mark.parametrize("pair", [p for p in PAIRS if not p.replace and p.rate < 1.0], ids=str)
def test_subset_losses_have_the_profile_of_the_theorem(pair):
    losses = pessimistic_subset_losses(pair, 5e-4, 1e-15)
    assert losses.masses.min() >= 0.0
    assert losses.masses.sum() + losses.infinite == pytest.approx(1.0, abs=1e-12)
    for e in (0.02, 0.5):
        exact = divergence(pair, e)
        assert discrete_divergence(losses, e) == pytest.approx(exact, rel=2e-3, abs=1e-6)
        assert discrete_divergence(losses, e) >= exact - 1e-12
        mirrored = -math.expm1(-e) + math.exp(-e) * exact
        assert discrete_divergence(losses, -e) == pytest.approx(mirrored, rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_moments_agree_with_quadrature(pair):
    mean, variance = pair.moments(1e-15)

    def moment(power, centre):
        def weighted(x):
            return densities(pair, x)[0] * (float(pair.loss(x)) - centre) ** power

        reach = 12.0 + pair.shift
        return quad(weighted, -reach, reach, epsrel=1e-9, limit=400, points=[0.0, pair.shift])[0]

    assert mean == pytest.approx(moment(1, 0.0), rel=1e-3)
    assert variance == pytest.approx(moment(2, mean), rel=1e-3)


@given(st.floats(0.01, 10.0), st.floats(1e-6, 1.0), st.integers(1, 10**6))
def test_central_limit_inverts(mu, rate, steps):
    assert clt_mu(clt_multiplier(mu, rate, steps), rate, steps) == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize("steps", [10**3, 10**5, 10**7])
def test_rounding_of_transforms_stays_below_its_allowance(steps):
    # A lattice of normals composes to a lattice of normals: compare deep tails, where only rounding is left.
    points = np.arange(-12.0, 13.0)
    masses = np.diff(norm.cdf(np.concatenate(([-np.inf], points[:-1] + 0.5, [np.inf]))))
    variance = steps * float(masses @ points**2)
    length = int(24 * math.sqrt(variance))
    total = np.fft.irfft(np.fft.rfft(masses, length) ** steps, length)
    centre = (steps * 12) % length
    tail = np.roll(total, length // 2 - centre)[length // 2 + int(9.0 * math.sqrt(variance)) :]
    assert abs(tail.sum()) < transform_rounding(steps)
