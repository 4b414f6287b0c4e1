"""The alternating sampler: its estimate, its cost, the target that it leaves alone, and the rate that proves it."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri

from dpsco_bench.papers.gopi2022.samplers import chains
from dpsco_bench.papers.gopi2022.samplers.chains import ProximalRate, ProximalSampler, estimate, step_size, terms
from tests.marks import rest_at_night

ROWS = 20000


def test_numbers_of_terms_and_an_estimate_without_bias(draws, score):
    rows = 200000
    count = terms(draws(rows).uniform("u", 0, 1)[:, 0])
    assert count.min() == 1
    for a in range(2, 6):
        assert score(count >= a, 1 / math.factorial(a)) < 4
    assert score(count * (count + 1), 2 * math.e) < 4  # value queries of a round
    # Check vector: k-scaled differences {-.2, .35} give exp(.075).
    picked = np.array([-0.2, 0.35])[draws(rows).integers("i", 0, 45, 2)]
    rho = estimate(np.minimum(count, 9), picked)
    assert score(rho, math.exp(0.075)) < 4
    assert score(rho, math.exp(0.075) + 0.01) > 4


def test_the_schedule_reaches_tau_and_barely_so():
    rate = ProximalRate(k=40.0, weight=0.7, lipschitz=1.0, divergence=80.0)
    for tau in (1e-2, 1e-7):
        steps = rate.steps(tau)
        clip = rate.clip(tau, steps)
        assert rate.distance(steps, clip) <= tau * (1 + 1e-12)
        assert rate.distance(int(0.98 * steps), clip) > tau
        assert rate.distance(steps, 1.1 * clip) > tau * (1 - 1e-2)


def test_half_of_the_estimate_is_what_is_accepted(draws):
    """Ratios above one are not cut off: of proposals whose estimates have the mean e^0.4, half of that is accepted."""
    proposed = []

    def gaussian(name, step, mean, sd, rows):
        proposed.append(len(rows) * name.startswith("x"))
        return mean, np.arange(0)

    sampler = ProximalSampler(draws(ROWS), gaussian, lambda z, x, i, rows: np.full(i.shape, 0.4), 1, 1.0, 0.0, 0.1)
    sampler.oracle(0, np.zeros((ROWS, 1)))
    share = ROWS / sum(proposed)
    expected = 0.5 * math.exp(0.4)
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / sum(proposed))


def gaussian_step(mean, variance, alpha, eta):
    """``y = x + N(0, eta)``, then ``x ~ N(y/(1 + eta alpha), eta/(1 + eta alpha))``."""
    shrink = 1.0 / (1.0 + eta * alpha)
    return shrink * mean, shrink**2 * (variance + eta) + eta * shrink


@pytest.mark.parametrize("eta", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("alpha", [0.2, 1.0, 30.0])
def test_a_shifted_gaussian_attains_it_so_that_no_faster_rate_is_true(alpha, eta):
    """Share of the divergence left by a step, by the schedule (k = alpha, mu2 = 1), from ``N(0, 1/alpha)``."""
    G = 1.0 / (alpha * math.sqrt(16.0 * eta * math.log(2.0 / chains.LARGEST_CLIP)))
    assert step_size(alpha, G, chains.LARGEST_CLIP) == pytest.approx(eta, rel=1e-12)
    per_step = math.exp(-2.0 * ProximalRate(alpha, 1.0, G, 1.0).rate(chains.LARGEST_CLIP))
    found, (mean, variance) = [], (3.0 / math.sqrt(alpha), 1.0 / alpha)
    for _ in range(13):
        found.append(0.5 * (alpha * (variance + mean**2) - 1.0 - math.log(alpha * variance)))
        mean, variance = gaussian_step(mean, variance, alpha, eta)
    np.testing.assert_allclose(found, found[0] * per_step ** np.arange(13), rtol=1e-6, atol=1e-13)
    assert found[3] > 1.0001 * found[0] * per_step ** (3 * 1.05)


def test_the_sampler_runs_the_chain_that_was_analysed(draws, score):
    """Without losses, on the line: moments of the code's chains after a few steps are the closed form's."""
    rows, alpha, eta, mean, variance = 20000, 2.0, 0.2, 3.0, 0.0
    source = draws(rows)

    def gaussian(name, step, centre, sd, rows):
        return centre + sd * ndtri(source.uniform(name, step, 1)[rows]), np.arange(0)

    sampler = ProximalSampler(source, gaussian, lambda z, x, i, rows: np.zeros(i.shape), 3, 1.0, alpha, eta)
    x = sampler.run(np.full((rows, 1), mean), 4)[:, 0]
    for _ in range(4):
        mean, variance = gaussian_step(mean, variance, alpha, eta)
    assert score(x, mean) < 4 and score((x - mean) ** 2, variance) < 4
    assert score(x, mean * 1.05) > 4


def midpoints(end, width):
    """Midpoints of an even number of cells of [-end, end], each at most ``width`` wide, and their width."""
    count = 2 * math.ceil(end / width)
    return (np.arange(count) + 0.5) * (2 * end / count) - end, 2 * end / count


def clipped_mean(size, up, most=7):
    """``E clip(rho, 0, 2)`` for differences ``+-size``, + with probability ``up``, shape of ``size``.

    A product of a of them is ``+-size^a``, so that signs of whole products are enumerated, the number of terms too.
    """
    total = np.zeros_like(size)
    for count in range(1, most + 1):
        weight = 1.0 / math.factorial(count) - (count < most) / math.factorial(count + 1)
        for signs in product((1, -1), repeat=count):
            chances = [0.5 + 0.5 * sign * (2 * up - 1) ** a for a, sign in enumerate(signs, 1)]
            rho = 1.0 + sum(sign * size**a for a, sign in enumerate(signs, 1))
            total += weight * math.prod(chances) * np.clip(rho, 0.0, 2.0)
    return total


@pytest.mark.parametrize("tau", rest_at_night([0.3, 0.05], 0))
def test_the_schedule_bounds_the_distance_of_clipped_chains(tau):
    """Losses are ``-+x`` on [-1, 1], a share ``up`` with slope +1: total variation after each step with the clip."""
    k, weight, up = 3.0, 0.5, 2.0 / 3.0
    rate = ProximalRate(k, weight, 1.0, 2.0 * k)
    steps = rate.steps(tau)
    clip = rate.clip(tau, steps)
    eta = step_size(k, 1.0, clip)
    sd = math.sqrt(eta)
    (x, _), (y, dy) = midpoints(1.0, sd / 4.0), midpoints(1.0 + 8.0 * sd, sd / 4.0)
    start = np.exp(-0.5 * k * weight * x**2)
    kernel = np.exp(-((x[:, None] - y) ** 2) / (2 * eta)) / math.sqrt(2 * math.pi * eta)
    base, target = start[:, None] * kernel, start * np.exp(-k * (1.0 - 2.0 * up) * x)
    apart = x - x[:, None]  # rows x, columns z
    near, accepted = np.abs(apart) < 18.0 * sd, np.ones_like(apart)  # others do not meet at any y
    accepted[near] = clipped_mean(-k * apart[near], up)
    clipped = (accepted @ (base / base.sum(axis=0))) * base
    clipped, mass, target = (masses / masses.sum(axis=0) for masses in (clipped, start, target))
    found = []
    for _ in range(steps):
        mass = clipped @ (mass @ kernel * dy)
        found.append(0.5 * np.abs(mass - target).sum())
    assert found[-1] <= rate.distance(steps, clip) <= tau * (1 + 1e-12)
    assert found[0] > tau / 2 and found[steps // 40] > 2 * found[-1]
