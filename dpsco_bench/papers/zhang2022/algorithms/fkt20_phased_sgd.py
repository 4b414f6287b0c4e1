"""Phased private SGD (Feldman, Koren, Talwar 2020), a baseline of Zhang, Tran, Cutkosky 2022."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import phased_plan, run_phases
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Feldman, Koren, Talwar 2020, Algorithm 2 (constants from memory, unverified)"


@algorithm(
    "zhang2022.fkt20_phased_sgd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, (Trait.SMOOTH, Trait.LINEAR_LOSS), Trait.UNREGULARISED, Trait.L2_BALL),
    order_invariant=False,
)
def plan(given: Setting, *, step: float | None = None) -> Plan:
    """Phased noisy SGD on a ball: eta is D times that of the unit scale, steps and releases are projected.

    ``eta = D min{4/sqrt n, eps/(2 sqrt(d l))}/L``, ``paper``: ``s_i = 4 L eta_i sqrt(l)/eps``. Steps of at most 2/H do
    not drive neighbouring runs apart and projections do not either, so a phase's average has replace-one sensitivity
    ``2 L eta_i``; the phases' records are disjoint.

    Parameters
    ----------
    given : Setting
        L and H, on a Euclidean ball; n at least 2.
    step : optional
        Replaces eta; at most 2/H.
    """
    c, n, d = given.constants, given.n, given.d
    if n < 2:
        raise InputError("n", n, "an integer >= 2", SOURCE)
    eta = c.diameter * min(4 / sqrt(n), given.epsilon / (2 * sqrt(d * given.l))) / c.lipschitz
    eta = eta if step is None else step
    if not eta > 0 or eta * c.smoothness > 2 * (1 + 1e-12):
        allowed = f"in (0, 2/H] with 2/H = {2 / c.smoothness:.6g}" if c.smoothness > 0 else "a finite number > 0"
        raise InputError("step", eta, allowed, SOURCE)
    return phased_plan(given, eta)


@plan.run
def fkt20_phased_sgd(objective, plan, mechanism):
    """Phases on iterates ``(R, d)``; returns the last phase's release, projected."""
    return run_phases(objective, plan, mechanism)
