"""The analytic Gaussian accountant against integration; the last iterate alone; inverses, limits, attained runs."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import norm

from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.privacy.accountants import gaussian
from dpsco_bench.privacy.accountants.gaussian import constant_mu, gdp_delta, gdp_epsilon, gdp_mu, varying_mu
from dpsco_bench.privacy.plan import LastIterate

mus = st.floats(-6.0, 3.0).map(lambda exponent: 10.0**exponent)
epsilons = st.floats(-3.0, 6.0).map(lambda exponent: 10.0**exponent)
deltas = st.floats(-100.0, -0.01).map(lambda exponent: 10.0**exponent)


@pytest.mark.parametrize("mu", [1e-3, 0.02, 0.3, 1.0, 2.5, 8.0])
@pytest.mark.parametrize("tail", [0.0, 0.5, 2.0, 5.0, 9.0])
def test_delta_equals_the_integral_of_its_definition(mu, tail):
    """Integrate (upper density - e^epsilon lower density) where it is positive."""
    epsilon = max(0.0, mu * (mu / 2 + tail))
    start = epsilon / mu - mu / 2  # where the loss mu x + mu^2/2, x ~ N(0, 1), is epsilon

    def gain(x):
        return norm.pdf(x) * -math.expm1(epsilon - mu * x - mu * mu / 2)

    integral = quad(gain, start, max(start, 0.0) + 12.0, epsabs=0.0, epsrel=1e-11, limit=200)[0]
    assert gdp_delta(mu, epsilon) == pytest.approx(integral, rel=1e-8)


@given(epsilons, deltas)
@example(1e6, 1e-100)
@example(1e9, 1e-300)
@example(1e-3, 0.97)
def test_mu_is_the_largest_that_is_private(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gdp_delta(mu, epsilon) <= delta
    assert gdp_delta(mu * (1.0 + 1e-9), epsilon) > delta


@given(mus, deltas)
def test_epsilon_inverts_delta(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    if epsilon == 0.0:
        assert gdp_delta(mu, 0.0) <= delta
    else:
        assert gdp_delta(mu, epsilon) == pytest.approx(delta, rel=1e-6)


def test_limits():
    # epsilon = mu^2/2 + mu Phi^-1(1-delta) - O(1); at epsilon = 0, delta = erf(mu / sqrt 8).
    assert gdp_epsilon(1e4, 1e-5) == pytest.approx(0.5e8 - 1e4 * norm.ppf(1e-5), abs=2.0)
    assert gdp_delta(1e-9, 0.0) == pytest.approx(1e-9 / math.sqrt(2 * math.pi), rel=1e-12)
    assert gdp_epsilon(math.inf, 1e-5) == math.inf
    assert gdp_epsilon(0.0, 1e-5) == 0.0
    assert gdp_epsilon(1e-9, 1e-5) == 0.0
    assert gdp_delta(math.inf, 3.0) == 1.0
    assert gdp_delta(0.0, 0.0) == 0.0
    assert gdp_delta(5.0, math.inf) == 0.0
    assert gaussian.total_epsilon(0.3, 1e-300, 1e-6) == pytest.approx(gdp_epsilon(0.3, 1e-6), rel=1e-9)
    assert gaussian.total_epsilon(1e-9, 1e-8, 1e-6) == 0.0
    assert gaussian.total_delta(0.3, 1.0, 0.0) == gdp_delta(0.3, 1.0)
    assert gaussian.total_delta(0.3, 1e6, 1e-300) == math.inf
    values = [gaussian.total_delta(0.2, e, 1e-7) for e in (0.0, 1.2, 5.0)]
    assert values[1] < values[0] and values[1] < values[2]


@pytest.mark.parametrize(("epsilon", "factor"), [(0.1, 1.553), (1.0, 2.359), (4.0, 28.30), (8.0, 1491.0)])
def test_the_decided_split_gives_the_claim_exactly_and_that_of_the_corollaries_none(epsilon, factor):
    """E3: delta0 = tau = delta/2 gives delta (2 + e^eps)/2, and no other e reaches delta."""
    delta = 1e-6
    t, tau = gdp_mu(epsilon, delta / 2), delta / (2 * (1 + math.exp(epsilon)))
    assert gaussian.total_delta(t, epsilon, tau) == pytest.approx(delta, rel=1e-9)
    assert gaussian.total_epsilon(t, tau, delta) == pytest.approx(epsilon, rel=1e-7)
    assert gaussian.total_delta(t, epsilon, delta / 2) / delta == pytest.approx(factor, rel=1e-3)
    assert math.isnan(gaussian.total_epsilon(t, delta / 2, delta))


@pytest.mark.parametrize(("t", "tau"), [(0.2, 1e-8), (0.8, 1e-7), (2.0, 1e-10), (0.2, 3e-7), (0.01, 1e-7)])
def test_the_least_epsilon_against_a_grid(t, tau):
    delta = 1e-6
    grid = np.linspace(0.0, 12.0, 24001)
    good = grid[[gaussian.total_delta(t, e, tau) <= delta for e in grid]]
    found = gaussian.total_epsilon(t, tau, delta)
    if not good.size:
        assert math.isnan(found)
    else:
        assert good[0] - grid[1] <= found <= good[0]
        assert gaussian.total_delta(t, found, tau) <= delta * (1 + 1e-9)


DELTA = 1e-5


def programme(c, shifts, noises, start=0.0):
    """Least sum of squared portions over all admissible ones: the remaining distance is never below zero, at last 0."""
    T = len(shifts)
    power = np.array([[np.prod(c[u + 1 : t + 1]) if u <= t else 0.0 for u in range(T)] for t in range(T)])
    arisen = power @ shifts + start * np.cumprod(c)
    spent = power * noises  # a_t = noise_t b_t
    rows = [LinearConstraint(spent[-1:], arisen[-1], arisen[-1])]
    rows += [LinearConstraint(spent[:-1], -np.inf, arisen[:-1])] if T > 1 else []
    given = {"jac": lambda b: 2 * b, "constraints": rows, "method": "SLSQP", "tol": 1e-14}
    found = minimize(lambda b: b @ b, np.full(T, 0.1), **given)
    assert found.success
    return math.sqrt(found.fun)


@pytest.mark.parametrize("T", [1, 2, 7, 12])
@pytest.mark.parametrize("c", [0.0, 0.3, 0.9, 1.0])
def test_no_admissible_shifts_cost_less(c, T):
    assert constant_mu(c, T, 0.7) == pytest.approx(programme(np.full(T, c), np.full(T, 0.7), np.ones(T)), rel=1e-5)
    assert varying_mu(np.full(T, c), np.full(T, 0.7), np.ones(T)) == pytest.approx(constant_mu(c, T, 0.7), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_shifts_are_not_spent_before_they_arise(seed):
    rng = np.random.default_rng(seed)
    c, shifts, noises = rng.uniform(0.5, 1.0, 6), rng.uniform(0.1, 1.0, 6), np.exp(rng.uniform(-2.0, 2.0, 6))
    assert varying_mu(c, shifts, noises) == pytest.approx(programme(c, shifts, noises), rel=1e-4)
    w = np.append(np.cumprod(c[:0:-1])[::-1], 1.0)
    assert varying_mu(c, shifts, noises) >= (w @ shifts) / math.sqrt((w * noises) @ (w * noises)) * (1 - 1e-12)
    loud_first = [10.0, 1.0]  # a loud first step hides nothing of the second one's shift
    assert varying_mu([1.0, 1.0], [1.0, 1.0], loud_first) == pytest.approx(math.hypot(0.1, 1.0))


@pytest.mark.parametrize("diameter", [0.5, 3.0, 20.0])
def test_a_domain_lets_early_steps_be_forgotten(diameter):
    """Starting anywhere at the domain's diameter before step T - tau + 1, for the best tau."""
    c, T = 0.95, 10
    found = [constant_mu(c, T, 1.0)]
    found += [programme(np.full(tau, c), np.ones(tau), np.ones(tau), diameter) for tau in range(1, T)]
    assert constant_mu(c, T, 1.0, diameter) == pytest.approx(min(found), rel=1e-5)
    convex = constant_mu(1.0, 10**6, 0.01, 2500.0)
    assert convex == pytest.approx(2 * math.sqrt(2500.0) * 0.01, rel=1e-6)  # 2 sqrt(s D/eta)/sigma, at tau = 2500


