"""Poisson-subsampled Gaussians: discretised losses against quadrature, limits, another library, safe solutions."""

import math

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting import dp_event as event
from dp_accounting.pld import PLDAccountant
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpsco_bench.privacy.accountants import gaussian, pld, single_index
from dpsco_bench.privacy.accountants.fixed_size import pessimistic_subset_losses
from dpsco_bench.privacy.accountants.pld import GaussianPair, pessimistic_losses, transform_rounding

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
def test_losses_are_log_ratios_and_their_moments_those_of_quadrature(pair):
    for x in np.linspace(-3.0, 5.0, 9):
        upper, lower = densities(pair, x)
        assert float(pair.loss(x)) == pytest.approx(math.log(upper / lower), abs=1e-12)
    mean, variance = pair.moments(1e-15)

    def moment(power, centre):
        def weighted(x):
            return densities(pair, x)[0] * (float(pair.loss(x)) - centre) ** power

        reach = 12.0 + pair.shift
        return quad(weighted, -reach, reach, epsrel=1e-9, limit=400, points=[0.0, pair.shift])[0]

    assert mean == pytest.approx(moment(1, 0.0), rel=1e-3)
    assert variance == pytest.approx(moment(2, mean), rel=1e-3)


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


@given(st.floats(0.01, 10.0), st.floats(1e-6, 1.0), st.integers(1, 10**6))
def test_central_limit_inverts(mu, rate, steps):
    assert clt_mu(pld.clt_multiplier(mu, rate, steps), rate, steps) == pytest.approx(mu, rel=1e-9)


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


DELTA = 1e-5
# (multiplier, rate, steps): from weak to strong subsampling, from bulk-dominated to pick-dominated losses.
CASES = [
    (1.0, 139 / 200_000, 75_000), (2.0, 0.01, 10_000), (0.61, 1 / 4096, 26_894), (1.2, 1e-3, 500_000),
    (0.407, 1 / 131_072, 46_104), (0.255, 29 / 16_384, 7215), (20.0, 0.3, 1000), (3.0, 0.9, 2),
]  # fmt: skip


@given(st.floats(0.05, 20.0), st.floats(0.0, 0.95), st.integers(1, 10**6))
def test_rate_one_is_the_exact_gaussian_and_its_solution_exact(epsilon, share, steps):
    mu = math.sqrt(share) * gaussian.gdp_mu(epsilon, DELTA)
    z = pld.solve_poisson_multiplier(epsilon, DELTA, 1.0, steps, mu)
    found = [pld.poisson_gaussian_epsilon(z, 1.0, steps, DELTA, mu, replace) for replace in (True, False)]
    moved = [math.hypot(mu, change * math.sqrt(steps) / z) for change in (2.0, 1.0)]
    assert found == [gaussian.gdp_epsilon(shift, DELTA) for shift in moved]
    assert epsilon * (1.0 - 1e-9) <= found[0] <= epsilon


