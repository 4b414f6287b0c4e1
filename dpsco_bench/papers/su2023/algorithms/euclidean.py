"""Euclidean methods for p >= 2: phased SGD (Su, Zhao, Wang 2023, Algorithm 6), and a stand-in for a cited one."""

from __future__ import annotations

from math import ceil, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.algorithms.shared import phased_plan, run_phases
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

PHASED_SOURCE = "Su, Zhao, Wang 2023, Algorithm 6, Theorems 8 and 15, Lemma 14"


@algorithm(
    "su2023.phased_dp_sgd",
    source=PHASED_SOURCE,
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
    c, n, d = given.constants, given.n, given.d
    L, l, eps = c.lipschitz, given.l, given.epsilon
    if not c.norm >= 2.0:
        raise InputError("norm", c.norm, "p in [2, inf]", PHASED_SOURCE)
    if n < 2:
        raise InputError("n", n, "an integer >= 2", PHASED_SOURCE)
    if eps > 2 * l:
        raise InputError("epsilon", eps, f"at most 2 ln(1/delta) = {2 * l:.4g}", PHASED_SOURCE)
    eta = min(4 / sqrt(n), eps / (2 * sqrt(d * l))) / L if step is None else step
    beta = c.total_smoothness
    if not 0 < eta <= (1 + 1e-12) / beta:
        raise InputError("step", eta, f"in (0, 1/beta] with 1/beta = {1 / beta:.6g}", PHASED_SOURCE)
    return phased_plan(given, eta)


@phased_dp_sgd_plan.run
def phased_dp_sgd(objective, plan, mechanism):
    """Algorithm 6 on iterates ``(R, d)``, one record a step; returns the last phase's release."""
    return run_phases(objective, plan, mechanism)


HEAVY_TAILED_SOURCE = (
    "stand-in for Kamath, Liu, Zhang 2022, Algorithm 1, as Su, Zhao, Wang 2023 cite it in Theorems 12 and 17"
)
STAND_IN = (
    "stand-in: projected descent with a private mean oracle, after Kamath, Liu, Zhang 2022; schedule, oracle and "
    "constants are ours, and its rate is not their theorem's"
)


@algorithm(
    "su2023.heavy_tailed_euclid",
    source=HEAVY_TAILED_SOURCE,
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
    c, n, d = given.constants, given.n, given.d
    if not c.norm >= 2.0:
        raise InputError("norm", c.norm, "p in [2, inf]", HEAVY_TAILED_SOURCE)
    if c.ball is None or c.gradient_deviation <= 0:
        raise InputError("gradient_deviation", c.gradient_deviation, "> 0, with a bounded domain", HEAVY_TAILED_SOURCE)
    count_option("steps", steps, HEAVY_TAILED_SOURCE)
    sigma, eps = c.gradient_deviation, given.epsilon
    T = steps or max(16, ceil(sqrt(n * eps)))
    tau = sigma * sqrt(n * eps) / d**0.25
    s = 2 * tau * sqrt(d * T) / (n * gdp_mu(eps, given.delta))
    size = sqrt(d) * sqrt(s**2 + sigma**4 / tau**2)
    eta = min(1 / c.smoothness, c.ball.euclidean_diameter(d) / (size * sqrt(T)))
    query = GaussianQuery("clipped gradient", 2 * tau * sqrt(d) / n, T)
    return make_plan(
        query, gradient_evaluations=n * T, warnings=(STAND_IN,), n=n, steps=T, step=eta, clip=tau, size=size
    )


@heavy_tailed_euclid_plan.run
def heavy_tailed_euclid(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of w_1..w_T."""
    w = objective.start
    total = float64_zeros(w)
    for t in range(plan.steps):
        gradient = mechanism.release("clipped gradient", objective.clipped_mean_gradient(w, plan.clip), t)
        w = objective.project(w - plan.step * gradient)
        total = total + w
        objective.observe(w)
    return cast_like(total / plan.steps, w)
