"""The alternating sampler: its estimate is unbiased, its cost is the stated one, and it leaves its target alone."""

import math

import numpy as np

from dpsco_bench.papers.gopi2022.laws.quadrature import tilted_gap
from dpsco_bench.papers.gopi2022.samplers.chains import (
    ProximalRate,
    ProximalSampler,
    estimate,
    step_size,
    terms,
)
from dpsco_bench.papers.gopi2022.samplers.truncated import gaussian_on_ball, truncated_normal

ROWS = 20000
DIFFERENCES = np.array([-0.2, 0.35])


def test_numbers_of_terms(draws, score):
    count = terms(draws(200000).uniform("u", 0, 1)[:, 0])
    assert count.min() == 1
    for a in range(2, 6):
        assert score(count >= a, 1 / math.factorial(a)) < 4
    assert score(count * (count + 1), 2 * math.e) < 4  # value queries of a round


def test_the_estimate_is_unbiased(draws, score):
    """Check vector: k-scaled differences {-.2, .35} give exp(.075)."""
    rows = 200000
    count = terms(draws(rows).uniform("u", 0, 1)[:, 0])
    picked = DIFFERENCES[draws(rows).integers("i", 0, 45, 2)]
    rho = estimate(np.minimum(count, 9), picked)
    assert score(rho, math.exp(0.075)) < 4
    assert score(rho, math.exp(0.075) + 0.01) > 4


K, WEIGHT, N, D = 6.0, 0.5, 5, 3
SLOPES = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1], [1, 0, 0]])


def sampler(draws, rows, eta, slopes=SLOPES, k=K):
    def gaussian(name, step, mean, sd, rows):
        return gaussian_on_ball(source, name, step, mean, sd, np.inf, 1.0, rows)

    def differences(z, x, indices, rows):
        return -np.einsum("rwd,rd->rw", slopes[indices], z - x)

    source = draws(rows)
    return ProximalSampler(source, gaussian, differences, N, k, k * WEIGHT, eta)


def exact_start(draws, rows):
    u = draws(rows, "start").uniform("u", 0, D)
    return truncated_normal(u, SLOPES.mean(axis=0) / WEIGHT, 1 / math.sqrt(K * WEIGHT), 1.0)


EXPECTED = [1.0 - float(tilted_gap(K * slope, 0.5 * K * WEIGHT)) for slope in SLOPES.mean(axis=0)]


def test_an_exact_sample_stays_exact(draws, score):
    chains = sampler(draws, ROWS, step_size(K, 1.0, 0.05))
    start = exact_start(draws, ROWS)
    x = chains.run(start, 4)
    for j in range(D):
        assert score(x[:, j], EXPECTED[j]) < 4
    assert np.all(np.abs(x) <= 1) and not chains.capped.any()
    assert np.median(np.abs(x - start)) > 0.01


RATE = ProximalRate(k=40.0, weight=0.7, lipschitz=1.0, divergence=80.0)


def test_the_schedule_reaches_tau_and_barely_so():
    for tau in (1e-2, 1e-7):
        steps = RATE.steps(tau)
        clip = RATE.clip(tau, steps)
        assert RATE.distance(steps, clip) <= tau * (1 + 1e-12)
        assert RATE.distance(int(0.98 * steps), clip) > tau
        assert RATE.distance(steps, 1.1 * clip) > tau * (1 - 1e-2)


def test_half_of_the_estimate_is_what_is_accepted(draws):
    """Ratios above one are not cut off: of proposals whose estimates have the mean e^0.4, half of that is accepted."""
    proposed = []

    def gaussian(name, step, mean, sd, rows):
        proposed.append(len(rows) * name.startswith("x"))
        return mean, np.arange(0)

    chains = ProximalSampler(draws(ROWS), gaussian, lambda z, x, i, rows: np.full(i.shape, 0.4), 1, 1.0, 0.0, 0.1)
    chains.oracle(0, np.zeros((ROWS, 1)))
    share = ROWS / sum(proposed)
    expected = 0.5 * math.exp(0.4)
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / sum(proposed))
