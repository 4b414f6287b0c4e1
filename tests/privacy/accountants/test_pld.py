"""Poisson-subsampled Gaussians: limits, stable grids, another library, and solutions on the safe side."""

import math

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting import dp_event as event
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.privacy.accountants import gaussian, pld, single_index
from dpsco_bench.privacy.accountants.pld import AnchoredPair, GaussianPair, transform_rounding

DELTA = 1e-5
# (multiplier, rate, steps): from weak to strong subsampling, from bulk-dominated to pick-dominated losses.
CASES = [
    (1.0, 139 / 200_000, 75_000),
    (2.0, 0.01, 10_000),
    (1.2, 1e-3, 500_000),
    (0.61, 1 / 4096, 26_894),
    (0.407, 1 / 131_072, 46_104),
    (0.255, 29 / 16_384, 7215),
    (20.0, 0.3, 1000),
    (3.0, 0.9, 2),
]


@given(st.floats(0.05, 100.0), st.integers(1, 1000), st.floats(0.0, 3.0))
def test_rate_one_is_the_exact_gaussian(multiplier, steps, mu):
    full = math.hypot(mu, 2.0 * math.sqrt(steps) / multiplier)
    assert pld.poisson_gaussian_epsilon(multiplier, 1.0, steps, DELTA, mu) == gaussian.gdp_epsilon(full, DELTA)
    half = math.hypot(mu, math.sqrt(steps) / multiplier)
    assert pld.poisson_gaussian_epsilon(multiplier, 1.0, steps, DELTA, mu, False) == gaussian.gdp_epsilon(half, DELTA)


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
    if 1.0 / rate != round(1.0 / rate):
        rate = 1.0 / round(1.0 / rate) if rate < 0.5 else 0.5
    lower = max(single_index.single_index_tests(1.0 / multiplier, steps, round(1.0 / rate), DELTA).values())
    upper = pld.poisson_gaussian_epsilon(multiplier, rate, steps, DELTA)
    assert lower <= upper * (1.0 + 1e-9)
    assert upper == pytest.approx(lower, rel=5e-3)


def test_gaussian_part_alone_is_exact_in_the_limit_of_much_noise():
    assert pld.poisson_gaussian_epsilon(math.inf, 0.1, 5, DELTA, 0.3) == gaussian.gdp_epsilon(0.3, DELTA)
    assert pld.poisson_gaussian_epsilon(1e6, 0.1, 5, DELTA, 0.3) == pytest.approx(
        gaussian.gdp_epsilon(0.3, DELTA), rel=1e-3
    )
    assert pld.poisson_gaussian_epsilon(0.0, 0.1, 5, DELTA) == math.inf
    assert pld.poisson_gaussian_epsilon(0.0, 0.1, 5, DELTA, 0.0, False) == math.inf


@pytest.mark.parametrize(("multiplier", "rate"), [(40.0, 0.01), (10.0, 1e-5)])
def test_central_limit_is_approached(multiplier, rate):
    """Also where the loss of a step is far below the first spacing."""
    many = pld.poisson_gaussian_epsilon(multiplier, rate, 1_000_000, DELTA)
    mu = 2 * rate * 1000 * math.sqrt(math.sinh(multiplier**-2))
    assert many == pytest.approx(gaussian.gdp_epsilon(mu, DELTA), rel=2e-3)


def test_a_fine_grid_of_an_anchored_loss_has_cells_for_all_its_points():
    pair = AnchoredPair(3.0, 0.1, 0.1)
    low, high = pair.loss_range(1e-12)
    _, upper, lower = pair.rounded_losses((high - low) / 2**16, 1e-12)
    assert np.count_nonzero(upper) > 2**15 and upper.sum() == pytest.approx(1.0) == lower.sum()


def test_rare_records_need_no_noise():
    # Drawn with probability 1e-7 in all: whatever is released costs less than delta.
    assert pld.poisson_gaussian_epsilon(0.05, 1e-9, 100, DELTA) == 0.0
    assert pld.solve_poisson_multiplier(1.0, DELTA, 1e-8, 2) == 0.01


@given(st.floats(0.05, 20.0), st.floats(0.0, 0.95), st.integers(1, 10**6))
def test_solution_at_rate_one_is_exact(epsilon, share, steps):
    mu = math.sqrt(share) * gaussian.gdp_mu(epsilon, DELTA)
    z = pld.solve_poisson_multiplier(epsilon, DELTA, 1.0, steps, mu)
    assert pld.poisson_gaussian_epsilon(z, 1.0, steps, DELTA, mu) == pytest.approx(epsilon, rel=1e-9)
    assert pld.poisson_gaussian_epsilon(z, 1.0, steps, DELTA, mu) <= epsilon


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


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"), [(1.0, 139 / 200_000, 75_000), (2.0, 0.01, 10_000), (0.61, 1 / 4096, 26_894)]
)
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
