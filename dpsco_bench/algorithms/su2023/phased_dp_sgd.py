"""Phased private SGD, reduced to the Euclidean case (Su, Zhao, Wang 2023, Algorithm 6)."""

from __future__ import annotations

from math import ceil, log2, sqrt

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.backend.namespace import cast, cast_like
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Disjoint, GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Su, Zhao, Wang 2023, Algorithm 6, Theorems 8 and 15, Lemma 14"


@algorithm(
    "su2023.phased_dp_sgd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    order_invariant=False,
)
def plan(c: Constants, n: int, d: int, privacy: PrivacySpec, *, variant: str, step: float | None = None) -> Plan:
    """Phases of n/2, n/4, ... records; each makes SGD steps eta/4^i and releases the average of its iterates.

    eta = min{4/sqrt n, eps/(2 sqrt(d l))}/L. A phase has l2 sensitivity 2 L eta_i and records of its own, so the run
    costs one phase. ``paper``: s_i = 4 L eta_i sqrt(l)/eps. Empty phases are skipped (erratum E9).

    Parameters
    ----------
    c, n, d, privacy
        Problem constants in l_p with 2 <= p <= inf on the whole space (L and beta hold in l2 too), number of records
        (at least 2), dimension, target privacy (eps <= 2 l).
    variant : str
        ``standard``.
    step : optional
        Replaces eta; at most 1/beta.
    """
    L, l, eps = c.lipschitz, privacy.log_inverse_delta, privacy.epsilon
    if not c.norm >= 2.0:
        raise InputError("norm", c.norm, "p in [2, inf]", SOURCE)
    if n < 2:
        raise InputError("n", n, "an integer >= 2", SOURCE)
    if eps > 2 * l:
        raise InputError("epsilon", eps, f"at most 2 ln(1/delta) = {2 * l:.4g}", SOURCE)
    eta = min(4 / sqrt(n), eps / (2 * sqrt(d * l))) / L if step is None else step
    if not 0 < eta <= (1 + 1e-12) / c.smoothness:
        raise InputError("step", eta, f"in (0, 1/beta] with 1/beta = {1 / c.smoothness:.6g}", SOURCE)
    return phased_plan(L, eta, n, privacy)


@plan.run
def phased_dp_sgd(objective, plan, mechanism):
    """Algorithm 6 on iterates ``(R, d)``, one record a step; returns the last phase's release."""
    return run_phases(objective, plan, mechanism)


def phased_plan(lipschitz: float, step: float, n: int, privacy: PrivacySpec) -> Plan:
    """Phases i = 1, 2, .. of ``n/2^i`` records and steps ``step/4^i``, each with its release."""
    L, l, eps = lipschitz, privacy.log_inverse_delta, privacy.epsilon
    sizes = [n >> i for i in range(1, ceil(log2(n)) + 1) if n >> i > 0]
    phases = [
        GaussianQuery(
            _phase(i), 2 * L * step / 4**i, 1, Disjoint(size), paper_scale=4 * L * step / 4**i * sqrt(l) / eps
        )
        for i, size in enumerate(sizes, start=1)
    ]
    return make_plan(*phases, gradient_evaluations=sum(sizes), n=n, step=step, sizes=tuple(sizes))


def run_phases(objective, plan, mechanism):
    """SGD steps projected on the domain, if there is one; a phase starts at the release of the one before."""
    w, position = objective.start, 0
    for i, size in enumerate(plan.sizes, start=1):
        u, step = w, plan.step / 4**i
        total = cast(u, objective.xp.float64)
        for t in range(position, position + size):
            u = objective.project(u - step * objective.range_gradient(u, t, 1))
            total = total + u
        position += size
        w = objective.project(mechanism.release(_phase(i), cast_like(total / (size + 1), w)))
        objective.observe(w)
    return w


def _phase(i: int) -> str:
    return f"phase {i}"
