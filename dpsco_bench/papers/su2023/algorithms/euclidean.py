"""Euclidean methods for p >= 2: phased SGD (Su, Zhao, Wang 2023, Algorithm 6), and a stand-in for a cited one."""

from __future__ import annotations

from math import ceil, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import average, phased_plan, run_phases
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

STAND_IN = (
    "stand-in: projected descent with a private mean oracle, after Kamath, Liu, Zhang 2022; schedule, oracle and "
    "constants are ours, and its rate is not their theorem's"
)


@algorithm(
    "su2023.phased_dp_sgd",
    source="Su, Zhao, Wang 2023, Algorithm 6, Theorems 8 and 15, Lemma 14",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    order_invariant=False,
)
def phased_dp_sgd_plan(given: Setting, *, step: float | None = None) -> Plan:
    """Phases of n/2, n/4, ... records; each makes SGD steps eta/4^i and releases the average of its iterates.

    eta = min{4/sqrt n, eps/(2 sqrt(d l))}/L. A phase has l2 sensitivity 2 L eta_i and records of its own, so the run
    costs one phase. ``paper``: s_i = 4 L eta_i sqrt(l)/eps. Empty phases are skipped (erratum E9).

    Parameters
    ----------
    given : Setting
        Constants in l_p with 2 <= p <= inf on the whole space (L and beta hold in l2 too); n at least 2; eps at
        most 2 l. A ridge is part of every step.
    step : optional
        Replaces eta; at most 1/beta, with beta that of the loss and its ridge.
    """
    c, n, d, l, eps = given.constants, given.n, given.d, given.l, given.epsilon
    given.require("norm", c.norm, c.norm >= 2.0, "p in [2, inf]")
    given.count("n", n, least=2)
    given.require("epsilon", eps, eps <= 2 * l, f"at most 2 ln(1/delta) = {2 * l:.4g}")
    eta = min(4 / sqrt(n), eps / (2 * sqrt(d * l))) / c.lipschitz if step is None else step
    return phased_plan(given, given.step(eta, 1 / c.total_smoothness, "1/beta"))


phased_dp_sgd_plan.run(run_phases)


@algorithm(
    "su2023.heavy_tailed_euclid",
    source="stand-in for Kamath, Liu, Zhang 2022, Algorithm 1, as Su, Zhao, Wang 2023 cite it in Theorems 12 and 17",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.SYMMETRIC_SET, Trait.UNREGULARISED),
    variants={"stand_in": ("accounted", "none")},
)
def heavy_tailed_euclid_plan(given: Setting, *, steps: int | None = None) -> Plan:
    """Our stand-in for a cited Euclidean method: projected steps with clipped gradients, whose schedule is ours.

    T = max(16, ceil(sqrt(n eps))) steps, clipped at tau = sigma sqrt(n eps)/d^(1/4).
    eta = min{1/beta, diam2/(B sqrt T)} with B = sqrt(d) sqrt(s^2 + sigma^4/tau^2), where s is the noise of the mean of
    the clipped gradients, 2 tau sqrt(d T)/(n gdp_mu(eps, delta)). sigma bounds every coordinate's standard deviation.

    Parameters
    ----------
    given : Setting
        p >= 2 and sigma = `gradient_deviation` > 0, on a bounded symmetric set.
    steps : optional
        Replaces T.
    """
    c, n, d, sigma, eps = given.constants, given.n, given.d, given.constants.gradient_deviation, given.epsilon
    given.require("norm", c.norm, c.norm >= 2.0, "p in [2, inf]")
    given.positive("gradient_deviation", sigma)
    T = given.count("steps", steps) or max(16, ceil(sqrt(n * eps)))
    tau = sigma * sqrt(n * eps) / d**0.25
    s = 2 * tau * sqrt(d * T) / (n * gdp_mu(eps, given.delta))
    size = sqrt(d) * sqrt(s**2 + sigma**4 / tau**2)
    eta = min(1 / c.smoothness, given.ball.euclidean_diameter(d) / (size * sqrt(T)))
    query, warnings = GaussianQuery("clipped gradient", 2 * tau * sqrt(d) / n, T), (STAND_IN,)
    return make_plan(query, gradient_evaluations=n * T, warnings=warnings, n=n, steps=T, step=eta, clip=tau, size=size)


@heavy_tailed_euclid_plan.run
def heavy_tailed_euclid(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of w_1..w_T."""

    def step(w, t):
        clipped = objective.clipped_mean_gradient(w, plan.clip)
        return objective.project(w - plan.step * mechanism.release("clipped gradient", clipped, t))

    return average(objective, objective.start, plan.steps, step)
