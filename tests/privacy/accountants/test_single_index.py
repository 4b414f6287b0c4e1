"""One uniform index with replacement: simulation, quadrature and the mixture over the number of draws."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import norm

from dpsco_bench.privacy.accountants import gaussian, pld
from dpsco_bench.privacy.accountants.pld import GaussianPair
from dpsco_bench.privacy.accountants.single_index import _reversed_epsilon, _vanishing_epsilon, single_index_tests

DELTA = 1e-5


def single_index_epsilon(*arguments):
    return max(single_index_tests(*arguments).values())


def simulated_losses(shift, steps, rate, anchor=None, runs=400_000):
    """Privacy losses of simulated transcripts, against a record that contributes nothing where there is no anchor."""
    generator, total, start = np.random.default_rng(7), np.zeros(runs), anchor or 0.0

    def density(x):
        return (1.0 - rate) * norm.pdf(x, -start) + rate * norm.pdf(x, shift - start)

    for _ in range(steps):
        x = generator.standard_normal(runs) - start + shift * (generator.random(runs) < rate)
        total += np.log(density(x)) - (norm.logpdf(x) if anchor is None else np.log(density(-x)))
    return total


def simulated_epsilon(losses, delta):
    return brentq(lambda e: np.mean(np.maximum(0.0, -np.expm1(e - losses))) - delta, 0.0, losses.max())


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize(("shift", "steps", "population"), [(1.0, 3, 2), (2.5, 5, 4), (0.5, 8, 3)])
def test_the_bound_is_attained_by_simulated_transcripts(shift, steps, population, share):
    """Anchored too, at a share of the mean contribution."""
    anchor = share * shift / population
    expected = simulated_epsilon(simulated_losses(shift, steps, 1.0 / population, anchor), 0.05)
    assert single_index_epsilon(shift, steps, population, 0.05, anchor) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("shift", [1.0, 3.0, 7.0])
def test_vanishing_contribution_bound_is_below_simulated_transcripts(shift):
    expected = simulated_epsilon(simulated_losses(shift, 6, 0.25), 0.05)
    bound = _vanishing_epsilon(shift, 6, 0.25, 0.05)
    assert (0.9 * expected if shift > 5.0 else 0.0) <= bound <= expected * 1.01


@pytest.mark.parametrize(("shift", "population"), [(0.8, 2), (3.0, 10), (6.0, 50)])
def test_one_step_equals_quadrature(shift, population):
    q = 1.0 / population

    def density(x, centre):
        return (1.0 - q) * norm.pdf(x) + q * norm.pdf(x, centre)

    def divergence(epsilon):
        start = float(GaussianPair(shift, q, True).output(np.array([epsilon]))[0])

        def excess(x):
            return density(x, shift) - math.exp(epsilon) * density(x, -shift)

        return quad(excess, start, shift + 12.0, epsrel=1e-10)[0]

    expected = brentq(lambda e: divergence(e) - 1e-3, 0.0, 60.0)
    assert single_index_epsilon(shift, 1, population, 1e-3) == pytest.approx(expected, rel=2e-3)
    assert single_index_epsilon(shift, 1, population, 1e-3) <= expected * (1.0 + 1e-9)


def chapter_mixture(shift, steps, rate, delta):
    """The chapter's formula in section 8: loss given k draws ~ Normal(k (s^2/2 + ln q), k s^2)."""
    k = np.arange(1.0, steps + 1.0)
    weights = gammaln(steps + 1.0) - gammaln(k + 1.0) - gammaln(steps - k + 1.0)
    weights += k * math.log(rate) + (steps - k) * math.log1p(-rate)
    mean, sd = k * (shift**2 / 2 + math.log(rate)), shift * np.sqrt(k)

    def excess(epsilon):
        upper = log_ndtr((mean - epsilon) / sd)
        lower = epsilon - mean + sd**2 / 2 + log_ndtr((mean - epsilon) / sd - sd)
        with np.errstate(divide="ignore"):
            return logsumexp(weights + upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))) - math.log(delta)

    return brentq(excess, 0.0, mean[-1])


@pytest.mark.parametrize(
    ("shift", "steps", "population"),
    [(10.0, 19_210, 1024), (14.7221, 26_894, 4096), (51.9346, 34_578, 2**14), (360.0, 46_104, 2**17)],
)
def test_large_shifts_agree_with_the_mixture_over_draws(shift, steps, population):
    mixture = chapter_mixture(shift, steps, 1.0 / population, DELTA)
    assert single_index_epsilon(shift, steps, population, DELTA) == pytest.approx(mixture, rel=2e-4)
    # The rigorous variant pays ln(1-q) in every step without a draw.
    rigorous = _vanishing_epsilon(shift, steps, 1.0 / population, DELTA)
    assert rigorous == pytest.approx(mixture - steps / population, rel=2e-3)


def test_mixture_and_test_agree_where_both_are_computed():
    # Against a record that contributes nothing, the same losses are in dp-accounting's add/remove pair.
    upper = pld.poisson_gaussian_epsilon(1.0 / 9.0, 1e-3, 2000, DELTA, replace=False)
    assert _vanishing_epsilon(9.0, 2000, 1e-3, DELTA) == pytest.approx(upper, rel=5e-3)
    assert _vanishing_epsilon(9.0, 2000, 1e-3, DELTA) < upper


@pytest.mark.parametrize("steps", [1, 1000, 500_000])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-12])
def test_numerical_path_is_tight_from_below_for_full_gaussians(steps, delta):
    exact = gaussian.gdp_epsilon(1.0, delta)
    bound = _reversed_epsilon(GaussianPair(0.5 / math.sqrt(steps), 1.0, True), steps, delta)
    assert bound < exact
    assert bound > (0.998 if delta > 1e-14 * steps else 0.85) * exact


def test_limits():
    assert single_index_epsilon(0.0, 10, 10, DELTA) == 0.0
    assert single_index_epsilon(math.inf, 10, 10, DELTA) == math.inf
    assert single_index_epsilon(5.0, 1, 10**7, DELTA) == 0.0  # drawn with probability below delta
    assert single_index_epsilon(1e6, 46_104, 2**17, DELTA) == pytest.approx(5 * 0.5e12, rel=1e-3)  # five draws


@pytest.mark.parametrize(("constant", "whole"), [(1.0, 2.42), (4.84, 1.00), (16.0, 0.52), (24.0, 0.42)])
def test_an_anchor_that_moves_against_the_contribution_hides_it(constant, whole):
    """In the range of Theorem 4.1, n = 100 and N = 2 n^2: the whole answer d + v has less than d alone."""
    n, steps = 100, 20_000
    shift = 2.0 * n / math.sqrt(constant * steps * math.log(1e5))
    found = single_index_epsilon(shift, steps, n, DELTA, 0.5 * shift / n)
    assert found == pytest.approx(whole, abs=6e-3) and found < 0.5 * single_index_epsilon(shift, steps, n, DELTA)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.99, 2.0])
def test_one_draw_at_most_in_closed_form(epsilon):
    """The loss is normal where the record is drawn, and too small to count elsewhere."""
    shift, rate = 3.0, 0.02
    mean = shift**2 / 2 + math.log(rate)
    upper = norm.cdf((mean - epsilon) / shift)
    delta = rate * (upper - math.exp(epsilon) / rate * norm.cdf((mean - epsilon) / shift - shift))
    assert _vanishing_epsilon(shift, 1, rate, delta) == pytest.approx(epsilon, rel=1e-6)