@pytest.mark.parametrize("steps", [20, 500_000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_numerical_composition_of_full_gaussians_is_tight_from_above(steps, delta):
    # The numerical path, which the public function leaves at rate one, has a known answer there.
    pair = GaussianPair(0.5 / math.sqrt(steps), 1.0, replace=True)
    for mu in (0.0, 0.5):
        exact = gaussian.gdp_epsilon(math.hypot(1.0, mu), delta)
        # The smallest deltas are left to moments, which are a few per cent loose.
        loose = 0.06 if 0.02 * delta < transform_rounding(steps) else 1e-3
        found = pld.converged_epsilon(lambda h, t: [[pld.pessimistic_losses(pair, h, t)]], [(pair, steps)], delta, mu)
        assert exact < found < (1.0 + loose) * exact


@pytest.mark.parametrize(("multiplier", "rate", "steps"), CASES)
def test_epsilon_is_pinched_between_upper_and_lower_bound(multiplier, rate, steps):
    # The same pair of transcripts is attained by single-index sampling with contributions that reverse.
    population = max(2, round(1.0 / rate))
    lower = max(single_index.single_index_tests(1.0 / multiplier, steps, population, DELTA).values())
    upper = pld.poisson_gaussian_epsilon(multiplier, 1.0 / population, steps, DELTA)
    assert lower <= upper * (1.0 + 1e-9)
    assert upper == pytest.approx(lower, rel=5e-3)


def test_limits():
    """Much noise leaves the Gaussian part alone, rare records need none, a fine grid has cells for all its points."""
    alone = gaussian.gdp_epsilon(0.3, DELTA)
    assert pld.poisson_gaussian_epsilon(math.inf, 0.1, 5, DELTA, 0.3) == alone
    assert pld.poisson_gaussian_epsilon(1e6, 0.1, 5, DELTA, 0.3) == pytest.approx(alone, rel=1e-3)
    assert pld.poisson_gaussian_epsilon(0.0, 0.1, 5, DELTA) == math.inf
    assert pld.poisson_gaussian_epsilon(0.0, 0.1, 5, DELTA, 0.0, False) == math.inf
    # Drawn with probability 1e-7 in all: whatever is released costs less than delta.
    assert pld.poisson_gaussian_epsilon(0.05, 1e-9, 100, DELTA) == 0.0
    assert pld.solve_poisson_multiplier(1.0, DELTA, 1e-8, 2) == 0.01
    pair = pld.AnchoredPair(3.0, 0.1, 0.1)
    low, high = pair.loss_range(1e-12)
    _, upper, lower = pair.rounded_losses((high - low) / 2**16, 1e-12)
    assert np.count_nonzero(upper) > 2**15 and upper.sum() == pytest.approx(1.0) == lower.sum()


@pytest.mark.parametrize(("multiplier", "rate"), [(40.0, 0.01), (10.0, 1e-5)])
def test_central_limit_is_approached(multiplier, rate):
    """Also where the loss of a step is far below the first spacing."""
    many = pld.poisson_gaussian_epsilon(multiplier, rate, 1_000_000, DELTA)
    assert many == pytest.approx(gaussian.gdp_epsilon(clt_mu(multiplier, rate, 1_000_000), DELTA), rel=2e-3)


def test_queries_of_two_rates_compose():
    whole = pld.poisson_gaussian_epsilon(1.0, 0.01, 40, DELTA, 0.2)
    assert pld.several_poisson_epsilon([(1.0, 0.01, 10), (1.0, 0.01, 30)], DELTA, 0.2) == pytest.approx(whole, rel=1e-4)
    parts = [(0.5, 0.2, 3), (1.0, 0.4, 5)]
    generator, total = np.random.default_rng(3), np.zeros(400_000)
    for multiplier, rate, steps in parts:
        pair = GaussianPair(1.0 / multiplier, rate, True)
        for _ in range(steps):
            drawn = generator.random(len(total)) < rate
            total += pair.loss(generator.standard_normal(len(total)) + pair.shift * drawn)
    epsilon = pld.several_poisson_epsilon(parts, 0.01)
    assert np.mean(np.maximum(0.0, -np.expm1(epsilon - total))) == pytest.approx(0.01, rel=0.03)
    z = pld.solve_several_multiplier(1.0, DELTA, parts, 0.1)
    found = [pld.several_poisson_epsilon([(f * z * m, q, k) for m, q, k in parts], DELTA, 0.1) for f in (1.0, 0.995)]
    assert found[0] <= 1.0 < found[1]


@pytest.mark.parametrize(("multiplier", "rate", "steps"), CASES[:3])
def test_our_discretisation_agrees_with_the_library(multiplier, rate, steps):
    what = event.SelfComposedDpEvent(event.PoissonSampledDpEvent(rate, event.GaussianDpEvent(multiplier)), steps)
    for relation, replace in ((NeighboringRelation.REPLACE_ONE, True), (NeighboringRelation.ADD_OR_REMOVE_ONE, False)):
        expected = PLDAccountant(neighboring_relation=relation).compose(what).get_epsilon(1e-5)
        ours = pld.poisson_gaussian_epsilon(multiplier, rate, steps, 1e-5, replace=replace)
        assert ours == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_parts_of_one_law_cost_what_all_their_steps_do_where_moments_bound_them(mu):
    several = pld.several_poisson_epsilon([(2.0, 0.1, 10), (2.0, 0.1, 30)], 1e-18, mu)
    assert several == pytest.approx(pld.poisson_gaussian_epsilon(2.0, 0.1, 40, 1e-18, mu), rel=0.01)
    assert several > gaussian.gdp_epsilon(mu, 1e-18)


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-30, 1e-100])
def test_bounds_at_a_delta_below_the_rounding_of_transforms_are_above_the_exact_value(mu, delta):
    """Rare records under much noise add next to nothing to the Gaussian."""
    known = gaussian.gdp_epsilon(mu, delta)
    for replace in (True, False):
        assert known <= pld.poisson_gaussian_epsilon(100.0, 1e-6, 1, delta, mu, replace=replace) <= 1.1 * known
