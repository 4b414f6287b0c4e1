"""Phased private SGD, reduced to the Euclidean case (Su, Zhao, Wang 2023, Algorithm 6)."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import phased_plan, run_phases
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Su, Zhao, Wang 2023, Algorithm 6, Theorems 8 and 15, Lemma 14"


@algorithm(
    "su2023.phased_dp_sgd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    order_invariant=False,
)
def plan(given: Setting, *, step: float | None = None) -> Plan:
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
        raise InputError("norm", c.norm, "p in [2, inf]", SOURCE)
    if n < 2:
        raise InputError("n", n, "an integer >= 2", SOURCE)
    if eps > 2 * l:
        raise InputError("epsilon", eps, f"at most 2 ln(1/delta) = {2 * l:.4g}", SOURCE)
    eta = min(4 / sqrt(n), eps / (2 * sqrt(d * l))) / L if step is None else step
    beta = c.total_smoothness
    if not 0 < eta <= (1 + 1e-12) / beta:
        raise InputError("step", eta, f"in (0, 1/beta] with 1/beta = {1 / beta:.6g}", SOURCE)
    return phased_plan(given, eta)


@plan.run
def phased_dp_sgd(objective, plan, mechanism):
    """Algorithm 6 on iterates ``(R, d)``, one record a step; returns the last phase's release."""
    return run_phases(objective, plan, mechanism)
