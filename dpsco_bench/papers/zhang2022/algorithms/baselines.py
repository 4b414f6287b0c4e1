"""Baselines of Zhang, Tran, Cutkosky 2022: mini-batch SGD under three ways of drawing, and phased SGD."""

from __future__ import annotations

from math import ceil, floor, inf, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import phased_plan, projected_sgd, run_phases
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.records import WithoutReplacement, WithReplacement
from dpsco_bench.problems.base import Trait

NEEDS = (Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNREGULARISED, Trait.L2_BALL)


def checked_steps(given: Setting, steps: int | None, planned: int, rule: str) -> int:
    """Return the number of steps: as given, else as planned. Raises InputError below one."""
    if steps is None:
        given.require("steps", planned, planned >= 1, f"at least 1; the schedule takes the integer part of {rule}")
    return given.count("steps", steps) or planned


@algorithm(
    "zhang2022.bftt19_noisy_sgd",
    source="Bassily, Feldman, Talwar, Thakurta 2019, Algorithm 1 (constants from memory, unverified)",
    needs=NEEDS,
    order_invariant=False,
)
def bftt19_noisy_sgd_plan(given: Setting, *, steps: int | None = None) -> Plan:
    """J = min(n/8, (eps n)^2/(32 d l)) steps M/(L sqrt J) on batches with replacement, variance 8 J L^2 l/(n eps)^2.

    Batches have ``ceil(n sqrt(eps/(4 J)))`` records. ``accounted``: the least noise by a bound for drawing with
    replacement.

    Parameters
    ----------
    given : Setting
        On a Euclidean ball; M is its radius. eps at most 4 J, so that a batch is no larger than the data.
    steps : optional
        Replaces J.
    """
    n, L, l, eps = given.n, given.constants.lipschitz, given.l, given.epsilon
    planned = floor(min(n / 8, (eps * n) ** 2 / (32 * given.d * l)))
    J = checked_steps(given, steps, planned, "n/8 and (eps n)^2/(32 d l)")
    batch = ceil(n * sqrt(eps / (4 * J)))
    given.require("batch", batch, batch <= n, f"at most n = {n}: eps is above 4 J = {4 * J}")
    scale = sqrt(8 * J * l) * L / (n * eps)
    query = GaussianQuery("gradient", 2 * L / batch, J, WithReplacement(n, batch), paper_scale=scale)
    step = 0.5 * given.constants.diameter / (L * sqrt(J))
    return make_plan(query, gradient_evaluations=J * batch, n=n, steps=J, batch=batch, step=step)


bftt19_noisy_sgd_plan.run(projected_sgd)


@algorithm(
    "zhang2022.dp_sgd",
    source="Abadi et al. 2016, with subsets without replacement; schedule of this project, tuned once",
    needs=NEEDS,
    variants={"standard": ("accounted", "none")},
    order_invariant=False,
)
def dp_sgd_plan(given: Setting, *, steps: int | None = None, batch: int | None = None) -> Plan:
    """J = n/8 steps ``D/sqrt(J(L^2 + d s^2))`` on subsets of n/32 records, s the accounted noise.

    Parameters
    ----------
    given : Setting
        On a Euclidean ball.
    steps, batch : optional
        Replace J and the size of the subsets.
    """
    n, L, D = given.n, given.constants.lipschitz, given.constants.diameter
    J = checked_steps(given, steps, n // 8, "n/8")
    m = given.count("batch", batch) or max(1, n // 32)
    query = GaussianQuery("gradient", 2 * L / m, J, WithoutReplacement(n, m))
    return make_plan(query, gradient_evaluations=J * m, n=n, steps=J, batch=m, lipschitz=L, diameter=D)


@dp_sgd_plan.run
def dp_sgd(objective, plan, mechanism, descend=projected_sgd):
    """Make projected steps of the size that is best for the noise in force; a compiled run gives steps of its own."""
    variance = plan.lipschitz**2 + objective.start.shape[-1] * mechanism.scales["gradient"] ** 2
    return descend(objective, plan, mechanism, plan.diameter / sqrt(plan.steps * variance))


@algorithm(
    "zhang2022.fkt20_phased_sgd",
    source="Feldman, Koren, Talwar 2020, Algorithm 2 (constants from memory, unverified)",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, (Trait.SMOOTH, Trait.LINEAR_LOSS), Trait.UNREGULARISED, Trait.L2_BALL),
    order_invariant=False,
)
def fkt20_phased_sgd_plan(given: Setting, *, step: float | None = None) -> Plan:
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
    c, n = given.constants, given.n
    given.count("n", n, least=2)
    eta = c.diameter * min(4 / sqrt(n), given.epsilon / (2 * sqrt(given.d * given.l))) / c.lipschitz
    limit = 2 / c.smoothness if c.smoothness > 0 else inf
    return phased_plan(given, given.step(eta if step is None else step, limit, "2/H"))


fkt20_phased_sgd_plan.run(run_phases)