def test_limits_and_closed_form():
    c, T = 0.8, 9
    closed = math.sqrt((1 - c**T) / (1 + c**T) * (1 + c) / (1 - c))
    assert constant_mu(c, T, 2.0) == pytest.approx(2.0 * closed, rel=1e-12)
    assert constant_mu(0.3, 1, 2.0) == pytest.approx(2.0, rel=1e-15) and constant_mu(1.0, 16, 2.0) == 8.0
    assert constant_mu(1.0 - 1e-13, 16, 2.0) == pytest.approx(8.0, rel=1e-10)
    assert constant_mu(0.9, 10, 1.0) == pytest.approx(3.03, abs=5e-3)  # eta = 1.9/M, mu = .1 M: attained is 2.73
    assert constant_mu(0.81, 10, 1.0) == pytest.approx(2.73, abs=5e-3)


@pytest.mark.parametrize(
    ("given", "attained"),
    [({"step": 4 / 3}, True), ({"step": (1.0, 1.4)}, False), ({"lipschitz": 0.9}, False), ({"diameter": 5.0}, False)],
)
def test_a_quadratic_of_the_least_curvature_attains_it_where_that_contracts_least(given, attained):
    """``1 - eta mu >= eta M - 1``, with mu = 0.5 and M = 1."""
    assert LastIterate(**{"step": 1.0, "smoothness": 1.0, "strong_convexity": 0.5, **given}).attainable is attained


@pytest.mark.parametrize(("claim", "output"), [(0.2, 0.128), (0.5, 0.316), (1.0, 0.6176), (2.0, 1.272), (4.0, 2.567)])
def test_numbers_of_the_chapter(claim, output):
    """A ridge of 10: the output is private where the sequence of all gradients has 2.397 for 1."""
    keys = {"canary": "steady", "n": 4096, "d": 10, "epsilon": claim, "delta": DELTA}
    found = calibrate_cell(make_cell("wang2017.dp_gd_pl", "canary_huber", keys), "paper", 0)
    assert found.epsilon_output == pytest.approx(output, abs=6e-4 if claim != 1.0 else 1e-4)
    assert (found.epsilon_output_kind, found.epsilon_of, found.privacy_status) == ("exact", "output", "proven")
    assert found.epsilon_sequence_kind == "exact" and found.epsilon_sequence > claim
    right = {**keys, "regularisation": 1e-4, "start": 1.0, "steps": 14}
    witness = calibrate_cell(make_cell("wang2017.dp_gd_pl", "canary_huber", right), "paper", 0)
    assert witness.privacy_status == "exceeds_claim" and witness.epsilon_real_kind == "exact"
    if claim == 1.0:
        assert found.epsilon_sequence == pytest.approx(2.397, abs=1e-3)
        assert witness.epsilon_real == pytest.approx(2.396, abs=1e-3)
